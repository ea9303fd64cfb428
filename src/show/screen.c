/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/** @columns: of the terminal. @errors: a copy of the former stderr; -1: the pager has no errors.
 *  @status: of the program, if the user interrupts the pager and leaves it. */
static struct {
	pid_t pid; /* 0: none */
	const char *command;
	unsigned int columns;
	int errors;
	int status;
} pager = { .errors = -1 };

/* --- width -------------------------------------------------------------------------- */

bool screen_has(int fd)
{
	if (pager.pid && (fd == STDOUT_FILENO || (fd == STDERR_FILENO && pager.errors >= 0)))
		return true;
	return isatty(fd);
}

unsigned int screen_columns(int fd)
{
	const char *text = getenv("COLUMNS");
	struct winsize size = { 0 };
	uint64_t columns;

	if (!screen_has(fd))
		return 0;
	if (text && parse_u64(text, &columns) == 0 && columns && columns < 10000)
		return (unsigned int)columns;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : pager.columns;
}

/* Behind the sequence of a colour at @text; NULL: there is none. */
static const char *screen_behind_color(const char *text)
{
	const char *end = *text == '\033' ? strchr(text, 'm') : NULL;

	return end ? end + 1 : NULL;
}

/* The first byte behind @columns characters, or that of the text's end. @ret_n: of them. */
static const char *screen_skip(const char *text, unsigned int columns, unsigned int *ret_n)
{
	const char *behind;

	for (*ret_n = 0; *text; text = behind ? behind : text + 1) {
		behind = screen_behind_color(text);
		if (behind || (*text & 0xc0) == 0x80)
			continue;
		if (*ret_n == columns)
			break;
		++*ret_n;
	}
	return text;
}

unsigned int screen_width(const char *text)
{
	unsigned int n;

	screen_skip(text, UINT_MAX, &n);
	return n;
}

#define DOTS "..."

char *screen_cut(const char *text, unsigned int columns)
{
	unsigned int width = screen_width(text), left = columns - MIN(columns, 3u), n;
	const char *behind;

	if (width <= columns)
		return xstrdup(text);
	if (*text == '/' || strstr(text, "://"))
		return xasprintf(DOTS "%s", screen_skip(text, width - left, &n));
	behind = screen_skip(text, left, &n);
	/* a colour ends as it would have */
	return xasprintf("%.*s" DOTS "%s", (int)(behind - text), text,
			 strchr(text, '\033') ? "\033[m" : "");
}

/* --- pager -------------------------------------------------------------------------- */

#define LESS "command -v less >/dev/null && exec less -FRX; exec cat"

/* Return: a command of the shell; NULL: none is wanted. */
static const char *pager_command(void)
{
	const char *off = getenv("NO_PAGER"), *term = getenv("TERM"), *own = getenv("LTT_PAGER");

	if (off && *off)
		return NULL;
	own = own ? own : getenv("PAGER");
	if (!own)
		return term && strcmp(term, "dumb") != 0 ? LESS : NULL;
	return *own && strcmp(own, "cat") != 0 ? own : NULL;
}

/* Ctrl-C is for the pager, not for the shell that waits for it. */
static void pager_exec(int in)
{
	char *command = xasprintf("trap : INT QUIT; %s", pager.command);

	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Not reaped: the handler of a signal that arrives with its end waits for it, too.
 * Return: as waitpid() stores it. */
static int pager_wait(void)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)pager.pid, &info, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return 0;
	return info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status;
}

/*
 * Ctrl-C reaches both processes. The terminal remains the pager's until the user leaves it, as
 * without Ctrl-C; a pager that it ends, ends the program as well. Other signals end both.
 */
static void pager_on_signal(int signo)
{
	int status;

	close(STDOUT_FILENO);
	if (pager.errors >= 0)
		close(STDERR_FILENO);
	if (signo == SIGINT || signo == SIGQUIT) {
		status = pager_wait();
		if (WIFEXITED(status) && WEXITSTATUS(status) < 128)
			_exit(pager.status);
	} else {
		kill(pager.pid, signo);
	}
	signal(signo, SIG_DFL);
	raise(signo);
}

void screen_page(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	int ends[2];

	pager.command = pager_command();
	if (pager.pid || !isatty(STDOUT_FILENO) || !pager.command || pipe2(ends, O_CLOEXEC) != 0)
		return;
	fflush(NULL);
	pager.columns = screen_columns(STDOUT_FILENO);
	pager.pid = fork();
	if (pager.pid == 0)
		pager_exec(ends[0]);
	close(ends[0]);
	if (pager.pid > 0) {
		for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
			if (signal(signals[i], pager_on_signal) == SIG_IGN)
				signal(signals[i], SIG_IGN);
		if (isatty(STDERR_FILENO)) {
			pager.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
			dup2(ends[1], STDERR_FILENO);
		}
		dup2(ends[1], STDOUT_FILENO);
	}
	close(ends[1]);
	pager.pid = MAX(pager.pid, 0);
}

const char *screen_page_end(int status)
{
	if (!pager.pid)
		return NULL;
	pager.status = status;
	fflush(stdout);
	close(STDOUT_FILENO);
	if (pager.errors >= 0)
		dup2(pager.errors, STDERR_FILENO);
	status = pager_wait();
	pager.pid = 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? pager.command : NULL;
}
