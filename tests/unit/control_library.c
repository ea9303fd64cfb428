/* SPDX-License-Identifier: GPL-2.0-only */
/* libltt-ctl: structs and their contents, also of other versions; lost connections; no memory. */
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/prctl.h>

#include <ltt/control.h>

#include "io/spoolfacts.h"
#include "libctl/spools.h"

#include "lib/ctl_fake.h"

/* ---- memory: a call of this thread's fails after some others ---- */

static __thread long left = -1; /* allocations until one fails; -1: none does */

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#define WRAP(name, params, args)                   \
	void *__real_##name params;                \
	void *__wrap_##name params;                \
	void *__wrap_##name params                 \
	{                                          \
		if (!fails())                      \
			return __real_##name args; \
		errno = ENOMEM;                    \
		return NULL;                       \
	}
WRAP(malloc, (size_t size), (size))
WRAP(calloc, (size_t nr, size_t size), (nr, size))
WRAP(realloc, (void *p, size_t size), (p, size))
WRAP(strdup, (const char *s), (s))
WRAP(strndup, (const char *s, size_t len), (s, len))
WRAP(getcwd, (char *buf, size_t size), (buf, size))
WRAP(realpath, (const char *path, char *ret), (path, ret))
int __real_vasprintf(char **ret, const char *fmt, va_list args);
int __wrap_vasprintf(char **ret, const char *fmt, va_list args);
int __wrap_vasprintf(char **ret, const char *fmt, va_list args)
{
	return fails() ? -1 : __real_vasprintf(ret, fmt, args);
}

/* ---- calls, each with a result that it frees ---- */

static struct ltt_ctl *ctl;

static int call_connect(void)
{
	return ltt_ctl_connect(ctl, NULL);
}

static int call_list(void)
{
	struct ltt_ctl_sessions *list;
	int code = ltt_ctl_list(ctl, &list);

	if (code == 0)
		ltt_ctl_sessions_free(list);
	return code;
}

static int call_recover(void)
{
	struct ltt_ctl_sessions *list;
	int code = ltt_ctl_recover(ctl, &list);

	if (code == 0)
		ltt_ctl_sessions_free(list);
	return code;
}

static int call_find(void)
{
	struct ltt_ctl_sessions *list;
	int code = ltt_ctl_find(ctl, "demo", &list);

	if (code == 0) {
		CHECK(list->nr == 1 && strcmp(list->sessions[0]->name, "demo") == 0);
		ltt_ctl_sessions_free(list);
	}
	return code;
}

static int call_filter(void)
{
	struct ltt_ctl_filter_options o;
	struct ltt_ctl_verdicts *list;
	int code;

	ltt_ctl_filter_options_init(&o);
	o.expression = "id == 1";
	code = ltt_ctl_check_filter(ctl, &o, &list);
	if (code == 0) {
		CHECK(list->nr == 2 && strcmp(list->verdicts[0]->event, "web:request") == 0);
		CHECK(!list->verdicts[0]->column && !*list->verdicts[0]->why);
		CHECK(list->verdicts[1]->column == 4 &&
		      strcmp(list->verdicts[1]->why, "it has no field 'id'") == 0);
		ltt_ctl_verdicts_free(list);
	}
	return code;
}

static int call_programs(void)
{
	struct ltt_ctl_programs *p;
	int code = ltt_ctl_list_programs(ctl, "demo", &p);

	if (code == 0) {
		CHECK(p->recording == 1 && p->applications == 2 && p->matched && !p->more);
		CHECK(p->nr_points == 1 && strcmp(p->points[0], "app:point") == 0);
		ltt_ctl_programs_free(p);
	}
	return code;
}

static int call_status(void)
{
	struct ltt_ctl_session_status *status;
	int code = ltt_ctl_status(ctl, "demo", &status);

	if (code == 0)
		ltt_ctl_status_free(status);
	return code;
}

static int call_track(void)
{
	static const uint32_t ids[] = { 5, 7, 9 };
	struct ltt_ctl_track_options o;
	uint32_t changed = 99;
	int code;

	ltt_ctl_track_options_init(&o);
	o.session = "demo";
	o.domain = LTT_CTL_KERNEL;
	o.kind = LTT_CTL_TRACK_VPID;
	o.op = LTT_CTL_TRACK_REMOVE;
	o.ids = ids;
	o.nr_ids = 3;
	code = ltt_ctl_track(ctl, &o, &changed);
	CHECK_IS(changed, ==, (code ? 99 : 2));
	return code;
}

static int call_contexts(void)
{
	struct ltt_ctl_contexts *list;
	int code = ltt_ctl_list_contexts(ctl, LTT_CTL_KERNEL, &list);

	if (code == 0) {
		CHECK(list->nr == 2 && strcmp(list->contexts[0]->name, "pid") == 0);
		CHECK_IS(strcmp(list->contexts[1]->type, "string"), ==, 0);
		CHECK_IS(list->contexts[1]->domain, ==, LTT_CTL_KERNEL);
		ltt_ctl_contexts_free(list);
	}
	return code;
}

static int call_points(void)
{
	struct ltt_ctl_points *list;
	int code = ltt_ctl_list_points(ctl, LTT_CTL_USER, LTT_CTL_FIELDS, &list);

	if (code == 0)
		ltt_ctl_points_free(list);
	return code;
}

static int call_presets(void)
{
	struct ltt_ctl_points *list;
	int code = ltt_ctl_list_points(ctl, LTT_CTL_KERNEL, 0, &list);

	if (code == 0) {
		CHECK(list->nr == 2 && list->points[1]->nr_fields == 0);
		CHECK(list->nr_presets == 1 && strcmp(list->presets[0]->name, "net") == 0);
		CHECK_IS(strcmp(list->presets[0]->events, "net_*"), ==, 0);
		CHECK(list->presets[0]->subbuf_size == 65536 && list->presets[0]->num_subbuf == 8);
		ltt_ctl_points_free(list);
	}
	return code;
}

static int call_places(void)
{
	struct ltt_ctl_places *found;
	int code = ltt_ctl_find_places(ctl, "/proc/self/exe:main", &found);

	if (code == 0) {
		CHECK(found->nr == 1 && found->places[0]->offset && *found->text);
		ltt_ctl_places_free(found);
	}
	return code;
}

static int call_stats(void)
{
	struct ltt_ctl_stats *stats;
	int code = ltt_ctl_list_stats(ctl, "demo", &stats);

	if (code == 0)
		ltt_ctl_stats_free(stats);
	return code;
}

static int call_quotas(void)
{
	struct ltt_ctl_quotas *list;
	int code = ltt_ctl_list_quotas(ctl, &list);

	if (code == 0) {
		CHECK(list->nr == 1 && list->quotas[0]->uid == 1000 && list->quotas[0]->in_roots);
		CHECK_IS(strcmp(list->quotas[0]->name, "sessions"), ==, 0);
		CHECK(list->quotas[0]->used == 3 && list->quotas[0]->limit == 64);
		CHECK_IS(list->quotas[0]->refused, ==, 2);
		ltt_ctl_quotas_free(list);
	}
	return code;
}

static int call_consumers(void)
{
	struct ltt_ctl_consumers *list;
	int code = ltt_ctl_list_consumers(ctl, &list);

	if (code == 0) {
		CHECK(list->nr == 3 && list->consumers[0]->uid == 0);
		CHECK(list->consumers[0]->pid == 17 && list->consumers[0]->nr_sessions == 2);
		CHECK(list->consumers[1]->uid == 1000 && list->consumers[1]->silent_ms == 3000);
		CHECK(!list->consumers[0]->kernel && !list->consumers[1]->kernel);
		CHECK(list->consumers[2]->pid == 19 && list->consumers[2]->kernel == 1);
		ltt_ctl_consumers_free(list);
	}
	return code;
}

static int call_spools(void)
{
	struct ltt_ctl_spools *list;
	int code = ltt_ctl_list_spools(ctl, NULL, &list);

	if (code == 0)
		ltt_ctl_spools_free(list);
	return code;
}

static int call_send_spool(void)
{
	return ltt_ctl_send_spool(ctl, "left-1", NULL);
}

static int call_enable_event(void)
{
	struct ltt_ctl_event_options o;
	uint32_t points = 99;
	int code;

	ltt_ctl_event_options_init(&o);
	o.session = "demo";
	o.domain = LTT_CTL_USER;
	o.pattern = "net:*";
	code = ltt_ctl_enable_event(ctl, &o, NULL, &points);
	CHECK_IS(points, ==, (code ? 99 : 2));
	return code;
}

static int call_stop(void)
{
	return ltt_ctl_stop(ctl, "demo", 0, NULL);
}

static int call_destroy(void)
{
	return ltt_ctl_destroy(ctl, "demo", 0, NULL);
}

static int create_at(const char *name, const char *output)
{
	struct ltt_ctl_create_options o;
	char *ret_name = NULL, *ret_output = NULL;
	int code;

	ltt_ctl_create_options_init(&o);
	o.name = name;
	o.output = output;
	code = ltt_ctl_create(ctl, &o, &ret_name, &ret_output);
	CHECK(code || (*ret_name && *ret_output == '/' && access(ret_output, F_OK) == 0));
	CHECK(!code || (!ret_name && !ret_output));
	free(ret_name);
	free(ret_output);
	return code;
}

