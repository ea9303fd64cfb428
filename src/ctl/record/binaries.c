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

static bool binaries_needs(const char *path)
{
	struct needed needed CLEANUP(needed_fini) = { NULL, NULL, false };
	struct elf_facts facts = { 0 };
	int res = elf_read(path, &facts);

	if (res < 0)
		return res == -ENOEXEC;
	if (facts.foreign || !facts.dynamic || !elf_has_glibc(&facts))
		return false;
	if (needed_mentions_lttng(path))
		return true;
	needed = needed_find(path);
	return needed.lttng;
}

char *binaries_environment(const char *program)
{
	char *dir AUTO_FREE = own_library_dir(FOLDER "/liblttng-ust.so.1");
	char *path AUTO_FREE = dir ? run_find(program) : NULL;
	const char *old = getenv("LD_LIBRARY_PATH");

	if (!dir || !path || !binaries_needs(path))
		return NULL;
	return xasprintf("LD_LIBRARY_PATH=%s/" FOLDER "%s%s", dir, old && *old ? ":" : "",
			 old ? old : "");
}
