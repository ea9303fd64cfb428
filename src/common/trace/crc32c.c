/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A register of the sum is a polynomial over bits, lowest degree first; feeding zeros to it is
 * linear, so that a table for each byte of the register gives the result of any number of zeros.
 *
 * The instruction processes eight bytes a cycle but has a latency of three cycles: three parts of
 * a block are summed side by side, and the sums are joined by such tables. Memory is slower than
 * that, so the next block is prefetched meanwhile.
 */
#include "crc32c.h"

#include <string.h>

#include "crc32c_tables.h"

#define CACHE_LINE 64u

static uint32_t update_by_table(uint32_t v, const uint8_t *p, size_t len)
{
	for (; len >= 8; p += 8, len -= 8) {
		v ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		     (uint32_t)p[3] << 24;
		v = crc32c_zeros[7][v & 255] ^ crc32c_zeros[6][v >> 8 & 255] ^
		    crc32c_zeros[5][v >> 16 & 255] ^ crc32c_zeros[4][v >> 24] ^
		    crc32c_zeros[3][p[4]] ^ crc32c_zeros[2][p[5]] ^ crc32c_zeros[1][p[6]] ^
		    crc32c_zeros[0][p[7]];
	}
	for (; len; p++, len--)
		v = v >> 8 ^ crc32c_zeros[0][(v ^ *p) & 255];
	return v;
}

uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t len)
{
	return ~update_by_table(~crc, data, len);
}

#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__x86_64__)
#include <nmmintrin.h>
#define MACHINE __attribute__((target("sse4.2")))
#define step8(v, word) _mm_crc32_u64(v, word)
#define step1(v, byte) _mm_crc32_u8(v, byte)

static int has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#else
#include <sys/auxv.h>
#define HWCAP_CRC (1ul << 7)
#define MACHINE
#define step8(v, word) step_word(v, word)
#define step1(v, byte) step_byte(v, byte)

/* as assembler: not every compiler has the intrinsics without an option */
static inline uint64_t step_word(uint64_t v, uint64_t word)
{
	__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(v) : "r"(word));
	return v;
}

static inline uint32_t step_byte(uint32_t v, uint8_t byte)
{
	__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(v) : "r"((uint32_t)byte));
	return v;
}

static int has_instruction(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_CRC) != 0;
}
#endif

static inline uint64_t word_at(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static uint32_t shift_by_part(uint32_t v)
{
	return crc32c_far[0][v & 255] ^ crc32c_far[1][v >> 8 & 255] ^ crc32c_far[2][v >> 16 & 255] ^
	       crc32c_far[3][v >> 24];
}

/* Prefetch the following data; beyond the end this has no effect. */
static inline void prefetch_next(const uint8_t *p)
{
	__builtin_prefetch(p + 3 * CRC32C_PART);
	__builtin_prefetch(p + 4 * CRC32C_PART);
	__builtin_prefetch(p + 5 * CRC32C_PART);
}

MACHINE static uint32_t update_block(uint64_t v, const uint8_t *p)
{
	uint64_t second = 0, third = 0;

	for (size_t i = 0; i < CRC32C_PART; i += 8) {
		if (i % CACHE_LINE == 0)
			prefetch_next(p + i);
		v = step8(v, word_at(p + i));
		second = step8(second, word_at(p + CRC32C_PART + i));
		third = step8(third, word_at(p + 2 * CRC32C_PART + i));
	}
	return shift_by_part(shift_by_part((uint32_t)v) ^ (uint32_t)second) ^ (uint32_t)third;
}

MACHINE static uint32_t update_by_machine(uint32_t v, const uint8_t *p, size_t len)
{
	for (; len >= 3 * CRC32C_PART; p += 3 * CRC32C_PART, len -= 3 * CRC32C_PART)
		v = update_block(v, p);
	for (; len >= 8; p += 8, len -= 8)
		v = (uint32_t)step8(v, word_at(p));
	for (; len; p++, len--)
		v = step1(v, *p);
	return v;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	return has_instruction() ? ~update_by_machine(~crc, data, len) :
				   crc32c_by_table(crc, data, len);
}

#else

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	return crc32c_by_table(crc, data, len);
}

#endif
