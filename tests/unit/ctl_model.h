/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ctl_model.h - what the session daemon of ctl_fake.h knows and answers: a model of
 * one session. Answers are made of what was asked, so that a test sees what arrived.
 */
#ifndef TESTS_CTL_MODEL_H
#define TESTS_CTL_MODEL_H

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/sock.h"
#include "proto/client.h"
#include "proto/enums.h"

#include "check.h"

/* The fake's state and the requests to it; the tests change it between runs of lttctl. */
static struct {
	char session[300]; /* exists if not empty */
	char path[500];
	char asked[4000]; /* a line for each command */
	struct msg_totals totals;
	const char *rule; /* pattern of the rule that session_show tells about */
	const char *problem;
	const char *announced; /* point that no rule takes; NULL: none */
	bool matched;
	uid_t uid; /* owner of the session */
	bool conflict;
	bool tracks; /* session_show has trackers */
	unsigned int state;
	_Atomic bool mute;     /* answers nothing, not even hello */
	_Atomic bool slow;     /* answers stop after some seconds */
	_Atomic bool hang_up;  /* closes instead of answering anything but hello */
	_Atomic bool nonsense; /* answers with noise */
	pthread_mutex_t lock;  /* the test holds it whenever lttctl does not run */
	bool serving;
	int listener;
} fake = { .rule = "web:*", .problem = "", .lock = PTHREAD_MUTEX_INITIALIZER };

struct fake_answer {
	int fd;
	struct msg_header asked;
	struct encoder enc;
	uint8_t buf[MSG_MAX_BYTES];
};

static void fake_asked(const char *fmt, ...) PRINTF(1, 2);
static void fake_asked(const char *fmt, ...)
{
	size_t len = strlen(fake.asked);
	va_list args;

	va_start(args, fmt);
	vsnprintf(fake.asked + len, sizeof(fake.asked) - len, fmt, args);
	va_end(args);
}

static struct encoder *fake_begin(struct fake_answer *a, unsigned int type, unsigned int flags)
{
	encoder_init(&a->enc, a->buf, sizeof(a->buf));
	encode_header(&a->enc, (uint16_t)type, (uint16_t)flags, a->asked.serial);
	return &a->enc;
}

static struct encoder *fake_reply(struct fake_answer *a, unsigned int code, const char *text)
{
	struct encoder *enc = fake_begin(a, a->asked.type, MSG_REPLY);

	encode_outcome(enc, code, text);
	return enc;
}

static void fake_send(struct fake_answer *a)
{
	if (sock_send(a->fd, a->enc.buf, a->enc.len, NULL, 0) != 0)
		shutdown(a->fd, SHUT_RDWR);
}

static struct list fake_totals(struct encoder *enc, uint8_t *buf, size_t len)
{
	encoder_init(enc, buf, len);
	msg_totals_add(enc, &fake.totals);
	return encoder_list(enc);
}

static void fake_item_session(struct fake_answer *a)
{
	struct encoder list;
	uint8_t buf[300];
	struct msg_session m = {
		.id = 7,
		.name = fake.session,
		.path = fake.path,
		.uid = fake.uid,
		.state = (uint8_t)fake.state,
		.created_ns = 1700000000000000000,
		.recording_ns = 12300000000,
		.apps = 2,
		.problem = fake.problem,
		.totals = fake_totals(&list, buf, sizeof(buf)),
	};

	msg_session_encode(fake_begin(a, MSG_session, MSG_ITEM), &m);
	fake_send(a);
}

static void fake_item_channel(struct fake_answer *a)
{
	struct encoder list;
	uint8_t buf[300];
	struct msg_channel channel = {
		.name = "channel0",
		.domain = DOMAIN_USER,
		.enabled = 1,
		.subbuf_size = 524288,
		.num_subbuf = 4,
		.ownership = OWNERSHIP_USER,
		.used = 1048576,
		.size = 4194304,
		.memory = 4194304,
		.totals = fake_totals(&list, buf, sizeof(buf)),
	};
	struct msg_rule rule = {
		.pattern = fake.rule,
		.exclude = "web:x*",
		.loglevel_type = LOGLEVEL_AT_LEAST,
		.loglevel = 6,
		.enabled = 1,
		.points = 4,
	};

	msg_channel_encode(fake_begin(a, MSG_channel, MSG_ITEM), &channel);
	fake_send(a);
	msg_rule_encode(fake_begin(a, MSG_rule, MSG_ITEM), &rule);
	fake_send(a);
}

