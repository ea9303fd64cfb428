/* SPDX-License-Identifier: GPL-2.0-only */
#include "sqlite.h"

const struct sqlite *sqlite_load(struct err *err)
{
	static const char *const names[] = { SQLITE_FUNCTIONS(LAZY_NAME) };
	static struct sqlite functions;

	return lazy_load(LTT_LIBSQLITE, names, ARRAY_SIZE(names), &functions, err) ? NULL :
										     &functions;
}
