/* SPDX-License-Identifier: MIT */
/*
 * ltt/payload.h - functions by which ltt/tracepoint.h serialises arguments. Not for use by
 * programs.
 */
#ifndef LTT_PAYLOAD_H
#define LTT_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ltt/site.h>

/* Payloads up to this size are serialised on the stack, longer ones in memory
 * of libltt (ltt_stage()). */
#define LTT__STACK_PAYLOAD 512

LTT__OURS static inline const char *ltt__text(const char *text)
{
	return text ? text : "(null)";
}

/** Number of elements of a sequence: at most @most, which the length field can hold; 0 if @elements
 *  is NULL. */
LTT__OURS static inline uint64_t ltt__length(const void *elements, int64_t wanted, uint64_t most)
{
	const uint64_t cap = most < 0x7fffffff ? most : 0x7fffffff;

	if (!elements || wanted < 0)
		return 0;
	return (uint64_t)wanted < cap ? (uint64_t)wanted : cap;
}

LTT__OURS static inline unsigned char *ltt__put(unsigned char *to, const void *from, size_t bytes)
{
	if (from)
		__builtin_memcpy(to, from, bytes);
	else
		__builtin_memset(to, 0, bytes);
	return to + bytes;
}

/** The 1, 2, 4 or 8 bytes of a number, as the low bytes of a word; in registers. */
LTT__OURS static inline uint64_t ltt__bits(const void *number, size_t bytes)
{
	uint8_t b;
	uint16_t h;
	uint32_t w;
	uint64_t d;

	switch (bytes) {
	case 1:
		__builtin_memcpy(&b, number, sizeof(b));
		return b;
	case 2:
		__builtin_memcpy(&h, number, sizeof(h));
		return h;
	case 4:
		__builtin_memcpy(&w, number, sizeof(w));
		return w;
	default:
		__builtin_memcpy(&d, number, sizeof(d));
		return d;
	}
}

LTT__OURS static inline uint64_t ltt__load(const void *from, size_t bytes)
{
	uint64_t word = 0;

	__builtin_memcpy(&word, from, bytes);
	return word;
}

/** Load 0 to 7 bytes as a number, without reading beyond them. */
LTT__OURS static inline uint64_t ltt__load_short(const char *from, size_t len)
{
	if (len >= 4)
		return ltt__load(from, 4) | ltt__load(from + len - 4, 4) << (len - 4) * 8;
	if (!len)
		return 0;
	return ltt__load(from, 1) | ltt__load(from + len / 2, 1) << len / 2 * 8 |
	       ltt__load(from + len - 1, 1) << (len - 1) * 8;
}

/** Store 8 bytes. Return: 0 if none of them is 0; else a word whose lowest set bit is bit 7 of the
 *  first byte that is 0; higher bits are not reliable. */
LTT__OURS static inline uint64_t ltt__put_word(unsigned char *to, uint64_t word)
{
	const uint64_t ones = ~(uint64_t)0 / 255;

	__asm__("" : "+r"(word)); /* the tested value is the stored one */
	__builtin_memcpy(to, &word, sizeof(word));
	return (word - ones) & ~word & (ones << 7);
}

#ifdef __SSE2__
typedef char ltt__bytes16 __attribute__((vector_size(16)));

/** Store 16 bytes. Return: 0 if none of them is 0; else the lowest set bit is the number of the
 *  first one that is. */
LTT__OURS static inline unsigned int ltt__put_16(unsigned char *to, const char *from)
{
	const ltt__bytes16 none = { 0 };
	ltt__bytes16 bytes;

	__builtin_memcpy(&bytes, from, sizeof(bytes));
	__asm__("" : "+x"(bytes)); /* the tested value is the stored one */
	__builtin_memcpy(to, &bytes, sizeof(bytes));
	return (unsigned int)__builtin_ia32_pmovmskb128((ltt__bytes16)(bytes == none));
}

/** ltt__put_string() of 16 characters or more, without the terminator. */
LTT__OURS static inline unsigned char *ltt__put_long(unsigned char *to, const char *from,
						     size_t len)
{
	const size_t last = len - 16;
	unsigned int zeros;

	for (size_t at = 0; at < last; at += 16) {
		zeros = ltt__put_16(to + at, from + at);
		if (__builtin_expect(zeros != 0, 0))
			return to + at + __builtin_ctz(zeros) + 1;
	}
	zeros = ltt__put_16(to + last, from + last);
	if (__builtin_expect(zeros != 0, 0))
		return to + last + __builtin_ctz(zeros) + 1;
	return to + len + 1; /* computed without waiting for the copied bytes */
}
#endif

/**
 * Copy a string of @len characters and terminate it. Another thread may change the source
 * meanwhile: the value that was tested is stored, so that the result always is one terminated
 * string. The last word overlaps the one before; characters that are read twice are stored twice.
 * Up to 7 bytes after the terminator are written, too.
 * Return: the address after the terminator.
 */
LTT__OURS static inline unsigned char *ltt__put_string(unsigned char *to, const char *from,
						       size_t len)
{
	const size_t last = len - 8;
	uint64_t zeros;

	if (len < 8) { /* padded with zeros, so that the word always ends the string */
		zeros = ltt__put_word(to, ltt__load_short(from, len)) & ((1ull << len * 8) - 1);
		if (__builtin_expect(zeros != 0, 0))
			return to + (__builtin_ctzll(zeros) >> 3) + 1;
		return to + len + 1;
	}
	to[len] = '\0';
#ifdef __SSE2__
	if (len >= 16)
		return ltt__put_long(to, from, len);
#endif
	for (size_t at = 0; at < last; at += 8) {
		zeros = ltt__put_word(to + at, ltt__load(from + at, 8));
		if (__builtin_expect(zeros != 0, 0))
			return to + at + (__builtin_ctzll(zeros) >> 3) + 1;
	}
	zeros = ltt__put_word(to + last, ltt__load(from + last, 8));
	if (__builtin_expect(zeros != 0, 0))
		return to + last + (__builtin_ctzll(zeros) >> 3) + 1;
	return to + len + 1;
}

#endif