static void fake_item_conflict(struct fake_answer *a)
{
	struct msg_conflict m = {
		.name = "net_rx",
		.armed = "len %d",
		.refused = "len %s",
		.pid = 4711,
	};

	if (!fake.conflict)
		return;
	msg_conflict_encode(fake_begin(a, MSG_conflict, MSG_ITEM), &m);
	fake_send(a);
}

static void fake_item_points(struct fake_answer *a, bool fields)
{
	static const char *const names[] = { "web:request", "web:reply" };
	struct msg_point_field field = { .name = "id", .type = "integer", .recorded = 1 };
	struct encoder list;
	uint8_t buf[200];

	encoder_init(&list, buf, sizeof(buf));
	if (fields)
		msg_point_field_add(&list, &field);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct msg_point m = {
			.pid = 42,
			.uid = 1000,
			.process = "webd",
			.name = names[i],
			.domain = DOMAIN_USER,
			.kind = 1,
			.loglevel = 6,
			.file = "web.c",
			.line = 10,
			.fields = encoder_list(&list),
		};

		msg_point_encode(fake_begin(a, MSG_point, MSG_ITEM), &m);
		fake_send(a);
	}
}

static void fake_hello(struct fake_answer *a, struct decoder *dec)
{
	struct req_hello req;
	struct rep_hello rep = {
		.version = "9.9", .pid = 77, .instance = 1, .clock_hz = 1000000000
	};

	CHECK(req_hello_decode(dec, &req) == 0);
	rep_hello_encode(fake_reply(a, 0, ""), &rep);
	fake_send(a);
}

static bool fake_no_session(struct fake_answer *a, const char *name)
{
	char text[400];

	if (*fake.session && strcmp(fake.session, name) == 0)
		return false;
	snprintf(text, sizeof(text), "there is no session '%s'", name);
	fake_reply(a, ERR_NO_SESSION, text);
	fake_send(a);
	return true;
}

static void fake_create(struct fake_answer *a, struct decoder *dec)
{
	struct req_session_create req;
	struct rep_session_create rep = { .id = 7 };

	CHECK(req_session_create_decode(dec, &req) == 0);
	fake_asked("create %s %s%s\n", req.name, req.path, req.outdir >= 0 ? " +fd" : "");
	if (req.outdir >= 0) {
		/* the descriptor is the directory, and may be written */
		int fd = openat(req.outdir, "probe", O_CREAT | O_EXCL | O_WRONLY, 0600);

		CHECK(fd >= 0);
		close(fd);
		unlinkat(req.outdir, "probe", 0);
		close(req.outdir);
	}
	if (strcmp(fake.session, req.name) == 0) {
		fake_reply(a, ERR_SESSION_EXISTS, "a session of this name exists");
		fake_send(a);
		return;
	}
	snprintf(fake.session, sizeof(fake.session), "%s", req.name);
	snprintf(fake.path, sizeof(fake.path), "%s", req.path);
	rep.name = req.name;
	rep_session_create_encode(fake_reply(a, 0, ""), &rep);
	fake_send(a);
}

static void fake_start(struct fake_answer *a, struct decoder *dec)
{
	struct req_session_start req;
	struct rep_session_start rep = { .apps = 2, .late = 1 };

	CHECK(req_session_start_decode(dec, &req) == 0);
	fake_asked("start %s\n", req.session);
	if (fake_no_session(a, req.session))
		return;
	if (fake.state == SESSION_RECORDING) {
		fake_reply(a, ERR_STATE, "session records already");
	} else {
		fake.state = SESSION_RECORDING;
		rep_session_start_encode(fake_reply(a, 0, ""), &rep);
	}
	fake_send(a);
}

