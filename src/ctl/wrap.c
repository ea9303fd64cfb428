/* SPDX-License-Identifier: GPL-2.0-only */
#include "wrap.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "library.h"
#include "names.h"

static const char *const wrappers[] = {
	"libc", "pthread", "dl", "cyg-profile", "cyg-profile-fast", NULL,
};

static bool known(const char *name)
{
	for (size_t i = 0; wrappers[i]; i++)
		if (strcmp(wrappers[i], name) == 0)
			return true;
	return false;
}

/* The library that came with this lttctl, else the one that the linker finds. */
static char *wrap_library(const char *name)
{
	char *dir AUTO_FREE = library_own_dir();
	char *path = xasprintf("%s/../lib/libltt-%s.so", dir ? dir : "", name);

	if (dir && access(path, R_OK) == 0)
		return path;
	free(path);
	return xasprintf("libltt-%s.so", name);
}

char *wrap_environment(struct ctl *ctl, const char *list)
{
	struct names names CLEANUP(names_fini) = { 0 };
	const char *old = getenv("LD_PRELOAD");
	char *env = xasprintf("LD_PRELOAD=%s", old ? old : "");
	bool first = !(old && *old);

	names_split(list, &names);
	for (size_t i = 0; i < names.nr; i++) {
		const char *near = nearest_word(names.names[i], wrappers);
		char *lib AUTO_FREE = NULL, *before = env;

		if (!known(names.names[i])) {
			err_set(&ctl->err, ERR_INVALID, "there is no wrapper '%s'%s%s%s",
				names.names[i], near ? "; did you mean '" : "", near ? near : "",
				near ? "'?" :
				       "; there are libc, pthread, dl, cyg-profile and "
				       "cyg-profile-fast");
			free(env);
			return NULL;
		}
		lib = wrap_library(names.names[i]);
		env = xasprintf("%s%s%s", before, first ? "" : ":", lib);
		first = false;
		free(before);
	}
	return env;
}