static int call_create(void)
{
	return create_at("demo", NULL);
}

static int call_create_at(void)
{
	return create_at(NULL, "some/where");
}

/* Each allocation fails once, then the call succeeds. Return: how many there are. */
static long without_memory(int (*call)(void), bool undone)
{
	for (long n = 0;; n++) {
		int code;

		left = n;
		code = call();
		left = -1;
		if (code == 0)
			return n;
		if (code != LTT_CTL_NO_MEMORY)
			fprintf(stderr, "allocation %ld: %d: %s\n", n, code, ltt_ctl_error(ctl));
		CHECK(code == LTT_CTL_NO_MEMORY && *ltt_ctl_error(ctl));
		CHECK(!undone || !*ctl_model.session);
	}
}

/* The call has its effect also where there is no memory for the facts about it: that is, for
 * allocations behind the first ones, of which there are @before. */
static void memory_of_outcome(int (*call)(void), long before)
{
	const struct ltt_ctl_outcome *o;
	long nr = before;

	ctl_model.conflict = ctl_model.refusal = true;
	ctl_model.stop_problem = "the disk is full";
	CHECK_IS(without_memory(call, false), ==, before);
	do {
		left = nr++;
		CHECK_IS(call(), ==, 0);
		left = -1;
		o = ltt_ctl_last_outcome(ctl);
		CHECK(strstr(ltt_ctl_warning(ctl), "'net_rx' of process 4711"));
	} while (o->incomplete);
	CHECK(nr >= before + 4 && o->nr_conflicts == 1);
	ctl_model.conflict = ctl_model.refusal = false;
	ctl_model.stop_problem = "";
}

static void memory(void)
{
	left = 0;
	CHECK(!ltt_ctl_new());
	left = -1;
	CHECK_IS(without_memory(call_connect, false), >=, 5);
	CHECK_IS(without_memory(call_create, true), >=, 5);
	CHECK_IS(without_memory(call_list, false), >=, 5);
	CHECK_IS(without_memory(call_recover, false), >=, 10);
	ctl_model.tracks = true;
	CHECK_IS(without_memory(call_status, false), >=, 15);
	ctl_model.tracks = false;
	CHECK_IS(without_memory(call_track, false), ==, 1);
	CHECK_IS(without_memory(call_contexts, false), >=, 9);
	CHECK_IS(without_memory(call_points, false), >=, 15);
	CHECK_IS(without_memory(call_presets, false), >=, 10);
	CHECK_IS(without_memory(call_places, false), >=, 10);
	CHECK_IS(without_memory(call_stats, false), >=, 12);
	CHECK_IS(without_memory(call_quotas, false), ==, 4);
	CHECK_IS(without_memory(call_consumers, false), ==, 7);
	CHECK_IS(without_memory(call_find, false), >=, 5);
	CHECK_IS(without_memory(call_filter, false), >=, 7);
	ctl_model.announced = "app:point";
	ctl_model.matched = true;
	ctl_model.recording = 1;
	CHECK_IS(without_memory(call_programs, false), ==, 3);
	ctl_model.announced = NULL;
	ctl_model.matched = false;
	ctl_model.recording = 0;
	memory_of_outcome(call_enable_event, 1);
	memory_of_outcome(call_stop, 2);
	CHECK_IS(without_memory(call_destroy, false), ==, 2);
	CHECK_IS(without_memory(call_create_at, true), >=, 5);
	ctl_model.session[0] = '\0';
}

/* ---- messages ---- */

static void check_session(const struct ltt_ctl_session *s)
{
	CHECK(s->id == 7 && strcmp(s->name, "demo") == 0);
	CHECK(s->state == LTT_CTL_RECORDING && s->applications == 2);
	CHECK(s->uid == getuid() && s->recording_ns == 12300000000);
	CHECK(strcmp(s->problem, "the disk is full") == 0 && *s->output == '/' && !*s->spool);
	CHECK(s->totals->recorded == 90 && s->totals->lost == 5 + 2 + 10);
	CHECK(s->totals->lost_full == 2 && s->totals->lost_output == 13);
	CHECK(s->totals->lost_size == 2 && s->totals->written == 80);
}

static void lists(void)
{
	struct ltt_ctl_sessions *list;

	CHECK(ltt_ctl_find(ctl, NULL, &list) == 0 && list->nr == 1);
	check_session(list->sessions[0]);
	ltt_ctl_sessions_free(list);
	CHECK(ltt_ctl_find(ctl, "dem", &list) == 0 && list->nr == 0);
	ltt_ctl_sessions_free(list);

	CHECK_IS(ltt_ctl_list(ctl, &list), ==, 0);
	CHECK_IS(list->nr, ==, 1);
	check_session(list->sessions[0]);
	ltt_ctl_sessions_free(list);
	ltt_ctl_sessions_free(NULL);
}

static void statuses(void)
{
	struct ltt_ctl_session_status *status;
	const struct ltt_ctl_channel *c;

	ctl_model.conflict = true;
	ctl_model.tracks = true;
	CHECK_IS(ltt_ctl_status(ctl, "demo", &status), ==, 0);
	check_session(status->session);
	CHECK_IS(status->nr_channels, ==, 1);
	c = status->channels[0];
	CHECK(strcmp(c->name, "channel0") == 0 && c->domain == LTT_CTL_USER && c->enabled);
	CHECK(c->subbuf_size == 524288 && c->num_subbuf == 4 && c->ownership == LTT_CTL_OWNER_USER);
	CHECK(c->used == 1048576 && c->size == 4194304 && c->totals->bytes == 4000);
	CHECK(c->nr_rules == 1 && c->nr_refusals == 0 && c->nr_conflicts == 1);
	CHECK(strcmp(c->rules[0]->pattern, "web:*") == 0 && c->rules[0]->points == 4);
	CHECK(c->rules[0]->loglevel_type == LTT_CTL_LEVEL_AT_LEAST && c->rules[0]->loglevel == 6);
	CHECK(c->conflicts[0]->pid == 4711 && strcmp(c->conflicts[0]->refused, "len %s") == 0);
	CHECK(status->nr_trackers == 2 && status->trackers[0]->domain == LTT_CTL_KERNEL);
	CHECK(status->trackers[0]->kind == LTT_CTL_TRACK_VPID && status->trackers[0]->nr_ids == 2);
	CHECK(status->trackers[0]->ids[0] == 1 && status->trackers[0]->ids[1] == 2);
	CHECK(status->trackers[1]->kind == LTT_CTL_TRACK_UID && status->trackers[1]->nr_ids == 0);
	ltt_ctl_status_free(status);
	ltt_ctl_status_free(NULL);
	ctl_model.conflict = false;
	ctl_model.tracks = false;
}

/* A program of an earlier version has a shorter struct, and any bytes behind it. */
static void rooms(void)
{
	struct ltt_ctl_channel_options channel;

	ctl_model.requests[0] = '\0';
	ltt_ctl_channel_options_init(&channel);
	channel.session = "demo";
	channel.name = "channel0";
	channel.domain = LTT_CTL_USER;
	channel.roomy = 2;
	CHECK_IS(ltt_ctl_enable_channel(ctl, &channel), ==, LTT_CTL_CHANNEL_EXISTS);
	channel.size = offsetof(struct ltt_ctl_channel_options, roomy);
	CHECK_IS(ltt_ctl_enable_channel(ctl, &channel), ==, LTT_CTL_CHANNEL_EXISTS);
	EXPECT_REQUESTS("channel demo channel0 size 0 nr 0 own 0 file 0 x 0 timer 0 over 0 roomy\n"
			"channel demo channel0 size 0 nr 0 own 0 file 0 x 0 timer 0 over 0\n");
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl enable-channel -u -s demo --buffer-ownership=user -C 4k -W 2 c", 0,
	       "User channel c enabled for session demo\n",
	       "trace files of 4096 bytes can't hold a buffer; their size is set to 8192\n");
	EXPECT("lttctl enable-channel -u -s damo c", 1, "",
	       "there is no session 'damo'; did you mean 'demo'?");
	EXPECT_REQUESTS("channel demo c size 0 nr 0 own 1 file 4096 x 2 timer 0 over 0\n"
			"channel damo c size 0 nr 0 own 0 file 0 x 0 timer 0 over 0\n");
	pthread_mutex_unlock(&ctl_model.lock);
}

