/* SPDX-License-Identifier: GPL-2.0-only */
/* libltt-ctl: structs and their contents, also of other versions; lost connections; no memory. */
#include <stdarg.h>

#include <ltt/control.h>

#include "ctl_fake.h"

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
	CHECK(changed == (code ? 99 : 2));
	return code;
}

static int call_contexts(void)
{
	struct ltt_ctl_contexts *list;
	int code = ltt_ctl_list_contexts(ctl, LTT_CTL_KERNEL, &list);

	if (code == 0) {
		CHECK(list->nr == 2 && strcmp(list->contexts[0]->name, "pid") == 0);
		CHECK(strcmp(list->contexts[1]->type, "string") == 0);
		CHECK(list->contexts[1]->domain == LTT_CTL_KERNEL);
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
		CHECK(strcmp(list->presets[0]->events, "net_*") == 0);
		CHECK(list->presets[0]->subbuf_size == 65536 && list->presets[0]->num_subbuf == 8);
		ltt_ctl_points_free(list);
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
		CHECK(strcmp(list->quotas[0]->name, "sessions") == 0);
		CHECK(list->quotas[0]->used == 3 && list->quotas[0]->limit == 64);
		CHECK(list->quotas[0]->refused == 2);
		ltt_ctl_quotas_free(list);
	}
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
		CHECK(!undone || !*fake.session);
	}
}

static void memory(void)
{
	left = 0;
	CHECK(!ltt_ctl_new());
	left = -1;
	CHECK(without_memory(call_connect, false) >= 5);
	CHECK(without_memory(call_create, true) >= 5);
	CHECK(without_memory(call_list, false) >= 5);
	fake.tracks = true;
	CHECK(without_memory(call_status, false) >= 15);
	fake.tracks = false;
	CHECK(without_memory(call_track, false) == 1);
	CHECK(without_memory(call_contexts, false) >= 9);
	CHECK(without_memory(call_points, false) >= 15);
	CHECK(without_memory(call_presets, false) >= 10);
	CHECK(without_memory(call_stats, false) >= 12);
	CHECK(without_memory(call_quotas, false) == 4);
	CHECK(without_memory(call_stop, false) == 1);
	CHECK(without_memory(call_destroy, false) == 1);
	CHECK(without_memory(call_create_at, true) >= 5);
	fake.session[0] = '\0';
}

/* ---- what is said ---- */

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

	CHECK(ltt_ctl_list(ctl, &list) == 0);
	CHECK(list->nr == 1);
	check_session(list->sessions[0]);
	ltt_ctl_sessions_free(list);
	ltt_ctl_sessions_free(NULL);
}

static void statuses(void)
{
	struct ltt_ctl_session_status *status;
	const struct ltt_ctl_channel *c;

	fake.conflict = true;
	fake.tracks = true;
	CHECK(ltt_ctl_status(ctl, "demo", &status) == 0);
	check_session(status->session);
	CHECK(status->nr_channels == 1);
	c = status->channels[0];
	CHECK(strcmp(c->name, "channel0") == 0 && c->domain == LTT_CTL_USER && c->enabled);
	CHECK(c->subbuf_size == 524288 && c->num_subbuf == 4 && c->owner == LTT_CTL_OWNER_USER);
	CHECK(c->used == 1048576 && c->size == 4194304 && c->totals->bytes == 4000);
	CHECK(c->nr_rules == 1 && c->nr_refusals == 0 && c->nr_conflicts == 1);
	CHECK(strcmp(c->rules[0]->pattern, "web:*") == 0 && c->rules[0]->points == 4);
	CHECK(c->rules[0]->level_type == LTT_CTL_LEVEL_AT_LEAST && c->rules[0]->loglevel == 6);
	CHECK(c->conflicts[0]->pid == 4711 && strcmp(c->conflicts[0]->refused, "len %s") == 0);
	CHECK(status->nr_trackers == 2 && status->trackers[0]->domain == LTT_CTL_KERNEL);
	CHECK(status->trackers[0]->kind == LTT_CTL_TRACK_VPID && status->trackers[0]->nr_ids == 2);
	CHECK(status->trackers[0]->ids[0] == 1 && status->trackers[0]->ids[1] == 2);
	CHECK(status->trackers[1]->kind == LTT_CTL_TRACK_UID && status->trackers[1]->nr_ids == 0);
	ltt_ctl_status_free(status);
	ltt_ctl_status_free(NULL);
	fake.conflict = false;
	fake.tracks = false;
}

