/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.c - lttctl recorder on|off|status: a session for snapshots of all programs, and of the
 * kernel, that stays on, also after a boot.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/session/create.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/show.h"
#include "ctl/print/text.h"
#include "ctl/recorder/boot.h"
#include "ctl/recorder/channel.h"
#include "ctl/recorder/cost.h"
#include "ctl/recorder/figures.h"
#include "io/paths.h"

#define SESSION "recorder"
#define SUBBUFS 16u
#define SUBBUF_LEAST 4096u
#define SIZE_DEFAULT (16u << 20)
#define PERIOD_NS 1000000000u
#define LOADING_TRIES 100
#define LOADING_US 100000

/* Cheap, and enough to see which thread waited, and which one ended its wait. System calls are not
 * among them: while one is recorded, all calls of all processes take a slower way. */
#define KERNEL_EVENTS \
	"sched_switch,sched_waking,irq_handler_entry,irq_handler_exit,block_rq_issue,block_rq_complete"

static struct {
	char *size, *kernel_events, *output;
	int no_kernel, no_boot;
} opt;

static uint64_t subbuf_size = SIZE_DEFAULT / SUBBUFS;

static const struct poptOption options[] = {
	OPTION_TEXT("size", 0, &opt.size,
		    "with on: buffer of each CPU, for the programs of each user and for the kernel "
		    "(default: 16M)",
		    "SIZE"),
	OPTION_TEXT("kernel-events", 0, &opt.kernel_events,
		    "with on: these events of the kernel, not the default ones", "NAME[,...]"),
	OPTION_FLAG("no-kernel", 0, &opt.no_kernel, "with on: only programs"),
	OPTION_TEXT("output", 'o', &opt.output, "with on: directory for snapshots", "DIR"),
	OPTION_FLAG("no-boot", 0, &opt.no_boot, "with on: not again after a boot"),
	POPT_TABLEEND,
};

static bool recorder_is(const struct ctl *ctl, const char *action)
{
	return operand(ctl, 0) && strcmp(operand(ctl, 0), action) == 0;
}

static enum status recorder_check(struct ctl *ctl)
{
	bool on = recorder_is(ctl, "on");
	uint64_t size = SIZE_DEFAULT;

