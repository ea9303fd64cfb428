/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.c - lttctl record -- PROGRAM: create, enable-event, start, the
 * program, stop, destroy and a summary, in one. All of it is undone
 * if the program cannot be run. With --pid, --thread or --all: programs that run already
 * (attach.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/record/attach.h"
#include "ctl/record/binaries.h"
#include "ctl/connect.h"
#include "ctl/record/brief.h"
#include "ctl/record/crashes.h"
#include "ctl/session/create.h"
#include "ctl/symbol/embed.h"
#include "ctl/record/flight.h"
#include "ctl/home.h"
#include "ctl/record/limit.h"
#include "ctl/record/linger.h"
#include "ctl/record/loss.h"
#include "ctl/names.h"
#include "ctl/record/nothing.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/record/reserve.h"
#include "ctl/record/run.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"
#include "ctl/print/text.h"
#include "ctl/record/totals.h"
#include "ctl/trace/viewing.h"
#include "ctl/record/wrap.h"
#include "show/show.h"

#define REGISTER_TIMEOUT "LTT_REGISTER_TIMEOUT"
#define REGISTER_MS "5000"
#define SCOPE "LTT_SCOPE"

static struct {
	char *output, *events, *filter, *name, *wrap, *subbuf_size, *num_subbuf, *time;
	char *flight, *limit, *call_site, *functions, *min_size, *sample, *blocking, *format;
	int kernel, user, no_wait, no_context, no_limit, no_symbols, no_lttng, own_daemons, all;
	bool whole; /* of the kernel, events of other processes than the program's, too */
	bool samples_only; /* of the kernel */
	struct names contexts, pids, tids;
} opt;

static uint64_t function_bytes; /* of --min-size */
static uint32_t blocking_us;

enum { CONTEXT, PID, TID, EVENTS, WRAP };

static const struct poptOption options[] = {
	OPTION_FLAG("kernel", 'k', &opt.kernel, "record the kernel while the program runs"),
	OPTION_FLAG("userspace", 'u', &opt.user, "record the program (default); with -k: both"),
	OPTION_EACH("pid", 'p', PID, 0, "record processes that run already, instead of a program",
		    "PID[,...]"),
	OPTION_EACH("thread", 't', TID, 0, "the same for threads of running processes",
		    "TID[,...]"),
	OPTION_FLAG("all", 'a', &opt.all,
		    "record all programs of the user (of root: of all users); with -k and a program: "
		    "the whole kernel, not only the program's events"),
	OPTION_TEXT("trace-format", 0, &opt.format,
		    "ctf-1.8, ctf-2 or default, the daemon's choice", "FORMAT"),
	OPTION_FLAG("own-daemons", 0, &opt.own_daemons,
		    "with -k: record the tracer's own daemons, too"),
	OPTION_TEXT("sample", 0, &opt.sample,
		    "record where the program works, with its callers, so many times in a second of "
		    "a CPU: 99, 997 or 4999 (root); lttctl-flame(1) shows it",
		    "HZ"),
	OPTION_TEXT("for", 0, &opt.time,
		    "end the recording after this time, such as 10s; the program goes on", "TIME"),
	OPTION_TEXT("limit", 'n', &opt.limit, "end the recording after so many events", "N"),
	OPTION_TEXT("output", 'o', &opt.output, "directory for the trace", "DIR"),
	OPTION_EACH("events", 'e', EVENTS, 0, "only these events (default: all); may be repeated",
		    "PATTERN[,...]"),
	OPTION_TEXT("filter", 'f', &opt.filter,
		    "of these, only those for which this holds; lttctl-filter(1)", "EXPRESSION"),
	OPTION_EACH("context", 0, CONTEXT, 0, "record these with each event, too; may be repeated",
		    "TYPE[,...]"),
	OPTION_FLAG("no-context", 0, &opt.no_context, "not even the process, thread and its name"),
	OPTION_TEXT("name", 0, &opt.name, "of the session", "NAME"),
	OPTION_EACH("wrap", 'w', WRAP, 0, "record calls of libc, pthread, dl too; may be repeated",
		    "LIB[,...]"),
	OPTION_TEXT("call-site", 0, &opt.call_site,
		    "with --wrap: record so many calls that led to an allocation or lock; default: 8",
		    "DEPTH"),
	OPTION_TEXT("functions", 0, &opt.functions,
		    "with --wrap=cyg-profile: only functions of such names; !PATTERN: not these",
		    "PATTERN[,...]"),
	OPTION_TEXT("min-size", 0, &opt.min_size,
		    "with --wrap=cyg-profile: only functions whose code has so many bytes", "BYTES"),
	OPTION_TEXT("subbuf-size", 0, &opt.subbuf_size,
		    "size of a sub-buffer; suffixes: k, M, G, T", "SIZE"),
	OPTION_TEXT("num-subbuf", 0, &opt.num_subbuf, "sub-buffers in a ring", "N"),
	OPTION_TEXT("blocking-timeout", 0, &opt.blocking,
		    "the program waits so long if a buffer is full; inf: no event is lost",
		    "US|inf"),
	OPTION_TEXT(
		"flight", 0, &opt.flight,
		"write nothing, but keep the last events, in buffers of this size, and save them "
		"if the program fails",
		"SIZE"),
	OPTION_FLAG("no-limit", 0, &opt.no_limit,
		    "write until the disk is full; default: 5 % of it, at least 1 GiB, stay free"),
	OPTION_FLAG("no-symbols", 0, &opt.no_symbols,
		    "don't write the names of functions and lines beside the trace"),
	OPTION_FLAG("no-lttng", 0, &opt.no_lttng,
		    "leave a program that was built for LTTng-UST with LTTng's library"),
	OPTION_FLAG("no-wait", 0, &opt.no_wait,
		    "wait for the program alone, not for processes that it leaves behind"),
	POPT_TABLEEND,
};

static struct ltt_ctl_channel_options channel;

/* The list with the words of a repeated option behind it. */
static void record_verb_lengthen(char **list, const char *words)
{
	char *longer = *list ? xasprintf("%s,%s", *list, words) : xstrdup(words);

	free(*list);
	*list = longer;
}

static enum status record_verb_option(struct ctl *ctl, int number, const char *argument)
{
	struct names words CLEANUP(names_fini) = { 0 };

	(void)ctl;
	if (number == EVENTS || number == WRAP) {
		record_verb_lengthen(number == EVENTS ? &opt.events : &opt.wrap, argument);
		return STATUS_OK;
	}
	names_split(argument, &words);
	for (size_t i = 0; i < words.nr; i++)
		names_add(number == PID ? &opt.pids :
			  number == TID ? &opt.tids :
					  &opt.contexts,
			  words.names[i]);
	return STATUS_OK;
}

static struct attach attached;
static struct limit limit;

static bool record_verb_attaches(void)
{
	return opt.pids.nr || opt.tids.nr || opt.all;
}

/* Rates of the events sample:cpu_sample_HZhz. */
static void record_verb_check_sample(struct ctl *ctl)
{
	static const char *const rates[] = { "99", "997", "4999" };
	bool known = !opt.sample;

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		known = known || strcmp(opt.sample, rates[i]) == 0;
	if (!known)
		err_set(&ctl->err, ERR_INVALID,
			"--sample=%.40s: samples are taken 99, 997 or 4999 times in a second",
			opt.sample);
	opt.samples_only = opt.sample && !opt.kernel && !opt.events;
	opt.kernel = opt.kernel || opt.sample;
}

static void record_verb_check_attached(struct ctl *ctl)
{
	bool attaches;

	record_verb_check_sample(ctl);
	if (ctl->err.code)
		return;
	if (opt.kernel && operand(ctl, 0)) {
		opt.whole = opt.all || !faults_is_first();
		opt.all = 0;
	}
	attaches = record_verb_attaches();
	if (!operand(ctl, 0) && !attaches)
		err_set(&ctl->err, ERR_INVALID,
			"missing program: use lttctl record [OPTION]... -- PROGRAM [ARGUMENT]..., or "
			"--pid, --thread or --all for programs that run already");
	else if (attaches && operand(ctl, 1) && strcmp(operand(ctl, 0), "sleep") == 0)
		err_set(&ctl->err, ERR_INVALID,
			"'sleep %s': --pid, --thread and --all start no program; '--for=%s%s' ends the "
			"recording after this time",
			operand(ctl, 1), operand(ctl, 1),
			operand(ctl, 1)[strspn(operand(ctl, 1), "0123456789")] ? "" : "s");
	else if (operand(ctl, 0) && attaches)
		err_set(&ctl->err, ERR_INVALID,
			"'%s': --pid, --thread and --all record programs that run already, and start "
			"none",
			operand(ctl, 0));
	else if (!!opt.pids.nr + !!opt.tids.nr + opt.all > 1)
		err_set(&ctl->err, ERR_INVALID, "--pid, --thread and --all exclude each other");
	else if (opt.call_site && !opt.wrap)
		err_set(&ctl->err, ERR_INVALID,
			"--call-site: only wrappers record calls; add --wrap=libc");
	else if ((opt.functions || opt.min_size) && !(opt.wrap && strstr(opt.wrap, "cyg-profile")))
		err_set(&ctl->err, ERR_INVALID,
			"--%s: only functions that a wrapper records can be left out; add "
			"--wrap=cyg-profile",
			opt.functions ? "functions" : "min-size");
	else if (opt.min_size && parse_size(opt.min_size, &function_bytes) != 0)
		err_set(&ctl->err, ERR_INVALID, "--min-size=%s: this is not a number of bytes",
			opt.min_size);
	else if (opt.wrap && attaches)
		err_set(&ctl->err, ERR_INVALID,
			"--wrap: wrappers are loaded when a program starts; those that a running "
			"program has are recorded without this option");
	else if (opt.no_wait && attaches)
		err_set(&ctl->err, ERR_INVALID, "--no-wait is for a program that is started");
	else if (opt.flight && attaches)
		err_set(&ctl->err, ERR_INVALID,
			"--flight records a program that is started; omit --pid, --thread and "
			"--all");
	else if (opt.flight && (opt.subbuf_size || opt.num_subbuf))
		err_set(&ctl->err, ERR_INVALID,
			"--flight sets the size of the buffers; omit --subbuf-size and "
			"--num-subbuf");
	else if (opt.blocking && opt.flight)
		err_set(&ctl->err, ERR_INVALID,
			"--flight overwrites the oldest events, so that its buffers are never full; "
			"omit --blocking-timeout");
	else if (opt.blocking && opt.kernel && !opt.user)
		err_set(&ctl->err, ERR_INVALID,
			"--blocking-timeout is for programs, the kernel does not wait; add -u");
	else if (opt.blocking && options_parse_blocking(opt.blocking, &blocking_us) != 0)
		err_set(&ctl->err, ERR_INVALID, "--blocking-timeout=%s: this is not %s",
			opt.blocking, OPTIONS_BLOCKING);
	else if (opt.flight && opt.limit)
		err_set(&ctl->err, ERR_INVALID,
			"--flight keeps the last events, however many there were; omit --limit");
	else if (opt.flight && opt.time)
		err_set(&ctl->err, ERR_INVALID,
			"--flight keeps the last events until the program ends; omit --for");
	else if (opt.time && attach_limit(&attached, opt.time, &ctl->err) != 0)
		return;
	limit.after_ns = attaches ? 0 : attached.limit_ns;
}

static enum status record_verb_check(struct ctl *ctl)
{
	uint64_t n = 0;

	ltt_ctl_channel_options_init(&channel);
	channel.name = "channel0";
	record_verb_check_attached(ctl);
	if (opt.subbuf_size &&
	    (parse_size(opt.subbuf_size, &channel.subbuf_size) != 0 || channel.subbuf_size == 0))
		err_set(&ctl->err, ERR_INVALID,
			"--subbuf-size=%s: this is not a size, such as 65536, 64k or 1M",
			opt.subbuf_size);
	else if (opt.num_subbuf && (parse_u64(opt.num_subbuf, &n) != 0 || n == 0 || n > UINT32_MAX))
		err_set(&ctl->err, ERR_INVALID, "--num-subbuf=%s: this is not a number",
			opt.num_subbuf);
	if (!ctl->err.code && opt.no_context && opt.contexts.nr)
		err_set(&ctl->err, ERR_INVALID, "--context and --no-context exclude each other");
	channel.num_subbuf = (uint32_t)n;
	if (opt.limit && !ctl->err.code && limit_take(&limit, opt.limit, &ctl->err) != 0)
		return STATUS_ERROR;
	if (opt.flight && !ctl->err.code)
		flight_take_size(opt.flight, &channel, &ctl->err);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static int record_verb_make_channel(struct ctl *ctl, const char *session, enum domain_id domain)
{
	/* a program's start may emit faster than a disk takes it, and it is alone here */
	channel.roomy = !opt.subbuf_size && !opt.num_subbuf && !opt.flight;
	channel.domain = (enum ltt_ctl_domain)domain;
	channel.session = session;
	channel.blocking_us = domain == DOMAIN_USER ? blocking_us : 0;
	return ctl_done(ctl, ltt_ctl_enable_channel(ctl->library, &channel), &ctl->err);
}

/* Named twice; or a name of the program's alone, which the kernel does not have. */
static bool is_fine(const struct err *err, enum domain_id domain)
{
	return err->code == ERR_EVENT_EXISTS ||
	       (err->code == ERR_NO_EVENT && domain == DOMAIN_KERNEL && opt.user);
}

/* The program, with all that it starts. */
static bool record_verb_follows(void)
{
	return opt.kernel && !opt.whole && !record_verb_attaches();
}

/* Of processes that run already, the code that they have mapped is dumped. */
static int record_verb_enable_samples(struct ctl *ctl, const char *session)
{
	char *pattern AUTO_FREE = xasprintf("sample:cpu_sample_%shz", opt.sample);
	const char *const patterns[] = { pattern, "mm:vm_map_exec", "lttng_statedump_vm_map" };
	size_t nr = ARRAY_SIZE(patterns) - record_verb_follows();
	struct ltt_ctl_event_options o;

	ltt_ctl_event_options_init(&o);
	o.session = session;
	o.domain = LTT_CTL_KERNEL;
	for (size_t i = 0; i < nr && !ctl->err.code; i++) {
		o.pattern = patterns[i];
		o.filter = i == 2 ? "flags & 4" : NULL; /* VM_EXEC */
		if (ctl_done(ctl, ltt_ctl_enable_event(ctl->library, &o, NULL, NULL), &ctl->err) &&
		    ctl->err.code == ERR_EVENT_EXISTS)
			ctl->err = (struct err){ 0 };
	}
	return ctl->err.code;
}

static int enable_events(struct ctl *ctl, const char *session, enum domain_id domain)
{
	struct names names CLEANUP(names_fini) = { 0 };
	char *filter AUTO_FREE =
		domain == DOMAIN_USER ? attach_filter(&attached, opt.filter) : NULL;
	struct ltt_ctl_event_options o;

	ltt_ctl_event_options_init(&o);
	o.session = session;
	o.domain = (enum ltt_ctl_domain)domain;
	o.filter = filter ? filter : opt.filter;
	if (domain == DOMAIN_KERNEL && opt.sample &&
	    record_verb_enable_samples(ctl, session) != 0)
		return ctl->err.code;
	if (domain == DOMAIN_KERNEL && opt.samples_only)
		return 0;
	names_split(opt.events ? opt.events : "*", &names);
	for (size_t i = 0; i < names.nr && !ctl->err.code; i++) {
		int code;

		o.pattern = names.names[i];
		code = ltt_ctl_enable_event(ctl->library, &o, NULL, NULL);
		if (ctl_done(ctl, code, &ctl->err) != 0 && is_fine(&ctl->err, domain))
			ctl->err = (struct err){ 0 };
	}
	if (ctl->err.code || domain != DOMAIN_USER || !attached.nr_threads || opt.events)
		return ctl->err.code;
	/* of libltt's thread: the places of functions */
	o.pattern = "ltt_statedump:*";
	o.filter = NULL;
	return ctl_done(ctl, ltt_ctl_enable_event(ctl->library, &o, NULL, NULL), &ctl->err);
}

static bool record_verb_records(enum domain_id domain)
{
	return domain == DOMAIN_KERNEL ? opt.kernel : opt.user || !opt.kernel;
}

static int record_verb_add_context(struct ctl *ctl, const char *session, enum domain_id domain,
				   const char *types, struct err *err)
{
	return ctl_done(ctl,
			ltt_ctl_add_context(ctl->library, session, (enum ltt_ctl_domain)domain,
					    channel.name, types, NULL),
			err);
}

/* If both domains are recorded, a type that one of them lacks is the other's. */
static int record_verb_add_type(struct ctl *ctl, const char *session, const char *type)
{
	struct err errs[2] = { { 0 }, { 0 } };
	bool user = record_verb_records(DOMAIN_USER) &&
		    record_verb_add_context(ctl, session, DOMAIN_USER, type, &errs[0]) == 0;
	bool kernel = record_verb_records(DOMAIN_KERNEL) &&
		      record_verb_add_context(ctl, session, DOMAIN_KERNEL, type, &errs[1]) == 0;

	if (!user && !kernel)
		ctl->err = errs[0].code ? errs[0] : errs[1];
	return ctl->err.code;
}

static int record_verb_add_types(struct ctl *ctl, const char *session)
{
	for (size_t i = 0; i < opt.contexts.nr; i++)
		if (record_verb_add_type(ctl, session, opt.contexts.names[i]) != 0)
			return ctl->err.code;
	return 0;
}

/* The contexts that identify the thread. */
static const char *const task_contexts[] = {
	[DOMAIN_KERNEL] = "pid,tid,procname",
	[DOMAIN_USER] = "vpid,vtid,procname",
};

static int record_verb_prepare(struct ctl *ctl, const char *session, enum domain_id domain)
{
	if (!record_verb_records(domain))
		return 0;
	if (record_verb_make_channel(ctl, session, domain) != 0)
		return ctl->err.code;
	if (!opt.no_context &&
	    record_verb_add_context(ctl, session, domain, task_contexts[domain], &ctl->err) != 0)
		return ctl->err.code;
	return enable_events(ctl, session, domain);
}

/* @pid: 0: no process, until one is there. */
static int record_verb_follow(struct ctl *ctl, const char *session, uint32_t pid, struct err *err)
{
	struct ltt_ctl_track_options track;

	ltt_ctl_track_options_init(&track);
	track.session = session;
	track.domain = LTT_CTL_KERNEL;
	track.kind = LTT_CTL_TRACK_FOLLOW;
	track.op = pid ? LTT_CTL_TRACK_ADD : LTT_CTL_TRACK_NONE;
	track.ids = pid ? &pid : NULL;
	track.nr_ids = !!pid;
	return ctl_done(ctl, ltt_ctl_track(ctl->library, &track, NULL), err);
}

/* Before the start: nothing of other processes is recorded. */
static int record_verb_track(struct ctl *ctl, const char *session, enum domain_id domain)
{
	if (domain == DOMAIN_KERNEL && record_verb_follows())
		return record_verb_follow(ctl, session, 0, &ctl->err);
	return record_verb_records(domain) ? attach_track(ctl, &attached, session, domain) : 0;
}

static int record_verb_start(struct ctl *ctl, const char *session)
{
	struct json_object *refused AUTO_RECORD = NULL;
	const char *problem;

	if (record_verb_prepare(ctl, session, DOMAIN_KERNEL) != 0 ||
	    record_verb_prepare(ctl, session, DOMAIN_USER) != 0 ||
	    record_verb_add_types(ctl, session) != 0 ||
	    record_verb_track(ctl, session, DOMAIN_KERNEL) != 0 ||
	    record_verb_track(ctl, session, DOMAIN_USER) != 0)
		return ctl->err.code;
	if (ctl_done(ctl, ltt_ctl_start(ctl->library, session, NULL), &ctl->err) != 0)
		return ctl->err.code;
	problem = ltt_ctl_last_outcome(ctl->library)->problem;
	if (*problem)
		print_warning(ctl, "session '%s': %s", session, problem);
	refused = json_object_new_object();
	loss_take_outcome(ctl, refused);
	loss_conflicts(ctl, refused);
	loss_refusals(ctl, refused);
	return 0;
}

/* The session daemon was killed: its successor has the session. Return: the pidfd to watch. */
static int record_verb_reconnect(void *priv)
{
	struct ctl *ctl = priv;

	if (ctl_connect(ctl, DAEMON_NEEDED) == 0)
		return ltt_ctl_fd(ctl->library);
	ctl->err = (struct err){ 0 }; /* tried again at the end */
	return -1;
}

/* Result of a session. */
struct ending {
	struct json_object *totals; /* NULL: it has not ended */
	char *problem;		    /* why not all data could be written; NULL: it was */
};

static void ending_fini(struct ending *ending)
{
	json_object_put(ending->totals);
	free(ending->problem);
}

/* Each answer may know more than the one before. @totals are taken over. */
static void note_ending(struct ctl *ctl, struct ending *ending, struct ltt_ctl_totals *totals)
{
	const char *problem = ltt_ctl_last_outcome(ctl->library)->problem;

	if (totals) {
		json_object_put(ending->totals);
		ending->totals = json_totals(totals);
		ltt_ctl_totals_free(totals);
	}
	if (*problem) {
		free(ending->problem);
		ending->problem = xstrdup(problem);
	}
}

/* Stop and destroy. Where that fails @err is set. */
static void record_verb_end_session(struct ctl *ctl, const char *session, struct ending *ret,
				    struct err *err)
{
	struct json_object *items AUTO_RECORD = json_object_new_object();
	struct ltt_ctl_totals *totals;

	if (ctl_done(ctl, ltt_ctl_stop(ctl->library, session, 0, &totals), err) == 0) {
		loss_take_outcome(ctl, items);
		note_ending(ctl, ret, totals);
	} else if (err->code == ERR_STATE) {
		*err = (struct err){ 0 }; /* never started */
	} else {
		return;
	}
	loss_conflicts(ctl, items);
	if (ctl_done(ctl, ltt_ctl_destroy(ctl->library, session, 0, &totals), err) == 0)
		note_ending(ctl, ret, totals);
	else
		ret->totals = (json_object_put(ret->totals), NULL);
	if (!err->code && !ret->totals)
		ret->totals = json_object_new_object();
}

/* The program did not run: leave nothing. */
static void record_verb_reclaim(struct ctl *ctl, const char *session)
{
	struct ending ignored CLEANUP(ending_fini) = { 0 };
	struct err err = { 0 };

	/* an interrupted call has closed the connection */
	if (ctl_is_connected(ctl) || ctl_open(ctl, false, &err) == 0)
		record_verb_end_session(ctl, session, &ignored, &err);
	if (err.code)
		print_warning(ctl, "session '%s' could not be destroyed: %s", session, err.text);
	ltt_ctl_discard(ctl->library);
}

static struct json_object *attached_record(const struct run *run)
{
	struct json_object *o = json_object_new_object();

	json_set(o, "pids", json_object_new_array());
	for (size_t i = 0; i < attached.nr; i++)
		json_append(o, "pids", json_object_new_uint64(attached.pids[i]));
	json_set(o, "tids", json_object_new_array());
	for (size_t i = 0; i < attached.nr_threads; i++)
		json_append(o, "tids", json_object_new_uint64(attached.threads[i].tid));
	JSON_COPY(o, run, duration_ns);
	JSON_COPY(o, &attached, silent);
	return o;
}

/* A daemon that is killed just now does not keep us from it either. */
static void surely_end(struct ctl *ctl, const char *session, struct ending *ret)
{
	bool connected = ctl_is_connected(ctl);

	if (connected)
		record_verb_end_session(ctl, session, ret, &ctl->err);
	if (connected && ctl->err.code != ERR_NO_DAEMON)
		return;
	ctl->err = (struct err){ 0 };
	if (ctl_connect(ctl, DAEMON_NEEDED) == 0)
		record_verb_end_session(ctl, session, ret, &ctl->err);
}

/* A program may be built anew before its trace is read. That doesn't take long where there are no
 * addresses of calls. */
static void record_verb_embed(struct ctl *ctl, const char *output, struct json_object *totals)
{
	static const struct show_options here = { .mangled = 1 };
	struct err err = { 0 };
	struct embedded done;

	if (opt.no_symbols || (!opt.wrap && !opt.contexts.nr && !opt.sample) || *output != '/' ||
	    !json_num(totals, "recorded"))
		return;
	unsetenv("DEBUGINFOD_URLS"); /* nothing is loaded from a network now */
	if (embed_symbols(output, &here, EMBED_NS_MOST, &done, &err) != 0)
		print_note(ctl, "names are not written beside the trace: %s", err.text);
	else if (done.cut)
		print_note(ctl,
			   "only the names of the trace's first events are written beside it; 'lttctl "
			   "symbols --embed' writes all");
}

/* The program ran: end the session, print the summary. Return: the status for the shell. */
static enum status record_verb_conclude(struct ctl *ctl, const struct created *created,
					const struct run *run, unsigned int cut,
					const struct reserve *reserve, struct json_object *saved,
					struct json_object *crashes)
{
	const char *output = saved ? json_str(saved, "directory") : created->output;
	struct ending ending CLEANUP(ending_fini) = { 0 };
	struct json_object *points AUTO_RECORD = NULL, *brief;
	enum status status;

	if (ctl->err.code != ERR_NO_ANSWER) { /* it has been waited for long enough */
		points = nothing_fetch(ctl, created->session);
		surely_end(ctl, created->session, &ending);
	}
	if (ending.problem) {
		char *problem = reserve_explain(reserve, ending.problem);

		free(ending.problem);
		ending.problem = problem;
	}
	if (opt.flight && !saved && !json_len(crashes, "saved")) {
		ltt_ctl_discard(ctl->library);
		output = "";
	} else {
		viewing_remember(ctl, created->session, output);
	}
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", created->session);
	json_set_str(ctl->record, "output", output);
	if (saved)
		json_set(ctl->record, "snapshot", saved);
	if (crashes)
		json_set(ctl->record, "crash_report", crashes);
	if (record_verb_attaches())
		json_set(ctl->record, "attached", attached_record(run));
	else
		json_set(ctl->record, "program", flight_program(ctl, run));
	if (ending.totals)
		totals_add_state_dump(ending.totals, opt.flight ? NULL : output);
	json_set(ctl->record, "totals", json_object_get(ending.totals));
	record_verb_embed(ctl, output, ending.totals);
	json_set_num(ctl->record, "still_recording", cut);
	if (points && !totals_events(ending.totals))
		json_set(ctl->record, "point_names", json_object_get(points));
	if (opt.wrap && !opt.filter && !opt.flight && json_num(ending.totals, "recorded"))
		json_set(ctl->record, "uncalled",
			   wrap_find_uncalled(opt.wrap, opt.events, created->output,
					      json_num(ending.totals, "bytes")));
	if (opt.wrap && strstr(opt.wrap, "cyg-profile") && json_num(ending.totals, "lost") &&
	    *output && (brief = brief_find(output, json_num(ending.totals, "bytes"))))
		json_set(ctl->record, "brief_functions", brief);
	if (ending.problem)
		json_set_str(ctl->record, "problem", ending.problem);
	if (!ending.totals) {
		print_warning(ctl, "session '%s' may still be there: lttctl destroy %s",
			      created->session, created->session);
		return STATUS_ERROR;
	}
	status = loss_conclude(ctl, created->session, ending.totals,
			       ending.problem ? ending.problem : "");
	if (attached.silent && status == STATUS_OK)
		status = STATUS_WARNING;
	return run->exit_status ? (enum status)run->exit_status : status;
}

/* A signal that came is the status for the shell. */
static enum status interrupted_or(struct run *run, enum status status)
{
	int signal = run_interrupted(run);

	return signal ? (enum status)(128 + signal) : status;
}

/* If the program was requested to end, its user does not want to wait for the rest of it. Return:
 * the number of processes that still record. */
static unsigned int wait_for_others(struct ctl *ctl, const char *session, const char *scope,
				    struct run *run)
{
	const struct others others = {
		.session = session,
		.scope = scope,
		.run = run,
		.no_wait = opt.no_wait || run->ended,
	};
	unsigned int nr;

	if ((opt.kernel && !opt.user) || run->finished)
		return 0;
	nr = linger(ctl, &others);
	run_extend(run);
	if (nr)
		print_warning(ctl,
			      "%u process%s that '%s' has started still record%s: events that they "
			      "emit from now on are not in the trace%s",
			      nr, nr == 1 ? "" : "es", ctl->operands[0], nr == 1 ? "s" : "",
			      opt.no_wait ? "; omit --no-wait to record them" : "");
	return nr;
}

struct record_followed {
	struct ctl *ctl;
	const char *session;
};

static int record_verb_made(void *priv, pid_t pid, struct err *err)
{
	const struct record_followed *followed = priv;

	return record_verb_follow(followed->ctl, followed->session, (uint32_t)pid, err);
}

static enum status record_verb_record(struct ctl *ctl, const struct created *created,
				      const struct reserve *reserve, const char *scope,
				      struct run *run)
{
	struct flight flight CLEANUP(flight_fini) = {
		.ctl = ctl,
		.session = created->session,
		.run = run,
	};
	struct record_followed followed = { ctl, created->session };
	struct json_object *saved = NULL, *crashes = NULL;
	unsigned int cut;
	int rc;

	rc = record_verb_start(ctl, created->session);
	if (rc != 0 || run_is_interrupted(run)) {
		record_verb_reclaim(ctl, created->session); /* also cut short by the signal */
		return interrupted_or(run, STATUS_ERROR);
	}
	print_verbose(ctl, "session %s records into %s", created->session, created->output);
	run->watch = ltt_ctl_fd(ctl->library);
	if (record_verb_attaches()) {
		attach_wait(ctl, &attached, created->session, run,
			    record_verb_records(DOMAIN_USER));
		return record_verb_conclude(ctl, created, run, 0, reserve, NULL, NULL);
	}
	run->crashed = flight_save_crash;
	run->crashed_priv = &flight;
	if (record_verb_follows()) {
		run->made = record_verb_made;
		run->made_priv = &followed;
	}
	rc = run_program(run, &ctl->err);
	if (rc != 0) {
		record_verb_reclaim(ctl, created->session);
		return (enum status)rc;
	}
	if (opt.flight && run->exit_status) /* before others overwrite its events */
		saved = flight_save_program(&flight);
	while (run_interrupted(run))
		; /* they ended the program; those that come now end the waiting */
	cut = wait_for_others(ctl, created->session, scope, run);
	if (limit.at_ns)
		run->duration_ns = limit.at_ns - run->begin_ns;
	if (opt.flight)
		crashes = flight_end(&flight);
	return record_verb_conclude(ctl, created, run, cut, reserve, saved, crashes);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A unique word: only processes that inherit it are recorded. NULL: ctl->err is set. */
static char *make_scope(struct ctl *ctl)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) == sizeof(number))
		return xasprintf("%016" PRIx64, number);
	err_errno(&ctl->err, ERR_INTERNAL, errno, "can't generate a random number");
	return NULL;
}

