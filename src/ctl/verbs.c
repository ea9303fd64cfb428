/* SPDX-License-Identifier: GPL-2.0-only */
/* verbs.c - the list of all verbs. */
#include <string.h>

#include "base/macros.h"
#include "base/str.h"
#include "ctl.h"

extern const struct verb verb_record, verb_view, verb_calls, verb_report, verb_crash, verb_create,
	verb_set_session, verb_list, verb_verify, verb_sync, verb_status, verb_stats,
	verb_enable_channel, verb_disable_channel, verb_enable_event, verb_disable_event,
	verb_add_context, verb_track, verb_untrack, verb_regenerate, verb_snapshot, verb_start,
	verb_flush, verb_stop, verb_destroy, verb_save, verb_load, verb_spool, verb_recover,
	verb_doctor, verb_quota, verb_filter, verb_shutdown, verb_version, verb_help;

const struct verb *const verbs[] = {
	&verb_record,
	&verb_view,
	&verb_calls,
	&verb_report,
	&verb_verify,
	&verb_sync,
	&verb_crash,
	&verb_create,
	&verb_set_session,
	&verb_list,
	&verb_status,
	&verb_stats,
	&verb_enable_channel,
	&verb_disable_channel,
	&verb_enable_event,
	&verb_disable_event,
	&verb_add_context,
	&verb_track,
	&verb_untrack,
	&verb_regenerate,
	&verb_snapshot,
	&verb_start,
	&verb_flush,
	&verb_stop,
	&verb_destroy,
	&verb_save,
	&verb_load,
	&verb_spool,
	&verb_recover,
	&verb_doctor,
	&verb_quota,
	&verb_filter,
	&verb_shutdown,
	&verb_version,
	&verb_help,
	NULL,
};

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; verbs[i]; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

/* Words of other tools, and the verbs that do the same. */
static const struct {
	const char *verb, *words;
} synonyms[] = {
	{ "record", "run exec trace strace ltrace perf profile launch spawn" },
	{ "view", "show cat print dump read script replay tail babeltrace babeltrace2" },
	{ "verify", "check fsck validate test" },
	{ "sync", "flush fsync" },
	{ "crash", "crashes coredump coredumpctl post-mortem" },
	{ "create", "new make add init session" },
	{ "set-session", "use select switch" },
	{ "list", "ls sessions events tracepoints probes" },
	{ "status", "info state stat" },
	{ "stats", "count counts" },
	{ "enable-event", "attach enable event add-event probe" },
	{ "disable-event", "detach disable" },
	{ "add-context", "context" },
	{ "track", "pid follow" },
	{ "start", "resume continue begin" },
	{ "stop", "pause end halt suspend" },
	{ "destroy", "rm del delete remove drop" },
	{ "save", "store backup" },
	{ "load", "import" },
	{ "recover", "repair restore" },
	{ "doctor", "diagnose debug why" },
	{ "quota", "limit limits" },
	{ "shutdown", "kill quit exit" },
};

/* Whether a list of words, which blanks separate, has @word. */
static bool has_synonym(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return len > 0;
	return false;
}

const char *verb_near(const char *name)
{
	const char *names[ARRAY_SIZE(verbs)];

	for (size_t i = 0; i < ARRAY_SIZE(synonyms); i++)
		if (has_synonym(synonyms[i].words, name))
			return synonyms[i].verb;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i] ? verbs[i]->name : NULL;
	return nearest_word(name, names);
}

/* Verbs of other tracers, whose purpose is an option of a verb here. */
static const struct {
	const char *name, *sentence;
} elsewhere[] = {
	{ "export", "a trace is a directory of CTF, which babeltrace2 and Trace Compass open; 'lttctl "
		    "view' prints it as text" },
	{ "flame", "'lttctl calls' shows the calls of functions, by their callers" },
	{ "flamegraph", "'lttctl calls' shows the calls of functions, by their callers" },
	{ "graph", "'lttctl calls' shows the calls of functions, by their callers" },
	{ "histogram", "'lttctl enable-event --histogram=FIELD' counts the sizes of a field, and 'lttctl "
		       "stats' shows them" },
	{ "latency", "'lttctl view --durations' has the time of each call, 'lttctl view "
		     "--pair=BEGIN,END' that between two events" },
	{ "live", "'lttctl view --live' follows a session while it is recorded" },
	{ "query", "'lttctl view --where=EXPRESSION' chooses events by their fields" },
	{ "top", "'lttctl report' shows the events, locks and allocations of a trace, the most first" },
};

const char *verb_elsewhere(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (strcmp(elsewhere[i].name, name) == 0)
			return elsewhere[i].sentence;
	return NULL;
}

/* LTTng's verbs that are not there yet. */
static const struct {
	const char *name, *sentence;
} later[] = {
	{ "add-map-channel", "maps are not there yet; events can be recorded (enable-event)" },
	{ "add-trigger", "triggers are not there yet" },
	{ "clear", "traces can't be emptied yet; destroy the session and create it again" },
	{ "disable-rotation", "traces can't be rotated yet" },
	{ "enable-rotation", "traces can't be rotated yet; 'lttctl enable-channel "
			     "--tracefile-size' bounds their files" },
	{ "export-maps", "maps are not there yet" },
	{ "list-triggers", "triggers are not there yet" },
	{ "metadata", "nothing can be regenerated yet; metadata is always complete" },
	{ "reclaim-memory", "buffers can't be shrunk yet; 'lttctl destroy' frees them" },
	{ "remove-trigger", "triggers are not there yet" },
	{ "rotate", "traces can't be rotated yet; 'lttctl view' reads one while it is recorded" },
	{ "show-maps", "maps are not there yet" },
};

const char *verb_later(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(later); i++)
		if (strcmp(later[i].name, name) == 0 && !verb_find(name))
			return later[i].sentence;
	return NULL;
}

void verb_list_later(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(later); i++)
		if (!verb_find(later[i].name))
			fprintf(out, "%s: %s\n", later[i].name, later[i].sentence);
}
