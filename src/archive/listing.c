/* SPDX-License-Identifier: GPL-2.0-only */
#include "listing.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static int take_name(void *of, const char *name)
{
	struct listing *names = of;
	size_t len = strlen(name), suffix = strlen(SEGMENT_SUFFIX);

	if (len <= suffix || strcmp(name + len - suffix, SEGMENT_SUFFIX) != 0)
		return 0;
	if (names->nr % 64 == 0)
		names->all = xrealloc(names->all, (names->nr + 64) * sizeof(*names->all));
	names->all[names->nr++] = xstrdup(name);
	return 0;
}

static int listing_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int listing_read(struct listing *ret, struct bucket *bucket, const char *prefix, struct err *err)
{
	*ret = (struct listing){ 0 };
	if (bucket_list(bucket, prefix, take_name, ret, err)) {
		listing_fini(ret);
		return err->code;
	}
	if (ret->nr)
		qsort(ret->all, ret->nr, sizeof(*ret->all), listing_compare);
	return 0;
}

void listing_fini(struct listing *names)
{
	for (uint32_t i = 0; i < names->nr; i++)
		free(names->all[i]);
	free(names->all);
	*names = (struct listing){ 0 };
}

char *listing_prefix(const struct segment_session *session)
{
	char hex[2 * SEGMENT_ID_BYTES + 1];

	for (size_t i = 0; i < SEGMENT_ID_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", session->id[i]);
	return xasprintf("%s/%s/%s/", session->host, session->name, hex);
}

char *listing_segment(const char *prefix, uint64_t number, uint32_t checksum)
{
	return xasprintf("%s%010llu-%08x" SEGMENT_SUFFIX, prefix, (unsigned long long)number,
			 checksum);
}

size_t listing_prefix_len(const char *name)
{
	const char *last = strrchr(name, '/');

	return last ? (size_t)(last + 1 - name) : 0;
}
