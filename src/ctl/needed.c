/* SPDX-License-Identifier: GPL-2.0-only */
#include "needed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/print/text.h"
#include "elf.h"

#define FOUND " => "
#define LTTNG "liblttng-ust" /* which a program needs, or loads itself */
#define MENTION_BYTES (64 << 20)

bool needed_mentions_lttng(const char *path)
{
	int fd AUTO_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *bytes;
	bool found;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > MENTION_BYTES)
		return false;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	found = memmem(bytes, (size_t)st.st_size, LTTNG, strlen(LTTNG));
	munmap(bytes, (size_t)st.st_size);
	return found;
}

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
		needed->lttng |= strstr(name, LTTNG) != NULL;
		if (!needed->missing)
			needed->missing = xstrdup(name);
		return;
	}
	end = strstr(path, " (0x");
	if (end)
		*end = '\0';
	needed->lttng |= needed_mentions_lttng(path);
	if (!needed->instrumented && strncmp(name, "libltt", strlen("libltt")) != 0 &&
	    elf_read(path, &facts) == 0 && facts.instrumented)
		needed->instrumented = xstrdup(name);
}

/* The linker's list; NULL: it can't be made. */
static FILE *needed_list(const char *path, const char *folder)
{
	char *word AUTO_FREE = text_shell_word(path);
	char *libraries AUTO_FREE = folder ? text_shell_word(folder) : NULL;
	char *command AUTO_FREE =
		xasprintf("LD_TRACE_LOADED_OBJECTS=1 %s%s %s 2>&1 </dev/null",
			  folder ? "LD_LIBRARY_PATH=" : "", folder ? libraries : "", word);

	return popen(command, "re");
}

char *needed_lttng_elsewhere(const char *path, const char *folder)
{
	char *line AUTO_FREE = NULL, *found = NULL, *at;
	FILE *list = needed_list(path, folder);
	size_t size = 0;

	while (list && getline(&line, &size, list) > 0) {
		at = strstr(line, FOUND);
		if (found || !at || !strstr(line, LTTNG) || at[strlen(FOUND)] != '/')
			continue;
		at += strlen(FOUND);
		at[strcspn(at, " \n")] = '\0';
		if (strncmp(at, folder, strlen(folder)) != 0)
			found = xstrdup(at);
	}
	if (list)
		pclose(list);
	return found;
}

struct needed needed_find(const char *path)
{
	struct needed needed = { NULL, NULL, false };
	char *line AUTO_FREE = NULL;
	FILE *list = needed_list(path, NULL);
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