/* Places in a program are passed on as they are. */
static void places(void)
{
	struct ltt_ctl_event_options o;

	ltt_ctl_event_options_init(&o);
	o.session = "demo";
	o.domain = LTT_CTL_KERNEL;
	o.pattern = "main";
	o.kind = LTT_CTL_RULE_USER;
	o.location = "web:main";
	CHECK_IS(ltt_ctl_enable_event(ctl, &o, NULL, NULL), ==, LTT_CTL_INVALID);
	CHECK_IS(strcmp(ltt_ctl_error(ctl), "the file of the places is missing"), ==, 0);
	o.file = "/usr/bin/web";
	CHECK_IS(ltt_ctl_enable_event(ctl, &o, NULL, NULL), ==, LTT_CTL_INVALID);
	CHECK_IS(strcmp(ltt_ctl_error(ctl), "the list of places is missing"), ==, 0);
	o.places = "1,2,3,4;0x5";
	o.fetch = "ax";
	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_enable_event(ctl, &o, NULL, NULL), ==, 0);
	o.kind = LTT_CTL_RULE_PROBE;
	CHECK_IS(ltt_ctl_enable_event(ctl, &o, NULL, NULL), ==, LTT_CTL_INVALID);
	CHECK_IS(strcmp(ltt_ctl_error(ctl), "file and places belong to LTT_CTL_RULE_USER"), ==, 0);
	EXPECT_REQUESTS("event demo  'main' not '' level 0 0\n"
			" kind 3 at web:main fetch 'ax' in '/usr/bin/web' 1,2,3,4;0x5\n");
}

static void check_outcome(uint32_t late, const char *problem)
{
	const struct ltt_ctl_outcome *o = ltt_ctl_last_outcome(ctl);

	CHECK(o->late == late && strcmp(o->problem, problem) == 0 && !o->incomplete);
	CHECK(o->nr_refusals == 2 && o->nr_conflicts == 1);
	CHECK(strcmp(o->conflicts[0]->event, "net_rx") == 0 && o->conflicts[0]->pid == 4711);
	CHECK_IS(strcmp(o->conflicts[0]->recorded, "len %d"), ==, 0);
	CHECK(strcmp(o->refusals[0]->event, "web:*") == 0 && o->refusals[0]->counted);
	CHECK_IS(strcmp(o->refusals[0]->why, "libltt is too old"), ==, 0);
	CHECK_IS(o->refusals[0]->domain, ==, LTT_CTL_USER);
	CHECK(o->refusals[1]->domain == LTT_CTL_KERNEL && !o->refusals[1]->counted);
	CHECK(strstr(ltt_ctl_warning(ctl), "event 'web:*' is not counted: libltt is too old"));
	CHECK(strstr(ltt_ctl_warning(ctl), "event 'sched_switch' is not recorded: it has no"));
}

/* The facts of a call, also as lttctl shows them, until the next call. */
static void outcomes(void)
{
	const struct ltt_ctl_outcome *o = ltt_ctl_last_outcome(ctl);

	CHECK(!o->late && !*o->problem && !o->nr_refusals && !o->nr_conflicts && !o->incomplete);
	ctl_model.conflict = ctl_model.refusal = true;
	CHECK_IS(call_enable_event(), ==, 0);
	check_outcome(0, "");
	ctl_model.state = SESSION_STOPPED;
	ctl_model.start_problem = "its state can't be saved";
	CHECK_IS(ltt_ctl_start(ctl, "demo", NULL), ==, 0);
	check_outcome(1, "its state can't be saved");
	CHECK(call_list() == 0 && ltt_ctl_last_outcome(ctl)->nr_refusals == 0);
	ctl_model.stop_problem = "the disk is full";
	CHECK_IS(call_stop(), ==, 0);
	o = ltt_ctl_last_outcome(ctl);
	CHECK(o->nr_conflicts == 1 && strcmp(o->problem, "the disk is full") == 0);
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl enable-event -u -s demo 'net:*'", 4,
	       "User event net:* enabled in channel channel0 of session demo (2 instrumentation "
	       "points now)\n",
	       "Warning: marker 'net_rx' of process 4711 is not recorded: its format is \"len %s\", "
	       "but \"len %d\" is recorded under this name\n"
	       "Warning: event 'web:*' is not counted: libltt is too old\n"
	       "Warning: the kernel's event 'sched_switch' is not recorded: it has no fields\n");
	EXPECT_PART("lttctl --json enable-event -u -s demo net:x | jq -c .result.rules", 0,
		    "[{\"conflicts\":[{\"name\":\"net_rx\",\"armed\":\"len %d\",\"refused\":"
		    "\"len %s\",\"pid\":4711}],\"refusals\":[{\"name\":\"web:*\",\"why\":"
		    "\"libltt is too old\",\"domain\":\"user\",\"refused\":\"count\"},{\"name\":"
		    "\"sched_switch\",\"why\":\"it has no fields\",\"domain\":\"kernel\","
		    "\"refused\":\"record\"}],\"pattern\":\"net:x\",\"channel\":\"channel0\","
		    "\"nr_points\":0}]\n");
	EXPECT("lttctl start demo", 4, "Tracing started for session demo (2 applications)\n",
	       "Note: session 'demo': 1 of 2 applications had not answered within a second; they "
	       "record as soon as they do\n"
	       "Warning: session 'demo': its state can't be saved\n"
	       "Warning: marker 'net_rx' ");
	EXPECT_PART("lttctl --json stop demo | jq -c '.result.sessions[0] | keys_unsorted'", 0,
		    "[\"conflicts\",\"session\",\"totals\",\"problem\"]\n");
	CHECK(strstr(ctl_output.err, "Warning: the disk is full\n"));
	pthread_mutex_unlock(&ctl_model.lock);
	ctl_model.conflict = ctl_model.refusal = false;
	ctl_model.start_problem = ctl_model.stop_problem = "";
	ctl_model.requests[0] = '\0';
}

static void changes(void)
{
	struct ltt_ctl_channel_options channel;
	struct ltt_ctl_event_options event;
	char name[LTT_CTL_NAME_BYTES];
	uint32_t points, apps;

	CHECK_IS(call_create(), ==, 0);
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT_PART("lttctl list", 0, "demo");
	pthread_mutex_unlock(&ctl_model.lock);
	ctl_model.requests[0] = '\0';
	ltt_ctl_channel_options_init(&channel);
	channel.session = "demo";
	channel.name = "big";
	channel.domain = LTT_CTL_USER;
	channel.subbuf_size = 65536;
	channel.num_subbuf = 8;
	channel.tracefile_size = 4096;
	channel.tracefile_count = 2;
	channel.switch_timer_us = 100;
	channel.ownership = LTT_CTL_OWNER_PROCESS;
	CHECK_IS(ltt_ctl_enable_channel(ctl, &channel), ==, 0);
	EXPECT_REQUESTS("channel demo big size 65536 nr 8 own 2 file 4096 x 2 timer 100 over 0\n");
	CHECK_IS(strcmp(ltt_ctl_warning(ctl),
			"trace files of 4096 bytes can't hold a buffer; their size "
			"is set to 8192"),
		 ==, 0);
	channel.tracefile_size = 8192;
	channel.output_type = LTT_CTL_OUTPUT_TYPE_SPLICE;
	CHECK_IS(ltt_ctl_enable_channel(ctl, &channel), ==, 0);
	EXPECT_REQUESTS("channel demo big size 65536 nr 8 own 2 file 8192 x 2 timer 100 over 0 splice\n");
	CHECK_IS(strcmp(ltt_ctl_warning(ctl), "channel 'big' is written and sent without splice(): "
					      "its data is compressed"),
		 ==, 0);
	channel.output_type = LTT_CTL_OUTPUT_TYPE_SPLICE + 1;
	CHECK_IS(ltt_ctl_enable_channel(ctl, &channel), ==, LTT_CTL_INVALID);
	CHECK(strstr(ltt_ctl_error(ctl), "unknown output type 3"));
	channel.output_type = LTT_CTL_OUTPUT_TYPE_DEFAULT;
	channel.overwrite = 1;
	CHECK_IS(ltt_ctl_enable_channel(ctl, &channel), ==, LTT_CTL_UNSUPPORTED);
	channel.tracefile_size = 0;
	CHECK_IS(ltt_ctl_enable_channel(ctl, &channel), ==, LTT_CTL_INVALID);
	CHECK(strstr(ltt_ctl_error(ctl), "tracefile_count needs tracefile_size"));
	rooms();
	ltt_ctl_event_options_init(&event);
	event.session = "demo";
	event.pattern = "net:*";
	event.exclude = "net:x";
	event.channel = "big";
	event.domain = LTT_CTL_USER;
	event.loglevel_type = LTT_CTL_LEVEL_ONLY;
	event.loglevel = 3;
	ctl_model.conflict = true;
	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_enable_event(ctl, &event, name, &points), ==, 0);
	EXPECT_REQUESTS("event demo big 'net:*' not 'net:x' level 2 3\n");
	CHECK(strcmp(name, "channel0") == 0 && points == 2);
	CHECK(strstr(ltt_ctl_warning(ctl), "'net_rx' of process 4711 is not recorded"));
	ctl_model.conflict = false;
	event.pattern = "web:*";
	CHECK_IS(ltt_ctl_enable_event(ctl, &event, NULL, NULL), ==, LTT_CTL_EVENT_EXISTS);
	CHECK(!*ltt_ctl_warning(ctl));
	places();
	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_disable_event(ctl, "demo", LTT_CTL_USER, "big", "web:*"), ==, 0);
	CHECK_IS(ltt_ctl_disable_event(ctl, "demo", LTT_CTL_USER, "big", NULL), ==, 0);
	CHECK_IS(ltt_ctl_disable_event(ctl, "demo", LTT_CTL_USER, NULL, "*"), ==, 0);
	CHECK_IS(ltt_ctl_disable_event(ctl, "demo", LTT_CTL_USER, NULL, "x"), ==, LTT_CTL_NO_EVENT);
	CHECK_IS(ltt_ctl_disable_event(ctl, NULL, LTT_CTL_USER, NULL, "x"), ==, LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_disable_channel(ctl, "demo", LTT_CTL_USER, NULL), ==, LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_disable_channel(ctl, "demo", LTT_CTL_USER, "channel0"), ==, 0);
	EXPECT_REQUESTS(
		"disable event web:*\ndisable event * all\ndisable event *\ndisable event x\n"
		"disable channel channel0\n");
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl disable-event -u -s demo -a", 0, "User event * disabled in session demo\n",
	       NULL);
	EXPECT("lttctl disable-event -u -s demo 'web:*,*'", 0,
	       "User event web:* disabled in session demo\n"
	       "User event * disabled in session demo\n",
	       NULL);
	EXPECT_REQUESTS("disable event * all\ndisable event web:*\ndisable event *\n");
	pthread_mutex_unlock(&ctl_model.lock);
	CHECK(ltt_ctl_start(ctl, "demo", &apps) == 0 && apps == 2);
	CHECK(strstr(ltt_ctl_warning(ctl), "1 of 2 applications have not answered"));
	CHECK_IS(ltt_ctl_start(ctl, "demo", NULL), ==, LTT_CTL_STATE);
	outcomes();
	ctl_model.state = SESSION_RECORDING;
}

