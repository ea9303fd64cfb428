/* SPDX-License-Identifier: GPL-2.0-only */
/* crash.c - lttctl crash: list the snapshots of record --flight, or show the last events of one. */
#include <string.h>

#include "base/mem.h"
#include "ctl/print/json.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/record/crashes.h"
#include "ctl/record/flight.h"

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

/* Signals are 1 to 64; strsignal() has a sentence for other numbers, too. */
static void crash_name_signal(struct json_object *crash)
{
	struct json_object *program = json_get(crash, "program");
	int signo = json_object_get_int(json_get(program, "signal"));
	char *name AUTO_FREE = signo ? xasprintf("%.50s", strsignal(signo)) : NULL;

	if (name)
		json_set_str(program, "signal_name", name);
}

#define CRASH_END                                            \
	"[signal {program.signal?} ({program.signal_name})|" \
	"{?program.crash.name}a crash|exit status {program.exit_status}]"

static void crash_text_list(FILE *out, struct json_object *record)
{
	static const char *const cells[][2] = {
		{ "TIME", "{time_ns:d}" },
		/* the process that crashed if it is not the program itself */
		{ "PROGRAM", "[{program.crash.name?}|{program.command.0?}|?]" },
		{ "END", CRASH_END },
		{ "EVENTS", "{recorded:n}" },
		{ "NAME", "{name}" },
		{ "DIRECTORY", "{directory}" },
	};

	for (size_t i = 0; i < json_len(record, "crashes"); i++)
		crash_name_signal(json_at(record, "crashes", i));
	if (json_len(record, "crashes"))
		table_records(out, "lllrll", cells, json_get(record, "crashes"));
	else
		fputs("No program has failed under 'lttctl record --flight' yet.\n", out);
}

static void crash_text(FILE *out, struct json_object *record)
{
	struct json_object *crash = json_get(record, "crash");

	if (!crash) {
		crash_text_list(out, record);
		return;
	}
	crash_name_signal(crash);
	text_form(out, crash,
		  "{program.command:w}[\nThe process {program.crash.name?} (pid "
		  "{program.crash.pid}), which it started]\nEnded at {time_ns:d} by " CRASH_END
		  ", after {program.duration_ns:t}\n"
		  "{recorded:n} event{recorded:s} in {directory}\n");
	flight_show(out, json_get(record, "last_events"),
		    json_get(json_get(crash, "program"), "crash"));
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