	if (!operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID,
			"missing argument: use lttctl recorder on, off or status");
	else if (!on && !recorder_is(ctl, "off") && !recorder_is(ctl, "status"))
		err_set(&ctl->err, ERR_INVALID,
			"'%s' is nothing that the recorder does: use lttctl recorder on, off or status; "
			"'lttctl snapshot record -s " SESSION "' writes its last events",
			operand(ctl, 0));
	else if (!on &&
		 (opt.size || opt.kernel_events || opt.no_kernel || opt.output || opt.no_boot))
		err_set(&ctl->err, ERR_INVALID, "options are for 'lttctl recorder on'");
	else if (opt.no_kernel && opt.kernel_events)
		err_set(&ctl->err, ERR_INVALID,
			"--no-kernel and --kernel-events exclude each other");
	else if (opt.size && (parse_size(opt.size, &size) != 0 || !size))
		err_set(&ctl->err, ERR_INVALID,
			"--size=%s: this is not a size, such as 67108864, 64M or 1G", opt.size);
	else if (size / SUBBUFS < SUBBUF_LEAST)
		err_set(&ctl->err, ERR_INVALID, "--size=%s: a buffer has %u KiB at least", opt.size,
			SUBBUFS * SUBBUF_LEAST / 1024);
	subbuf_size = round_up_pow2(size / SUBBUFS + 1) / 2;
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* --- the session --------------------------------------------------------------------- */

/* The caller's: root sees those of other users, too. A session daemon that has just started may
 * still load it. @ret: NULL: there is none. Return: 0 or the code in ctl->err. */
static int recorder_find(struct ctl *ctl, struct json_object **ret)
{
	struct ltt_ctl_sessions *list;
	bool loading = true;

	*ret = NULL;
	for (int i = 0; i < LOADING_TRIES && loading; i++) {
		if (i > 0)
			usleep(LOADING_US);
		json_object_put(TAKE(*ret));
		if (ctl_done(ctl, ltt_ctl_find(ctl->library, SESSION, &list), &ctl->err) != 0)
			return ctl->err.code;
		for (size_t k = 0; k < list->nr && !*ret; k++)
			if (list->sessions[k]->uid == geteuid())
				*ret = json_session(list->sessions[k]);
		loading = list->loading;
		ltt_ctl_sessions_free(list);
	}
	if (*ret && !json_flag(*ret, "snapshots"))
		err_set(&ctl->err, ERR_SESSION_EXISTS,
			"there is a session '" SESSION
			"' that is no recorder: use 'lttctl destroy " SESSION "' to end it");
	return ctl->err.code;
}

/* Without the module, or the right to use it: programs alone. Events that the user has named must
 * exist. */
static int recorder_add_kernel(struct ctl *ctl)
{
	const char *events = opt.kernel_events ? opt.kernel_events : KERNEL_EVENTS;
	struct err err = { 0 };

	if (opt.no_kernel)
		return 0;
	if (channel_make(ctl, SESSION, LTT_CTL_KERNEL, subbuf_size, SUBBUFS, &err) != 0) {
		if (!ctl_is_connected(ctl) || err.code == ERR_LIMIT)
			ctl->err = err;
		else
			print_note(ctl, "the kernel is not recorded: %s", err.text);
		return ctl->err.code;
	}
	cost_measure(ctl, events);
	return channel_record(ctl, SESSION, LTT_CTL_KERNEL, events, &ctl->err);
}

static int recorder_start(struct ctl *ctl)
{
	return ctl_done(ctl, ltt_ctl_start(ctl->library, SESSION, NULL), &ctl->err);
}

/* Of programs that are not recorded, or an output that fails. */
static enum status recorder_warn(struct ctl *ctl, struct json_object *session)
{
	const char *problem = json_str(session, "problem");

