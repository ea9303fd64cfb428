/* SPDX-License-Identifier: GPL-2.0-only */
#include "color.h"

#include "show/show.h"

const char *color_on(FILE *out, enum color color)
{
	static const char *const codes[] = {
		[COLOR_NONE] = "",	    [COLOR_GOOD] = "\033[32m", [COLOR_WARN] = "\033[33m",
		[COLOR_BAD] = "\033[1;31m", [COLOR_TITLE] = "\033[1m",
	};

	return show_has_colors(fileno(out)) ? codes[color] : "";
}

const char *color_off(FILE *out)
{
	return show_has_colors(fileno(out)) ? "\033[m" : "";
}

enum color color_of_loss(unsigned long long count)
{
	return count ? COLOR_BAD : COLOR_NONE;
}