/* A program that is recorded may record others: its own scope stays. */
static char *scope_environment(const char *scope)
{
	const char *outer = getenv(SCOPE);

	return outer && *outer ? xasprintf(SCOPE "=%s:%s", outer, scope) :
				 xasprintf(SCOPE "=%s", scope);
}

/* The program is not ended: its user may want its result. */
static void record_verb_end_at_limit(struct ctl *ctl, struct run *run)
{
	struct err err = { 0 };

	run->finished = true;
	if (record_verb_attaches() ||
	    ctl_done(ctl, ltt_ctl_stop(ctl->library, limit.session, 0, NULL), &err) != 0)
		return;
	if (limit.after_ns && limit.at_ns - run->begin_ns >= limit.after_ns)
		print_note(ctl, "the recording has ended after %s, and the program goes on", opt.time);
	else
		print_note(ctl,
			   "%s events are recorded: the recording has ended, and the program goes on",
			   opt.limit);
}

/** The checks while the program runs. */
struct record_watch {
	struct ctl *ctl;
	struct run *run;
	struct reserve *reserve; /* NULL: none, or it was reported */
	unsigned int turns;
};

/* The disk each second, the limit more often. */
static bool record_verb_tick(void *priv)
{
	struct record_watch *watch = priv;

	if (watch->reserve &&
	    (!limit_is_set(&limit) || watch->turns++ % (1000 / LIMIT_PERIOD_MS) == 0) &&
	    !reserve_check(watch->reserve))
		watch->reserve = NULL;
	if (limit_is_set(&limit) && !limit.at_ns &&
	    limit_check(watch->ctl, &limit, run_now_ns() - watch->run->begin_ns))
		record_verb_end_at_limit(watch->ctl, watch->run);
	return !limit.at_ns && (watch->reserve || limit_is_set(&limit));
}

