/* SPDX-License-Identifier: GPL-2.0-only */
/* list.c - lttctl list: sessions, some of them, or instrumentation points. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/home.h"
#include "ctl/map/rows.h"
#include "ctl/mi/session.h"
#include "ctl/session/leftover.h"
#include "ctl/options.h"
#include "ctl/session/logger.h"
#include "ctl/session/points.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/show.h"
#include "ctl/print/table.h"
#include "ctl/session/target.h"
#include "ctl/print/text.h"
#include "ctl/record/totals.h"

static struct {
	struct domain_options domain;
	char *channel, *map, *usage, *style;
	int fields, active, domains, no_truncate, syscall;
} opt;

static const struct poptOption options[] = {
	OPTIONS_DOMAIN(opt.domain),
	OPTION_FLAG("fields", 'f', &opt.fields, "with -u or -k: the fields of each event"),
	OPTION_FLAG("active", 0, &opt.active,
		    "only what is recorded now; with -k also functions of modules that are called"),
	OPTION_CHANNEL(&opt.channel, "only this channel of the session"),
	OPTION_TEXT("map-channel", 0, &opt.map, "only this map channel of the session", "NAME"),
	OPTION_FLAG("domain", 'd', &opt.domains, "only the domains of the session"),
	OPTION_FLAG("no-truncate", 0, &opt.no_truncate, "no effect: text is never truncated"),
	OPTION_TEXT("mem-usage", 0, &opt.usage,
		    "memory of the session's buffers: total, compact (default), full", "KIND"),
	OPTION_TEXT("style", 0, &opt.style, "of a session: compact, breathe (default)", "STYLE"),
	OPTION_FLAG("syscall", 'S', &opt.syscall, "with -k: system calls only"),
	POPT_TABLEEND,
};

/* Sessions whose figures have not come: one warning, with the first one's problem. */
static enum status report_unknown(struct ctl *ctl, struct json_object *sessions)
{
	const char *why = "";
	size_t nr = 0;

	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *s = json_object_array_get_idx(sessions, i);

		if (show_lacks_figures(ctl, s) && nr++ == 0)
			why = json_str(s, "problem");
	}
	if (nr)
		print_warning(ctl, "figures of %zu session%s were not received in time%s%s", nr,
			      nr == 1 ? "" : "s", *why ? ": " : " from the consumer daemon", why);
	return nr ? STATUS_WARNING : STATUS_OK;
}

#define PROBLEMS_MAX 10u /* sentences of a list */

/* Outputs that fail; the figures are known. */
static void report_problems(struct ctl *ctl, struct json_object *sessions)
{
	size_t nr = 0;

	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *s = json_object_array_get_idx(sessions, i);
		const char *problem = json_str(s, "problem");

		if (*problem && !show_lacks_figures(ctl, s) && nr++ < PROBLEMS_MAX)
			print_warning(ctl, "session '%s': %s", json_str(s, "name"), problem);
	}
	if (nr > PROBLEMS_MAX)
		print_warning(ctl, "%zu more sessions have problems; use 'lttctl status SESSION'",
			      nr - PROBLEMS_MAX);
}

static void warn_of_unloaded(void *data, const char *sentence)
{
	print_warning(data, "a saved session was not loaded: %s", sentence);
}

static enum status list_verb_list_sessions(struct ctl *ctl)
{
	struct json_object *sessions = NULL;
	char *current AUTO_FREE = home_get(HOME_SESSION);

	if (target_sessions(ctl, &sessions, &ctl->err) != 0)
		return STATUS_ERROR;
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *s = json_object_array_get_idx(sessions, i);

		json_set_bool(s, "current",
				current && strcmp(json_str(s, "name"), current) == 0);
	}
	ctl->record = json_object_new_object();
	json_set_bool(ctl->record, "loading", ctl->loading);
	json_set(ctl->record, "sessions", sessions);
	if (ctl->loading && json_object_array_length(sessions))
		print_warning(ctl, "saved sessions are being loaded; repeat the command");
	leftover_unloaded(ctl, warn_of_unloaded, ctl);
	report_problems(ctl, sessions);
	return report_unknown(ctl, sessions);
}

/* The points that are printed, in a file of their own: there may be 100,000. */
static struct points_output listed;

static int list_write_points(struct ctl *ctl, enum domain_id domain, struct json_object *presets,
			     struct err *err)
{
	struct ltt_ctl_points *list;

	if (points_write(ctl, domain, &listed, &list, err) != 0)
		return err->code;
	for (size_t i = 0; i < list->nr_presets; i++)
		json_object_array_add(presets, json_preset(list->presets[i]));
	ltt_ctl_points_free(list);
	return 0;
}

