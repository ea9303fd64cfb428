/* SPDX-License-Identifier: GPL-2.0-only */
#include "libxml.h"

const struct libxml *libxml(struct err *err)
{
	static const char *const names[] = { LIBXML_FUNCTIONS(LAZY_NAME) };
	static struct libxml functions;

	return lazy_load(LTT_LIBXML, names, ARRAY_SIZE(names), &functions, err) ? NULL : &functions;
}