static void changes(void)
{
	struct ltt_ctl_channel_options channel;
	struct ltt_ctl_event_options event;
	char name[LTT_CTL_NAME_BYTES];
	uint32_t points, apps;

	CHECK(call_create() == 0);
	pthread_mutex_lock(&fake.lock);
	EXPECT_PART("lttctl list", 0, "demo");
	pthread_mutex_unlock(&fake.lock);
	fake.asked[0] = '\0';
	ltt_ctl_channel_options_init(&channel);
	channel.session = "demo";
	channel.name = "big";
	channel.domain = LTT_CTL_USER;
	channel.subbuf_size = 65536;
	channel.num_subbuf = 8;
	channel.tracefile_size = 4096;
	channel.tracefile_count = 2;
	channel.switch_timer_us = 100;
	channel.owner = LTT_CTL_OWNER_PROCESS;
	CHECK(ltt_ctl_enable_channel(ctl, &channel) == 0);
	ASKED("channel demo big size 65536 nr 8 own 2 file 4096 x 2 timer 100 over 0\n");
	channel.overwrite = 1;
	CHECK(ltt_ctl_enable_channel(ctl, &channel) == LTT_CTL_UNSUPPORTED);
	ltt_ctl_event_options_init(&event);
	event.session = "demo";
	event.pattern = "net:*";
	event.exclude = "net:x";
	event.channel = "big";
	event.domain = LTT_CTL_USER;
	event.level_type = LTT_CTL_LEVEL_ONLY;
	event.loglevel = 3;
	fake.conflict = true;
	fake.asked[0] = '\0';
	CHECK(ltt_ctl_enable_event(ctl, &event, name, &points) == 0);
	ASKED("event demo big 'net:*' not 'net:x' level 2 3\n");
	CHECK(strcmp(name, "channel0") == 0 && points == 2);
	CHECK(strstr(ltt_ctl_warning(ctl), "'net_rx' of process 4711 is not recorded"));
	fake.conflict = false;
	event.pattern = "web:*";
	CHECK(ltt_ctl_enable_event(ctl, &event, NULL, NULL) == LTT_CTL_EVENT_EXISTS);
	CHECK(!*ltt_ctl_warning(ctl));
	event.kind = LTT_CTL_RULE_USER;
	CHECK(ltt_ctl_enable_event(ctl, &event, NULL, NULL) == LTT_CTL_UNSUPPORTED);
	fake.asked[0] = '\0';
	CHECK(ltt_ctl_disable_event(ctl, "demo", LTT_CTL_USER, "big", "web:*") == 0);
	CHECK(ltt_ctl_disable_event(ctl, "demo", LTT_CTL_USER, "big", NULL) == 0);
	CHECK(ltt_ctl_disable_channel(ctl, "demo", LTT_CTL_USER, "channel0") == 0);
	ASKED("disable event web:*\ndisable event  all\ndisable channel channel0\n");
	CHECK(ltt_ctl_start(ctl, "demo", &apps) == 0 && apps == 2);
	CHECK(strstr(ltt_ctl_warning(ctl), "1 of 2 applications have not answered"));
	CHECK(ltt_ctl_start(ctl, "demo", NULL) == LTT_CTL_STATE);
}

