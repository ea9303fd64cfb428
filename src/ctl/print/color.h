/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * color.h - colours of text for users: where the output is a terminal that has them, unless
 * NO_COLOR is set. Text is the same without them.
 */
#ifndef CTL_PRINT_COLOR_H
#define CTL_PRINT_COLOR_H

#include <stdio.h>

enum color { COLOR_NONE, COLOR_GOOD, COLOR_WARN, COLOR_BAD, COLOR_TITLE };

/** The sequence that begins a colour on @out; "": none. */
const char *color_on(FILE *out, enum color color);
/** The sequence that ends it. */
const char *color_off(FILE *out);
/** Of a count that should be 0. */
enum color color_of_loss(unsigned long long count);

#endif
