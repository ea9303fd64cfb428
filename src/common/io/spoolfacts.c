/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spoolfacts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE_BYTES 4096
#define FIRST_LINE "ltt-spool 1\n"

static void put_id(const struct spoolfacts *facts, char ret[33])
{
	for (size_t i = 0; i < sizeof(facts->id); i++)
		snprintf(ret + 2 * i, 3, "%02x", facts->id[i]);
}

int spoolfacts_write(int fd, const struct spoolfacts *facts)
{
	char text[PAGE_BYTES], id[33];
	int len;

	put_id(facts, id);
	len = snprintf(text, sizeof(text),
		       FIRST_LINE "session %s\ncreated %s\nid %s\nrelay %s\nlink %u\nsync %u\n"
				  "sync_us %u\nlive_us %u\ncompress %u\n%s%s%s%s",
		       facts->name, facts->stamp, id, facts->url, facts->link, facts->sync,
		       facts->sync_us, facts->live_us, facts->compress,
		       *facts->chosen ? "chosen " : "", facts->chosen, *facts->chosen ? "\n" : "",
		       facts->ended ? "ended 1\n" : "");
	if (len >= (int)sizeof(text))
		return -ENAMETOOLONG;
	/* with the NUL, where readers stop: a longer file may have been there before */
	if (pwrite(fd, text, (size_t)len + 1, 0) != len + 1)
		return errno ? -errno : -EIO;
	return 0;
}

/* The rest of the line that begins with @key and a blank. */
static bool get_text(const char *text, const char *key, char *ret, size_t size)
{
	size_t len = strlen(key);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, len) == 0 && at[len] == ' ') {
			size_t bytes = strcspn(at + len + 1, "\n");

			if (!bytes || bytes >= size || !at[len + 1 + bytes])
				return false;
			memcpy(ret, at + len + 1, bytes);
			ret[bytes] = '\0';
			return true;
		}
	}
	return false;
}

static bool get_number(const char *text, const char *key, uint64_t most, uint64_t *ret)
{
	char word[24];

	return get_text(text, key, word, sizeof(word)) && parse_u64(word, ret) == 0 && *ret <= most;
}

static bool get_id(const char *text, uint8_t ret[16])
{
	char word[33];

	if (!get_text(text, "id", word, sizeof(word)) ||
	    strspn(word, "0123456789abcdefABCDEF") != 32)
		return false;
	for (size_t i = 0; i < 16; i++)
		if (sscanf(word + 2 * i, "%2hhx", &ret[i]) != 1)
			return false;
	return true;
}

int spoolfacts_read(int fd, struct spoolfacts *ret)
{
	uint64_t link, sync, sync_us, live_us, compress, ended;
	char text[PAGE_BYTES + 1];
	ssize_t n = pread(fd, text, PAGE_BYTES, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0 ||
	    !get_text(text, "session", ret->name, sizeof(ret->name)) || name_check(ret->name) ||
	    !get_text(text, "created", ret->stamp, sizeof(ret->stamp)) || name_check(ret->stamp) ||
	    !get_text(text, "relay", ret->url, sizeof(ret->url)) || !get_id(text, ret->id) ||
	    !get_number(text, "link", UINT8_MAX, &link) ||
	    !get_number(text, "sync", UINT8_MAX, &sync) ||
	    !get_number(text, "sync_us", UINT32_MAX, &sync_us) ||
	    !get_number(text, "live_us", UINT32_MAX, &live_us) ||
	    !get_number(text, "compress", 1, &compress))
		return -EINVAL;
	if (!get_text(text, "chosen", ret->chosen, sizeof(ret->chosen)))
		ret->chosen[0] = '\0';
	ret->link = (uint8_t)link;
	ret->sync = (uint8_t)sync;
	ret->sync_us = (uint32_t)sync_us;
	ret->live_us = (uint32_t)live_us;
	ret->compress = compress;
	ret->ended = get_number(text, "ended", 1, &ended) && ended;
	return 0;
}
