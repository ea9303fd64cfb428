/* SPDX-License-Identifier: GPL-2.0-only */
#include "help.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "main.h"
#include "options.h"

void help_verb(FILE *out, const struct verb *verb)
{
	fprintf(out, "Usage: lttctl %s [OPTION]...%s%s\n\n%s.\n\n", verb->name,
		*verb->operands ? " " : "", verb->operands, verb->help);
	if (verb->options)
		options_help(out, verb->options);
	options_help(out, options_common);
}

void help_general(FILE *out)
{
	fputs("Usage: lttctl [OPTION]... VERB [OPTION]... [OPERAND]...\n\n"
	      "Records what programs do, as a trace. The short way:\n\n"
	      "  lttctl record -- ./app      run a program and record all its events\n"
	      "  lttctl view                 read what was recorded last\n\n"
	      "Verbs (lttctl VERB -h lists its options, lttctl help VERB opens its manual page):\n",
	      out);
	for (size_t i = 0; verbs[i]; i++) {
		if (verb_group(verbs[i]))
			fprintf(out, "\n%s:\n", verb_group(verbs[i]));
		fprintf(out, "  %-16s  %s\n", verbs[i]->name, verbs[i]->help);
	}
	fputs("\nOptions:\n\n", out);
	options_help(out, options_general);
}

/* Return: whether `man` showed something. */
static bool run_man(const char *page)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (null >= 0)
			dup2(null, STDERR_FILENO);
		execlp("man", "man", "1", page, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum status help_open(const struct verb *verb)
{
	char *page AUTO_FREE = xasprintf("lttctl%s%s", verb ? "-" : "", verb ? verb->name : "");

	if (run_man(page))
		return STATUS_OK;
	if (verb)
		help_verb(stdout, verb);
	else
		help_general(stdout);
	return STATUS_OK;
}
