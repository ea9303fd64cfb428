/* SPDX-License-Identifier: GPL-2.0-only */
#include "pack.h"

#include <zlib.h>

#include "base/lazy.h"
#include "base/mem.h"

#define RAW_BYTES (64u << 10)
#define VARINT_MOST 10u
#define LEVEL 1 /* 6 takes twice the time, and of random times saves 3 % of the bytes */

#define ZLIB_FUNCTIONS(X) \
	X(deflateInit2_)  \
	X(deflate)        \
	X(deflateEnd)

struct zlib {
	ZLIB_FUNCTIONS(LAZY_POINTER)
};

struct pack {
	const struct zlib *zlib;
	z_stream stream;
	uint8_t raw[RAW_BYTES];
	size_t nr_raw;
	uint8_t *packed;
	size_t nr_packed, size;
};

struct pack *pack_new(struct err *err)
{
	static const char *const names[] = { ZLIB_FUNCTIONS(LAZY_NAME) };
	static struct zlib zlib;
	struct pack *pack;

	if (lazy_load(LTT_LIBZ, names, ARRAY_SIZE(names), &zlib, err) != 0)
		return NULL;
	pack = xalloc(sizeof(*pack));
	pack->zlib = &zlib;
	if (zlib.deflateInit2_(&pack->stream, LEVEL, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY,
			       ZLIB_VERSION, sizeof(pack->stream)) != Z_OK) {
		free(pack);
		err_set(err, ERR_INTERNAL, "%s is of another version than %s; install that one",
			LTT_LIBZ, ZLIB_VERSION);
		return NULL;
	}
	return pack;
}

void pack_free(struct pack *pack)
{
	if (!pack)
		return;
	pack->zlib->deflateEnd(&pack->stream);
	free(pack->packed);
	free(pack);
}

static void pack_flush(struct pack *pack, int how)
{
	pack->stream.next_in = pack->raw;
	pack->stream.avail_in = (uInt)pack->nr_raw;
	do {
		if (pack->size - pack->nr_packed < RAW_BYTES) {
			pack->size = 2 * pack->size + RAW_BYTES;
			pack->packed = xrealloc(pack->packed, pack->size);
		}
		pack->stream.next_out = pack->packed + pack->nr_packed;
		pack->stream.avail_out = RAW_BYTES;
		pack->zlib->deflate(&pack->stream, how);
		pack->nr_packed += RAW_BYTES - pack->stream.avail_out;
	} while (!pack->stream.avail_out);
	pack->nr_raw = 0;
}

void pack_number(struct pack *pack, uint64_t number)
{
	if (RAW_BYTES - pack->nr_raw < VARINT_MOST)
		pack_flush(pack, Z_NO_FLUSH);
	for (; number >= 0x80; number >>= 7)
		pack->raw[pack->nr_raw++] = (uint8_t)(number | 0x80);
	pack->raw[pack->nr_raw++] = (uint8_t)number;
}

void pack_signed(struct pack *pack, int64_t number)
{
	pack_number(pack, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

size_t pack_end(struct pack *pack)
{
	pack_flush(pack, Z_FINISH);
	return (pack->nr_packed + 2) / 3 * 4;
}

void pack_print(const struct pack *pack, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < pack->nr_packed; i += 3) {
		size_t left = MIN(pack->nr_packed - i, 3u);
		uint32_t bits = (uint32_t)pack->packed[i] << 16;

		bits |= left > 1 ? (uint32_t)pack->packed[i + 1] << 8 : 0;
		bits |= left > 2 ? pack->packed[i + 2] : 0;
		putc_unlocked(digits[bits >> 18], out);
		putc_unlocked(digits[bits >> 12 & 63], out);
		putc_unlocked(left > 1 ? digits[bits >> 6 & 63] : '=', out);
		putc_unlocked(left > 2 ? digits[bits & 63] : '=', out);
	}
}
