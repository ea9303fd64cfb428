/* SPDX-License-Identifier: GPL-2.0-only */
/* flame.h - writes stacks (analyse/stacks.h) for tools and for people. Names of a trace can be any
 * bytes: those that are harmful are replaced. Pure. */
#ifndef CTL_PRINT_FLAME_H
#define CTL_PRINT_FLAME_H

#include <stdint.h>
#include <stdio.h>

struct stacks;

#define FLAME_DRAWN_MOST 20000u

/** struct flame_picture - @title: any text. @unit: of the values: "ns", "bytes" or another word.
 *  @hue: of its colours, 0 to 359. */
struct flame_picture {
	const char *title, *unit;
	unsigned int hue;
};

/** A value in its unit: "1.234 ms", "1.2 MiB", "12 events". */
void flame_value(char *buf, size_t len, uint64_t value, const char *unit);

/** flame_svg() - a picture in one file, in which a few lines of script zoom and search. Frames of
 *  less than a thousandth of the width are left out, and more where there are FLAME_DRAWN_MOST.
 *  Return: the number of those left out. */
uint64_t flame_svg(FILE *out, const struct stacks *stacks, const struct flame_picture *picture);

/** flame_folded() - a line "OUTERMOST;...;INNERMOST VALUE" for each stack. Return: their number. */
uint64_t flame_folded(FILE *out, const struct stacks *stacks);

#endif
