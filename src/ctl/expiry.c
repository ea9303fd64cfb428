/* SPDX-License-Identifier: GPL-2.0-only */
#include "expiry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/print/text.h"
#include "own.h"

void expiry_check(void (*report)(void *data, const char *sentence), void *data)
{
	char *program AUTO_FREE = own_program("ltt-keys");
	char *word AUTO_FREE = text_shell_word(program);
	char *command AUTO_FREE = xasprintf("%s check 2>/dev/null </dev/null", word);
	FILE *list = popen(command, "re");
	char *line AUTO_FREE = NULL;
	size_t size = 0;

	while (list && getline(&line, &size, list) > 0) {
		line[strcspn(line, "\n")] = '\0';
		report(data, line);
	}
	if (list)
		pclose(list);
}
