/* SPDX-License-Identifier: GPL-2.0-only */
#include "binaries.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ctl/elf.h"
#include "ctl/needed.h"
#include "ctl/own.h"
#include "run.h"

#define FOLDER "ltt/lttng"

enum binaries_need { NONE, PERHAPS, CERTAIN };

static enum binaries_need binaries_needs(const char *path)
{
	struct needed needed CLEANUP(needed_fini) = { NULL, NULL, false };
	struct elf_facts facts = { 0 };
	int res = elf_read(path, &facts);

	if (res < 0)
		return res == -ENOEXEC ? PERHAPS : NONE;
	if (facts.foreign || facts.bits != 8 * sizeof(void *) || !facts.dynamic ||
	    !elf_has_glibc(&facts))
		return NONE;
	if (needed_mentions_lttng(path))
		return CERTAIN;
	needed = needed_find(path);
	return needed.lttng ? CERTAIN : NONE;
}

char *binaries_environment(const char *program, bool *ret_certain)
{
	char *dir AUTO_FREE = own_library_dir(FOLDER "/liblttng-ust.so.1");
	char *path AUTO_FREE = dir ? run_find(program) : NULL;
	enum binaries_need need = path ? binaries_needs(path) : NONE;
	const char *old = getenv("LD_LIBRARY_PATH");

	*ret_certain = need == CERTAIN;
	if (need == NONE)
		return NULL;
	return xasprintf("LD_LIBRARY_PATH=%s/" FOLDER "%s%s", dir, old && *old ? ":" : "",
			 old ? old : "");
}
