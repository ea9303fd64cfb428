/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sessions.c - checks whether the sessions record, the matches of their rules, losses, and the
 * output
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "doctor.h"
#include "ctl/home.h"
#include "ctl/session/leftover.h"
#include "ctl/session/points.h"
#include "ctl/print/json.h"
#include "ctl/print/show.h"
#include "ctl/statfs.h"
#include "ctl/session/target.h"
#include "ctl/print/text.h"

#define LITTLE_DISK (100u << 20)
#define DISK_ANSWER_MS 2000

/* An enabled rule that matches no point. */
struct unmatched {
	struct json_object *rule;
	const char *pattern, *exclude;
	bool kernel, by_level;
	bool excluded; /* there is a point that the pattern matches */
	char *fitting; /* a point that only the log level rejects */
	int level;     /* its log level */
	char *near;    /* a point with a similar name */
};

/* One session under examination; the words are quoted for a shell. */
struct patient {
	struct json_object *session;
	const char *name;
	char *word;
	unsigned int rules, fitting; /* enabled ones */
	struct unmatched *unmatched;
	size_t nr_unmatched;
	bool any; /* point of an application */
};

/* The option of the domain that it records, or of the user's if it records both. */
static const char *domain_of(const struct patient *p)
{
	for (size_t i = 0; i < json_len(p->session, "channels"); i++)
		if (strcmp(json_str(json_at(p->session, "channels", i), "domain"), "user") == 0)
			return "-u";
	return json_len(p->session, "channels") ? "-k" : "-u";
}

/* ---- rules ---- */

static void look_at_point(struct unmatched *u, const struct ltt_ctl_point *point)
{
	const char *const names[] = { u->near, point->name, NULL };
	const char *near = nearest_word(u->pattern, u->near ? names : names + 1);

	if (near && near != u->near) {
		free(u->near);
		u->near = xstrdup(near);
	}
	if (!glob_match(u->pattern, point->name))
		return;
	u->excluded |= *u->exclude != '\0';
	if (!u->by_level || u->fitting || *point->refused ||
	    (*u->exclude && glob_match_list(u->exclude, point->name)))
		return;
	u->fitting = xstrdup(point->name);
	u->level = point->loglevel;
}

static void note_point(const struct ltt_ctl_point *point, void *data)
{
	bool kernel = point->domain == LTT_CTL_KERNEL;
	struct patient *p = data;

	p->any |= !kernel;
	for (size_t i = 0; i < p->nr_unmatched; i++)
		if (p->unmatched[i].kernel == kernel)
			look_at_point(&p->unmatched[i], point);
}

static void add_unmatched(struct patient *p, struct json_object *rule, bool kernel)
{
	if (!json_flag(rule, "enabled") || json_num(rule, "nr_points"))
		return;
	p->unmatched = xrealloc(p->unmatched, (p->nr_unmatched + 1) * sizeof(*p->unmatched));
	p->unmatched[p->nr_unmatched++] = (struct unmatched){
		.rule = rule,
		.pattern = json_str(rule, "pattern"),
		.exclude = json_str(rule, "exclude"),
		.by_level = strcmp(json_str(rule, "loglevel_type"), "all") != 0,
		.kernel = kernel,
	};
}

/* The points are read once for all rules that match none, and not stored. */
static void find_unmatched(struct doctor *d, struct patient *p)
{
	bool domains[DOMAIN_USER + 1] = { false };
	struct err ignored = { 0 };

	for (size_t i = 0; i < json_len(p->session, "channels"); i++) {
		struct json_object *channel = json_at(p->session, "channels", i);
		bool kernel = strcmp(json_str(channel, "domain"), "kernel") == 0;

		for (size_t j = 0; j < json_len(channel, "rules"); j++)
			add_unmatched(p, json_at(channel, "rules", j), kernel);
	}
	for (size_t i = 0; i < p->nr_unmatched; i++)
		domains[p->unmatched[i].kernel ? DOMAIN_KERNEL : DOMAIN_USER] = true;
	for (size_t i = 0; i < ARRAY_SIZE(domains); i++)
		if (domains[i] &&
		    points_each(d->ctl, (enum domain_id)i, note_point, p, &ignored) != 0)
			ignored = (struct err){ 0 }; /* no point is known */
}

static const struct unmatched *unmatched_of(const struct patient *p, struct json_object *rule)
{
	size_t i = 0;

	while (p->unmatched[i].rule != rule)
		i++;
	return &p->unmatched[i];
}

