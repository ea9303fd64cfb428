/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "io/zchunk.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "io/frame.h"

#define LEVEL 1 /* of 64 kB chunks of traces 1.3 (numbers) to 6 times (strings) less is left */

struct zpacker {
	ZSTD_CCtx *ctx;
	uint8_t in[ZCHUNK_BYTES];
	uint8_t out[FRAME_HEAD_BYTES + ZSTD_COMPRESSBOUND(ZCHUNK_BYTES)];
};

struct zunpacker {
	ZSTD_DCtx *ctx;
	uint8_t out[ZCHUNK_BYTES];
};

struct zpacker *zpacker_new(void)
{
	struct zpacker *z = xalloc(sizeof(*z));

	z->ctx = ZSTD_createCCtx();
	if (!z->ctx)
		abort();
	return z;
}

struct zpacker *zpacker_free(struct zpacker *z)
{
	if (z)
		ZSTD_freeCCtx(z->ctx);
	free(z);
	return NULL;
}

/* There is always room: nothing can fail. */
const uint8_t *zpacker_pack(struct zpacker *z, const void *data, size_t len, size_t *ret_len)
{
	size_t n;

	memcpy(z->in, data, len);
	n = ZSTD_compressCCtx(z->ctx, z->out + FRAME_HEAD_BYTES, sizeof(z->out) - FRAME_HEAD_BYTES,
			      z->in, len, LEVEL);
	if (ZSTD_isError(n))
		abort();
	frame_head(z->out, n);
	*ret_len = FRAME_HEAD_BYTES + n;
	return z->out;
}

struct zunpacker *zunpacker_new(void)
{
	struct zunpacker *z = xalloc(sizeof(*z));

	z->ctx = ZSTD_createDCtx();
	if (!z->ctx)
		abort();
	return z;
}

struct zunpacker *zunpacker_free(struct zunpacker *z)
{
	if (z)
		ZSTD_freeDCtx(z->ctx);
	free(z);
	return NULL;
}

const uint8_t *zunpacker_unpack(struct zunpacker *z, const void *data, size_t len, uint64_t most,
				size_t *ret_len)
{
	size_t n = ZSTD_decompressDCtx(z->ctx, z->out, sizeof(z->out), data, len);

	if (ZSTD_isError(n) || n == 0 || n > most)
		return NULL;
	*ret_len = n;
	return z->out;
}