	if (*problem)
		print_warning(ctl, "%s", problem);
	return *problem ? STATUS_WARNING : STATUS_OK;
}

static int recorder_fill(struct ctl *ctl)
{
	if (channel_make(ctl, SESSION, LTT_CTL_USER, subbuf_size, SUBBUFS, &ctl->err) != 0 ||
	    channel_record(ctl, SESSION, LTT_CTL_USER, "*", &ctl->err) != 0 ||
	    recorder_add_kernel(ctl) != 0)
		return ctl->err.code;
	return recorder_start(ctl);
}

static int recorder_make(struct ctl *ctl)
{
	struct created created CLEANUP(created_fini) = { 0 };
	struct ltt_ctl_create_options o;

	ltt_ctl_create_options_init(&o);
	o.name = SESSION;
	o.output = opt.output;
	o.snapshots = 1;
	cost_measure(ctl, NULL);
	if (create_session(ctl, &o, &created) != 0)
		return ctl->err.code;
	if (recorder_fill(ctl) != 0) {
		(void)!ltt_ctl_destroy(ctl->library, SESSION, 0, NULL);
		ltt_ctl_discard(ctl->library);
	}
	return ctl->err.code;
}

/* --- on --------------------------------------------------------------------------------- */

static bool recorder_has_events(struct json_object *channel)
{
	struct names names CLEANUP(names_fini) = { 0 };
	size_t found = 0;

	names_split(opt.kernel_events, &names);
	for (size_t i = 0; i < json_len(channel, "rules"); i++)
		for (size_t k = 0; k < names.nr; k++)
			found += strcmp(json_str(json_at(channel, "rules", i), "pattern"),
					names.names[k]) == 0;
	return found == names.nr && found == json_len(channel, "rules");
}

/* The option that the recorder, which is on, does not have; NULL: none. @shown: of show_fetch(). */
static const char *recorder_differs(struct json_object *shown)
{
	struct json_object *kernel = NULL;

	for (size_t i = 0; i < json_len(shown, "channels"); i++) {
		struct json_object *c = json_at(shown, "channels", i);

		if (opt.size && json_num(c, "subbuf_size") != subbuf_size)
			return "size";
		if (strcmp(json_str(c, "domain"), "kernel") == 0)
			kernel = c;
	}
	if (opt.no_kernel && kernel)
		return "no-kernel";
	if (opt.kernel_events && !(kernel && recorder_has_events(kernel)))
		return "kernel-events";
	return NULL;
}

/* @session: the record of the session that there is. */
static int recorder_resume(struct ctl *ctl, struct json_object *session)
{
	struct json_object *shown AUTO_RECORD = NULL;
	const char *option;

	if (show_fetch(ctl, SESSION, &shown, &ctl->err) != 0)
		return ctl->err.code;
	option = recorder_differs(shown);
	if (!option && opt.output && strcmp(opt.output, json_str(session, "output")) != 0)
		option = "output";
	if (option)
		return err_set(
			&ctl->err, ERR_SESSION_EXISTS,
			"the recorder is on, with another --%s: use 'lttctl recorder off' first; "
			"the events that it has now are lost then",
			option);
	if (strcmp(json_str(session, "state"), "recording") == 0)
		return 0;
	return recorder_start(ctl);
}

/* A session daemon loads the files of its own user alone. */
static int recorder_set_boot(struct ctl *ctl)
{
	bool begins = boot_is_set(), unit = begins;
	int code = 0;

	if (opt.no_boot) {
		(void)boot_unset(ctl);
		begins = false;
	} else if (!begins && geteuid() != 0 &&
		   paths_is_system(ltt_ctl_daemon(ctl->library)->rundir)) {
		print_note(ctl,
			   "the session daemon is root's: after a boot, the recorder of another "
			   "user does not begin again");
	} else if (!begins) {
		code = boot_set(ctl, SESSION, &unit);
		begins = code == 0;
	}
	json_set_bool(ctl->record, "begins_again", begins);
	return code;
}

/* The buffers of programs are made when these record. */
static void recorder_describe(struct ctl *ctl, struct json_object *shown)
{
	json_set_str(ctl->record, "session", SESSION);
	json_set_str(ctl->record, "output", json_str(shown, "output"));
	json_set_num(ctl->record, "size",
		     json_num(json_at(shown, "channels", 0), "subbuf_size") *
			     json_num(json_at(shown, "channels", 0), "num_subbuf"));
	json_set_bool(ctl->record, "has_kernel", json_len(shown, "channels") > 1);
}

static enum status recorder_on(struct ctl *ctl)
{
	struct json_object *session AUTO_RECORD = NULL, *shown AUTO_RECORD = NULL;

	if (ctl_connect(ctl, DAEMON_STARTED) != 0 || recorder_find(ctl, &session) != 0)
		return STATUS_ERROR;
	if ((session ? recorder_resume(ctl, session) : recorder_make(ctl)) != 0 ||
	    show_fetch(ctl, SESSION, &shown, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "action", "on");
	json_set_bool(ctl->record, "was_on", session);
	recorder_describe(ctl, shown);
	if (recorder_set_boot(ctl) != 0)
		return STATUS_ERROR;
	return recorder_warn(ctl, shown);
}

/* --- off ---------------------------------------------------------------------------------- */

/* Its file first: a session daemon that starts now does not load it again. */
static enum status recorder_off(struct ctl *ctl)
{
	struct json_object *session AUTO_RECORD = NULL;
	bool was_set = boot_unset(ctl);
	const char *output;

	if (ctl_connect(ctl, DAEMON_WELCOME) != 0 || ctl_is_unreached(ctl) ||
	    (ctl_is_connected(ctl) && recorder_find(ctl, &session) != 0))
		return STATUS_ERROR;
	if (session &&
	    ctl_done(ctl, ltt_ctl_destroy(ctl->library, SESSION, 0, NULL), &ctl->err) != 0)
		return STATUS_ERROR;
	output = session ? json_str(session, "output") : "";
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "action", "off");
	json_set_bool(ctl->record, "was_on", session || was_set);
	/* unless it has snapshots */
	json_set_str(ctl->record, "output",
		     *output && rmdir(output) < 0 && errno == ENOTEMPTY ? output : "");
	return STATUS_OK;
}

/* --- status ------------------------------------------------------------------------------- */

static enum status recorder_status(struct ctl *ctl)
{
	struct json_object *session AUTO_RECORD = NULL;

