// SPDX-License-Identifier: GPL-2.0-only
/*
 * scribble.c - an application that attacks the buffers that it was given.
 *
 *   scribble words|data|all|spam SECONDS
 *
 * Emits an event now and then, and all the time overwrites its own shared
 * mappings with random bytes: the first page of each (words: positions, counts),
 * the rest (data), everything, or only rings the consumer's doorbell (spam).
 */
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(scribble, event, (uint32_t n), LTT_INFO,
	       ltt_int(uint32_t, n, n))

enum { MAX_MAPS = 256, PAGE = 4096 };

struct map {
	uint8_t *begin;
	size_t size;
};

static struct map maps[MAX_MAPS];
static unsigned int nr_maps;
static uint64_t state = 88172645463325252ull;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Shared, writable mappings of memfds are buffers. */
static void find_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	nr_maps = 0;
	while (f && fgets(line, sizeof(line), f) && nr_maps < MAX_MAPS) {
		unsigned long begin, end;
		char mode[5];

		if (sscanf(line, "%lx-%lx %4s", &begin, &end, mode) != 3)
			continue;
		if (strcmp(mode, "rw-s") == 0 && strstr(line, "memfd"))
			maps[nr_maps++] = (struct map){ (uint8_t *)begin, end - begin };
	}
	if (f)
		fclose(f);
}

static void scribble(const struct map *m, size_t from, size_t to)
{
	for (int i = 0; i < 64 && from < to; i++) {
		size_t at = (from + next_random() % (to - from)) & ~(size_t)7;
		uint64_t value = next_random();

		/* Values that are nearly right do most damage. */
		if (i % 4 == 0)
			value &= 0xffff;
		if (i % 4 == 1)
			value = ~0ull;
		if (at + 8 <= m->size)
			memcpy(m->begin + at, &value, 8);
	}
}

static void attack(const char *how)
{
	for (unsigned int i = 0; i < nr_maps; i++) {
		const struct map *m = &maps[i];

		if (strcmp(how, "words") == 0)
			scribble(m, 0, PAGE < m->size ? PAGE : m->size);
		else if (strcmp(how, "data") == 0)
			scribble(m, PAGE, m->size);
		else if (strcmp(how, "all") == 0)
			scribble(m, 0, m->size);
		else if (m->size == PAGE)
			syscall(SYS_futex, m->begin, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	struct timespec begin, now;
	uint32_t n = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: scribble words|data|all|spam SECONDS\n");
		return 2;
	}
	state ^= (uint64_t)getpid() << 20;
	for (int i = 0; i < 5000 && !ltt_enabled(scribble, event); i++)
		usleep(1000);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		ltt_trace(scribble, event, n);
		if (n % 64 == 0)
			find_maps();
		attack(argv[1]);
		n++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) +
		 (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < atof(argv[2]));
	printf("attacked %u times, %u mappings\n", n, nr_maps);
	return nr_maps ? 0 : 1;
}
