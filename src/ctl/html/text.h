/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - untrusted texts in a page: whatever their bytes are, they are shown, and do nothing.
 * Control and reordering characters, and bytes that are no UTF-8, are U+FFFD. Pure.
 */
#ifndef CTL_HTML_TEXT_H
#define CTL_HTML_TEXT_H

#include <stdio.h>

#define HTML_TEXT_BYTES 200u /* of longer texts, the beginning is shown */

/** In an element, or in an attribute between double quotes. */
void html_text(FILE *out, const char *text);
/** A string of JSON in a <script>, with its quotes. */
void html_json(FILE *out, const char *text);
/** The same of the first @most bytes. */
void html_json_part(FILE *out, const char *text, size_t most);

#endif