	if (ctl_connect(ctl, DAEMON_NEEDED) != 0 || recorder_find(ctl, &session) != 0)
		return STATUS_ERROR;
	if (!session || strcmp(json_str(session, "state"), "recording") != 0) {
		err_set(&ctl->err, ERR_NO_SESSION,
			"the recorder is off; 'lttctl recorder on' starts it");
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "action", "status");
	json_set_str(ctl->record, "output", json_str(session, "output"));
	json_set_bool(ctl->record, "begins_again", boot_is_set());
	json_set_num(ctl->record, "recording_ns", json_num(session, "recording_ns"));
	json_set_num(ctl->record, "cpus", (uint64_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1l));
	if (figures_measure(ctl, SESSION, PERIOD_NS, ctl->record) != 0)
		return STATUS_ERROR;
	return recorder_warn(ctl, session);
}

static enum status recorder_run(struct ctl *ctl)
{
	if (recorder_is(ctl, "on"))
		return recorder_on(ctl);
	return recorder_is(ctl, "off") ? recorder_off(ctl) : recorder_status(ctl);
}

/* --- text --------------------------------------------------------------------------------- */

/* In the period: of the events of a domain whose cost is not known, nothing. */
static double recorder_events_ns(struct json_object *record, bool *ret_known)
{
	double sum = 0;

	*ret_known = true;
	for (size_t i = 0; i < json_len(record, "channels"); i++) {
		struct json_object *c = json_at(record, "channels", i);

		*ret_known &= json_num(c, "event_ns") || !json_num(c, "events");
		sum += (double)json_num(c, "events") * (double)json_num(c, "event_ns");
	}
	return sum;
}

static void recorder_text_status(FILE *out, struct json_object *record)
{
	double all = (double)json_num(record, "period_ns") * (double)json_num(record, "cpus");
	double daemons = (double)json_num(record, "daemons_ns") * 100 / all, events;
	bool known;

	events = recorder_events_ns(record, &known) * 100 / all;
	text_form(out, record,
		  "The recorder is on, for {recording_ns:t}[{?begins_again}, and after a boot]\n"
		  "Memory: {memory:b}; snapshots go to {output}\n");
	text_forms(out, record, "channels",
		   "[{domain=kernel}Kernel|Programs]: {size:b} a CPU[: about {reach_ns:t?} at the "
		   "present rate], {per_second:n} event{per_second:s}/s, {bytes_per_second:b}/s"
		   "[, {event_ns:n?} ns an event]\n");
	fprintf(out, "Cost: %.2f %% of the CPUs: %.2f %% for events%s, %.2f %% for the daemons\n",
		daemons + events, events, known ? "" : " (that of some is not measured)", daemons);
}

static void recorder_text(FILE *out, struct json_object *record)
{
	if (strcmp(json_str(record, "action"), "status") == 0)
		recorder_text_status(out, record);
	else if (strcmp(json_str(record, "action"), "off") == 0)
		text_form(out, record,
			  "[{?was_on}The recorder is off|The recorder was off]\n"
			  "[Its snapshots stay in {output?}\n]");
	else
		text_form(
			out, record,
			"The recorder [{?was_on}was on already|is on]: {size:b} a CPU for the programs "
			"of each user[{?has_kernel}, and for the kernel]\n"
			"Snapshots will be output to {output}: 'lttctl snapshot record -s {session}'\n"
			"[{?begins_again}It begins again after a boot\n]");
}

const struct verb verb_recorder = {
	.name = "recorder",
	.operands = "(on | off | status)",
	.help = "Keep the last events of all programs and the kernel",
	.options = options,
	.daemon = DAEMON_UNUSED, /* recorder_run() connects: `on` starts one */
	.max_operands = 1,
	.check = recorder_check,
	.run = recorder_run,
	.text = recorder_text,
};
