/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - ltt-crash: the kernel starts it for each core, by core_pattern. It starts a process
 * that saves the events of the program, and becomes the handler that core_pattern had before: in
 * the same process, with the standard input that it was given, of which it has read nothing.
 *
 *     ltt-crash TID SIGNAL                      no core was written before
 *     ltt-crash TID SIGNAL PROGRAM [WORD...]    core_pattern was |PROGRAM WORD...
 *     ltt-crash TID SIGNAL -LIMIT:MODE FILE     core_pattern was FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "corefile.h"
#include "save.h"

#define USAGE                                                                  \
	"usage: ltt-crash TID SIGNAL [PROGRAM [WORD...] | -LIMIT:MODE FILE]\n" \
	"The kernel starts it: see 'lttctl crash --install'.\n"

/* Standard error is closed if the kernel has started this program. */
static void report(const char *program)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	char text[512];
	int len = snprintf(text, sizeof(text),
			   "ltt-crash: %.300s: %s; the core is lost: repair it, or use 'lttctl "
			   "crash --uninstall'\n",
			   program, strerror(errno));

	if (fd >= 0)
		(void)!write(fd, text, (size_t)len);
	(void)!write(STDERR_FILENO, text, (size_t)len);
}

static int crash_usage(int argc, char *argv[])
{
	const char *word = argc == 2 ? argv[1] : "";
	bool help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;

	if (strcmp(word, "--version") == 0) {
		puts("ltt-crash " LTT_VERSION);
		return 0;
	}
	fputs(USAGE, help ? stdout : stderr);
	return help ? 0 : 2;
}

int main(int argc, char *argv[])
{
	if (argc < 3)
		return crash_usage(argc, argv);
	save_begin(argv[1], argv[2],
		   argc == 3	   ? "" :
		   *argv[3] != '-' ? argv[3] :
		   argc > 4	   ? argv[4] :
				     "");
	if (argc == 3)
		return 0;
	if (*argv[3] == '-')
		return argc > 4 ? corefile_write(argv[1], argv[3], argv[4]) : 1;
	execv(argv[3], &argv[3]);
	report(argv[3]);
	return 1;
}