static void tracks(void)
{
	static uint32_t ids[10000];
	struct ltt_ctl_track_options o;

	fake.asked[0] = '\0';
	CHECK(call_track() == 0);
	ltt_ctl_track_options_init(&o);
	o.session = "demo";
	o.domain = LTT_CTL_KERNEL;
	o.kind = LTT_CTL_TRACK_GID;
	o.op = LTT_CTL_TRACK_NONE;
	CHECK(ltt_ctl_track(ctl, &o, NULL) == 0);
	ASKED("track demo domain 1 kind 2 op 3: 5 7 9\ntrack demo domain 1 kind 5 op 1:\n");
	o.ids = ids;
	o.nr_ids = 1;
	CHECK(ltt_ctl_track(ctl, &o, NULL) == LTT_CTL_INVALID);
	o.op = LTT_CTL_TRACK_ADD;
	o.nr_ids = 10000;
	CHECK(ltt_ctl_track(ctl, &o, NULL) == LTT_CTL_LIMIT);
	CHECK(strcmp(ltt_ctl_error(ctl), "too many ids") == 0);
	o.nr_ids = 1;
	o.kind = (enum ltt_ctl_track_kind)256; /* 0 in a message */
	CHECK(ltt_ctl_track(ctl, &o, NULL) == LTT_CTL_INVALID);
	o.kind = LTT_CTL_TRACK_GID;
	o.op = (enum ltt_ctl_track_op)256;
	CHECK(ltt_ctl_track(ctl, &o, NULL) == LTT_CTL_INVALID);
	o.op = LTT_CTL_TRACK_ADD;
	o.session = NULL;
	CHECK(ltt_ctl_track(ctl, &o, NULL) == LTT_CTL_INVALID);
	o.session = "none";
	fake.asked[0] = '\0';
	CHECK(ltt_ctl_track(ctl, &o, NULL) == LTT_CTL_NO_SESSION);
	ASKED("track none domain 1 kind 5 op 2: 0\n");
	pthread_mutex_lock(&fake.lock);
	EXPECT("lttctl track -k -s demo --pid=1,7 --gid=0", 4,
	       "Kernel events of pid 1, 7 are recorded in session demo\n"
	       "Kernel events of gid 0 are recorded in session demo\n",
	       "1 of these were tracked before");
	EXPECT("lttctl untrack -k -s demo --vtid --all", 0,
	       "Kernel events of no vtid are recorded in session demo\n", NULL);
	ASKED("track demo domain 1 kind 0 op 2: 1 7\ntrack demo domain 1 kind 5 op 2: 0\n"
	      "track demo domain 1 kind 3 op 1:\n");
	EXPECT("lttctl track -k -s damo --pid=1", 1, "",
	       "there is no session 'damo'; did you mean 'demo'?");
	pthread_mutex_unlock(&fake.lock);
}

static void contexts(void)
{
	struct ltt_ctl_contexts *list;
	uint32_t channels = 9;

	CHECK(call_contexts() == 0);
	CHECK(ltt_ctl_list_contexts(ctl, LTT_CTL_USER, &list) == 0 && list->nr == 0);
	ltt_ctl_contexts_free(list);
	ltt_ctl_contexts_free(NULL);
	fake.asked[0] = '\0';
	CHECK(ltt_ctl_add_context(ctl, "demo", LTT_CTL_KERNEL, NULL, "pid", &channels) == 0);
	CHECK(channels == 1);
	CHECK(ltt_ctl_add_context(ctl, "demo", LTT_CTL_KERNEL, "big", "comm", &channels) == 0);
	CHECK(channels == 0);
	CHECK(ltt_ctl_add_context(ctl, "demo", LTT_CTL_KERNEL, NULL, NULL, NULL) ==
	      LTT_CTL_INVALID);
	CHECK(ltt_ctl_add_context(ctl, NULL, LTT_CTL_KERNEL, NULL, "pid", NULL) == LTT_CTL_INVALID);
	CHECK(ltt_ctl_add_context(ctl, "none", LTT_CTL_KERNEL, NULL, "pid", NULL) ==
	      LTT_CTL_NO_SESSION);
	ASKED("context demo domain 1 channel '' pid\ncontext demo domain 1 channel 'big' comm\n"
	      "context none domain 1 channel '' pid\n");
	pthread_mutex_lock(&fake.lock);
	EXPECT("lttctl add-context --list", 0, "  TYPE  VALUE\n  pid   integer\n  comm  string\n",
	       NULL);
	EXPECT("lttctl add-context -k -s demo -c big -t pid -t comm", 4,
	       "Kernel context pid added to channel big of session demo\n",
	       "context 'comm' was added before");
	ASKED("context demo domain 1 channel 'big' pid\ncontext demo domain 1 channel 'big' comm\n");
	pthread_mutex_unlock(&fake.lock);
}

