/* SPDX-License-Identifier: GPL-2.0-only */
#include "ksymbols.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "analyse/symbol/kallsyms.h"
#include "analyse/symbol/objects.h"
#include "base/lazy.h"
#include "base/mem.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "read/host.h"

/** Of one kernel. @error: why there is no table; 0: there is one, or no file. @unnamed: addresses
 *  without a name. */
struct ksymbols_kernel {
	struct ksymbols_kernel *next;
	char *path;
	uint8_t id[OBJECT_ID_MAX];
	uint32_t id_len;
	struct kallsyms *table;
	int error;
	uint64_t unnamed;
};

struct ksymbols {
	struct ksymbols_kernel *kernels;
};

struct ksymbols *ksymbols_new(void)
{
	return xalloc(sizeof(struct ksymbols));
}

void ksymbols_free(struct ksymbols *all)
{
	struct ksymbols_kernel *kernel;

	if (!all)
		return;
	while ((kernel = all->kernels)) {
		all->kernels = kernel->next;
		kallsyms_free(kernel->table);
		free(kernel->path);
		free(kernel);
	}
	free(all);
}

/* --- unpacking --------------------------------------------------------------------------- */

static int ksymbols_read(int fd, uint8_t **ret, size_t *ret_len)
{
	uint8_t *packed;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EPROTO;
	if (st.st_size > KALLSYMS_PACKED_MOST)
		return -EFBIG;
	packed = xalloc((size_t)st.st_size + 1);
	n = pread(fd, packed, (size_t)st.st_size, 0);
	if (n < 0) {
		free(packed);
		return -errno;
	}
	*ret = packed;
	*ret_len = (size_t)n;
	return 0;
}

#define KSYMBOLS_ZSTD_FUNCTIONS(X)   \
	X(ZSTD_DCtx_setParameter)    \
	X(ZSTD_createDStream)        \
	X(ZSTD_decompressStream)     \
	X(ZSTD_freeDStream)          \
	X(ZSTD_initDStream)          \
	X(ZSTD_isError)

struct ksymbols_zstd {
	KSYMBOLS_ZSTD_FUNCTIONS(LAZY_POINTER)
};

/* A frame may be of any size, and its header may have another one: the memory grows with the text,
 * and the window of a frame is limited. */
static int ksymbols_unpack_into(const struct ksymbols_zstd *zstd, ZSTD_DStream *stream,
				ZSTD_inBuffer *in, ZSTD_outBuffer *out)
{
	size_t left = zstd->ZSTD_initDStream(stream);

	if (!zstd->ZSTD_isError(left))
		left = zstd->ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 23);
	while (!zstd->ZSTD_isError(left)) {
		size_t before_in = in->pos, before_out = out->pos;

		if (out->pos == out->size) {
			if (out->size > KALLSYMS_BYTES_MOST)
				return -EFBIG;
			out->size = MAX(2 * out->size, (size_t)1 << 20);
			out->dst = xrealloc(out->dst, out->size);
		}
		left = zstd->ZSTD_decompressStream(stream, out, in);
		if (in->pos == in->size && !left)
			return 0;
		if (in->pos == before_in && out->pos == before_out) /* it ends within a frame */
			break;
	}
	return -EPROTO;
}

int ksymbols_unpack(int fd, char **ret, size_t *ret_len)
{
	static const char *const names[] = { KSYMBOLS_ZSTD_FUNCTIONS(LAZY_NAME) };
	uint8_t *packed AUTO_FREE = NULL;
	struct ksymbols_zstd zstd;
	struct err err = { 0 };
	ZSTD_inBuffer in = { 0 };
	ZSTD_outBuffer out = { 0 };
	ZSTD_DStream *stream;
	int error = ksymbols_read(fd, &packed, &in.size);

	if (error)
		return error;
	if (lazy_load(LTT_LIBZSTD, names, ARRAY_SIZE(names), &zstd, &err))
		return -ELIBACC;
	in.src = packed;
	stream = zstd.ZSTD_createDStream();
	error = stream ? ksymbols_unpack_into(&zstd, stream, &in, &out) : -ENOMEM;
	zstd.ZSTD_freeDStream(stream);
	if (error) {
		free(out.dst);
		return error;
	}
	*ret = out.dst;
	*ret_len = out.pos;
	return 0;
}

/* --- names ------------------------------------------------------------------------------- */

static void ksymbols_load(struct ksymbols_kernel *kernel, int fd)
{
	char *text = NULL;
	size_t len;

	if (fd < 0)
		return;
	kernel->error = ksymbols_unpack(fd, &text, &len);
	if (!kernel->error)
		kernel->error = kallsyms_parse(text, len, &kernel->table);
}

static struct ksymbols_kernel *ksymbols_kernel(struct ksymbols *all, const struct object *object)
{
	struct ksymbols_kernel *kernel;

	for (kernel = all->kernels; kernel; kernel = kernel->next)
		if (kernel->id_len == object->build_id_len &&
		    memcmp(kernel->id, object->build_id, kernel->id_len) == 0 &&
		    strcmp(kernel->path, object->path) == 0)
			return kernel;
	kernel = xalloc(sizeof(*kernel));
	kernel->path = xstrdup(object->path);
	kernel->id_len = object->build_id_len;
	memcpy(kernel->id, object->build_id, kernel->id_len);
	ksymbols_load(kernel, object->kallsyms);
	kernel->next = all->kernels;
	all->kernels = kernel;
	return kernel;
}

void ksymbols_name(struct ksymbols *all, const struct object *object, uint64_t address,
		   struct symbol *ret)
{
	struct ksymbols_kernel *kernel = ksymbols_kernel(all, object);

	if (!kernel->table || !kallsyms_find(kernel->table, address, ret))
		kernel->unnamed++;
}

static const char *ksymbols_why(const struct ksymbols_kernel *kernel)
{
	if (kernel->error == -EPROTO || kernel->error == -EFBIG)
		return "the file " KALLSYMS_FILE " of the trace is damaged";
	if (kernel->error == -ELIBACC)
		return LTT_LIBZSTD " can't be loaded; install this library";
	if (kernel->error)
		return strerror(-kernel->error);
	if (!kernel->table)
		return "the trace has no file " KALLSYMS_FILE
		       ", which sessions of root have whose traces are on the same host";
	return "the kernel hid them when it was recorded: set the sysctl kernel.kptr_restrict to 0 "
	       "or 1 before the session daemon starts";
}

/* Data, and memory that was allocated, have addresses without a name in any case. */
void ksymbols_report(const struct ksymbols *all, struct ctl *ctl)
{
	char nr[TEXT_BYTES];

	for (const struct ksymbols_kernel *kernel = all->kernels; kernel; kernel = kernel->next) {
		if (!kernel->unnamed || (kernel->table && !kallsyms_are_hidden(kernel->table)))
			continue;
		text_count(nr, kernel->unnamed);
		if (kernel->error)
			print_warning(ctl, "%s: names of functions are not used: %s", kernel->path,
				      ksymbols_why(kernel));
		else
			print_note(ctl, "%s: addresses without a name: %s; %s", kernel->path, nr,
				   ksymbols_why(kernel));
	}
}