/* Functions that other modules have connected without a session. Only root reads the list. */
static void add_probes(struct ctl *ctl)
{
	struct json_object *probes = NULL;
	int rc = points_kernel_probes(&probes);

	if (rc == 0)
		json_set(ctl->record, "probes", probes);
	else if (opt.domain.kernel)
		print_note(ctl,
			   "functions of modules that are called are not listed: "
			   "/sys/kernel/debug/ltt/active can't be read (%s)%s",
			   strerror(-rc),
			   rc == -EACCES ? "; root can" :
					   "; 'mount -t debugfs none /sys/kernel/debug' may help");
}

/* With --active and without a domain: those of both, of the kernel where this user may see them. */
static enum status list_points(struct ctl *ctl)
{
	struct json_object *presets AUTO_RECORD = json_object_new_array();
	const struct logger_domain *loggers = logger_domain_named(&opt.domain);
	bool both = !domain_any(&opt.domain);
	struct err err = { 0 };

	listed = (struct points_output){
		.out = tmpfile(),
		.json = ctl->json,
		.fields = opt.fields,
		.only = opt.syscall ? "syscalls" : NULL,
		.loggers = loggers,
		.only_active = opt.active,
		.array = ctl->mi ? json_object_new_array() : NULL,
	};
	if (!listed.out)
		listed.out = fdopen(memfd_create("points", MFD_CLOEXEC), "w+");
	if (!listed.out) {
		err_errno(&ctl->err, ERR_OUTPUT, errno, "can't make a file in /tmp for the list");
		return STATUS_ERROR;
	}
	if (list_write_points(ctl, domain_named(&opt.domain), presets, &ctl->err) != 0)
		return STATUS_ERROR;
	if (both && list_write_points(ctl, DOMAIN_KERNEL, presets, &err) != 0) {
		print_verbose(ctl, "events of the kernel are not listed: %s", err.text);
		both = false;
	}
	ctl->record = json_object_new_object();
	json_set(ctl->record, "points",
		 listed.array ? listed.array :
		 ctl->json    ? text_json_stored(listed.out) :
				json_object_new_array());
	if (ctl->mi)
		mi_mark_domain(ctl->record, both    ? "" :
					    loggers ? loggers->name :
						      json_domain(domain_named(&opt.domain)));
	if (!opt.active) {
		json_set(ctl->record, "presets", TAKE(presets));
		return STATUS_OK;
	}
	json_set_bool(ctl->record, "only_active", true);
	if (both || opt.domain.kernel)
		add_probes(ctl);
	return STATUS_OK;
}

static bool has_channel(struct json_object *session, const char *name)
{
	for (size_t i = 0; i < json_len(session, "channels"); i++)
		if (strcmp(json_str(json_at(session, "channels", i), "name"), name) == 0)
			return true;
	return false;
}

static bool has_text(struct json_object *channel, const char *key, const char *text)
{
	return strcmp(json_str(channel, key), text) == 0;
}

/* Whether the channel is of the domain @text, or has a rule for loggers of it. */
static bool is_of_domain(struct json_object *channel, const char *key, const char *text)
{
	for (size_t i = 0; i < json_len(channel, "rules"); i++)
		if (strcmp(json_str(json_at(channel, "rules", i), key), text) == 0)
			return true;
	return strcmp(json_str(channel, key), text) == 0;
}

/* Leave those channels of which @holds is true. */
static void only_channels(struct json_object *session,
			  bool (*holds)(struct json_object *, const char *, const char *),
			  const char *key, const char *text)
{
	struct json_object *left = json_object_new_array();

	for (size_t i = 0; i < json_len(session, "channels"); i++) {
		struct json_object *c = json_at(session, "channels", i);

		if (holds(c, key, text))
			json_object_array_add(left, json_object_get(c));
	}
	json_set(session, "channels", left);
}

/* Leave the one channel that was requested. */
static int only_channel(struct ctl *ctl, struct json_object *session, const char *name)
{
	if (!has_channel(session, name)) {
		err_set(&ctl->err, ERR_NO_CHANNEL, "session '%s' has no channel '%s'",
			json_str(session, "name"), name);
		target_suggest(ctl, json_str(session, "name"), name, NULL);
		return ctl->err.code;
	}
	only_channels(session, has_text, "name", name);
	return 0;
}

static bool has_domain(struct json_object *session, const char *domain)
{
	for (size_t i = 0; i < json_len(session, "channels"); i++)
		if (is_of_domain(json_at(session, "channels", i), "domain", domain))
			return true;
	return false;
}

