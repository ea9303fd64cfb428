/* SPDX-License-Identifier: GPL-2.0-only */
/* data.h - the data of the time line of a page, for its script (html.h). */
#ifndef CTL_HTML_DATA_H
#define CTL_HTML_DATA_H

#include "html.h"
#include "pack.h"

/** The numbers, in at most @most characters of base64: where they are more, short spans are left
 *  out and events are counted in buckets. Return: NULL with @err set. */
struct pack *data_pack(struct collect *collect, size_t most, struct err *err) MUST_CHECK;
/** Their description as JSON. */
void data_print_names(const struct html_page *page, FILE *out);

#endif