static enum status run_recorded(struct ctl *ctl, const char *const *environment, const char *scope)
{
	struct created created CLEANUP(created_fini) = { 0 };
	struct ltt_ctl_create_options o;
	struct run run CLEANUP(run_fini) = {
		.argv = ctl->operands,
		.environment = environment,
		.to_stderr = ctl->json, /* stdout has the object alone */
		.sigpipe = ctl->sigpipe,
		.signals = -1,
		.children = -1,
		.watch = -1,
		.repair = record_verb_reconnect,
		.priv = ctl,
	};
	struct reserve reserve = { .ctl = ctl };
	struct record_watch watch = { .ctl = ctl, .run = &run };
	struct faults faults CLEANUP(faults_close) = { .fd = -1 };
	char *prefix AUTO_FREE = NULL;
	int rc = record_verb_attaches() ? 0 : run_check(ctl->operands[0], &ctl->err);

	if (rc != 0)
		return (enum status)rc;
	if (run_begin(&run, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->interrupt = &run.signals;
	if (ctl_connect(ctl, DAEMON_STARTED) != 0)
		return interrupted_or(&run, STATUS_ERROR);
	ltt_ctl_create_options_init(&o);
	o.name = opt.name;
	prefix = record_verb_attaches() ? attach_name(&attached) :
					  xstrdup(base_name(ctl->operands[0]));
	o.prefix = prefix;
	o.output = opt.output;
	o.scope = scope;
	o.snapshots = opt.flight != NULL;
	o.own_daemons = opt.own_daemons;
	if (create_take_format(ctl, opt.format, &o) != 0)
		return STATUS_ERROR;
	if (reserve_choose(opt.output, &reserve.bytes, &ctl->err) != 0)
		return STATUS_ERROR;
	o.keep_free = reserve.bytes = opt.no_limit ? 0 : reserve.bytes;
	if (create_session(ctl, &o, &created) != 0)
		return interrupted_or(&run, STATUS_ERROR);
	reserve.session = created.session;
	reserve.output = created.output;
	limit.session = created.session;
	limit.output = created.output;
	watch.reserve = reserve.bytes ? &reserve : NULL;
	if (reserve.bytes || limit_is_set(&limit)) {
		run.tick = record_verb_tick;
		run.tick_priv = &watch;
		run.tick_ms = limit_is_set(&limit) ? LIMIT_PERIOD_MS : 0;
	}
	if (opt.flight) {
		faults_open(&faults);
		run.faults = &faults;
	}
	return record_verb_record(ctl, &created, &reserve, scope, &run);
}

static enum status record_verb_run_attached(struct ctl *ctl)
{
	enum status status = STATUS_ERROR;

	if (attach_find(&attached, &opt.pids, &opt.tids, !opt.kernel, &ctl->err) == 0)
		status = run_recorded(ctl, NULL, "");
	ctl->interrupt = NULL;
	attach_fini(&attached);
	return status;
}

static enum status record_verb_run_program(struct ctl *ctl)
{
	const char *environment[11] = { NULL };
	char *preload AUTO_FREE = NULL, *scoped AUTO_FREE = NULL, *sanitizer AUTO_FREE = NULL;
	char *functions AUTO_FREE = NULL, *min_size AUTO_FREE = NULL;
	char *depth AUTO_FREE = NULL, *binaries AUTO_FREE = NULL;
	char *scope AUTO_FREE = make_scope(ctl);
	bool preloads = false; /* libltt, even without wrappers */
	unsigned int nr = 0;
	enum status status;

	if (!scope)
		return STATUS_ERROR;
	scoped = scope_environment(scope);
	environment[nr++] = scoped;
	if (opt.whole && !faults_is_first())
		print_note(ctl, "in a container with process ids of its own, all events of the kernel are "
				"recorded, not only the program's");
	if (!getenv(REGISTER_TIMEOUT) && record_verb_records(DOMAIN_USER))
		environment[nr++] = REGISTER_TIMEOUT "=" REGISTER_MS;
	if (blocking_us)
		environment[nr++] = "LTT_ALLOW_BLOCKING=1";
	if (!opt.no_lttng && record_verb_records(DOMAIN_USER))
		binaries = binaries_environment(ctl->operands[0], &preloads);
	if (binaries)
		environment[nr++] = binaries;
	if (opt.wrap || preloads) {
		preload = wrap_environment(ctl, ctl->operands[0], opt.wrap);
		if (opt.wrap && (opt.call_site || !getenv(WRAP_DEPTH_VARIABLE)))
			depth = wrap_depth_environment(ctl, opt.call_site);
		if (!preload || ctl->err.code)
			return STATUS_ERROR;
	}
	if (preload && wrap_can_load(ctl->operands[0])) {
		environment[nr++] = preload;
		if (depth)
			environment[nr++] = depth;
		sanitizer = wrap_sanitizer_environment();
		if (sanitizer)
			environment[nr++] = sanitizer;
		if (opt.functions)
			environment[nr++] = functions = xasprintf("LTT_FUNCTIONS=%s", opt.functions);
		if (opt.min_size)
			environment[nr++] = min_size =
				xasprintf("LTT_FUNCTIONS_SIZE=%" PRIu64, function_bytes);
	}
	status = run_recorded(ctl, environment, scope);
	ctl->interrupt = NULL;
	return status;
}

static enum status record_verb_run_verb(struct ctl *ctl)
{
	return record_verb_attaches() ? record_verb_run_attached(ctl) :
					record_verb_run_program(ctl);
}

/* `lttctl view` alone finds the trace only with the same home, and if it could be stored there. */
/* Of events of wrappers a report has more to show. */
static void hint(FILE *out, const char *path)
{
	char *word AUTO_FREE = text_shell_word(path);
	char *last AUTO_FREE = home_get(HOME_TRACE);
	bool is_last = !getenv("LTT_HOME") && last && strcmp(last, path) == 0;

	fprintf(out, "Read it with: lttctl view%s%s\n", is_last ? "" : " ", is_last ? "" : word);
	if (opt.wrap)
		fprintf(out, "Waits and allocations, summed up: lttctl report%s%s\n",
			is_last ? "" : " ", is_last ? "" : word);
}

static void summary(FILE *out, struct json_object *record)
{
	struct json_object *program = json_get(record, "program");
	struct json_object *totals = json_get(record, "totals");
	struct json_object *running = json_get(record, "attached");
	struct json_object *saved = json_get(record, "snapshot");
	struct json_object *crashes = json_get(record, "crash_report");
	uint64_t ns = json_num(running ? running : program, "duration_ns"),
		 n = totals_events(totals);
	uint64_t signal = json_num(program, "signal");
	bool whole = !*json_str(record, "problem") && !json_num(totals, "lost");
	const struct nothing asked = {
		.program = running ? "" : json_object_get_string(json_at(program, "command", 0)),
		.events = opt.events,
		.filter = opt.filter,
		.wrap = opt.wrap,
		.status = json_num(program, "exit_status"),
	};
	char buf[TEXT_BYTES];

	if (signal)
		fprintf(out, "The program was ended by signal %" PRIu64 " (%s).\n", signal,
			strsignal((int)signal));
	if (!totals)
		return;
	totals_text(out, totals);
	fprintf(out, " in %s", text_duration(buf, ns));
	if (n && ns)
		fprintf(out, " (%s events/s)",
			text_count(buf, (uint64_t)((double)n * 1e9 / (double)ns)));
	if (opt.flight && !saved) {
		fprintf(out, "\n%s",
			json_num(program, "exit_status") ?
				"The last events could not be saved.\n" :
			json_num(crashes, "crashed") ?
				"The program did not fail.\n" :
				"The program did not fail: nothing is saved.\n");
		flight_show_crashes(out, crashes);
		return;
	}
	fprintf(out, "\nThe %s in %s\n", saved ? "last events are" : "trace is",
		json_str(record, "output"));
	if (saved) {
		struct json_object *crash = json_get(program, "crash");
		struct json_object *last AUTO_RECORD =
			flight_last(json_str(saved, "directory"), crash);

		flight_show(out, last, crash);
		if (json_num(crashes, "crashed"))
			flight_show_crashes(out, crashes);
	}
	if (n)
		hint(out, json_str(record, "output"));
	else if (!opt.kernel && whole && running && !json_num(running, "silent"))
		fputs("No instrumentation point that is recorded was passed in this time. 'lttctl list "
		      "-u' shows the\npoints of the programs that run.\n",
		      out);
	else if (!opt.kernel && whole && !running)
		nothing_text(out, json_get(record, "point_names"), &asked);
	for (size_t i = 0; i < json_len(record, "uncalled"); i++)
		wrap_explain_uncalled(out, asked.program,
				      json_object_get_string(json_at(record, "uncalled", i)));
	if (json_get(record, "brief_functions"))
		brief_explain(out, json_get(record, "brief_functions"));
}

const struct verb verb_record = {
	.name = "record",
	.operands = "([--] PROGRAM [ARGUMENT]... | -p PID[,PID]... | -t TID[,TID]... | -a)",
	.help = "Record a program, or programs that run already; the trace is kept",
	.options = options,
	.daemon = DAEMON_UNUSED, /* the program is examined first */
	.command_behind = true,
	.text_on_stderr = true, /* stdout is the program's */
	.option = record_verb_option,
	.check = record_verb_check,
	.run = record_verb_run_verb,
	.text = summary,
};