static int only_domain(struct ctl *ctl, struct json_object *session)
{
	const struct logger_domain *loggers = logger_domain_named(&opt.domain);
	const char *domain = loggers ? loggers->name : json_domain(domain_named(&opt.domain));

	if (!has_domain(session, domain))
		return err_set(&ctl->err, ERR_NO_CHANNEL,
			       "session '%s' has no channel of the domain '%s'",
			       json_str(session, "name"), domain);
	only_channels(session, is_of_domain, "domain", domain);
	return 0;
}

/* The words of the domains of a session. */
static struct json_object *only_domains(struct json_object *session)
{
	static const char *const domains[] = { "kernel", "user", "jul", "log4j", "log4j2", "python" };
	struct json_object *o = json_object_new_object();

	json_set_str(o, "session", json_str(session, "name"));
	json_set(o, "domains", json_object_new_array());
	for (size_t i = 0; i < ARRAY_SIZE(domains); i++)
		if (has_domain(session, domains[i]))
			json_append(o, "domains", json_object_new_string(domains[i]));
	return o;
}

/* The map channels of the session; of its channels none, if one of these is requested. */
static int list_add_maps(struct ctl *ctl, struct json_object *session)
{
	const char *const names[] = { opt.map, NULL };
	const struct map_choice choice = { .channels = opt.map ? names : NULL };
	struct json_object *maps = NULL;

	if (map_fetch(ctl, json_str(session, "name"), &choice, &maps) != 0)
		return ctl->err.code;
	for (size_t i = 0; i < json_object_array_length(maps); i++)
		json_object_object_del(json_object_array_get_idx(maps, i), "values");
	if (opt.map)
		json_set(session, "channels", json_object_new_array());
	json_set(session, "map_channels", maps);
	return 0;
}

static enum status list_session(struct ctl *ctl, const char *name, struct json_object **ret)
{
	struct json_object *session AUTO_RECORD = NULL;

	if (show_fetch(ctl, name, &session, &ctl->err) != 0) {
		target_suggest(ctl, name, NULL, NULL);
		return STATUS_ERROR;
	}
	if ((domain_any(&opt.domain) && only_domain(ctl, session) != 0) ||
	    (opt.channel && only_channel(ctl, session, opt.channel) != 0) ||
	    (!opt.channel && list_add_maps(ctl, session) != 0))
		return STATUS_ERROR;
	if (opt.domains && ctl->mi)
		mi_mark_domains_alone(session);
	*ret = opt.domains && !ctl->mi ? only_domains(session) : TAKE(session);
	return opt.domains ? STATUS_OK : show_warnings(ctl, *ret);
}

static enum status list_each(struct ctl *ctl, const char *name)
{
	struct json_object *o = NULL;
	enum status status = list_session(ctl, name, &o);

	if (o)
		json_append(ctl->record, "sessions", o);
	return status;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !word || strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int check_style(struct ctl *ctl)
{
	if (!is_one_of(opt.usage, "total", "compact", "full"))
		err_set(&ctl->err, ERR_INVALID,
			"--mem-usage=%s: this is not 'total', 'compact' or 'full'", opt.usage);
	else if (!is_one_of(opt.style, "compact", "breathe", "breathe"))
		err_set(&ctl->err, ERR_INVALID, "--style=%s: this is not 'compact' or 'breathe'",
			opt.style);
	else if ((opt.usage || opt.style) && !operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "missing session: use lttctl list SESSION --%s=%s",
			opt.usage ? "mem-usage" : "style", opt.usage ? opt.usage : opt.style);
	return ctl->err.code;
}

static enum status list_verb_check(struct ctl *ctl)
{
	enum status status = check_style(ctl)	      ? STATUS_ERROR :
			     domain_any(&opt.domain) ? domain_check_any(ctl, &opt.domain) :
						      STATUS_OK;

