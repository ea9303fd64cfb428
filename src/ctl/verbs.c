/* SPDX-License-Identifier: GPL-2.0-only */
/* verbs.c - the list of all verbs. */
#include <string.h>

#include "base/macros.h"
#include "base/str.h"
#include "ctl.h"

#define GROUP(title)
#define VERB(name) extern const struct verb verb_##name;
#include "verbs.def"
#undef VERB

#define VERB(name) &verb_##name,
const struct verb *const verbs[] = {
#include "verbs.def"
	NULL
};
#undef VERB
#undef GROUP

/* A title stands in front of the first verb of its group. */
static const struct {
	const char *title;
	const struct verb *verb;
} verb_rows[] = {
#define GROUP(title) { title, NULL },
#define VERB(name) { NULL, &verb_##name },
#include "verbs.def"
#undef VERB
#undef GROUP
};

const char *verb_group(const struct verb *verb)
{
	for (size_t i = 1; i < ARRAY_SIZE(verb_rows); i++)
		if (verb_rows[i].verb == verb)
			return verb_rows[i - 1].title;
	return NULL;
}

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
	{ "view", "show cat print read babeltrace babeltrace2" },
	{ "fetch", "download get unarchive" },
	{ "verify", "check fsck validate test" },
	{ "sync", "flush fsync" },
	{ "crash", "crashes coredump coredumpctl post-mortem" },
	{ "create", "new make add init session" },
	{ "set-session", "use select switch" },
	{ "list", "ls sessions events tracepoints probes" },
	{ "status", "info state" },
	{ "stats", "count counts" },
	{ "enable-event", "enable event add-event probe" },
	{ "disable-event", "disable" },
	{ "add-context", "context" },
	{ "track", "pid" },
	{ "start", "resume continue begin" },
	{ "stop", "pause end halt suspend" },
	{ "destroy", "rm del delete remove drop" },
	{ "rotate", "archive rotation" },
	{ "clear", "empty truncate reset" },
	{ "save", "store backup" },
	{ "load", "import" },
	{ "recover", "repair restore" },
	{ "doctor", "diagnose debug why" },
	{ "quota", "limit limits" },
	{ "shutdown", "kill quit exit" },
};

/* Whether a list of words, which blanks separate, has @word. */
static bool words_have(const char *words, const char *word)
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
		if (words_have(synonyms[i].words, name))
			return synonyms[i].verb;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i] ? verbs[i]->name : NULL;
	return nearest_word(name, names);
}

/* Words of other tools, whose purpose is an option of a verb here. */
static const struct {
	const char *words, *sentence;
} elsewhere[] = {
	{ "attach",
	  "'lttctl record --pid=PID' records a program that runs already, with '--for=10s' for "
	  "this time" },
	{ "detach", "'lttctl stop' ends the recording of a session, Ctrl-C that of 'lttctl record "
		    "--pid=PID'" },
	{ "dump", "'lttctl view' prints a trace as text, 'lttctl view --json' as objects" },
	{ "convert",
	  "a trace is a directory of CTF, which babeltrace2 and Trace Compass open; 'lttctl "
	  "export' writes other formats" },
	{ "flamegraph graph callgraph",
	  "'lttctl flame' draws the stacks of a trace, and 'lttctl calls' shows the calls of "
	  "functions, by their callers" },
	{ "follow monitor",
	  "'lttctl status --follow' reports the changes of a session, 'lttctl view "
	  "--follow' its events" },
	{ "grep search find",
	  "'lttctl view --events=PATTERN' chooses events by their names, 'lttctl view "
	  "--where=EXPRESSION' by their fields" },
	{ "histogram hist",
	  "'lttctl enable-event --histogram=FIELD' counts the sizes of a field, and "
	  "'lttctl stats' shows them" },
	{ "live tail",
	  "'lttctl view --follow' follows a trace while it is written, '--live' a session at a "
	  "relay" },
	{ "lock locks contention",
	  "'lttctl record --wrap=pthread' records the locks of a program, and "
	  "'lttctl report' and 'lttctl latency locks' show its waits for them" },
	{ "log logs journal",
	  "'lttctl view' shows the events of a trace, 'lttctl doctor' the problems of "
	  "the daemons" },
	{ "mem memory malloc leak leaks",
	  "'lttctl record --wrap=libc' records the allocations of a program, "
	  "and 'lttctl report --memory' sums them up" },
	{ "flight black-box blackbox",
	  "'lttctl recorder on' keeps the last events of all programs, and 'lttctl record --flight' "
	  "those of a program until it crashes" },
	{ "replay",
	  "a trace is shown, not run again: 'lttctl view' prints its events in the order of "
	  "time" },
	{ "script",
	  "'lttctl view' prints each event as text, and 'lttctl view --json' as an object for "
	  "a script" },
	{ "slow slowest percentiles quantiles",
	  "'lttctl latency' shows how long things took, and the slowest, 'lttctl why' their causes" },
	{ "stat summary",
	  "'lttctl report' shows what a trace has, 'lttctl status' how a recording goes, "
	  "'lttctl stats' what was counted" },
	{ "syscalls",
	  "'lttctl enable-event --kernel --syscall' records system calls, and 'lttctl "
	  "latency syscalls' shows how long they took" },
	{ "top",
	  "'lttctl report' shows the events, locks and allocations of a trace, the most first" },
};