static void tracks(void)
{
	static uint32_t ids[10000];
	struct ltt_ctl_track_options o;

	ctl_model.requests[0] = '\0';
	CHECK_IS(call_track(), ==, 0);
	ltt_ctl_track_options_init(&o);
	o.session = "demo";
	o.domain = LTT_CTL_KERNEL;
	o.kind = LTT_CTL_TRACK_GID;
	o.op = LTT_CTL_TRACK_NONE;
	CHECK_IS(ltt_ctl_track(ctl, &o, NULL), ==, 0);
	EXPECT_REQUESTS(
		"track demo domain 1 kind 2 op 3: 5 7 9\ntrack demo domain 1 kind 5 op 1:\n");
	o.ids = ids;
	o.nr_ids = 1;
	CHECK_IS(ltt_ctl_track(ctl, &o, NULL), ==, LTT_CTL_INVALID);
	o.op = LTT_CTL_TRACK_ADD;
	o.nr_ids = 10000;
	CHECK_IS(ltt_ctl_track(ctl, &o, NULL), ==, LTT_CTL_LIMIT);
	CHECK_IS(strcmp(ltt_ctl_error(ctl), "too many ids"), ==, 0);
	o.nr_ids = 1;
	o.kind = (enum ltt_ctl_track_kind)256; /* 0 in a message */
	CHECK_IS(ltt_ctl_track(ctl, &o, NULL), ==, LTT_CTL_INVALID);
	o.kind = LTT_CTL_TRACK_GID;
	o.op = (enum ltt_ctl_track_op)256;
	CHECK_IS(ltt_ctl_track(ctl, &o, NULL), ==, LTT_CTL_INVALID);
	o.op = LTT_CTL_TRACK_ADD;
	o.session = NULL;
	CHECK_IS(ltt_ctl_track(ctl, &o, NULL), ==, LTT_CTL_INVALID);
	o.session = "none";
	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_track(ctl, &o, NULL), ==, LTT_CTL_NO_SESSION);
	EXPECT_REQUESTS("track none domain 1 kind 5 op 2: 0\n");
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl track -k -s demo --pid=1,7 --gid=0", 4,
	       "Kernel events of pid 1, 7 are recorded in session demo\n"
	       "Kernel events of gid 0 are recorded in session demo\n",
	       "1 of these were tracked before");
	EXPECT("lttctl untrack -k -s demo --vtid --all", 0,
	       "Kernel events of no vtid are recorded in session demo\n", NULL);
	EXPECT_REQUESTS("track demo domain 1 kind 0 op 2: 1 7\ntrack demo domain 1 kind 5 op 2: 0\n"
			"track demo domain 1 kind 3 op 1:\n");
	EXPECT("lttctl track -k -s damo --pid=1", 1, "",
	       "there is no session 'damo'; did you mean 'demo'?");
	pthread_mutex_unlock(&ctl_model.lock);
}

static void contexts(void)
{
	struct ltt_ctl_contexts *list;
	uint32_t channels = 9;

	CHECK_IS(call_contexts(), ==, 0);
	CHECK(ltt_ctl_list_contexts(ctl, LTT_CTL_USER, &list) == 0 && list->nr == 0);
	ltt_ctl_contexts_free(list);
	ltt_ctl_contexts_free(NULL);
	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_add_context(ctl, "demo", LTT_CTL_KERNEL, NULL, "pid", &channels), ==, 0);
	CHECK_IS(channels, ==, 1);
	CHECK_IS(ltt_ctl_add_context(ctl, "demo", LTT_CTL_KERNEL, "big", "comm", &channels), ==, 0);
	CHECK_IS(channels, ==, 0);
	CHECK_IS(ltt_ctl_add_context(ctl, "demo", LTT_CTL_KERNEL, NULL, NULL, NULL), ==,
		 LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_add_context(ctl, NULL, LTT_CTL_KERNEL, NULL, "pid", NULL), ==,
		 LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_add_context(ctl, "none", LTT_CTL_KERNEL, NULL, "pid", NULL), ==,
		 LTT_CTL_NO_SESSION);
	EXPECT_REQUESTS(
		"context demo domain 1 channel '' pid\ncontext demo domain 1 channel 'big' comm\n"
		"context none domain 1 channel '' pid\n");
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl add-context -k --list", 0,
	       "  TYPE  DOMAIN  VALUE\n  pid   kernel  integer\n  comm  kernel  string\n", NULL);
	EXPECT("lttctl add-context -k -s demo -c big -t pid -t comm", 0,
	       "Kernel context pid added to channel big of session demo\n"
	       "Kernel context comm added to channel big of session demo\n",
	       NULL);
	EXPECT("lttctl add-context -k -s demo -c big -t comm", 4, "",
	       "context 'comm' was added before");
	EXPECT_REQUESTS(
		"context demo domain 1 channel 'big' pid,comm\ncontext demo domain 1 channel 'big' comm\n");
	pthread_mutex_unlock(&ctl_model.lock);
}

static void count_point(const struct ltt_ctl_point *p, void *nr)
{
	CHECK(strncmp(p->name, "web:re", 6) == 0 && p->nr_fields == 0);
	++*(int *)nr;
}

static void points(void)
{
	struct ltt_ctl_points *list;
	const struct ltt_ctl_point *p;
	int nr = 0;

	CHECK_IS(ltt_ctl_list_points(ctl, LTT_CTL_USER, LTT_CTL_FIELDS, &list), ==, 0);
	CHECK(list->nr == 2 && list->nr_presets == 0);
	p = list->points[0];
	CHECK(strcmp(p->name, "web:reply") == 0 && strcmp(p->process, "webd") == 0);
	CHECK(p->pid == 42 && p->uid == 1000 && p->kind == LTT_CTL_POINT_TRACEPOINT);
	CHECK(p->domain == LTT_CTL_USER && p->loglevel == 6 && p->active == 0);
	CHECK(strcmp(p->file, "web.c") == 0 && p->line == 10 && !*p->format && !*p->refused);
	CHECK(p->nr_fields == 1 && strcmp(p->fields[0]->name, "id") == 0);
	CHECK(strcmp(p->fields[0]->type, "integer") == 0 && p->fields[0]->recorded);
	ltt_ctl_points_free(list);
	ltt_ctl_points_free(NULL);
	CHECK_IS(ltt_ctl_each_point(ctl, LTT_CTL_KERNEL, 0, count_point, &nr, &list), ==, 0);
	CHECK(nr == 2 && list->nr == 0 && list->nr_presets == 1);
	ltt_ctl_points_free(list);
	CHECK_IS(call_presets(), ==, 0);
	CHECK_IS(ltt_ctl_list_points(ctl, LTT_CTL_USER, 2, &list), ==, LTT_CTL_UNSUPPORTED);
}