	if (status == STATUS_OK && operand(ctl, 0) && opt.active) {
		err_set(&ctl->err, ERR_INVALID,
			"--active lists the events of all sessions: use lttctl list --active");
		return STATUS_ERROR;
	}
	if (status != STATUS_OK || operand(ctl, 0))
		return status;
	if (opt.fields && !domain_any(&opt.domain)) {
		err_set(&ctl->err, ERR_INVALID,
			"--fields needs a domain: use lttctl list -u --fields");
		return STATUS_ERROR;
	}
	if (opt.syscall && !opt.domain.kernel) {
		err_set(&ctl->err, ERR_INVALID,
			"system calls need the kernel domain: use lttctl list -k --syscall");
		return STATUS_ERROR;
	}
	if (opt.channel || opt.domains || opt.map) {
		err_set(&ctl->err, ERR_INVALID, "missing session: use lttctl list SESSION %s",
			opt.channel ? "--channel=NAME" :
			opt.map	    ? "--map-channel=NAME" :
				      "--domain");
		return STATUS_ERROR;
	}
	return STATUS_OK;
}

static enum status list_verb_run(struct ctl *ctl)
{
	if (ctl->nr_operands > 1)
		return target_each(ctl, list_each);
	if (operand(ctl, 0))
		return list_session(ctl, operand(ctl, 0), &ctl->record);
	if (!opt.active && !domain_any(&opt.domain))
		return list_verb_list_sessions(ctl);
	return list_points(ctl);
}

/* ---- text ---- */

static void session_cells(struct table *table, struct json_object *session)
{
	uint64_t uid = json_num(session, "uid");
	char owner[TEXT_BYTES + 8] = "";

	if (uid != getuid())
		snprintf(owner, sizeof(owner), " (user %" PRIu64 ")", uid);
	table_cell(table, "%s %s%s", json_flag(session, "current") ? "*" : " ",
		   json_str(session, "name"), owner);
	table_form(table, session, "{state}");
	table_form(table, session, "[{?totals}{totals.recorded:n}|?]");
	table_form(table, session, "[{?totals}{totals.lost:n}|?]");
	table_form(table, session, "[{output?}|none][{link=down} (link down)]");
}

static void sessions_text(FILE *out, struct json_object *record)
{
	static const char *const heads[] = { "  SESSION", "STATE", "RECORDED", "LOST", "OUTPUT" };
	struct table table = { .columns = "llrrl" };

	text_form(out, record,
		  "[{?sessions}|{?loading}There is no session yet: saved ones are being loaded; "
		  "repeat the command.\n|There is no session; 'lttctl create' makes one.\n]");
	if (json_len(record, "sessions") == 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	for (size_t i = 0; i < json_len(record, "sessions"); i++)
		session_cells(&table, json_at(record, "sessions", i));
	table_print(out, &table);
}

static void usage_text(FILE *out, struct json_object *session)
{
	uint64_t memory = 0;
	char buf[TEXT_BYTES];

	for (size_t i = 0; i < json_len(session, "channels"); i++)
		memory += json_num(json_at(session, "channels", i), "memory");
	fprintf(out, "\nMemory of all buffers: %s\n", text_size(buf, memory));
	if (strcmp(opt.usage, "full") == 0)
		text_forms(out, session, "channels",
			   "  {name}: {memory:b} for {num_subbuf} x {subbuf_size:b} a CPU, per "
			   "{ownership}; {used:b} of the fullest {size:b} in use\n");
}

static void details_text(FILE *out, struct json_object *session)
{
	show_details(out, session);
	if (opt.usage && strcmp(opt.usage, "compact") != 0)
		usage_text(out, session);
}

/* Without empty lines. */
static void compact_text(FILE *out, struct json_object *session)
{
	char *text = NULL, *rest, *line;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return;
	details_text(to, session);
	if (fclose(to) == 0)
		for (rest = text; (line = strsep(&rest, "\n"));)
			if (*line)
				fprintf(out, "%s\n", line);
	free(text);
}

static void list_session_text(FILE *out, struct json_object *session)
{
	bool compact = opt.style && strcmp(opt.style, "compact") == 0;

	(compact ? compact_text : details_text)(out, session);
}

static void several_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "sessions"); i++) {
		struct json_object *o = json_at(record, "sessions", i);

		fputs(i ? "\n" : "", out);
		if (!opt.domains) {
			list_session_text(out, o);
			continue;
		}
		text_form(out, o, "{session}:\n");
		text_forms(out, o, "domains", "{}\n");
	}
}

static void list_verb_list_text(FILE *out, struct json_object *record)
{
	text_stored(out, listed.out);
	if (listed.nr == 0)
		text_form(out, record,
			  "[{?only_active}No event is recorded now.\n|"
			  "No application with instrumentation points is running.\n]");
	if (json_get(record, "presets"))
		points_presets_text(out, json_get(record, "presets"));
	if (json_get(record, "probes"))
		points_probes_text(out, json_get(record, "probes"));
}

static void list_verb_text(FILE *out, struct json_object *record)
{
	if (json_get(record, "loading"))
		sessions_text(out, record);
	else if (json_get(record, "sessions"))
		several_text(out, record);
	else if (json_get(record, "points"))
		list_verb_list_text(out, record);
	else if (json_get(record, "domains"))
		text_forms(out, record, "domains", "{}\n");
	else
		list_session_text(out, record);
}

const struct verb verb_list = {
	.name = "list",
	.operands = "[SESSION]... [-u | -k | -p | -j | -l | --log4j2] [--active]",
	.help = "List sessions, one session, or instrumentation points (-u, -k)",
	.options = options,
	.paged = true,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = list_verb_check,
	.run = list_verb_run,
	.text = list_verb_text,
};
