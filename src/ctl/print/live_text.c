/* SPDX-License-Identifier: GPL-2.0-only */
#include "live_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

/* --- lines ----------------------------------------------------------------------------- */

#define MAX_GROUPS 8
#define TASK_BYTES 128 /* a longer process and thread is cut */
#define TASK_WIDTH_MAX 48

/** A part of a line. */
struct part {
	const char *at;
	size_t len;
};

/** "{ cpu_id = 0 }, { vpid = 1, vtid = 2 }, { fields }" */
struct groups {
	struct part all[MAX_GROUPS]; /* without the braces */
	unsigned int nr;
};

/* Length of a value or group, which ends with one of @ends outside of strings and braces. */
static size_t live_text_span(const char *at, const char *ends)
{
	unsigned int depth = 0;
	bool quoted = false;
	size_t i = 0;

	for (; at[i] && (quoted || depth || !strchr(ends, at[i])); i++) {
		if (quoted && at[i] == '\\' && at[i + 1])
			i++;
		else if (at[i] == '"')
			quoted = !quoted;
		else if (!quoted && strchr("{[(", at[i]))
			depth++;
		else if (!quoted && depth && strchr("}])", at[i]))
			depth--;
	}
	return i;
}

/* Return: whether the line ends with groups, from @at on. */
static bool live_text_split(const char *at, struct groups *ret)
{
	for (ret->nr = 0; ret->nr < MAX_GROUPS; ret->nr++) {
		size_t len;

		if (*at != '{')
			return false;
		at++;
		len = live_text_span(at, "}");
		ret->all[ret->nr] = (struct part){ at, len };
		if (at[len] != '}')
			return false;
		at += len + 1;
		if (*at == '\n' || *at == '\0')
			return ++ret->nr;
		if (strncmp(at, ", ", 2) != 0)
			return false;
		at += 2;
	}
	return false;
}

/* The next "name = value" of a group. Return: false: there is none. */
static bool live_text_next(struct part *left, struct part *ret_name, struct part *ret_value)
{
	const char *equal;
	size_t len;

	while (left->len && strchr(" ,", *left->at)) {
		left->at++;
		left->len--;
	}
	equal = left->len ? memmem(left->at, left->len, " = ", 3) : NULL;
	if (!equal)
		return false;
	*ret_name = (struct part){ left->at, (size_t)(equal - left->at) };
	len = live_text_span(equal + 3, ",}");
	while (len && equal[3 + len - 1] == ' ')
		len--;
	*ret_value = (struct part){ equal + 3, len };
	len += (size_t)(equal + 3 - left->at);
	left->at += MIN(len, left->len);
	left->len -= MIN(len, left->len);
	return true;
}

static bool live_text_is(const struct part *part, const char *text)
{
	return part->len == strlen(text) && memcmp(part->at, text, part->len) == 0;
}

struct live_task {
	struct part name, pid, tid;
};

/* Return: where the member of a context belongs; NULL: it is none of them. */
static struct part *live_text_place(struct live_task *task, const struct part *name)
{
	if (live_text_is(name, "procname"))
		return &task->name;
	if (live_text_is(name, "vpid") || live_text_is(name, "pid"))
		return &task->pid;
	if (live_text_is(name, "vtid") || live_text_is(name, "tid"))
		return &task->tid;
	return NULL;
}

static void live_text_find(const struct groups *groups, struct live_task *ret)
{
	struct part name, value;

	*ret = (struct live_task){ 0 };
	for (unsigned int i = 0; i + 1 < groups->nr; i++)
		for (struct part left = groups->all[i]; live_text_next(&left, &name, &value);) {
			struct part *place = live_text_place(ret, &name);

			if (place && !place->at)
				*place = value;
		}
}