static void points(void)
{
	struct ltt_ctl_points *list;
	const struct ltt_ctl_point *p;

	CHECK(ltt_ctl_list_points(ctl, LTT_CTL_USER, LTT_CTL_FIELDS, &list) == 0);
	CHECK(list->nr == 2 && list->nr_presets == 0);
	p = list->points[1];
	CHECK(strcmp(p->name, "web:reply") == 0 && strcmp(p->process, "webd") == 0);
	CHECK(p->pid == 42 && p->uid == 1000 && p->kind == LTT_CTL_POINT_TRACEPOINT);
	CHECK(p->domain == LTT_CTL_USER && p->loglevel == 6 && p->active == 0);
	CHECK(strcmp(p->file, "web.c") == 0 && p->line == 10 && !*p->format && !*p->refused);
	CHECK(p->nr_fields == 1 && strcmp(p->fields[0]->name, "id") == 0);
	CHECK(strcmp(p->fields[0]->type, "integer") == 0 && p->fields[0]->recorded);
	ltt_ctl_points_free(list);
	ltt_ctl_points_free(NULL);
	CHECK(call_presets() == 0);
	CHECK(ltt_ctl_list_points(ctl, LTT_CTL_USER, 2, &list) == LTT_CTL_UNSUPPORTED);
}

static void stats(void)
{
	struct ltt_ctl_stats *s;
	const struct ltt_ctl_counted *c;

	CHECK(ltt_ctl_list_stats(ctl, "none", &s) == LTT_CTL_NO_SESSION);
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
	pthread_mutex_lock(&fake.lock);
	EXPECT_PART("lttctl stats demo", 0, "web:reply, size, 6 on average, 2 not looked at:\n");
	EXPECT("lttctl stats damo", 1, "", "there is no session 'damo'; did you mean 'demo'?");
	pthread_mutex_unlock(&fake.lock);
}

static void quotas(void)
{
	CHECK(call_quotas() == 0);
	ltt_ctl_quotas_free(NULL);
	pthread_mutex_lock(&fake.lock);
	EXPECT("lttctl quota", 0,
	       "  USER                     WHAT      USED  LIMIT  REFUSED\n"
	       "  1000 in root's sessions  sessions     3     64        2\n",
	       NULL);
	pthread_mutex_unlock(&fake.lock);
}

/* The next news, waited for as a caller does. Return: the code. */
static int await_news(const struct ltt_ctl_news **ret)
{
	int code;

	while ((code = ltt_ctl_next_news(ctl, ret)) == 0 && !*ret) {
		struct pollfd pfd = { .fd = ltt_ctl_fd(ctl), .events = POLLIN };

		CHECK(poll(&pfd, 1, 60000) == 1);
	}
	return code;
}

static void follows(void)
{
	const struct ltt_ctl_news *news = NULL;

	CHECK(ltt_ctl_next_news(ctl, &news) == LTT_CTL_INVALID);
	CHECK(ltt_ctl_follow(ctl, "none") == 0);
	CHECK(await_news(&news) == LTT_CTL_NO_SESSION && !news);
	CHECK(ltt_ctl_follow(ctl, "demo") == 0);
	CHECK(call_list() == LTT_CTL_BUSY);
	CHECK(await_news(&news) == 0 && news->kind == LTT_CTL_NEWS_STATE);
	CHECK(news->state == LTT_CTL_RECORDING && news->at_ns == 5 && !*news->text);
	CHECK(await_news(&news) == 0 && news->kind == LTT_CTL_NEWS_LOSS);
	CHECK(news->cause == LTT_CTL_LOSS_FULL && news->count == 12);
	CHECK(strcmp(news->channel, "channel0") == 0);
	CHECK(await_news(&news) == 0 && news->kind == LTT_CTL_NEWS_DESTROYED);
	CHECK(news->totals->recorded == 90 && strcmp(news->text, "the disk is full") == 0);
	CHECK(call_list() == 0);
	CHECK(ltt_ctl_follow(ctl, "demo") == 0);
	CHECK(call_connect() == 0 && call_list() == 0);
	fake.hang_up = true;
	CHECK(ltt_ctl_follow(ctl, "demo") == 0);
	CHECK(await_news(&news) == LTT_CTL_NO_DAEMON && ltt_ctl_fd(ctl) == -1);
	fake.hang_up = false;
	CHECK(call_connect() == 0);
}