static void filters(void)
{
	struct ltt_ctl_filter_options o;
	struct ltt_ctl_verdicts *list = NULL;

	ctl_model.requests[0] = '\0';
	CHECK_IS(call_filter(), ==, 0);
	ltt_ctl_filter_options_init(&o);
	CHECK(ltt_ctl_check_filter(ctl, &o, &list) == LTT_CTL_INVALID && !list);
	CHECK_IS(strcmp(ltt_ctl_error(ctl), "the expression of the filter is missing"), ==, 0);
	o.expression = "(";
	o.pattern = "web:*";
	CHECK(ltt_ctl_check_filter(ctl, &o, &list) == LTT_CTL_INVALID && !list);
	o.domain = LTT_CTL_KERNEL;
	CHECK(ltt_ctl_check_filter(ctl, &o, &list) == LTT_CTL_INVALID && !list);
	o.domain = (enum ltt_ctl_domain)3;
	CHECK(ltt_ctl_check_filter(ctl, &o, &list) == LTT_CTL_INVALID && !list);
	CHECK_IS(strcmp(ltt_ctl_error(ctl), "unknown domain 3; use a value of enum ltt_ctl_domain"),
		 ==, 0);
	o.size = offsetof(struct ltt_ctl_filter_options, domain); /* of an older program */
	CHECK(ltt_ctl_check_filter(ctl, &o, &list) == LTT_CTL_INVALID && !list);
	ltt_ctl_verdicts_free(NULL);
	EXPECT_REQUESTS("filter 'id == 1' of ''\nfilter '(' of 'web:*'\n"
			"filter '(' of 'web:*' in the kernel\nfilter '(' of 'web:*'\n");
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl filter --check 'id == 1' --event 'web:*'", 0,
	       "web:request: it can hold\n"
	       "web:reply: never: it has no field 'id'\n  id == 1\n     ^\n",
	       NULL);
	EXPECT("lttctl filter --check '('", 1, "", "Error: an expression is missing\n");
	EXPECT_REQUESTS("filter 'id == 1' of 'web:*'\nfilter '(' of ''\n");
	pthread_mutex_unlock(&ctl_model.lock);
}

static void programs(void)
{
	struct ltt_ctl_programs *p = NULL;

	CHECK(ltt_ctl_list_programs(ctl, "none", &p) == LTT_CTL_NO_SESSION && !p);
	CHECK(ltt_ctl_list_programs(ctl, NULL, &p) == LTT_CTL_INVALID && !p);
	CHECK(ltt_ctl_list_programs(ctl, "demo", &p) == 0 && p->nr_points == 0 && !p->matched);
	ltt_ctl_programs_free(p);
	ltt_ctl_programs_free(NULL);
}

/* The directory that the last creation made is removed, and no other. */
static void discards(void)
{
	struct ltt_ctl_create_options o;
	char *path = NULL, *file AUTO_FREE = NULL;

	CHECK(mkdir("there", 0700) == 0 && system("touch there/note") == 0);
	ltt_ctl_create_options_init(&o);
	o.output = "there";
	CHECK_IS(ltt_ctl_create(ctl, &o, NULL, NULL), ==, 0);
	ltt_ctl_discard(ctl);
	CHECK_IS(access("there/note", F_OK), ==, 0);
	o.output = NULL;
	o.prefix = "made";
	CHECK(ltt_ctl_create(ctl, &o, NULL, &path) == 0 && strstr(path, "/made-"));
	file = xasprintf("touch '%s/stream_0'", path);
	CHECK_IS(system(file), ==, 0);
	o.data_url = "tcp://other";
	CHECK_IS(ltt_ctl_create(ctl, &o, NULL, NULL), ==, LTT_CTL_INVALID);
	CHECK_IS(strcmp(ltt_ctl_error(ctl), "data_url needs a url"), ==, 0);
	o.url = "tcp://one";
	CHECK_IS(ltt_ctl_create(ctl, &o, NULL, NULL), ==, LTT_CTL_UNSUPPORTED);
	CHECK(strstr(ltt_ctl_error(ctl), "control and data go over one connection"));
	ltt_ctl_discard(ctl);
	CHECK(access(path, F_OK) != 0 && access("there/note", F_OK) == 0);
	ltt_ctl_discard(ctl);
	free(path);
	strcpy(ctl_model.session, "demo");
}

static void stats(void)
{
	struct ltt_ctl_stats *s;
	const struct ltt_ctl_counted *c;

	CHECK_IS(ltt_ctl_list_stats(ctl, "none", &s), ==, LTT_CTL_NO_SESSION);
	CHECK(ltt_ctl_list_stats(ctl, "demo", &s) == 0 && s->nr == 2);
	c = s->counted[0];
	CHECK(strcmp(c->channel, "channel0") == 0 && strcmp(c->event, "web:reply") == 0);
	CHECK(strcmp(c->field, "size") == 0 && c->domain == LTT_CTL_USER && c->counting);
	CHECK(c->since_ns == 6 && c->count == 10 && c->sum == 50);
	CHECK(c->negative == 1 && c->missed == 2 && c->nr_buckets == 2);
	CHECK(c->buckets[1]->first == 8 && c->buckets[1]->last == 15 && c->buckets[1]->count == 5);
	c = s->counted[1];
	CHECK(!*c->field && !c->counting && c->domain == LTT_CTL_KERNEL && c->nr_buckets == 0);
	ltt_ctl_stats_free(s);
	ltt_ctl_stats_free(NULL);
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT_PART("lttctl stats demo", 0, "web:reply, size, 6 on average, 2 not looked at:\n");
	EXPECT("lttctl stats damo", 1, "", "there is no session 'damo'; did you mean 'demo'?");
	pthread_mutex_unlock(&ctl_model.lock);
}

static void quotas(void)
{
	CHECK_IS(call_quotas(), ==, 0);
	CHECK_IS(call_consumers(), ==, 0);
	ltt_ctl_consumers_free(NULL);
	ltt_ctl_quotas_free(NULL);
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl quota", 0,
	       "  USER                     WHAT      USED  LIMIT  REFUSED\n"
	       "  1000 in root's sessions  sessions     3     64        2\n",
	       NULL);
	pthread_mutex_unlock(&ctl_model.lock);
}

#define REFUSED(call, text)                                        \
	do {                                                       \
		CHECK_IS((call), ==, LTT_CTL_INVALID);             \
		CHECK_IS(strcmp(ltt_ctl_error(ctl), text), ==, 0); \
	} while (0)
#define BAD_DOMAIN "unknown domain 258; use a value of enum ltt_ctl_domain"

/* In the byte of a message 258 would be 2: nothing is sent. */
static void enums(void)
{
	const enum ltt_ctl_domain domain = (enum ltt_ctl_domain)258;
	struct ltt_ctl_channel_options channel;
	struct ltt_ctl_create_options create;
	struct ltt_ctl_event_options event;
	struct ltt_ctl_track_options track;
	struct ltt_ctl_contexts *contexts;
	struct ltt_ctl_points *points;

	ctl_model.requests[0] = '\0';
	ltt_ctl_create_options_init(&create);
	create.name = "enums";
	create.no_output = 1;
	create.sync = (enum ltt_ctl_sync)257;
	REFUSED(ltt_ctl_create(ctl, &create, NULL, NULL),
		"unknown sync 257; use a value of enum ltt_ctl_sync");
	ltt_ctl_channel_options_init(&channel);
	channel.session = "demo";
	channel.name = "c";
	REFUSED(ltt_ctl_enable_channel(ctl, &channel),
		"unknown domain 0; use a value of enum ltt_ctl_domain");
	channel.domain = domain;
	REFUSED(ltt_ctl_enable_channel(ctl, &channel), BAD_DOMAIN);
	channel.domain = LTT_CTL_USER;
	channel.ownership = (enum ltt_ctl_owner)258;
	REFUSED(ltt_ctl_enable_channel(ctl, &channel),
		"unknown owner of buffers 258; use a value of enum ltt_ctl_owner");
	REFUSED(ltt_ctl_disable_channel(ctl, "demo", domain, "channel0"), BAD_DOMAIN);
	ltt_ctl_event_options_init(&event);
	event.session = "demo";
	event.pattern = "a";
	event.domain = domain;
	REFUSED(ltt_ctl_enable_event(ctl, &event, NULL, NULL), BAD_DOMAIN);
	event.domain = LTT_CTL_USER;
	event.loglevel_type = (enum ltt_ctl_level_type)258;
	REFUSED(ltt_ctl_enable_event(ctl, &event, NULL, NULL),
		"unknown type of log levels 258; use a value of enum ltt_ctl_level_type");
	event.loglevel_type = LTT_CTL_LEVEL_ONLY;
	event.kind = (enum ltt_ctl_rule_kind)256;
	REFUSED(ltt_ctl_enable_event(ctl, &event, NULL, NULL),
		"unknown kind of event rule 256; use a value of enum ltt_ctl_rule_kind");
	REFUSED(ltt_ctl_disable_event(ctl, "demo", domain, NULL, NULL), BAD_DOMAIN);
	REFUSED(ltt_ctl_add_context(ctl, "demo", domain, NULL, "pid", NULL), BAD_DOMAIN);
	ltt_ctl_track_options_init(&track);
	track.session = "demo";
	track.domain = domain;
	REFUSED(ltt_ctl_track(ctl, &track, NULL), BAD_DOMAIN);
	REFUSED(ltt_ctl_list_contexts(ctl, domain, &contexts), BAD_DOMAIN);
	REFUSED(ltt_ctl_list_points(ctl, domain, 0, &points), BAD_DOMAIN);
	EXPECT_REQUESTS("");
}