static void level_too_low(struct doctor *d, struct patient *p, const char *channel,
			  const struct unmatched *u)
{
	char *pattern AUTO_FREE = text_shell_word(u->pattern);
	char buf[64];

	doctor_found(d, GRADE_WARN, "level",
		     "session '%s': rule '%s' matches events of log level %s, but '%s' is %s",
		     p->name, u->pattern, json_loglevel(u->rule, buf, sizeof(buf)), u->fitting,
		     loglevel_name(u->level));
	doctor_repair(d, "lttctl enable-event -u -s %s -c %s %s --loglevel=%s", p->word, channel,
		      pattern, loglevel_name(u->level));
}

static void fits_nothing(struct doctor *d, struct patient *p, const char *channel,
			 const struct unmatched *u)
{
	const char *near = u->near;

	doctor_found(d, GRADE_WARN, "match",
		     "session '%s': rule '%s' matches no instrumentation point %s%s%s%s", p->name,
		     u->pattern,
		     p->any ? "of a running application" : "now: no application that has any runs",
		     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	if (near) {
		char *word AUTO_FREE = text_shell_word(near);

		doctor_repair(d, "lttctl enable-event -u -s %s -c %s %s", p->word, channel, word);
	} else {
		doctor_repair(d, p->any ? "lttctl list -u" : "lttctl doctor -- PROGRAM");
	}
}

/* Enable it again. */
static void repair_rule(struct doctor *d, const struct patient *p, const char *channel,
			struct json_object *rule, const char *domain)
{
	char *pattern AUTO_FREE = text_shell_word(json_str(rule, "pattern"));
	char *place AUTO_FREE = text_shell_word(json_str(rule, "location"));

	char *fetch AUTO_FREE = text_shell_word(json_str(rule, "fetch"));
	bool more = *json_str(rule, "fetch");

	if (strcmp(json_str(rule, "kind"), "count") == 0)
		doctor_repair(d, "lttctl enable-event -k -s %s -c %s --count %s", p->word, channel,
			      pattern);
	else if (*json_str(rule, "location"))
		doctor_repair(d, "lttctl enable-event -k -s %s -c %s --%s=%s%s%s %s", p->word,
			      channel, json_str(rule, "kind"), place, more ? " --fetch=" : "",
			      more ? fetch : "", pattern);
	else
		doctor_repair(d, "lttctl enable-event %s -s %s -c %s %s", domain, p->word, channel,
			      pattern);
}

static void check_rule(struct doctor *d, struct patient *p, const char *channel,
		       struct json_object *rule, bool kernel)
{
	const struct unmatched *u;

	if (!json_flag(rule, "enabled")) {
		doctor_found(d, GRADE_WARN, "rule", "session '%s': rule '%s' is disabled", p->name,
			     json_str(rule, "pattern"));
		repair_rule(d, p, channel, rule, kernel ? "-k" : "-u");
		return;
	}
	p->rules++;
	if (json_num(rule, "nr_points")) {
		p->fitting++;
		return;
	}
	u = unmatched_of(p, rule);
	if (kernel) {
		doctor_kernel_rule(d, p->name, channel, u->pattern, u->near);
	} else if (u->fitting) {
		level_too_low(d, p, channel, u);
	} else if (u->excluded) {
		doctor_found(d, GRADE_WARN, "exclude",
			     "session '%s': rule '%s' excludes all events that it matches "
			     "(--exclude=%s)",
			     p->name, u->pattern, u->exclude);
		doctor_repair(d, "lttctl list -u");
	} else {
		fits_nothing(d, p, channel, u);
	}
}

static void check_channel(struct doctor *d, struct patient *p, struct json_object *channel)
{
	char *word AUTO_FREE = text_shell_word(json_str(channel, "name"));
	bool kernel = strcmp(json_str(channel, "domain"), "kernel") == 0;

	if (kernel)
		doctor_kernel(d);
	if (!json_flag(channel, "enabled")) {
		doctor_found(d, GRADE_WARN, "channel", "session '%s': channel '%s' is disabled",
			     p->name, json_str(channel, "name"));
		doctor_repair(d, "lttctl enable-channel %s -s %s %s", kernel ? "-k" : "-u", p->word,
			      word);
		return;
	}
	for (size_t i = 0; i < json_len(channel, "rules"); i++)
		check_rule(d, p, word, json_at(channel, "rules", i), kernel);
	doctor_refusals(d, p->name, channel);
	for (size_t i = 0; i < json_len(channel, "conflicts"); i++) {
		struct json_object *c = json_at(channel, "conflicts", i);

		doctor_found(d, GRADE_WARN, "conflict",
			     "session '%s': marker '%s' of process %" PRIu64
			     " is not recorded: another of the same name has another format",
			     p->name, json_str(c, "name"), json_num(c, "pid"));
		doctor_repair(d, "lttctl list -u # which of the two to rename");
	}
}

static void check_channels(struct doctor *d, struct patient *p)
{
	find_unmatched(d, p);
	for (size_t i = 0; i < json_len(p->session, "channels"); i++)
		check_channel(d, p, json_at(p->session, "channels", i));
	if (p->rules == 0) {
		doctor_found(d, GRADE_BAD, "rules",
			     "session '%s' has no event rule that is enabled: it records nothing",
			     p->name);
		doctor_repair(d, "lttctl enable-event -u -s %s '*'", p->word);
	} else if (p->fitting == 0 &&
		   json_num(json_get(p->session, "totals"), "recorded") == 0) {
		doctor_found(d, GRADE_BAD, "match",
			     "session '%s' has recorded nothing, and no running program has events "
			     "that match its rules",
			     p->name);
		doctor_repair(d, "lttctl list %s # lists the instrumentation points", domain_of(p));
	}
}

/* ---- losses and output ---- */

static uint64_t largest(struct json_object *session, const char *key)
{
	uint64_t max = 0;

	for (size_t i = 0; i < json_len(session, "channels"); i++)
		max = MAX(max, json_num(json_at(session, "channels", i), key));
	return max;
}

static void doctor_sessions_check_losses(struct doctor *d, struct patient *p)
{
	struct json_object *lost = json_get(json_get(p->session, "totals"), "lost_by_cause");
	uint64_t full = json_num(lost, "buffer_full"), large = json_num(lost, "too_large");
	uint64_t busy = json_num(lost, "buffer_busy"), output = json_num(lost, "output_failed");
	uint64_t subbuf = largest(p->session, "subbuf_size");
	char buf[TEXT_BYTES], size[TEXT_BYTES];

	if (full || large) {
		doctor_found(d, GRADE_WARN, "buffer",
			     "session '%s' lost %s event%s: sub-buffers of %s are too small",
			     p->name, text_count(buf, full + large), text_plural(full + large),
			     text_size(size, subbuf));
		doctor_repair(d, "lttctl enable-channel %s -s %s --subbuf-size=%" PRIu64 " larger",
			      domain_of(p), p->word, subbuf * 4);
	}
	if (busy) {
		doctor_found(d, GRADE_WARN, "rseq",
			     "session '%s' lost %s event%s because no buffer was free to be "
			     "written: some application can't use restartable sequences",
			     p->name, text_count(buf, busy), text_plural(busy));
		doctor_repair(d, "man 3 libltt # ENVIRONMENT");
	}
	if (output) {
		doctor_found(d, GRADE_WARN, "output", "session '%s' could not write %s event%s",
			     p->name, text_count(buf, output), text_plural(output));
		doctor_repair(d, "lttctl status %s", p->word);
	}
}

static void doctor_sessions_check_output(struct doctor *d, struct patient *p)
{
	const char *path = json_str(p->session, "output");
	char *word AUTO_FREE = text_shell_word(path);
	struct statvfs fs = { 0 };
	uint64_t left;
	char buf[TEXT_BYTES];
	int error;

	if (!*path) {
		doctor_found(d, GRADE_WARN, "output",
			     "session '%s' has no output: events are counted, not written",
			     p->name);
		doctor_repair(d, "lttctl create NAME --output=DIRECTORY");
		return;
	}
	if (*path != '/') /* a relay has it: an error there is reported as the session's problem */
		return;
	error = statfs_ask(path, DISK_ANSWER_MS, &fs);
	if (error == ETIMEDOUT) {
		doctor_found(d, GRADE_BAD, "output",
			     "session '%s': the file system of %s does not answer", p->name, path);
		doctor_repair(d, "lttctl status %s # once it answers, recording continues",
			      p->word);
		return;
	}
	if (error) {
		doctor_found(d, error == ENOENT ? GRADE_BAD : GRADE_WARN, "output",
			     "session '%s': its output directory %s: %s", p->name, path,
			     strerror(error));
		doctor_repair(d, "lttctl destroy %s; lttctl create NAME", p->word);
		return;
	}
	left = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (left >= LITTLE_DISK && !(fs.f_flag & ST_RDONLY))
		return;
	doctor_found(d, left && !(fs.f_flag & ST_RDONLY) ? GRADE_WARN : GRADE_BAD, "disk",
		     fs.f_flag & ST_RDONLY ? "session '%s': the file system of %s is read-only" :
					     "session '%s': the disk of %s has %s left",
		     p->name, path, text_size(buf, left));
	doctor_repair(d, "df -h %s", word);
}

static void check_problem(struct doctor *d, struct patient *p)
{
	const char *problem = json_str(p->session, "problem");

	if (!*problem)
		return;
	doctor_found(d, GRADE_BAD, "problem", "session '%s': %s", p->name, problem);
	doctor_repair(d, "lttctl status %s", p->word);
}

/* ---- sessions ---- */

static void check_state(struct doctor *d, struct patient *p)
{
	const char *state = json_str(p->session, "state");
	bool was = strcmp(state, "stopped") == 0 || strcmp(state, "stopping") == 0;

	if (strcmp(state, "recording") == 0 || strcmp(state, "starting") == 0)
		return;
	doctor_found(d, GRADE_BAD, "state", "session '%s' %s", p->name,
		     was ? "is stopped: it records no more" : "was never started");
	doctor_repair(d, "lttctl start %s", p->word);
}

static void cleanup_patient(struct patient *p)
{
	for (size_t i = 0; i < p->nr_unmatched; i++) {
		free(p->unmatched[i].fitting);
		free(p->unmatched[i].near);
	}
	free(p->unmatched);
	json_object_put(p->session);
	free(p->word);
}

static void check_session(struct doctor *d, const char *name)
{
	struct patient p CLEANUP(cleanup_patient) = { .name = name, .word = text_shell_word(name) };
	unsigned int before = d->counts[GRADE_BAD] + d->counts[GRADE_WARN];
	char buf[TEXT_BYTES];
	uint64_t recorded;

	if (show_fetch(d->ctl, name, &p.session, &d->ctl->err) != 0) {
		doctor_found(d, GRADE_BAD, "session", "%s", d->ctl->err.text);
		doctor_repair(d, "lttctl list");
		d->ctl->err = (struct err){ 0 };
		return;
	}
	check_state(d, &p);
	check_problem(d, &p);
	check_channels(d, &p);
	doctor_trackers(d, p.session);
	doctor_sessions_check_output(d, &p);
	doctor_sessions_check_losses(d, &p);
	recorded = json_num(json_get(p.session, "totals"), "recorded");
	if (before != d->counts[GRADE_BAD] + d->counts[GRADE_WARN])
		return;
	doctor_found(d, GRADE_OK, "session", "session '%s' records: %s event%s so far%s", name,
		     text_count(buf, recorded), text_plural(recorded),
		     recorded ? "" : "; no event that matches its rules was emitted yet");
}

/* The current one, if it is among them. */
static char *current_of(struct json_object *sessions)
{
	char *current = home_get(HOME_SESSION);

	if (current && target_find(sessions, current))
		return current;
	free(current);
	return NULL;
}

static void found_spool(void *data, const char *spool, const char *sentence)
{
	char *word AUTO_FREE = text_shell_word(spool);

	doctor_found(data, GRADE_WARN, "spool", "%s", sentence);
	doctor_repair(data, "lttctl spool send %s # or view, or remove it", word);
}

static void found_unloaded(void *data, const char *sentence)
{
	doctor_found(data, GRADE_WARN, "autoload", "a saved session was not loaded: %s", sentence);
	doctor_repair(data, "lttctl load --all --skip-existing # when that is repaired");
}

void doctor_sessions(struct doctor *d, const char *name)
{
	struct json_object *sessions AUTO_RECORD = NULL;
	char *current AUTO_FREE = NULL;
	struct err err = { 0 };

	leftover_each(d->ctl, found_spool, d);
	leftover_unloaded(d->ctl, found_unloaded, d);
	if (target_sessions(d->ctl, &sessions, &err) != 0) {
		doctor_found(d, GRADE_BAD, "session", "%s", err.text);
		doctor_repair(d, "lttctl list");
		return;
	}
	if (json_object_array_length(sessions) == 0) {
		doctor_found(d, GRADE_BAD, "session", "there is no session: nothing is recorded");
		doctor_repair(d, "lttctl create && lttctl enable-event -u '*' && lttctl start");
		return;
	}
	current = name ? xstrdup(name) : current_of(sessions);
	if (current) {
		check_session(d, current);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(sessions); i++)
		check_session(d, json_str(json_object_array_get_idx(sessions, i), "name"));
}