static void fake_stop(struct fake_answer *a, struct decoder *dec)
{
	struct encoder list;
	uint8_t buf[300];
	struct req_session_stop req;
	struct rep_session_stop rep = { 0 };

	CHECK(req_session_stop_decode(dec, &req) == 0);
	fake_asked("stop %s%s\n", req.session, req.no_wait ? " no_wait" : "");
	if (fake_no_session(a, req.session))
		return;
	fake.state = SESSION_STOPPED;
	rep.totals = fake_totals(&list, buf, sizeof(buf));
	rep_session_stop_encode(fake_reply(a, 0, ""), &rep);
	fake_send(a);
}

static void fake_destroy(struct fake_answer *a, struct decoder *dec)
{
	struct encoder list;
	uint8_t buf[300];
	struct req_session_destroy req;
	struct rep_session_destroy rep = { 0 };

	CHECK(req_session_destroy_decode(dec, &req) == 0);
	fake_asked("destroy %s%s\n", req.session, req.no_wait ? " no_wait" : "");
	if (fake_no_session(a, req.session))
		return;
	fake.session[0] = '\0';
	fake.state = SESSION_NEW;
	rep.totals = fake_totals(&list, buf, sizeof(buf));
	rep_session_destroy_encode(fake_reply(a, 0, ""), &rep);
	fake_send(a);
}

static void fake_channel_enable(struct fake_answer *a, struct decoder *dec)
{
	struct req_channel_enable req;

	CHECK(req_channel_enable_decode(dec, &req) == 0);
	fake_asked("channel %s %s size %llu nr %u own %u file %llu x %u timer %u over %u\n",
		   req.session, req.name, (unsigned long long)req.subbuf_size, req.num_subbuf,
		   req.ownership, (unsigned long long)req.tracefile_size, req.tracefile_count,
		   req.switch_timer_us, req.overwrite);
	if (fake_no_session(a, req.session))
		return;
	if (req.overwrite)
		fake_reply(a, ERR_UNSUPPORTED, "overwrite mode needs snapshots");
	else if (strcmp(req.name, "channel0") == 0 && strcmp(req.session, "demo") == 0)
		fake_reply(a, ERR_CHANNEL_EXISTS, "channel 'channel0' exists already");
	else
		fake_reply(a, 0, "");
	fake_send(a);
}

static void fake_event_enable(struct fake_answer *a, struct decoder *dec)
{
	struct req_event_enable req;
	struct rep_event_enable rep = { .channel = "channel0" };

	CHECK(req_event_enable_decode(dec, &req) == 0);
	fake_asked("event %s %s '%s' not '%s' level %u %lld\n", req.session, req.channel,
		   req.pattern, req.exclude, req.loglevel_type, (long long)req.loglevel);
	if (fake_no_session(a, req.session))
		return;
	fake_item_conflict(a);
	if (strcmp(req.pattern, fake.rule) == 0) {
		fake_reply(a, ERR_EVENT_EXISTS, "it is enabled already");
	} else {
		rep.points = strchr(req.pattern, '*') ? 2 : 0;
		rep_event_enable_encode(fake_reply(a, 0, ""), &rep);
	}
	fake_send(a);
}

static void fake_disable(struct fake_answer *a, struct decoder *dec)
{
	struct req_event_disable event;
	struct req_channel_disable channel;

	if (a->asked.type == MSG_event_disable) {
		CHECK(req_event_disable_decode(dec, &event) == 0);
		fake_asked("disable event %s%s\n", event.pattern, event.all ? " all" : "");
		if (event.all || strcmp(event.pattern, fake.rule) == 0)
			fake_reply(a, 0, "");
		else
			fake_reply(a, ERR_NO_EVENT, "no such rule");
	} else {
		CHECK(req_channel_disable_decode(dec, &channel) == 0);
		fake_asked("disable channel %s\n", channel.name);
		if (strcmp(channel.name, "channel0") == 0)
			fake_reply(a, 0, "");
		else
			fake_reply(a, ERR_NO_CHANNEL, "no such channel");
	}
	fake_send(a);
}