static void recover_interrupted(void)
{
	struct ltt_ctl_connect_options options;
	struct ltt_ctl_sessions *list = NULL;
	int fds[2];

	CHECK(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	ltt_ctl_connect_options_init(&options);
	options.cancel_fd = fds[0];
	CHECK_IS(ltt_ctl_connect(ctl, &options), ==, 0);
	CHECK(ltt_ctl_recover(ctl, &list) == LTT_CTL_INTERRUPTED && !list && !ltt_ctl_daemon(ctl));
	CHECK_IS(call_connect(), ==, 0);
	close(fds[0]);
	close(fds[1]);
}

/* 90 events of the session are recorded, of which 13 are lost later. */
static void recovers(void)
{
	struct ltt_ctl_sessions *list;

	CHECK(ltt_ctl_recover(ctl, NULL) == 0 && !*ltt_ctl_warning(ctl));
	ctl_model.totals.written = 76;
	ctl_model.lists_left = 4;
	CHECK(ltt_ctl_recover(ctl, &list) == 0 && ctl_model.lists_left == 0);
	CHECK(!*ltt_ctl_warning(ctl));
	CHECK(list->nr == 1 && list->sessions[0]->totals->written == 90);
	ltt_ctl_sessions_free(list);
	ctl_model.totals.written = 76;
	recover_interrupted();
	ctl_model.problem = "";
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl recover", 0,
	       "demo (recording): 90 events recorded, 17 lost, 3.9 KiB written\n",
	       "Warning: some data in the buffers can't be written; `lttctl status` shows why\n");
	ctl_model.lists_left = 3;
	EXPECT("lttctl recover --stop", 0,
	       "demo (recording): 90 events recorded, 17 lost, 3.9 KiB written\n", NULL);
	pthread_mutex_unlock(&ctl_model.lock);
	ctl_model.totals.written = 80;
}

/* HOME/ltt-traces/spool/left-1 with 100 bytes, and a file that is no spool. Return: its .spool. */
static int make_spool(const char *dir)
{
	char *path AUTO_FREE = xasprintf("mkdir -p '%s/left-1' && cd '%s' && : >not && "
					 "head -c 100 /dev/zero >left-1/data",
					 dir, dir);
	char *file AUTO_FREE = xasprintf("%s/left-1/" SPOOLFACTS_FILE, dir);
	struct spoolfacts facts = { .name = "left", .stamp = "1", .url = "tcp://a,tcp://b" };
	int fd;

	CHECK_IS(system(path), ==, 0);
	strcpy(facts.chosen, "tcp://b");
	facts.id[0] = 42;
	facts.sync = SYNC_PERIOD;
	facts.sync_us = 5;
	facts.compress = true;
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && spoolfacts_write(fd, &facts) == 0);
	return fd;
}

static void spool_lists(const char *dir)
{
	char *path AUTO_FREE = xasprintf("%s/left-1", dir);
	struct ltt_ctl_spools *list;
	const struct ltt_ctl_spool *s;

	CHECK(ltt_ctl_list_spools(ctl, NULL, &list) == 0 && list->nr == 2);
	CHECK(strcmp(list->spools[1]->name, "not") == 0 && *list->spools[1]->problem);
	CHECK(!*list->spools[1]->path && !list->spools[1]->bytes && !list->spools[1]->sendable);
	s = list->spools[0];
	CHECK(strcmp(s->name, "left-1") == 0 && strcmp(s->path, path) == 0 && !*s->problem);
	CHECK(strcmp(s->session, "left") == 0 && strcmp(s->created, "1") == 0);
	CHECK(strcmp(s->relay, "tcp://a,tcp://b") == 0 && s->sendable && !s->in_use);
	CHECK(s->bytes == 100 && s->since_ns > 1700000000000000000);
	ltt_ctl_spools_free(list);
	ltt_ctl_spools_free(NULL);
	CHECK(ltt_ctl_list_spools(ctl, path, &list) == 0 && list->nr == 1);
	ltt_ctl_spools_free(list);
	CHECK(ltt_ctl_list_spools(ctl, "nothing", &list) != 0 && *ltt_ctl_error(ctl));
}

static void spool_refusals(int fd)
{
	struct ltt_ctl_spools *list;
	uint64_t bytes = 9;

	CHECK_IS(flock(fd, LOCK_EX), ==, 0);
	CHECK(ltt_ctl_list_spools(ctl, "left-1", &list) == 0 && list->spools[0]->in_use);
	ltt_ctl_spools_free(list);
	CHECK(ltt_ctl_send_spool(ctl, "left-1", &bytes) == LTT_CTL_STATE && bytes == 9);
	CHECK_IS(ltt_ctl_remove_spool(ctl, "left-1"), ==, LTT_CTL_STATE);
	CHECK(strstr(ltt_ctl_error(ctl), "left-1 is in use"));
	CHECK_IS(flock(fd, LOCK_UN), ==, 0);
	CHECK_IS(ltt_ctl_send_spool(ctl, NULL, NULL), ==, LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_remove_spool(ctl, ".."), ==, LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_send_spool(ctl, "nothing", NULL), !=, 0);
	EXPECT_REQUESTS("");
}

static void spools(void)
{
	struct err err = { 0 };
	char *dir AUTO_FREE = NULL, *gone AUTO_FREE = NULL, *text AUTO_FREE = NULL;
	uint64_t bytes = 9;
	int fd AUTO_FD = -1;

	CHECK_IS(spools_dir(&dir, &err), ==, 0);
	gone = xasprintf("%s/left-1", dir);
	fd = make_spool(dir);
	ctl_model.requests[0] = '\0';
	spool_lists(dir);
	spool_refusals(fd);
	ctl_model.problem = "the relay is away";
	CHECK(ltt_ctl_send_spool(ctl, "left-1", &bytes) == 0 && bytes == 100);
	text = xasprintf("%s: the relay is away", gone);
	CHECK_IS(strcmp(ltt_ctl_warning(ctl), text), ==, 0);
	CHECK_IS(without_memory(call_spools, false), >=, 12);
	CHECK_IS(without_memory(call_send_spool, false), >=, 6);
	ctl_model.problem = "";
	ctl_model.requests[0] = '\0';
	CHECK(ltt_ctl_send_spool(ctl, "left-1", &bytes) == 0 && bytes == 0);
	CHECK(!*ltt_ctl_warning(ctl) && access(gone, F_OK) == 0);
	EXPECT_REQUESTS("spool left 1 tcp://b sync 2 5 live 0 link 0 compress\n");
	CHECK(ltt_ctl_remove_spool(ctl, "left-1") == 0 && access(gone, F_OK) != 0);
	CHECK_IS(close(make_spool(dir)), ==, 0);
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT_PART("lttctl spool list", 1, "  left-1  100 B        0  20");
	CHECK(strstr(ctl_output.err, "/not"));
	EXPECT("lttctl spool send left-1 | sed 's/tcp.*all/all/'", 0,
	       "left-1: the relay all of it, 100 B\n", NULL);
	pthread_mutex_unlock(&ctl_model.lock);
	CHECK_IS(access(gone, F_OK), !=, 0);
}

static void flushes(void)
{
	uint64_t spooled = 9;

	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_flush(ctl, "none", &spooled), ==, LTT_CTL_NO_SESSION);
	CHECK(spooled == 9 && !*ltt_ctl_warning(ctl));
	CHECK_IS(ltt_ctl_flush(ctl, NULL, NULL), ==, LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_flush(ctl, "demo", &spooled), ==, 0);
	CHECK_IS(spooled, ==, 7);
	CHECK_IS(strcmp(ltt_ctl_warning(ctl),
			"session 'demo': 7 bytes wait in its spool until the relay receives them"),
		 ==, 0);
	CHECK_IS(ltt_ctl_flush(ctl, "demo", NULL), ==, 0);
	EXPECT_REQUESTS("flush none\nflush demo\nflush demo\n");
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl flush demo", 4, "Buffers written for session demo\n",
	       "Warning: session 'demo': 7 bytes wait in its spool until the relay receives them\n");
	EXPECT("lttctl flush damo", 1, "", "there is no session 'damo'; did you mean 'demo'?");
	pthread_mutex_unlock(&ctl_model.lock);
}

static void regenerates(void)
{
	uint32_t channels = 9, applications = 9, late = 9;

	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_regenerate(ctl, "none", &channels, &applications, &late), ==,
		 LTT_CTL_NO_SESSION);
	CHECK(channels == 9 && applications == 9 && late == 9 && !*ltt_ctl_warning(ctl));
	CHECK_IS(ltt_ctl_regenerate(ctl, NULL, NULL, NULL, NULL), ==, LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_regenerate(ctl, "demo", &channels, &applications, &late), ==, 0);
	CHECK(channels == 1 && applications == 3 && late == 1);
	CHECK_IS(strcmp(ltt_ctl_warning(ctl), "1 application has not dumped its state yet"), ==, 0);
	CHECK_IS(ltt_ctl_regenerate(ctl, "demo", NULL, NULL, NULL), ==, 0);
	EXPECT_REQUESTS("statedump none\nstatedump demo\nstatedump demo\n");
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl regenerate statedump -s demo", 0,
	       "The state of the system is being recorded in session demo\n"
	       "2 applications dumped state into session demo\n",
	       "Warning: 1 application has not dumped its state yet\n");
	EXPECT("lttctl regenerate statedump -s damo", 1, "",
	       "there is no session 'damo'; did you mean 'demo'?");
	pthread_mutex_unlock(&ctl_model.lock);
}

