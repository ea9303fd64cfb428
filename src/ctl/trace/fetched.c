/* SPDX-License-Identifier: GPL-2.0-only */
#include "fetched.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/tempdir.h"
#include "ctl/own.h"
#include "show/show.h"

bool fetched_is_url(const char *word)
{
	return strncmp(word, "s3://", 5) == 0 || strncmp(word, "file://", 7) == 0;
}

/* --- ltt-archive --------------------------------------------------------------------- */

#define WORDS 10

/* @more: options, or NULL. @ret: its standard output. Return: 0 or the code in ctl->err. */
static int fetched_start(struct ctl *ctl, char *const *more, const char *url, const char *dir,
			 pid_t *ret_pid, FILE **ret)
{
	AUTO_FREE char *program = own_program("ltt-archive");
	char *argv[WORDS] = { program, (char *)"--fetch", (char *)"--json" };
	posix_spawn_file_actions_t actions;
	size_t nr = 3;
	int fds[2], error;

	while (more && *more && nr < WORDS - 4)
		argv[nr++] = *more++;
	argv[nr++] = (char *)"--";
	argv[nr++] = (char *)url;
	argv[nr] = (char *)dir;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(&ctl->err, ERR_INTERNAL, errno, "can't make a pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	error = posix_spawnp(ret_pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	*ret = error ? NULL : fdopen(fds[0], "r");
	if (*ret)
		return 0;
	close(fds[0]);
	return err_errno(&ctl->err, ERR_INTERNAL, error ? error : errno,
			 "can't run ltt-archive, which comes with lttctl");
}

static int fetched_run(struct ctl *ctl, char *const *more, const char *url, const char *dir,
		       struct json_object **ret)
{
	AUTO_FREE char *line = NULL;
	struct json_object *sessions;
	FILE *from;
	size_t size = 0;
	pid_t pid;
	int status;

	if (fetched_start(ctl, more, url, dir, &pid, &from))
		return ctl->err.code;
	sessions = json_object_new_array();
	while (getline(&line, &size, from) > 0)
		json_object_array_add(sessions, json_tokener_parse(line));
	fclose(from);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (ret)
		*ret = json_object_get(sessions);
	json_object_put(sessions);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(&ctl->err, ERR_OUTPUT, "not all sessions below %s were fetched", url);
}

int fetched_into(struct ctl *ctl, const char *url, const char *dir, const struct view_select *times,
		 struct json_object **ret)
{
	AUTO_FREE char *begin = times && times->has_begin ?
					xasprintf("--begin=%" PRId64, MAX(times->begin_ns, 0)) :
					NULL;
	AUTO_FREE char *end = times && times->has_end ?
				      xasprintf("--end=%" PRId64, MAX(times->end_ns, 0)) :
				      NULL;
	char *const more[] = { begin ?: end, begin ? end : NULL, NULL };

	return fetched_run(ctl, more, url, dir, ret);
}

/* In a directory for the time of this process: a path for a trace; allocated, or NULL with ctl->err
 * set. */
static char *fetched_place(struct ctl *ctl)
{
	AUTO_FREE char *dir = NULL;

	if (tempdir_new("lttctl-fetch", &dir, &ctl->err))
		return NULL;
	return xasprintf("%s/trace", dir);
}

char *fetched_path(struct ctl *ctl, const char *url)
{
	AUTO_FREE char *place = fetched_place(ctl);

	return place && !fetched_into(ctl, url, place, NULL, NULL) ? TAKE(place) : NULL;
}

/* --- a part of it ---------------------------------------------------------------------- */

/* The first event that is no state dump may be in another stream than that with the first one: all
 * events before the first one that is found have to be there; where no stream begins with one, all
 * events. @ret: the path of a trace with them. */
static int fetched_origin(struct ctl *ctl, const char *url, const char *begins, char **ret)
{
	struct view_select until = { .has_end = true };
	AUTO_FREE char *place = NULL;

	if (show_origin(begins, false, &until.end_ns, &ctl->err))
		return ctl->err.code;
	place = fetched_place(ctl);
	if (!place || fetched_into(ctl, url, place, until.end_ns ? &until : NULL, NULL))
		return ctl->err.code;
	*ret = TAKE(place);
	return 0;
}

static bool is_offset(const char *time)
{
	return time && *time == '+';
}

int fetched_times(struct ctl *ctl, const char *url, const struct show_options *options,
		  struct view_select *ret)
{
	static char *const first[] = { (char *)"--begins", NULL };
	AUTO_FREE char *begins = NULL, *origin = NULL;

	if ((!options->begin || view_time_is_absolute(options->begin)) &&
	    (!options->end || view_time_is_absolute(options->end)))
		return show_times(NULL, options, ret, &ctl->err);
	begins = fetched_place(ctl);
	if (!begins || fetched_run(ctl, first, url, begins, NULL) ||
	    ((is_offset(options->begin) || is_offset(options->end)) &&
	     fetched_origin(ctl, url, begins, &origin)))
		return ctl->err.code;
	return show_times(origin ?: begins, options, ret, &ctl->err);
}

/* As view_parse_time() reads it, in place of the option's text. */
static void fetched_set_time(char **option, int64_t ns)
{
	free(*option);
	*option = xasprintf("%" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
}

char *fetched_part(struct ctl *ctl, const char *url, struct show_options *options)
{
	AUTO_FREE char *place = NULL;
	struct view_select times;

	if (fetched_times(ctl, url, options, &times))
		return NULL;
	place = fetched_place(ctl);
	if (!place || fetched_into(ctl, url, place, &times, NULL))
		return NULL;
	if (times.has_begin)
		fetched_set_time(&options->begin, times.begin_ns);
	if (times.has_end)
		fetched_set_time(&options->end, times.end_ns);
	return TAKE(place);
}
