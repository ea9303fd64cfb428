/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings of events: each length, at the end of a page; ended earlier, and changed while copied. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ltt/payload.h>

#include "check.h"

enum { LONGEST = 100 };

static unsigned char to[LONGEST + 1 + LTT_PAYLOAD_SLACK];

/* @len characters, the last ones of a page before one that can't be read. */
static char *text_of(char *end, size_t len)
{
	for (size_t i = 0; i < len; i++)
		end[i - len] = (char)('!' + i);
	return end - len;
}

static void check_copy(const char *from, size_t len, size_t wanted)
{
	memset(to, 0xee, sizeof(to));
	CHECK_IS(ltt__put_string(to, from, len), ==, to + wanted + 1);
	CHECK_IS(memcmp(to, from, wanted), ==, 0);
	CHECK_IS(to[wanted], ==, 0);
	for (size_t i = len + 1 + 7; i < sizeof(to); i++)
		CHECK_IS(to[i], ==, 0xee);
}

static void check_lengths(char *end)
{
	for (size_t len = 0; len <= LONGEST; len++) {
		check_copy(text_of(end, len), len, len);
		for (size_t ends = 0; ends < len; ends++) {
			char *from = text_of(end, len);

			from[ends] = '\0';
			check_copy(from, len, ends);
		}
	}
}

static char changed[64];
static int done;

static void *change(void *unused)
{
	for (unsigned int i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++)
		*(volatile char *)&changed[i * 7 % sizeof(changed)] = i % 3 ? 'x' : '\0';
	return unused;
}

static void check_changes(void)
{
	pthread_t thread;

	CHECK_IS(pthread_create(&thread, NULL, change, NULL), ==, 0);
	for (unsigned int i = 0; i < check_repeat(1000000); i++) {
		const size_t len = i % sizeof(changed);

		memset(to, 0xee, sizeof(to));
		CHECK_IS(ltt__put_string(to, changed, len), ==, to + strlen((char *)to) + 1);
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	CHECK_IS(pthread_join(thread, NULL), ==, 0);
}

int main(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK_IS(mprotect(pages + page, page, PROT_NONE), ==, 0);
	check_lengths(pages + page);
	check_changes();
	return 0;
}
