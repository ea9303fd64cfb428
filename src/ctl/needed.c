/* SPDX-License-Identifier: GPL-2.0-only */
#include "needed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/print/text.h"
#include "elf.h"

#define FOUND " => "

/* "\tNAME => PATH (ADDRESS)", "not found" in place of the last two; "\tPATH (ADDRESS)". */
static void needed_take(struct needed *needed, char *line)
{
	char *name = line + strspn(line, "\t "), *path = strstr(name, FOUND), *end;
	struct elf_facts facts = { 0 };

	if (path) {
		*path = '\0';
		path += strlen(FOUND);
	} else {
		path = name;
	}
	if (strncmp(path, "not found", strlen("not found")) == 0) {
		if (!needed->missing)
			needed->missing = xstrdup(name);
		return;
	}
	end = strstr(path, " (0x");
	if (end)
		*end = '\0';
	if (!needed->instrumented && strncmp(name, "libltt", strlen("libltt")) != 0 &&
	    elf_read(path, &facts) == 0 && facts.instrumented)
		needed->instrumented = xstrdup(name);
}

struct needed needed_find(const char *path)
{
	char *word AUTO_FREE = text_shell_word(path);
	char *command AUTO_FREE = xasprintf("LD_TRACE_LOADED_OBJECTS=1 %s 2>&1 </dev/null", word);
	struct needed needed = { NULL, NULL };
	char *line AUTO_FREE = NULL;
	FILE *list = popen(command, "re");
	size_t size = 0;

	while (list && getline(&line, &size, list) > 0)
		needed_take(&needed, line);
	if (list)
		pclose(list);
	return needed;
}

void needed_fini(struct needed *needed)
{
	free(needed->missing);
	free(needed->instrumented);
}
