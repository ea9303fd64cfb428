// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzzmain.c - main() of a fuzz target where there is no libFuzzer.
 *
 *   TARGET [FILE_OR_DIRECTORY...]
 *
 * Replays every file, its truncations and some mutations of it, then buffers
 * that a seeded generator makes: the same ones each time. Inputs that a
 * fuzzer has found (named by their hash) are many: each gets a few variations.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

enum { RANDOM_BUFFERS = 5000, RANDOM_BYTES = 512, HASH_DIGITS = 40 };

struct variety {
	int mutations;
	size_t truncations;
};

static const struct variety of_seeds = { 64, 256 }, of_found = { 8, 16 };

static uint64_t state = 0x2545f4914f6cdd1dull;
static unsigned long inputs;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Of the variations one in so many is tried: the gate has less time (runtests). */
static int parts(void)
{
	const char *text = getenv("LTT_TEST_SHORT");

	return text && atoi(text) > 1 ? atoi(text) : 1;
}

/* A heap copy of the exact size, so that a sanitizer sees every overrun. */
static void feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		exit(1);
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	inputs++;
}

static void feed_variations(uint8_t *data, size_t size, const struct variety *variety)
{
	size_t step = size * parts() / variety->truncations + 1;

	feed(data, size);
	for (size_t n = 0; n < size; n += step)
		feed(data, n);
	for (int i = 0; size && i < variety->mutations / parts(); i++) {
		size_t at = next_random() % size;
		uint8_t old = data[at];

		data[at] = (uint8_t)next_random();
		feed(data, size);
		data[at] = old;
	}
}

static int is_found(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strlen(name) == HASH_DIGITS && strspn(name, "0123456789abcdef") == HASH_DIGITS;
}

static void feed_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 20);
	size_t size;

	if (!f || !data) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	size = fread(data, 1, 1 << 20, f);
	fclose(f);
	feed_variations(data, size, is_found(path) ? &of_found : &of_seeds);
	free(data);
}

static void feed_path(const char *path)
{
	struct dirent *de;
	struct stat st;
	DIR *dir;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		feed_file(path);
		return;
	}
	dir = opendir(path);
	while (dir && (de = readdir(dir))) {
		char name[4096];

		if (de->d_name[0] != '.' &&
		    snprintf(name, sizeof(name), "%s/%s", path, de->d_name) < (int)sizeof(name))
			feed_path(name);
	}
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	uint8_t data[RANDOM_BYTES];

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		feed_path(argv[i]);
	for (int i = 0; i < RANDOM_BUFFERS / parts(); i++) {
		size_t size = next_random() % sizeof(data);

		for (size_t k = 0; k < size; k++)
			data[k] = (uint8_t)next_random();
		feed(data, size);
	}
	printf("%lu inputs\n", inputs);
	return 0;
}
