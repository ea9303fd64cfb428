/* SPDX-License-Identifier: GPL-2.0-only */
/* trace.c - traces of applications: of a user, or of one process. */
#include "trace.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "base/mem.h"
#include "session.h"
#include "trace/metadata.h"

/* A process's name as part of a file name. */
static void file_name(const char *name, char *buf, size_t len)
{
	size_t n = 0;

	for (; *name && n < len - 1; name++) {
		unsigned char c = (unsigned char)*name;
		bool odd = c <= ' ' || c >= 0x7f || c == '/' || (c == '.' && n == 0);

		buf[n++] = odd ? '_' : (char)c;
	}
	buf[n] = '\0';
}

static char *process_path(const struct user_app *app, uint64_t trace)
{
	char name[64], when[32];
	time_t s = (time_t)(app->app.start_ns / 1000000000);
	struct tm tm = { 0 };
	uint32_t pid = app->app.pid > 0 ? (uint32_t)app->app.pid : app->app.vpid;

	localtime_r(&s, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	file_name(app->app.procname, name, sizeof(name));
	/* one process can register twice within a second (exec, a new daemon) */
	if (app->app.start_ns == 0)
		return xasprintf("ust/pid/%s-%u-%llu", name, pid, (unsigned long long)trace);
	return xasprintf("ust/pid/%s-%u-%s", name, pid, when);
}

static bool path_taken(const struct recording *rec, const char *path)
{
	const struct trace *trace;

	list_for_each(trace, &rec->traces, node)
		if (trace->path && strcmp(trace->path, path) == 0)
			return true;
	return false;
}

/* @process: NULL: the trace of a user. */
static char *choose_path(struct trace *trace, const struct user_app *process)
{
	char *path;

	if (!process)
		return xasprintf("ust/uid/%u/64-bit", trace->uid);
	path = process_path(process, trace->id);
	if (path_taken(trace->rec, path)) {
		char *other = xasprintf("%s-%llu", path, (unsigned long long)trace->id);

		free(path);
		path = other;
	}
	return path;
}

static void user_trace_describe(struct trace *trace, const struct user_app *process)
{
	const struct recording *rec = trace->rec;
	struct metadata_process facts_of_process = { 0 };
	struct metadata_trace facts = {
		.uuid = trace->uuid,
		.session = rec->session->name,
		.hostname = rec->recorder->config.hostname,
		.created_ns = rec->session->created_ns,
		.uid = trace->uid,
		.clock = rec->clock,
		.hides = rec->recorder->config.consumer->hides,
	};

	if (process) {
		facts_of_process.pid = process->app.vpid;
		facts_of_process.name = process->app.procname;
		facts_of_process.start_ns = process->app.start_ns;
		facts.process = &facts_of_process;
	}
	trace_append(trace, metadata_head(&facts));
}

void trace_describe(struct trace *trace)
{
	user_trace_describe(trace, NULL);
}

static struct trace *trace_new(struct user_session *us, uid_t uid, const struct user_app *process)
{
	struct trace *trace = trace_alloc(&us->rec, us->rec.recorder->next_id++, uid,
					  process ? process->app.id : 0);

	trace_open(trace, choose_path(trace, process));
	user_trace_describe(trace, process);
	return trace;
}

static bool per_process(const struct channel *channel)
{
	return channel->ownership == OWNERSHIP_PROCESS;
}

static struct trace *user_trace_find(struct user_session *us, uid_t uid, uint64_t app)
{
	struct trace *trace;

	list_for_each(trace, &us->rec.traces, node)
		if (trace->app == app && (app || trace->uid == uid))
			return trace;
	return NULL;
}

struct trace *trace_find(struct user_session *us, const struct user_app *app,
			 const struct channel *channel)
{
	return user_trace_find(us, app->app.uid, per_process(channel) ? app->app.id : 0);
}

struct trace *trace_get(struct user_session *us, struct user_app *app,
			const struct channel *channel)
{
	struct trace *trace = trace_find(us, app, channel);

	return trace ? trace : trace_new(us, app->app.uid, per_process(channel) ? app : NULL);
}

void trace_prepare(struct user_session *us)
{
	uid_t uid = us->rec.session->uid;
	struct trace *trace;
	struct channel *channel;

	list_for_each(channel, &us->rec.session->channels, node) {
		if (channel->domain != DOMAIN_USER || per_process(channel))
			continue;
		trace = user_trace_find(us, uid, 0);
		trace_channel_get(trace ? trace : trace_new(us, uid, NULL), channel, NULL);
	}
}
