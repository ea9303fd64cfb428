/* SPDX-License-Identifier: GPL-2.0-only */
/* crash.c - lttctl crash: list the snapshots of record --flight, or show the last events of one. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/macros.h"
#include "ctl/print/json.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/record/crashes.h"
#include "ctl/record/flight.h"

#define END_BYTES 80u

static enum status crash_run(struct ctl *ctl)
{
	struct json_object *crash;

	if (!operand(ctl, 0)) {
		ctl->record = json_object_new_object();
		json_set(ctl->record, "crashes", crashes_list());
		return STATUS_OK;
	}
	crash = crashes_find(ctl, operand(ctl, 0));
	if (!crash)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set(ctl->record, "last_events",
		   flight_last(json_str(crash, "directory"),
			       json_get(json_get(crash, "program"), "crash")));
	json_set(ctl->record, "crash", crash);
	return STATUS_OK;
}

/* The process that crashed if it is not the program itself. */
static const char *crash_program(struct json_object *crash)
{
	struct json_object *program = json_get(crash, "program");
	const char *process = json_str(json_get(program, "crash"), "name");

	return *process ? process :
	       json_len(program, "command") ?
			  json_object_get_string(json_at(program, "command", 0)) :
			  "?";
}

static const char *crash_time(struct json_object *crash, char buf[TEXT_BYTES])
{
	time_t seconds = (time_t)(json_num(crash, "time_ns") / 1000000000u);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(buf, TEXT_BYTES, "%F %T", &tm))
		buf[0] = '\0';
	return buf;
}

/* Signals are 1 to 64; strsignal() has a sentence for other numbers, too. */
static const char *crash_end(struct json_object *crash, char buf[END_BYTES])
{
	struct json_object *program = json_get(crash, "program");
	int signo = json_object_get_int(json_get(program, "signal"));

	if (signo)
		snprintf(buf, END_BYTES, "signal %d (%.50s)", signo, strsignal(signo));
	else if (json_get(json_get(program, "crash"), "name"))
		snprintf(buf, END_BYTES, "a crash");
	else
		snprintf(buf, END_BYTES, "exit status %" PRIu64,
			 json_num(program, "exit_status"));
	return buf;
}

static void crash_add_row(struct table *table, struct json_object *crash)
{
	char buf[TEXT_BYTES], end[END_BYTES];

	table_cell(table, "%s", crash_time(crash, buf));
	table_cell(table, "%s", crash_program(crash));
	table_cell(table, "%s", crash_end(crash, end));
	table_cell(table, "%s", text_count(buf, json_num(crash, "recorded")));
	table_cell(table, "%s", json_str(crash, "name"));
	table_cell(table, "%s", json_str(crash, "directory"));
}

static void crash_text_list(FILE *out, struct json_object *record)
{
	static const char *const heads[] = {
		"TIME", "PROGRAM", "END", "EVENTS", "NAME", "DIRECTORY"
	};
	struct table table = { .columns = "lllrll" };

	if (!json_len(record, "crashes")) {
		fputs("No program has failed under 'lttctl record --flight' yet.\n", out);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	for (size_t i = 0; i < json_len(record, "crashes"); i++)
		crash_add_row(&table, json_at(record, "crashes", i));
	table_print(out, &table);
}

static void crash_text(FILE *out, struct json_object *record)
{
	struct json_object *crash = json_get(record, "crash");
	struct json_object *program = json_get(crash, "program");
	uint64_t recorded = json_num(crash, "recorded");
	char buf[TEXT_BYTES], end[END_BYTES];

	if (!crash) {
		crash_text_list(out, record);
		return;
	}
	for (size_t i = 0; i < json_len(program, "command"); i++)
		fprintf(out, "%s%s", i ? " " : "",
			json_object_get_string(json_at(program, "command", i)));
	if (json_get(json_get(program, "crash"), "name"))
		fprintf(out, "\nThe process %s (pid %" PRIu64 "), which it started",
			json_str(json_get(program, "crash"), "name"),
			json_num(json_get(program, "crash"), "pid"));
	fprintf(out, "\nEnded at %s by %s", crash_time(crash, buf), crash_end(crash, end));
	fprintf(out, ", after %s\n", text_duration(buf, json_num(program, "duration_ns")));
	fprintf(out, "%s event%s in %s\n", text_count(buf, recorded), text_plural(recorded),
		json_str(crash, "directory"));
	flight_show(out, json_get(record, "last_events"), json_get(program, "crash"));
}

const struct verb verb_crash = {
	.name = "crash",
	.operands = "[NAME | PATH]",
	.help = "List what 'record --flight' has saved, or show the last events",
	.paged = true,
	.daemon = DAEMON_UNUSED,
	.max_operands = 1,
	.run = crash_run,
	.text = crash_text,
};