static void ends(void)
{
	struct ltt_ctl_totals *totals;

	fake.asked[0] = '\0';
	CHECK(ltt_ctl_stop(ctl, "demo", 0, &totals) == 0);
	CHECK(totals->recorded == 90 && totals->packets == 3);
	ltt_ctl_totals_free(totals);
	CHECK(ltt_ctl_stop(ctl, "demo", 6, &totals) == LTT_CTL_UNSUPPORTED);
	CHECK(ltt_ctl_destroy(ctl, "demo", LTT_CTL_NO_WAIT, NULL) == 0);
	ASKED("stop demo\ndestroy demo no_wait\n");
	CHECK(ltt_ctl_destroy(ctl, "demo", 0, &totals) == LTT_CTL_NO_SESSION);
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
	CHECK(ltt_ctl_create(ctl, &o, &name, NULL) == LTT_CTL_INVALID);
	ltt_ctl_create_options_init(&newer.known);
	newer.known.size = sizeof(newer);
	newer.known.no_output = 1;
	newer.known.name = "new";
	newer.later = 1;
	CHECK(ltt_ctl_create(ctl, &newer.known, &name, NULL) == LTT_CTL_UNSUPPORTED);
	newer.later = 0;
	CHECK(ltt_ctl_create(ctl, &newer.known, &name, NULL) == 0 && strcmp(name, "new") == 0);
	free(name);
	newer.known.output = "x";
	CHECK(ltt_ctl_create(ctl, &newer.known, NULL, NULL) == LTT_CTL_INVALID);
	ltt_ctl_create_options_init(&o);
	o.name = "a/b";
	CHECK(ltt_ctl_create(ctl, &o, NULL, NULL) == LTT_CTL_INVALID);
	o.name = "c";
	o.live_us = 1;
	CHECK(ltt_ctl_create(ctl, &o, NULL, NULL) == LTT_CTL_INVALID);
	ltt_ctl_connect_options_init(&options);
	options.rundir = "/no/such";
	options.start_daemon = 1;
	CHECK(ltt_ctl_connect(ctl, &options) == LTT_CTL_INVALID);
	options.start_daemon = 0;
	CHECK(ltt_ctl_connect(ctl, &options) == LTT_CTL_NO_DAEMON);
	options.rundir = getenv("LTT_RUNDIR");
	CHECK(ltt_ctl_connect(ctl, &options) == 0);
}

static void lost(void)
{
	int fds[2];
	struct ltt_ctl_connect_options options;

	fake.hang_up = true;
	CHECK(call_list() == LTT_CTL_NO_DAEMON && !ltt_ctl_daemon(ctl));
	fake.hang_up = false;
	CHECK(call_list() == LTT_CTL_NO_DAEMON);
	CHECK(strstr(ltt_ctl_error(ctl), "ltt_ctl_connect()"));
	CHECK(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	ltt_ctl_connect_options_init(&options);
	options.cancel_fd = fds[0];
	CHECK(ltt_ctl_connect(ctl, &options) == 0);
	fake.mute = true;
	CHECK(call_list() == LTT_CTL_INTERRUPTED && !ltt_ctl_daemon(ctl));
	fake.mute = false;
	CHECK(call_connect() == 0 && call_list() == 0 && !*ltt_ctl_error(ctl));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	ctl = ltt_ctl_new();
	CHECK(ctl && !*ltt_ctl_error(ctl) && !ltt_ctl_daemon(ctl));
	CHECK(call_connect() == LTT_CTL_NO_DAEMON);
	fake_daemon();
	pthread_mutex_unlock(&fake.lock);
	CHECK(call_connect() == 0);
	CHECK(ltt_ctl_daemon(ctl)->pid == 77);
	CHECK(strcmp(ltt_ctl_daemon(ctl)->version, "9.9") == 0);
	fake.totals = (struct msg_totals){ .recorded = 100,
					   .written = 80,
					   .lost_full = 5,
					   .lost_stalled = 3,
					   .lost_size = 2,
					   .lost_output = 10,
					   .bytes = 4000,
					   .packets = 3 };
	memory();
	CHECK(call_connect() == 0);
	changes();
	tracks();
	contexts();
	points();
	stats();
	quotas();
	fake.problem = "the disk is full";
	lists();
	statuses();
	follows();
	ends();
	invalid();
	lost();
	ltt_ctl_free(ctl);
	ltt_ctl_free(NULL);
	return 0;
}
