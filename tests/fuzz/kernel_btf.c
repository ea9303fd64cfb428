/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel's BTF of any content, and values by the names that it knows: a line with a function's
 * name, a line in the language of --fetch, then the BTF.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/fuzz_fds.h"
#include "must_hold.h"
#include "sessiond/domain/kernel/btf.h"
#include "sessiond/domain/kernel/fetch.h"
#include "sessiond/domain/kernel/fetch_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TYPES 64u

static char path[64];

static int keep(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("btf", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size;
}

/* Up to the end of the line, which is taken off. */
static char *line(const uint8_t **data, size_t *size)
{
	const uint8_t *end = *size ? memchr(*data, '\n', *size) : NULL;
	char *text = NULL;

	if (!end)
		return NULL;
	text = strndup((const char *)*data, end - *data);
	*size -= end + 1 - *data;
	*data = end + 1;
	return text;
}

static void ask_types(void)
{
	struct btf *btf AUTO_BTF = NULL;

	if (btf_open(path, &btf))
		return;
	for (uint32_t i = 0; i < TYPES; i++) {
		struct btf_type_info told = btf_type(btf, i);
		struct btf_place place;

		MUST_HOLD(told.kind != BTF_INTEGER || (told.bytes >= 1 && told.bytes <= 8));
		if (btf_find_member(btf, i, "flags", &place))
			MUST_HOLD(told.kind != BTF_INTEGER && told.kind != BTF_POINTER);
	}
}

static void ask_names(const char *function, const char *fetch)
{
	struct kernel_fetch fetches[LTT_KMOD_ARGS_MAX];
	struct err err = { 0 };
	char *resolved = NULL;
	int nr;

	if (!kernel_names_any(fetch))
		return;
	if (kernel_names_resolve(path, function, fetch, &resolved, &err)) {
		MUST_HOLD(!resolved && err.code == ERR_INVALID && *err.text);
		return;
	}
	MUST_HOLD(!kernel_names_any(resolved));
	nr = kernel_fetch_parse(resolved, fetches, &err);
	MUST_HOLD(nr < 0 ? *err.text != '\0' : (unsigned int)nr <= LTT_KMOD_ARGS_MAX);
	free(resolved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *function = line(&data, &size), *fetch = line(&data, &size);
	int fds;

	if (function && fetch && !keep(data, size)) {
		fds = fuzz_open_fds();
		ask_types();
		ask_names(function, fetch);
		MUST_HOLD(fuzz_open_fds() == fds);
	}
	free(function);
	free(fetch);
	return 0;
}