/* Processes 1 and 2, and no user. */
static void fake_item_trackers(struct fake_answer *a)
{
	const struct msg_track_id ids[] = { { 1 }, { 2 } };
	struct msg_tracked m = { .domain = DOMAIN_KERNEL, .kind = TRACK_VPID };
	struct encoder list;
	uint8_t buf[100];

	if (!fake.tracks)
		return;
	encoder_init(&list, buf, sizeof(buf));
	msg_track_id_add(&list, &ids[0]);
	msg_track_id_add(&list, &ids[1]);
	m.ids = encoder_list(&list);
	msg_tracked_encode(fake_begin(a, MSG_tracked, MSG_ITEM), &m);
	fake_send(a);
	m = (struct msg_tracked){ .domain = DOMAIN_KERNEL, .kind = TRACK_UID };
	msg_tracked_encode(fake_begin(a, MSG_tracked, MSG_ITEM), &m);
	fake_send(a);
}

/* Id 7 is as it was asked for already. */
static void fake_track(struct fake_answer *a, struct decoder *dec)
{
	struct rep_track rep = { 0 };
	struct msg_track_id id;
	struct req_track req;

	CHECK(req_track_decode(dec, &req) == 0);
	fake_asked("track %s domain %u kind %u op %u:", req.session, req.domain, req.kind, req.op);
	while (msg_track_id_next(&req.ids, &id)) {
		fake_asked(" %u", id.id);
		rep.changed += id.id != 7;
	}
	fake_asked("\n");
	if (fake_no_session(a, req.session))
		return;
	rep_track_encode(fake_reply(a, 0, ""), &rep);
	fake_send(a);
}

static void fake_contexts(struct fake_answer *a, struct decoder *dec)
{
	static const struct msg_context known[] = { { "pid", DOMAIN_KERNEL, "integer" },
						    { "comm", DOMAIN_KERNEL, "string" } };
	struct req_context_list req;

	CHECK(req_context_list_decode(dec, &req) == 0);
	for (size_t i = 0; req.domain == DOMAIN_KERNEL && i < ARRAY_SIZE(known); i++) {
		msg_context_encode(fake_begin(a, MSG_context, MSG_ITEM), &known[i]);
		fake_send(a);
	}
	fake_reply(a, 0, "");
	fake_send(a);
}

/* The channel has "comm" already. */
static void fake_context_add(struct fake_answer *a, struct decoder *dec)
{
	struct rep_context_add rep = { 0 };
	struct req_context_add req;

	CHECK(req_context_add_decode(dec, &req) == 0);
	fake_asked("context %s domain %u channel '%s' %s\n", req.session, req.domain, req.channel,
		   req.type);
	if (fake_no_session(a, req.session))
		return;
	rep.channels = strcmp(req.type, "comm") != 0;
	rep_context_add_encode(fake_reply(a, 0, ""), &rep);
	fake_send(a);
}

static void fake_stats(struct fake_answer *a, struct decoder *dec)
{
	const struct msg_bucket buckets[] = { { 0, 0, 3 }, { 8, 15, 5 } };
	struct msg_counted m = { .channel = "channel0",
				 .event = "web:reply",
				 .field = "size",
				 .counting = 1,
				 .since_ns = 6,
				 .count = 10,
				 .sum = 50,
				 .negative = 1,
				 .missed = 2,
				 .domain = DOMAIN_USER };
	struct req_stats_list req;
	struct encoder list;
	uint8_t buf[200];

	CHECK(req_stats_list_decode(dec, &req) == 0);
	if (fake_no_session(a, req.session))
		return;
	encoder_init(&list, buf, sizeof(buf));
	msg_bucket_add(&list, &buckets[0]);
	msg_bucket_add(&list, &buckets[1]);
	m.buckets = encoder_list(&list);
	msg_counted_encode(fake_begin(a, MSG_counted, MSG_ITEM), &m);
	fake_send(a);
	m = (struct msg_counted){ .event = "sched_switch", .count = 7, .domain = DOMAIN_KERNEL };
	msg_counted_encode(fake_begin(a, MSG_counted, MSG_ITEM), &m);
	fake_send(a);
	fake_reply(a, 0, "");
	fake_send(a);
}

static void fake_quotas(struct fake_answer *a)
{
	const struct msg_quota m = { 1000, 1, "sessions", 3, 64, 2 };

	msg_quota_encode(fake_begin(a, MSG_quota, MSG_ITEM), &m);
	fake_send(a);
	fake_reply(a, 0, "");
	fake_send(a);
}

