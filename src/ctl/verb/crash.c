/* SPDX-License-Identifier: GPL-2.0-only */
/* crash.c - lttctl crash: list the snapshots of programs that crashed, or show the last events of
 * one; put ltt-crash into core_pattern. */
#include <string.h>

#include "base/mem.h"
#include "ctl/crash/install.h"
#include "ctl/crash/save.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/record/crashes.h"
#include "ctl/record/flight.h"

static struct {
	int install, uninstall, status, save;
	char *keep, *at_most;
} opt;

static struct crash_settings wanted;

static const struct poptOption options[] = {
	OPTION_FLAG("install", 0, &opt.install,
		    "save the events of each program of the machine that crashes"),
	OPTION_TEXT("keep", 0, &opt.keep,
		    "with --install: snapshots of each user that stay (default: 20)", "N"),
	OPTION_TEXT("at-most", 0, &opt.at_most,
		    "with --install: snapshots of one program in a period (default: 12/h)",
		    "N/PERIOD"),
	OPTION_FLAG("uninstall", 0, &opt.uninstall, "restore the machine's core_pattern"),
	OPTION_FLAG("status", 0, &opt.status, "show whether it is installed"),
	OPTION_FLAG("save", 0, &opt.save, "save a crash whose facts ltt-crash gives"),
	POPT_TABLEEND,
};

static enum status crash_check(struct ctl *ctl)
{
	int actions = opt.install + opt.uninstall + opt.status + opt.save;

	if (actions > 1)
		err_set(&ctl->err, ERR_INVALID,
			"--install, --uninstall, --status and --save exclude each other");
	else if (actions && operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID,
			"'%s': --install, --uninstall, --status and --save have no operand",
			operand(ctl, 0));
	else if (!opt.install && (opt.keep || opt.at_most))
		err_set(&ctl->err, ERR_INVALID, "--keep and --at-most go with --install");
	else if (opt.keep && crash_settings_parse_keep(opt.keep, &wanted) != 0)
		err_set(&ctl->err, ERR_INVALID, "--keep=%s: this is not a number from 1 to %u",
			opt.keep, CRASH_MOST);
	else if (opt.at_most && crash_settings_parse_rate(opt.at_most, &wanted) != 0)
		err_set(&ctl->err, ERR_INVALID,
			"--at-most=%s: this is not a number up to %u in a period, such as 12/h or "
			"3/10m",
			opt.at_most, CRASH_MOST);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status crash_run(struct ctl *ctl)
{
	struct json_object *crash;

	if (opt.install)
		return crash_install(ctl, &wanted);
	if (opt.uninstall)
		return crash_uninstall(ctl);
	if (opt.status)
		return crash_status(ctl);
	if (opt.save)
		return crash_save(ctl);
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
		fputs("No program has failed under 'lttctl record --flight' yet, and 'lttctl crash "
		      "--install' has saved none.\n",
		      out);
}

static void crash_text(FILE *out, struct json_object *record)
{
	struct json_object *crash = json_get(record, "crash");

	if (json_get(record, "helper")) {
		crash_install_text(out, record);
		return;
	}
	if (!crash) {
		crash_text_list(out, record);
		return;
	}
	crash_name_signal(crash);
	text_form(out, crash,
		  "{program.command:w}[\nThe process {program.crash.name?} (pid "
		  "{program.crash.pid}), which it started]\nEnded at {time_ns:d} by " CRASH_END
		  "[, after {program.duration_ns:t?}]\n"
		  "{recorded:n} event{recorded:s} in {directory}\n"
		  "[{machine.joined:n?} more at that time: their events are in the same "
		  "directory\n]"
		  "[Core of process {program.crash.pid}: {machine.core?}\n]");
	flight_show(out, json_get(record, "last_events"),
		    json_get(json_get(crash, "program"), "crash"));
}

const struct verb verb_crash = {
	.name = "crash",
	.operands = "[NAME | PATH]",
	.help = "List crashes whose events were saved, or show the last events of one",
	.options = options,
	.paged = true,
	.daemon = DAEMON_UNUSED,
	.max_operands = 1,
	.check = crash_check,
	.run = crash_run,
	.text = crash_text,
};