static unsigned int live_text_put_task(const struct live_task *task, unsigned int width)
{
	struct part name = task->name;
	char text[TASK_BYTES] = "";
	size_t len = 0;

	if (name.len >= 2 && *name.at == '"')
		name = (struct part){ name.at + 1, name.len - 2 };
	if (task->pid.at || task->tid.at)
		snprintf(text, sizeof(text), "%.*s[%.*s%s%.*s]", (int)name.len, name.at,
			 (int)task->pid.len, task->pid.at ? task->pid.at : "",
			 task->tid.at ? ":" : "", (int)task->tid.len,
			 task->tid.at ? task->tid.at : "");
	else
		snprintf(text, sizeof(text), "%.*s", (int)name.len, name.at ? name.at : "");
	for (const char *at = text; *at; at++)
		len += (*at & 0xc0) != 0x80;
	width = len > width ? MIN((unsigned int)len, TASK_WIDTH_MAX) : width;
	if (width)
		printf("%s%*s ", text, len < width ? (int)(width - len) : 0, "");
	return width;
}

/* A context without the members that are in front of the event. */
static void live_text_put_context(struct part left, bool *comma)
{
	struct live_task unused;
	struct part name, value;
	unsigned int nr = 0;

	while (live_text_next(&left, &name, &value)) {
		if (live_text_place(&unused, &name))
			continue;
		printf("%s%.*s = %.*s",
		       nr++   ? ", " :
		       *comma ? ", { " :
				"{ ",
		       (int)name.len, name.at, (int)value.len, value.at);
	}
	if (nr)
		fputs(" }", stdout);
	*comma = *comma || nr;
}

/* @width: columns of the widest process and thread so far. */
static void live_text_put_line(const char *line, unsigned int *width)
{
	const char *groups_at = strstr(line, ": {"), *event = groups_at;
	struct groups groups;
	struct live_task task;
	bool comma = false;

	if (!groups_at || *line != '[' || !live_text_split(groups_at + 2, &groups)) {
		fputs(line, stdout); /* not an event */
		return;
	}
	live_text_find(&groups, &task);
	while (event > line && event[-1] != ' ')
		event--;
	printf("%.*s", (int)(event - line), line);
	*width = live_text_put_task(&task, *width);
	printf("%.*s: ", (int)(groups_at - event), event);
	for (unsigned int i = 0; i + 1 < groups.nr; i++)
		live_text_put_context(groups.all[i], &comma);
	printf("%s{%.*s}\n", comma ? ", " : "", (int)groups.all[groups.nr - 1].len,
	       groups.all[groups.nr - 1].at);
}

static void live_text_copy(int fd)
{
	FILE *file = fdopen(fd, "r");
	unsigned int width = 0;
	char *line AUTO_FREE = NULL;
	size_t size = 0;

	if (!file)
		return;
	while (getline(&line, &size, file) > 0 && !ferror(stdout)) {
		live_text_put_line(line, &width);
		fflush(stdout);
	}
	fclose(file);
}

/* --- the viewer ------------------------------------------------------------------------ */

static pid_t live_text_viewer;

/* A signal that the terminal sent, it has sent to the viewer as well. */
static void live_text_on_signal(int signo, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0)
		kill(live_text_viewer, signo);
}

static void live_text_signals(void)
{
	struct sigaction end = { .sa_sigaction = live_text_on_signal,
				 .sa_flags = SA_RESTART | SA_SIGINFO };

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
}

static void live_text_exec(char *const argv[], void (*sigpipe)(int), int out, int report)
{
	int error;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, sigpipe);
	dup2(out, STDOUT_FILENO);
	execvp(argv[0], argv);
	error = errno;
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int live_text_status(void)
{
	int status = 0;

	while (waitpid(live_text_viewer, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int live_text_run(char *const argv[], void (*sigpipe)(int), struct err *err)
{
	int out[2], report[2], error = 0;

	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0)
		return err_errno(err, ERR_INTERNAL, errno, "can't make a pipe"), -1;
	fflush(NULL);
	live_text_viewer = fork();
	if (live_text_viewer == 0)
		live_text_exec(argv, sigpipe, out[1], report[1]);
	if (live_text_viewer > 0)
		live_text_signals();
	close(out[1]);
	close(report[1]);
	if (live_text_viewer > 0 && read(report[0], &error, sizeof(error)) == 0)
		live_text_copy(out[0]);
	close(report[0]);
	if (live_text_viewer < 0 || error) {
		err_errno(err, ERR_INVALID, error ? error : EAGAIN, "the viewer '%s' can't be run",
			  argv[0]);
		return -1;
	}
	return live_text_status();
}
