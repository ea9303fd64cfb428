/* SPDX-License-Identifier: GPL-2.0-only */
/* CRC-32C: published values, and one answer by instruction, by table and bit by bit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "trace/crc32c.h"
#include "trace/crc32c_tables.h"

/* By the polynomial, a bit at a time. */
static uint32_t plainly(uint32_t crc, const uint8_t *p, size_t len)
{
	crc = ~crc;
	for (; len; p++, len--) {
		crc ^= *p;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

/* RFC 3720, B.4 */
static void check_published(void)
{
	uint8_t b[32];

	CHECK_IS(crc32c(0, "", 0), ==, 0);
	CHECK_IS(crc32c(0, "123456789", 9), ==, 0xe3069283u);
	memset(b, 0, sizeof(b));
	CHECK_IS(crc32c(0, b, sizeof(b)), ==, 0x8a9136aau);
	memset(b, 0xff, sizeof(b));
	CHECK_IS(crc32c(0, b, sizeof(b)), ==, 0x62a8ab43u);
	for (unsigned int i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)i;
	CHECK_IS(crc32c(0, b, sizeof(b)), ==, 0x46dd794eu);
}

/* The register @v after @len zero bytes, without the inversions at both ends. */
static uint32_t fed_zeros(uint32_t v, size_t len)
{
	static const uint8_t zeros[CRC32C_PART];

	return ~plainly(~v, zeros, len);
}

static void check_tables(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		for (uint32_t k = 0; k < 8; k++)
			CHECK_IS(crc32c_zeros[k][b], ==, fed_zeros(b, k + 1));
		for (uint32_t k = 0; k < 4; k++)
			CHECK_IS(crc32c_far[k][b], ==, fed_zeros(b << 8 * k, CRC32C_PART));
	}
}

static void check_all_agree(void)
{
	static uint8_t b[20000];

	srand(1);
	for (size_t i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)rand();
	for (unsigned int round = 0; round < 2000; round++) {
		size_t at = (size_t)rand() % 100;
		size_t len = (size_t)rand() % (round % 10 ? 300 : sizeof(b) - 100);
		size_t cut = len ? (size_t)rand() % len : 0;
		uint32_t want = plainly(0, b + at, len);

		CHECK_IS(crc32c(0, b + at, len), ==, want);
		CHECK_IS(crc32c_by_table(0, b + at, len), ==, want);
		CHECK_IS(crc32c(crc32c(0, b + at, cut), b + at + cut, len - cut), ==, want);
	}
}

static void print_speed(const char *how, uint32_t (*sum)(uint32_t, const void *, size_t))
{
	static uint8_t b[256 << 10];
	struct timespec t[2];
	uint32_t crc = 0;
	double s;

	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	for (int i = 0; i < 200; i++)
		crc = sum(crc, b, sizeof(b));
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	s = (double)(t[1].tv_sec - t[0].tv_sec) + (double)(t[1].tv_nsec - t[0].tv_nsec) / 1e9;
	printf("%s: %.1f GB/s (%08x)\n", how, 200.0 * sizeof(b) / s / 1e9, crc);
}

int main(void)
{
	check_published();
	check_tables();
	check_all_agree();
	print_speed("crc32c", crc32c);
	print_speed("by table", crc32c_by_table);
	return 0;
}