static void snapshots(void)
{
	struct ltt_ctl_snapshot_options wanted;
	struct ltt_ctl_snapshot *made = NULL;

	ltt_ctl_snapshot_options_init(&wanted);
	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_snapshot_record(ctl, &wanted, &made), ==, LTT_CTL_INVALID);
	wanted.session = "none";
	CHECK_IS(ltt_ctl_snapshot_record(ctl, &wanted, &made), ==, LTT_CTL_NO_SESSION);
	CHECK(!made);
	wanted.session = "demo";
	wanted.name = "crash";
	CHECK_IS(ltt_ctl_snapshot_record(ctl, &wanted, &made), ==, 0);
	CHECK_IS(strcmp(made->directory, "/t/snapshot-1-x-0"), ==, 0);
	CHECK(made->records == 20 && made->before == 1000 && made->lost == 3 && made->bytes == 400);
	CHECK(made->begin_ns == 1000000000 && made->end_ns == 3000000000 && made->nr == 1);
	CHECK_IS(made->remembered, ==, 100);
	CHECK_IS(strcmp(made->problem, "a disk is full"), ==, 0);
	CHECK_IS(strcmp(made->rings[0]->channel, "c"), ==, 0);
	CHECK(made->rings[0]->ring == 7 && made->rings[0]->cpu == 1);
	CHECK_IS(made->rings[0]->records, ==, 20);
	ltt_ctl_snapshot_free(made);
	wanted.output = "else/where";
	wanted.max_size = 1000;
	CHECK_IS(ltt_ctl_snapshot_record(ctl, &wanted, &made), ==, 0);
	ltt_ctl_snapshot_free(made);
	wanted.session = "none";
	wanted.output = "made";
	CHECK_IS(ltt_ctl_snapshot_record(ctl, &wanted, &made), ==, LTT_CTL_NO_SESSION);
	CHECK(access("else/where", F_OK) == 0 && access("made", F_OK) != 0);
	EXPECT_REQUESTS("snapshot none ''\nsnapshot demo 'crash'\n"
			"snapshot demo 'crash' to where +fd, 1000 bytes\n"
			"snapshot none 'crash' to made +fd, 1000 bytes\n");
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl snapshot record -n crash -s demo", 4,
	       "Snapshot recorded for session demo: 20 events in /t/snapshot-1-x-0\n"
	       "Earlier events, which the buffers no longer had: 1,000\n"
	       "Besides, remembered by other sessions: 100 events\n"
	       "In common: the last 2.0 s\n"
	       "  c, CPU 1: the last 2.0 s\n",
	       "a disk is full");
	EXPECT("lttctl snapshot", 1, "", "use lttctl snapshot record");
	EXPECT("lttctl snapshot store", 1, "", "can't do 'store'");
	EXPECT("lttctl snapshot add-output", 1, "", "use lttctl snapshot add-output PATH");
	EXPECT("lttctl snapshot del-output", 1, "", "use lttctl snapshot del-output 1");
	EXPECT("lttctl snapshot list-output x", 1, "", "'x': list-output has no argument");
	EXPECT("lttctl snapshot list-output -n x", 1, "", "are for record and add-output");
	EXPECT("lttctl snapshot add-output -s demo tcp://127.0.0.1/x", 5, "", "can't be chosen");
	EXPECT("lttctl snapshot record -m x", 1, "", "--max-size=x: this is not a size");
	EXPECT("lttctl snapshot record -s demo net://127.0.0.1:1", 1, "", "no relay answers at");
	EXPECT("lttctl snapshot record -D tcp://127.0.0.1", 1, "", "goes with --ctrl-url");
	EXPECT("lttctl snapshot record file://x", 1, "", "needs an absolute path");
	EXPECT("touch plain; lttctl snapshot record -s demo plain", 1, "", "plain");
	pthread_mutex_unlock(&ctl_model.lock);
}