const char *verb_elsewhere(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (words_have(elsewhere[i].words, name))
			return elsewhere[i].sentence;
	return NULL;
}

/* Options of other tools: the verbs that may be given them, and how their purpose is reached. */
static const struct {
	const char *verbs, *options, *sentence;
} options_elsewhere[] = {
	{ "record", "-d --duration --time --timeout --sleep",
	  "'lttctl record --for=10s' ends the recording after this time; 'lttctl record -- timeout "
	  "10 PROGRAM' ends the program" },
	{ "record", "--attach --tgid",
	  "'lttctl record --pid=PID' records a program that runs already" },
	{ "record", "--all-cpus",
	  "'lttctl record --kernel' records all CPUs while the program runs" },
	{ "record", "--call-graph --graph",
	  "'lttctl record --wrap=cyg-profile' records the calls of functions, and 'lttctl calls' shows "
	  "them, 'lttctl flame' as a picture" },
	{ "record", "-F --freq --frequency",
	  "no samples are taken, each event is recorded; 'lttctl enable-event --sample=1/N' records one "
	  "of N" },
	{ "record", "--live",
	  "'lttctl create --live' makes a session that 'lttctl view --live' "
	  "follows while it is recorded" },
	{ "view report calls flame verify", "-i --input",
	  "the trace is an operand: its session or its directory, as in 'lttctl view DIR'" },
	{ "view report calls flame", "--since",
	  "'lttctl view --begin=TIME' shows the events from this time on" },
	{ "view report calls flame", "--until",
	  "'lttctl view --end=TIME' shows the events up to this time" },
	{ "view report calls flame", "--pid --comm",
	  "'lttctl view --process=PID' shows the events of a process, by "
	  "its id or its name" },
	{ "view report calls flame", "--tid",
	  "'lttctl view --thread=TID' shows the events of a thread, by its id "
	  "or its name" },
	{ "view", "--tail",
	  "'lttctl view --follow' follows a trace while it is written, '--live' a session at a "
	  "relay" },
	{ "add-trigger", "--path --url --ctrl-url --data-url",
	  "snapshots of triggers are written below the output of their session" },
	{ "add-trigger", "-L --location -E --event-name",
	  "there are no triggers on probes yet; 'lttctl enable-event -k --probe' records them" },
	{ "view", "--format",
	  "'lttctl view' prints text, 'lttctl view --json' an object for each event; 'lttctl export' "
	  "writes other formats" },
	{ "view", "-o --output",
	  "the answer is on standard output: 'lttctl view > FILE' stores it" },
};

const char *verb_option_elsewhere(const char *verb, const char *option)
{
	for (size_t i = 0; i < ARRAY_SIZE(options_elsewhere); i++)
		if (words_have(options_elsewhere[i].options, option) &&
		    words_have(options_elsewhere[i].verbs, verb))
			return options_elsewhere[i].sentence;
	return NULL;
}

/* LTTng's verbs that are not there yet. */
static const struct {
	const char *name, *sentence;
} later[] = {
	{ "metadata", "'regenerate metadata' does it; it is always complete" },
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
