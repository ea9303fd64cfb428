/* SPDX-License-Identifier: GPL-2.0-only */
/* tables.h - the tables of a page, which its script sorts and filters. */
#ifndef CTL_HTML_TABLES_H
#define CTL_HTML_TABLES_H

#include "html.h"

#define ROWS_MOST 500u /* of a table */

void html_tables(const struct html_page *page, FILE *out);

#endif
