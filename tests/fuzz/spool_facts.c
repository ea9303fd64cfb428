/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a spool that lttctl reads: the first part of the input (two bytes of length) is
 * `.spool`, the rest an index. The facts of a session that are read are sound, and equal to
 * those in the file. The facts that a consumer writes over an existing file read the same
 * afterwards, with nothing of the old contents.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fuzz_fds.h"
#include "lib/fuzz_top.h"
#include "libctl/spools.h"
#include "must_hold.h"

#define INDEX "index/s_0.idx"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(const char *name, const uint8_t *data, size_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_top, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST_HOLD(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

static void set_up(void)
{
	char path[64];

	fuzz_top_make();
	snprintf(path, sizeof(path), "%s/index", fuzz_top);
	MUST_HOLD(mkdir(path, 0700) == 0);
}

/* Up to the first NUL, as the file is read. */
static bool says(const uint8_t *text, size_t size, const char *line)
{
	const uint8_t *end = memchr(text, 0, size);

	return memmem(text, end ? (size_t)(end - text) : size, line, strlen(line)) != NULL;
}

static bool says_text(const uint8_t *text, size_t size, const char *key, const char *value)
{
	char line[SPOOLFACTS_URL_BYTES + 16];

	MUST_HOLD(*value && !strchr(value, '\n'));
	snprintf(line, sizeof(line), "\n%s %s\n", key, value);
	return says(text, size, line);
}

/* In digits of either case. */
static bool says_id(const uint8_t *text, size_t size, const uint8_t id[16])
{
	const uint8_t *at = text, *end = text + size;

	while ((at = memmem(at, (size_t)(end - at), "\nid ", 4))) {
		size_t nr = 0;

		at += 4;
		while (nr < 32 && at + nr < end && isxdigit(at[nr])) {
			char digit[] = { (char)at[nr], '\0' };

			if (strtoul(digit, NULL, 16) !=
			    (nr % 2 ? id[nr / 2] & 15u : id[nr / 2] >> 4))
				break;
			nr++;
		}
		if (nr == 32)
			return true;
	}
	return false;
}

static void check(const struct spoolfacts *facts, const uint8_t *text, size_t size)
{
	MUST_HOLD(!name_check(facts->name) && says_text(text, size, "session", facts->name));
	MUST_HOLD(!name_check(facts->stamp) && says_text(text, size, "created", facts->stamp));
	MUST_HOLD(says_text(text, size, "relay", facts->url));
	MUST_HOLD(!*facts->chosen || says_text(text, size, "chosen", facts->chosen));
	MUST_HOLD(says_id(text, size, facts->id));
}

static bool same(const struct spoolfacts *a, const struct spoolfacts *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->stamp, b->stamp) == 0 &&
	       strcmp(a->url, b->url) == 0 && strcmp(a->chosen, b->chosen) == 0 &&
	       memcmp(a->id, b->id, sizeof(a->id)) == 0 && a->link == b->link &&
	       a->sync == b->sync && a->compress == b->compress && a->sync_us == b->sync_us &&
	       a->live_us == b->live_us;
}

static void write_over(int dir_fd, const struct spoolfacts *facts)
{
	AUTO_FD int fd = openat(dir_fd, SPOOLFACTS_FILE, O_RDWR | O_CLOEXEC);
	struct spoolfacts now;

	MUST_HOLD(fd >= 0 && spoolfacts_write(fd, facts) == 0);
	MUST_HOLD(spoolfacts_read(fd, &now) == 0 && same(facts, &now));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct spoolfacts good = { .name = "s", .stamp = "t", .url = "net://r:1" };
	struct spool_info spool;
	struct err err = { 0 };
	static bool ready;
	size_t len;
	int fds;

	if (!ready)
		set_up();
	ready = true;
	if (size < 2)
		return 0;
	len = data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	len = len < size ? len : size;
	put(SPOOLFACTS_FILE, data, len);
	put(INDEX, data + len, size - len);
	fds = fuzz_open_fds();
	MUST_HOLD(spools_open(fuzz_top, &spool, &err) == 0);
	MUST_HOLD(!spool.locked && !spool.bytes && spool.ours == spool.known);
	MUST_HOLD(spool.packets <= size - len);
	if (spool.known) {
		check(&spool.facts, data, len);
		write_over(spool.fd, &spool.facts);
	}
	put(SPOOLFACTS_FILE, data, len);
	write_over(spool.fd, &good);
	spools_fini(&spool);
	MUST_HOLD(fuzz_open_fds() == fds);
	return 0;
}