static void fake_show(struct fake_answer *a, struct decoder *dec)
{
	struct req_session_show req;

	CHECK(req_session_show_decode(dec, &req) == 0);
	if (fake_no_session(a, req.session))
		return;
	fake_item_session(a);
	fake_item_trackers(a);
	fake_item_channel(a);
	fake_item_conflict(a);
	fake_reply(a, 0, "");
	fake_send(a);
}

static void fake_programs(struct fake_answer *a, struct decoder *dec)
{
	struct req_session_programs req;
	struct rep_session_programs rep = { .matched = fake.matched };
	struct msg_announced m = { .name = fake.announced };

	CHECK(req_session_programs_decode(dec, &req) == 0);
	if (fake_no_session(a, req.session))
		return;
	if (fake.announced) {
		msg_announced_encode(fake_begin(a, MSG_announced, MSG_ITEM), &m);
		fake_send(a);
	}
	rep_session_programs_encode(fake_reply(a, 0, ""), &rep);
	fake_send(a);
}

static void fake_lists(struct fake_answer *a, struct decoder *dec)
{
	struct req_point_list points;

	if (a->asked.type == MSG_point_list) {
		const struct msg_preset preset = { "net", "net_*", 65536, 8 };

		CHECK(req_point_list_decode(dec, &points) == 0);
		if (points.domain == DOMAIN_KERNEL) {
			msg_preset_encode(fake_begin(a, MSG_preset, MSG_ITEM), &preset);
			fake_send(a);
		}
		fake_item_points(a, points.fields);
	} else if (*fake.session) {
		fake_item_session(a);
	}
	fake_reply(a, 0, "");
	fake_send(a);
}

/* A state, an item of a newer daemon's, a loss, and the end. */
static void fake_follow(struct fake_answer *a, struct decoder *dec)
{
	struct msg_news state = { .at_ns = 5, .kind = NEWS_STATE, .state = SESSION_RECORDING };
	struct msg_news loss = {
		.kind = NEWS_LOSS, .channel = "channel0", .cause = LOSS_FULL, .count = 12
	};
	struct rep_session_follow rep = { .problem = "the disk is full" };
	struct req_session_follow req;
	struct encoder list;
	uint8_t buf[300];

	CHECK(req_session_follow_decode(dec, &req) == 0);
	if (fake_no_session(a, req.session))
		return;
	msg_news_encode(fake_begin(a, MSG_news, MSG_ITEM), &state);
	fake_send(a);
	fake_begin(a, 9999, MSG_ITEM);
	fake_send(a);
	msg_news_encode(fake_begin(a, MSG_news, MSG_ITEM), &loss);
	fake_send(a);
	rep.totals = fake_totals(&list, buf, sizeof(buf));
	rep_session_follow_encode(fake_reply(a, 0, ""), &rep);
	fake_send(a);
}

static void fake_command(struct fake_answer *a, struct decoder *dec)
{
	switch (a->asked.type) {
	case MSG_hello:
		fake_hello(a, dec);
		break;
	case MSG_session_create:
		fake_create(a, dec);
		break;
	case MSG_session_start:
		fake_start(a, dec);
		break;
	case MSG_session_stop:
		fake_stop(a, dec);
		break;
	case MSG_session_destroy:
		fake_destroy(a, dec);
		break;
	case MSG_channel_enable:
		fake_channel_enable(a, dec);
		break;
	case MSG_event_enable:
		fake_event_enable(a, dec);
		break;
	case MSG_event_disable:
	case MSG_channel_disable:
		fake_disable(a, dec);
		break;
	case MSG_session_show:
		fake_show(a, dec);
		break;
	case MSG_session_follow:
		fake_follow(a, dec);
		break;
	case MSG_track:
		fake_track(a, dec);
		break;
	case MSG_context_list:
		fake_contexts(a, dec);
		break;
	case MSG_context_add:
		fake_context_add(a, dec);
		break;
	case MSG_stats_list:
		fake_stats(a, dec);
		break;
	case MSG_quota_list:
		fake_quotas(a);
		break;
	case MSG_session_programs:
		fake_programs(a, dec);
		break;
	default:
		fake_lists(a, dec);
	}
}

#endif