/* A process that stands for the daemon's. */
static void stand_in(void)
{
	ctl_model.pid = fork();
	CHECK_IS(ctl_model.pid, >=, 0);
	if (ctl_model.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static bool has_ended(void)
{
	return waitpid(ctl_model.pid, NULL, WNOHANG) == ctl_model.pid;
}

static void shutdown_interrupted(void)
{
	struct ltt_ctl_connect_options options;
	uint32_t sessions = 9;
	int fds[2];

	CHECK(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	ltt_ctl_connect_options_init(&options);
	options.cancel_fd = fds[0];
	CHECK_IS(ltt_ctl_connect(ctl, &options), ==, 0);
	CHECK_IS(ltt_ctl_shutdown(ctl, LTT_CTL_FORCE, &sessions), ==, LTT_CTL_INTERRUPTED);
	CHECK(sessions == 9 && !ltt_ctl_daemon(ctl) && !has_ended());
	close(fds[0]);
	close(fds[1]);
}

static void shutdowns(void)
{
	uint32_t sessions = 9;
	char text[100];

	stand_in();
	ctl_model.requests[0] = '\0';
	CHECK(call_connect() == 0 && ltt_ctl_daemon(ctl)->pid == (uint32_t)ctl_model.pid);
	CHECK_IS(ltt_ctl_shutdown(ctl, 2, &sessions), ==, LTT_CTL_UNSUPPORTED);
	CHECK(ltt_ctl_shutdown(ctl, 0, &sessions) == LTT_CTL_BUSY && ltt_ctl_daemon(ctl));
	EXPECT_REQUESTS("end\n");
	ctl_model.stays = true;
	CHECK(ltt_ctl_shutdown(ctl, LTT_CTL_FORCE, &sessions) == LTT_CTL_BUSY && sessions == 9);
	snprintf(text, sizeof(text),
		 "the session daemon (pid %d) has not ended within 5 s; 'kill -9 %d' ends it",
		 (int)ctl_model.pid, (int)ctl_model.pid);
	CHECK_IS(strcmp(ltt_ctl_error(ctl), text), ==, 0);
	shutdown_interrupted();
	ctl_model.stays = false;
	EXPECT_REQUESTS("end force\nend force\n");
	CHECK_IS(call_connect(), ==, 0);
	CHECK(ltt_ctl_shutdown(ctl, LTT_CTL_FORCE, &sessions) == 0 && sessions == 1);
	CHECK(has_ended() && !ltt_ctl_daemon(ctl) && call_list() == LTT_CTL_NO_DAEMON);
	stand_in();
	snprintf(text, sizeof(text), "Session daemon (pid %d) ended, and 1 session with it\n",
		 (int)ctl_model.pid);
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("lttctl shutdown --force", 0, text, NULL);
	pthread_mutex_unlock(&ctl_model.lock);
	CHECK(has_ended());
	ctl_model.pid = 0;
	CHECK_IS(call_connect(), ==, 0);
}

/* Wait for the next notification as a caller does. Return: the code. */
static int await_news(const struct ltt_ctl_news **ret)
{
	int code;

	while ((code = ltt_ctl_next_news(ctl, ret)) == 0 && !*ret) {
		struct pollfd pfd = { .fd = ltt_ctl_fd(ctl), .events = POLLIN };

		CHECK_IS(poll(&pfd, 1, 60000), ==, 1);
	}
	return code;
}

/* News without a meaning is an error, and the next one comes; lttctl reports it once. */
static void follows_waiting(void)
{
	const struct ltt_ctl_news *news = NULL;

	CHECK_IS(ltt_ctl_await_news(ctl, &news), ==, LTT_CTL_INVALID);
	ctl_model.bad_news = true;
	CHECK_IS(ltt_ctl_follow(ctl, "demo"), ==, 0);
	CHECK(ltt_ctl_await_news(ctl, &news) == 0 && news->kind == LTT_CTL_NEWS_STATE);
	CHECK_IS(ltt_ctl_await_news(ctl, &news), ==, LTT_CTL_BAD_MESSAGE);
	CHECK(ltt_ctl_await_news(ctl, &news) == 0 && news->kind == LTT_CTL_NEWS_LOSS);
	CHECK(ltt_ctl_await_news(ctl, &news) == 0 && news->kind == LTT_CTL_NEWS_DESTROYED);
	CHECK_IS(ltt_ctl_await_news(ctl, &news), ==, LTT_CTL_INVALID);
	pthread_mutex_lock(&ctl_model.lock);
	EXPECT("TZ=UTC lttctl status --follow demo | sed 's/^..:..:../T/'", 0,
	       "T demo: recording\n"
	       "T demo: channel channel0: 12 events were lost because a buffer was full; use larger "
	       "or more sub-buffers (lttctl enable-channel --subbuf-size, --num-subbuf), or record "
	       "fewer events\n"
	       "T demo: destroyed\n",
	       "Warning: malformed message from the session daemon\n");
	CHECK(strstr(ctl_output.err, "Warning: the disk is full\n"));
	pthread_mutex_unlock(&ctl_model.lock);
	ctl_model.bad_news = false;
}

static void follows(void)
{
	const struct ltt_ctl_news *news = NULL;

	CHECK_IS(ltt_ctl_next_news(ctl, &news), ==, LTT_CTL_INVALID);
	CHECK_IS(ltt_ctl_follow(ctl, "none"), ==, 0);
	CHECK(await_news(&news) == LTT_CTL_NO_SESSION && !news);
	CHECK_IS(ltt_ctl_follow(ctl, "demo"), ==, 0);
	CHECK_IS(call_list(), ==, LTT_CTL_BUSY);
	CHECK(await_news(&news) == 0 && news->kind == LTT_CTL_NEWS_STATE);
	CHECK(news->state == LTT_CTL_RECORDING && news->at_ns == 5 && !*news->text);
	CHECK(await_news(&news) == 0 && news->kind == LTT_CTL_NEWS_LOSS);
	CHECK(news->cause == LTT_CTL_LOSS_FULL && news->count == 12);
	CHECK_IS(strcmp(news->channel, "channel0"), ==, 0);
	CHECK(await_news(&news) == 0 && news->kind == LTT_CTL_NEWS_DESTROYED);
	CHECK(news->totals->recorded == 90 && strcmp(news->text, "the disk is full") == 0);
	CHECK_IS(call_list(), ==, 0);
	follows_waiting();
	CHECK_IS(ltt_ctl_follow(ctl, "demo"), ==, 0);
	CHECK(call_connect() == 0 && call_list() == 0);
	ctl_model.hang_up = true;
	CHECK_IS(ltt_ctl_follow(ctl, "demo"), ==, 0);
	CHECK(await_news(&news) == LTT_CTL_NO_DAEMON && ltt_ctl_fd(ctl) == -1);
	ctl_model.hang_up = false;
	CHECK_IS(call_connect(), ==, 0);
}

static void ends(void)
{
	struct ltt_ctl_totals *totals;

	ctl_model.requests[0] = '\0';
	CHECK_IS(ltt_ctl_stop(ctl, "demo", 0, &totals), ==, 0);
	CHECK(totals->recorded == 90 && totals->packets == 3);
	ltt_ctl_totals_free(totals);
	CHECK_IS(ltt_ctl_stop(ctl, "demo", 6, &totals), ==, LTT_CTL_UNSUPPORTED);
	CHECK_IS(ltt_ctl_destroy(ctl, "demo", LTT_CTL_NO_WAIT, NULL), ==, 0);
	EXPECT_REQUESTS("stop demo\ndestroy demo no_wait\n");
	CHECK_IS(ltt_ctl_destroy(ctl, "demo", 0, &totals), ==, LTT_CTL_NO_SESSION);
	CHECK(strstr(ltt_ctl_error(ctl), "there is no session 'demo'"));
}

static void invalid(void)
{
	struct {
		struct ltt_ctl_create_options known;
		uint64_t later;
	} newer = { 0 };
	struct ltt_ctl_create_options o;
	struct ltt_ctl_connect_options options;
	char *name = NULL;

	memset(&o, 0, sizeof(o));
	CHECK_IS(ltt_ctl_create(ctl, &o, &name, NULL), ==, LTT_CTL_INVALID);
	ltt_ctl_create_options_init(&newer.known);
	newer.known.size = sizeof(newer);
	newer.known.no_output = 1;
	newer.known.name = "new";
	newer.later = 1;
	CHECK_IS(ltt_ctl_create(ctl, &newer.known, &name, NULL), ==, LTT_CTL_UNSUPPORTED);
	newer.later = 0;
	CHECK(ltt_ctl_create(ctl, &newer.known, &name, NULL) == 0 && strcmp(name, "new") == 0);
	free(name);
	newer.known.output = "x";
	CHECK_IS(ltt_ctl_create(ctl, &newer.known, NULL, NULL), ==, LTT_CTL_INVALID);
	ltt_ctl_create_options_init(&o);
	o.name = "a/b";
	CHECK_IS(ltt_ctl_create(ctl, &o, NULL, NULL), ==, LTT_CTL_INVALID);
	o.name = "c";
	o.live_us = 1;
	CHECK_IS(ltt_ctl_create(ctl, &o, NULL, NULL), ==, LTT_CTL_INVALID);
	ltt_ctl_connect_options_init(&options);
	options.rundir = "/no/such";
	options.start_daemon = 1;
	CHECK_IS(ltt_ctl_connect(ctl, &options), ==, LTT_CTL_INVALID);
	options.start_daemon = 0;
	CHECK_IS(ltt_ctl_connect(ctl, &options), ==, LTT_CTL_NO_DAEMON);
	options.rundir = getenv("LTT_RUNDIR");
	CHECK_IS(ltt_ctl_connect(ctl, &options), ==, 0);
}

/* Of a daemon that was killed with sessions, the successor is started, unless that is forbidden. */
static void successors(void)
{
	struct ltt_ctl_connect_options options;
	char *rundir AUTO_FREE = xstrdup(getenv("LTT_RUNDIR"));

	ltt_ctl_connect_options_init(&options);
	options.daemon_path = "/no/such";
	options.never_start = 1;
	options.start_daemon = 1;
	CHECK_IS(ltt_ctl_connect(ctl, &options), ==, LTT_CTL_INVALID);
	options.start_daemon = 0;
	CHECK(setenv("LTT_RUNDIR", "killed", 1) == 0 && mkdir("killed", 0700) == 0 &&
	      mkdir("killed/state", 0700) == 0 && mkdir("killed/state/daemon", 0700) == 0);
	CHECK(ltt_ctl_connect(ctl, &options) == LTT_CTL_NO_DAEMON &&
	      !strstr(ltt_ctl_error(ctl), "/no/such"));
	options.never_start = 0;
	CHECK(ltt_ctl_connect(ctl, &options) == LTT_CTL_NO_DAEMON &&
	      strstr(ltt_ctl_error(ctl), "'/no/such' can't be started"));
	CHECK(setenv("LTT_RUNDIR", rundir, 1) == 0);
}

struct waiting {
	int fd; /* is written to when the call waits */
	unsigned int calls, ms;
};

static void count_waiting(void *priv, unsigned int waited_ms)
{
	struct waiting *waiting = priv;

	waiting->calls++;
	waiting->ms = waited_ms;
	CHECK_IS(write(waiting->fd, "x", 1), ==, 1);
}

/* The function is called while a call waits, here for its cancellation, and is kept when the
 * connection is opened again. */
static void waits(void)
{
	struct ltt_ctl_connect_options options;
	struct waiting waiting = { 0 };
	int fds[2];

	CHECK_IS(pipe(fds), ==, 0);
	waiting.fd = fds[1];
	ltt_ctl_connect_options_init(&options);
	options.cancel_fd = fds[0];
	ltt_ctl_on_waiting(ctl, count_waiting, &waiting);
	CHECK_IS(ltt_ctl_connect(ctl, &options), ==, 0);
	ctl_model.mute = true;
	CHECK(call_list() == LTT_CTL_INTERRUPTED && waiting.calls == 1 && waiting.ms >= 900);
	ctl_model.mute = false;
	CHECK(call_connect() == 0 && call_list() == 0 && waiting.calls == 1);
	ltt_ctl_on_waiting(ctl, NULL, NULL);
	close(fds[0]);
	close(fds[1]);
}

static void lost(void)
{
	int fds[2];
	struct ltt_ctl_connect_options options;

	ctl_model.hang_up = true;
	CHECK(call_list() == LTT_CTL_NO_DAEMON && !ltt_ctl_daemon(ctl));
	ctl_model.hang_up = false;
	CHECK_IS(call_list(), ==, LTT_CTL_NO_DAEMON);
	CHECK(strstr(ltt_ctl_error(ctl), "ltt_ctl_connect()"));
	CHECK(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	ltt_ctl_connect_options_init(&options);
	options.cancel_fd = fds[0];
	CHECK_IS(ltt_ctl_connect(ctl, &options), ==, 0);
	ctl_model.mute = true;
	CHECK(call_list() == LTT_CTL_INTERRUPTED && !ltt_ctl_daemon(ctl));
	ctl_model.mute = false;
	CHECK(call_connect() == 0 && call_list() == 0 && !*ltt_ctl_error(ctl));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	ctl = ltt_ctl_new();
	CHECK(ctl && !*ltt_ctl_error(ctl) && !ltt_ctl_daemon(ctl));
	CHECK(!*ltt_ctl_last_outcome(ctl)->problem);
	CHECK_IS(call_connect(), ==, LTT_CTL_NO_DAEMON);
	ctl_fake_start();
	pthread_mutex_unlock(&ctl_model.lock);
	CHECK_IS(call_connect(), ==, 0);
	CHECK_IS(ltt_ctl_daemon(ctl)->pid, ==, 77);
	CHECK_IS(strcmp(ltt_ctl_daemon(ctl)->version, "9.9"), ==, 0);
	ctl_model.totals = (struct msg_totals){ .recorded = 100,
						.written = 80,
						.lost_full = 5,
						.lost_stalled = 3,
						.lost_size = 2,
						.lost_output = 10,
						.bytes = 4000,
						.packets = 3 };
	memory();
	CHECK_IS(call_connect(), ==, 0);
	changes();
	enums();
	tracks();
	contexts();
	points();
	filters();
	programs();
	discards();
	stats();
	quotas();
	recovers();
	spools();
	regenerates();
	flushes();
	snapshots();
	shutdowns();
	ctl_model.problem = "the disk is full";
	lists();
	statuses();
	follows();
	ends();
	invalid();
	successors();
	waits();
	lost();
	ltt_ctl_free(ctl);
	ltt_ctl_free(NULL);
	return 0;
}
