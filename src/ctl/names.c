/* SPDX-License-Identifier: GPL-2.0-only */
#include "names.h"

#include <string.h>

#include "base/mem.h"

static void ctl_names_add(struct names *names, const char *text, size_t len)
{
	char *name = xalloc(len + 1);
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\\' && i + 1 < len && text[i + 1] == ',')
			continue;
		name[out++] = text[i];
	}
	names->names = xrealloc(names->names, (names->nr + 1) * sizeof(*names->names));
	names->names[names->nr++] = name;
}

void names_split(const char *list, struct names *ret)
{
	*ret = (struct names){ 0 };
	for (;;) {
		size_t len = 0;

		while (list[len] && list[len] != ',')
			len += list[len] == '\\' && list[len + 1] ? 2 : 1;
		ctl_names_add(ret, list, len);
		if (!list[len])
			return;
		list += len + 1;
	}
}

void names_add(struct names *names, const char *name)
{
	names->names = xrealloc(names->names, (names->nr + 1) * sizeof(*names->names));
	names->names[names->nr++] = xstrdup(name);
}

void names_of_calls(struct names *names)
{
	struct names calls = { 0 };

	for (size_t i = 0; i < names->nr; i++) {
		char *entry AUTO_FREE = xasprintf("syscall_entry_%s", names->names[i]);
		char *exit AUTO_FREE = xasprintf("syscall_exit_%s", names->names[i]);

		ctl_names_add(&calls, entry, strlen(entry));
		ctl_names_add(&calls, exit, strlen(exit));
	}
	names_fini(names);
	*names = calls;
}

void names_fini(struct names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct names){ 0 };
}
