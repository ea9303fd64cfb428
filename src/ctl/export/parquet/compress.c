/* SPDX-License-Identifier: GPL-2.0-only */
#include "compress.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/lazy.h"
#include "base/macros.h"
#include "base/mem.h"
#include "show/pen.h"

#define LEVEL 1 /* higher ones take twice the time, for a tenth of the size */

#define COMPRESSOR_FUNCTIONS(X) \
	X(ZSTD_createCCtx)      \
	X(ZSTD_freeCCtx)        \
	X(ZSTD_compressCCtx)    \
	X(ZSTD_compressBound)   \
	X(ZSTD_isError)

struct compressor_zstd {
	COMPRESSOR_FUNCTIONS(LAZY_POINTER)
};

struct compressor {
	struct compressor_zstd zstd;
	ZSTD_CCtx *context;
};

struct compressor *compressor_new(void)
{
	static const char *const names[] = { COMPRESSOR_FUNCTIONS(LAZY_NAME) };
	struct compressor *compressor = xalloc(sizeof(*compressor));
	struct err unused = { 0 };

	if (lazy_load(LTT_LIBZSTD, names, ARRAY_SIZE(names), &compressor->zstd, &unused) != 0) {
		free(compressor);
		return NULL;
	}
	compressor->context = compressor->zstd.ZSTD_createCCtx();
	if (!compressor->context)
		abort();
	return compressor;
}

void compressor_free(struct compressor *compressor)
{
	if (compressor)
		compressor->zstd.ZSTD_freeCCtx(compressor->context);
	free(compressor);
}

/* There is always room: nothing can fail but an allocation. */
void compressor_add(struct compressor *compressor, struct pen *pen, const void *bytes, size_t len)
{
	size_t room = compressor->zstd.ZSTD_compressBound(len);
	char *to = pen_room(pen, room);
	size_t n = compressor->zstd.ZSTD_compressCCtx(compressor->context, to, room, bytes, len,
						      LEVEL);

	if (compressor->zstd.ZSTD_isError(n))
		abort();
	pen->used += n;
}
