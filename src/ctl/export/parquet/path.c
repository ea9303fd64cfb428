/* SPDX-License-Identifier: GPL-2.0-only */
#include "path.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

#define NAME_BYTES 180u /* with "host=" and a hash less than NAME_MAX */

static const char hex[] = "0123456789ABCDEF";

/* FNV-1a: the same on each machine. */
static uint64_t path_hash(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return hash;
}

static char *path_encode(const char *name, bool escape_first)
{
	char text[NAME_BYTES + 4];
	size_t len = 0;

	for (const char *at = name; *at && len < NAME_BYTES; at++) {
		uint8_t c = (uint8_t)*at;
		bool first = at == name;

		if ((c < 0x80 && (isalnum(c) || c == '-') && !(first && escape_first)) ||
		    (!first && (c == '_' || c == '.'))) {
			text[len++] = (char)c;
		} else {
			text[len++] = '%';
			text[len++] = hex[c >> 4];
			text[len++] = hex[c & 15];
		}
	}
	if (!len)
		text[len++] = '%'; /* no other name is this */
	text[len] = '\0';
	return len < NAME_BYTES ? xstrdup(text) :
				  xasprintf("%s~%016" PRIx64, text, path_hash(name));
}

char *path_dataset(const char *event)
{
	return path_encode(event, strcmp(event, "losses") == 0 || strcmp(event, "sampling") == 0);
}

char *path_part(const char *dataset, const char *host, long long hour)
{
	char *name AUTO_FREE =
		host && *host ? path_encode(host, false) : xstrdup("__HIVE_DEFAULT_PARTITION__");
	time_t seconds = (time_t)(hour * 3600);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	return xasprintf("%s/host=%s/hour=%04d%02d%02d%02d", dataset, name, tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour);
}
