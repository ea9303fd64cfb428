/* SPDX-License-Identifier: GPL-2.0-only */
#include "ctl_model.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/err.h"
#include "io/sock.h"

struct ctl_model ctl_model = { .rule = "web:*",
			       .problem = "",
			       .start_problem = "",
			       .stop_problem = "",
			       .lock = PTHREAD_MUTEX_INITIALIZER };

static void ctl_model_log(const char *fmt, ...) PRINTF(1, 2);
static void ctl_model_log(const char *fmt, ...)
{
	size_t len = strlen(ctl_model.requests);
	va_list args;

	va_start(args, fmt);
	vsnprintf(ctl_model.requests + len, sizeof(ctl_model.requests) - len, fmt, args);
	va_end(args);
}

static struct encoder *ctl_model_begin(struct ctl_answer *a, unsigned int type, unsigned int flags)
{
	encoder_init(&a->enc, a->buf, sizeof(a->buf));
	encode_header(&a->enc, (uint16_t)type, (uint16_t)flags, a->request.serial);
	return &a->enc;
}

static struct encoder *ctl_model_reply(struct ctl_answer *a, unsigned int code, const char *text)
{
	struct encoder *enc = ctl_model_begin(a, a->request.type, MSG_REPLY);

	encode_outcome(enc, code, text);
	return enc;
}

static void ctl_model_send(struct ctl_answer *a)
{
	if (sock_send(a->fd, a->enc.buf, a->enc.len, NULL, 0) != 0)
		shutdown(a->fd, SHUT_RDWR);
}

static struct list ctl_model_totals(struct encoder *enc, uint8_t *buf, size_t len)
{
	encoder_init(enc, buf, len);
	msg_totals_add(enc, &ctl_model.totals);
	return encoder_list(enc);
}

static void ctl_model_item_session(struct ctl_answer *a)
{
	struct encoder list;
	uint8_t buf[300];
	struct msg_session m = {
		.id = 7,
		.name = ctl_model.session,
		.path = ctl_model.path,
		.uid = ctl_model.uid,
		.state = (uint8_t)ctl_model.state,
		.created_ns = 1700000000000000000,
		.recording_ns = 12300000000,
		.apps = 2,
		.problem = ctl_model.problem,
		.totals = ctl_model_totals(&list, buf, sizeof(buf)),
	};

	msg_session_encode(ctl_model_begin(a, MSG_session, MSG_ITEM), &m);
	ctl_model_send(a);
}

static void ctl_model_item_channel(struct ctl_answer *a)
{
	struct encoder list;
	uint8_t buf[300];
	struct msg_channel channel = {
		.name = "channel0",
		.domain = ctl_model.kernel ? DOMAIN_KERNEL : DOMAIN_USER,
		.enabled = 1,
		.subbuf_size = 524288,
		.num_subbuf = 4,
		.ownership = OWNERSHIP_USER,
		.used = 1048576,
		.size = 4194304,
		.memory = 4194304,
		.totals = ctl_model_totals(&list, buf, sizeof(buf)),
	};
	struct msg_rule rule = {
		.pattern = ctl_model.rule,
		.exclude = "web:x*",
		.loglevel_type = LOGLEVEL_AT_LEAST,
		.loglevel = 6,
		.enabled = 1,
		.points = 4,
	};

	msg_channel_encode(ctl_model_begin(a, MSG_channel, MSG_ITEM), &channel);
	ctl_model_send(a);
	msg_rule_encode(ctl_model_begin(a, MSG_rule, MSG_ITEM), &rule);
	ctl_model_send(a);
}

static void ctl_model_item_conflict(struct ctl_answer *a)
{
	struct msg_conflict m = {
		.name = "net_rx",
		.armed = "len %d",
		.refused = "len %s",
		.pid = 4711,
	};

	if (!ctl_model.conflict)
		return;
	msg_conflict_encode(ctl_model_begin(a, MSG_conflict, MSG_ITEM), &m);
	ctl_model_send(a);
}

/* One can't be counted, the other not be recorded. */
static void ctl_model_item_refusals(struct ctl_answer *a)
{
	static const struct msg_refusal refusals[] = {
		{ .name = "web:*", .why = "libltt is too old", .domain = DOMAIN_USER },
		{ .name = "sched_switch", .why = "it has no fields" },
	};

	for (size_t i = 0; ctl_model.refusal && i < ARRAY_SIZE(refusals); i++) {
		msg_refusal_encode(ctl_model_begin(a, MSG_refusal, MSG_ITEM), &refusals[i]);
		ctl_model_send(a);
	}
}

/* In two answers if there are many. */
static void ctl_model_points(struct ctl_answer *a, const struct req_point_list *req)
{
	static const char *const names[] = { "web:reply", "web:request" };
	struct msg_point_field field = { .name = "id", .type = "integer", .recorded = 1 };
	struct encoder list;
	uint8_t buf[200];

	size_t nr = ARRAY_SIZE(names) + ctl_model.more_points;
	size_t half = ctl_model.more_points ? nr / 2 : nr;
	struct rep_point_list rep = { .rest = half < nr && !*req->after ? "another" : "" };

	encoder_init(&list, buf, sizeof(buf));
	if (req->fields)
		msg_point_field_add(&list, &field);
	for (size_t i = *req->after ? half : 0; i < (*req->after ? nr : half); i++) {
		char name[32];
		struct msg_point m = {
			.pid = 42,
			.uid = 1000,
			.process = "webd",
			.name = i < ARRAY_SIZE(names) ? names[i] : name,
			.domain = DOMAIN_USER,
			.kind = 1,
			.loglevel = 6,
			.file = "web.c",
			.line = 10,
			.fields = encoder_list(&list),
		};

		snprintf(name, sizeof(name), "web:another%zu", i);
		msg_point_encode(ctl_model_begin(a, MSG_point, MSG_ITEM), &m);
		ctl_model_send(a);
	}
	rep_point_list_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_hello(struct ctl_answer *a, struct decoder *dec)
{
	struct req_hello req;
	struct rep_hello rep = { .version = "9.9",
				 .pid = ctl_model.pid ? (uint32_t)ctl_model.pid : 77,
				 .instance = 1,
				 .clock_hz = 1000000000 };

	CHECK_IS(req_hello_decode(dec, &req), ==, 0);
	rep_hello_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static bool ctl_model_no_session(struct ctl_answer *a, const char *name)
{
	char text[400];

	if (*ctl_model.session && strcmp(ctl_model.session, name) == 0)
		return false;
	snprintf(text, sizeof(text), "there is no session '%s'", name);
	ctl_model_reply(a, ERR_NO_SESSION, text);
	ctl_model_send(a);
	return true;
}

static void ctl_model_create(struct ctl_answer *a, struct decoder *dec)
{
	struct req_session_create req;
	struct rep_session_create rep = { .id = 7 };

	CHECK_IS(req_session_create_decode(dec, &req), ==, 0);
	ctl_model_log("create %s %s%s\n", req.name, req.path, req.outdir >= 0 ? " +fd" : "");
	if (req.outdir >= 0) {
		/* the descriptor is the directory, and may be written */
		int fd = openat(req.outdir, "probe", O_CREAT | O_EXCL | O_WRONLY, 0600);

		CHECK_IS(fd, >=, 0);
		close(fd);
		unlinkat(req.outdir, "probe", 0);
		close(req.outdir);
	}
	if (strcmp(ctl_model.session, req.name) == 0) {
		ctl_model_reply(a, ERR_SESSION_EXISTS, "a session of this name exists");
		ctl_model_send(a);
		return;
	}
	snprintf(ctl_model.session, sizeof(ctl_model.session), "%s", req.name);
	snprintf(ctl_model.path, sizeof(ctl_model.path), "%s", req.path);
	rep.name = req.name;
	rep_session_create_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_start(struct ctl_answer *a, struct decoder *dec)
{
	struct req_session_start req;
	struct rep_session_start rep = { .apps = 2, .late = 1, .problem = ctl_model.start_problem };

	CHECK_IS(req_session_start_decode(dec, &req), ==, 0);
	ctl_model_log("start %s\n", req.session);
	if (ctl_model_no_session(a, req.session))
		return;
	if (ctl_model.state == SESSION_RECORDING) {
		ctl_model_reply(a, ERR_STATE, "session records already");
	} else {
		ctl_model_item_conflict(a);
		ctl_model_item_refusals(a);
		ctl_model.state = SESSION_RECORDING;
		rep_session_start_encode(ctl_model_reply(a, 0, ""), &rep);
	}
	ctl_model_send(a);
}

static void ctl_model_stop(struct ctl_answer *a, struct decoder *dec)
{
	struct encoder list;
	uint8_t buf[300];
	struct req_session_stop req;
	struct rep_session_stop rep = { .problem = ctl_model.stop_problem };

	CHECK_IS(req_session_stop_decode(dec, &req), ==, 0);
	ctl_model_log("stop %s%s\n", req.session, req.no_wait ? " no_wait" : "");
	if (ctl_model_no_session(a, req.session))
		return;
	ctl_model.state = SESSION_STOPPED;
	ctl_model_item_conflict(a);
	rep.totals = ctl_model_totals(&list, buf, sizeof(buf));
	rep_session_stop_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_destroy(struct ctl_answer *a, struct decoder *dec)
{
	struct encoder list;
	uint8_t buf[300];
	struct req_session_destroy req;
	struct rep_session_destroy rep = { .problem = ctl_model.stop_problem };

	CHECK_IS(req_session_destroy_decode(dec, &req), ==, 0);
	ctl_model_log("destroy %s%s\n", req.session, req.no_wait ? " no_wait" : "");
	if (ctl_model_no_session(a, req.session))
		return;
	ctl_model.session[0] = '\0';
	ctl_model.state = SESSION_NEW;
	rep.totals = ctl_model_totals(&list, buf, sizeof(buf));
	rep_session_destroy_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_channel_enable(struct ctl_answer *a, struct decoder *dec)
{
	struct req_channel_enable req;
	struct rep_channel_enable rep = { 0 };

	CHECK_IS(req_channel_enable_decode(dec, &req), ==, 0);
	ctl_model_log("channel %s %s size %llu nr %u own %u file %llu x %u timer %u over %u%s%s\n",
		      req.session, req.name, (unsigned long long)req.subbuf_size, req.num_subbuf,
		      req.ownership, (unsigned long long)req.tracefile_size, req.tracefile_count,
		      req.switch_timer_us, req.overwrite, req.roomy ? " roomy" : "",
		      req.output_type == OUTPUT_TYPE_SPLICE ? " splice" : "");
	if (ctl_model_no_session(a, req.session))
		return;
	if (req.tracefile_size)
		rep.tracefile_size = MAX(req.tracefile_size, 8192u); /* a buffer */
	if (req.output_type == OUTPUT_TYPE_SPLICE)
		rep.unspliced = "its data is compressed";
	if (req.overwrite == CHANNEL_OVERWRITE)
		ctl_model_reply(a, ERR_UNSUPPORTED, "overwrite mode needs snapshots");
	else if (strcmp(req.name, "channel0") == 0 && strcmp(req.session, "demo") == 0)
		ctl_model_reply(a, ERR_CHANNEL_EXISTS, "channel 'channel0' exists already");
	else
		rep_channel_enable_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_event_enable(struct ctl_answer *a, struct decoder *dec)
{
	struct req_event_enable req;
	struct rep_event_enable rep = { .channel = "channel0" };

	CHECK_IS(req_event_enable_decode(dec, &req), ==, 0);
	ctl_model_log("event %s %s '%s' not '%s' level %u %lld%s%s\n", req.session, req.channel,
		      req.pattern, req.exclude, req.loglevel_type, (long long)req.loglevel,
		      *req.filter ? " if " : "", req.filter);
	if (*req.location)
		ctl_model_log(" kind %u at %s fetch '%s' in '%s' %s\n", req.kind, req.location,
			      req.fetch, req.file, req.places);
	if (ctl_model_no_session(a, req.session))
		return;
	ctl_model_item_conflict(a);
	ctl_model_item_refusals(a);
	if (strcmp(req.pattern, ctl_model.rule) == 0) {
		ctl_model_reply(a, ERR_EVENT_EXISTS, "it is enabled already");
	} else {
		rep.points = strchr(req.pattern, '*') && strncmp(req.pattern, "none", 4) != 0 ? 2 : 0;
		if (req.nearest && !rep.points && strncmp(req.pattern, "web:req", 7) == 0)
			rep.nearest = "web:request";
		rep_event_enable_encode(ctl_model_reply(a, 0, ""), &rep);
	}
	ctl_model_send(a);
}

static void ctl_model_disable(struct ctl_answer *a, struct decoder *dec)
{
	struct req_event_disable event;
	struct req_channel_disable channel;

	if (a->request.type == MSG_event_disable) {
		CHECK_IS(req_event_disable_decode(dec, &event), ==, 0);
		ctl_model_log("disable event %s%s\n", event.pattern, event.all ? " all" : "");
		if (event.all || strcmp(event.pattern, "*") == 0 ||
		    strcmp(event.pattern, ctl_model.rule) == 0)
			ctl_model_reply(a, 0, "");
		else
			ctl_model_reply(a, ERR_NO_EVENT, "no such rule");
	} else {
		CHECK_IS(req_channel_disable_decode(dec, &channel), ==, 0);
		ctl_model_log("disable channel %s\n", channel.name);
		if (strcmp(channel.name, "channel0") == 0)
			ctl_model_reply(a, 0, "");
		else
			ctl_model_reply(a, ERR_NO_CHANNEL, "no such channel");
	}
	ctl_model_send(a);
}

/* Processes 1 and 2, and no user. */
static void ctl_model_item_trackers(struct ctl_answer *a)
{
	const struct msg_track_id ids[] = { { 1 }, { 2 } };
	struct msg_tracked m = { .domain = DOMAIN_KERNEL, .kind = TRACK_VPID };
	struct encoder list;
	uint8_t buf[100];

	if (!ctl_model.tracks)
		return;
	encoder_init(&list, buf, sizeof(buf));
	msg_track_id_add(&list, &ids[0]);
	msg_track_id_add(&list, &ids[1]);
	m.ids = encoder_list(&list);
	msg_tracked_encode(ctl_model_begin(a, MSG_tracked, MSG_ITEM), &m);
	ctl_model_send(a);
	m = (struct msg_tracked){ .domain = DOMAIN_KERNEL, .kind = TRACK_UID };
	msg_tracked_encode(ctl_model_begin(a, MSG_tracked, MSG_ITEM), &m);
	ctl_model_send(a);
}

/* Id 7 already has the requested state. */
static void ctl_model_track(struct ctl_answer *a, struct decoder *dec)
{
	struct rep_track rep = { 0 };
	struct msg_track_id id;
	struct req_track req;

	CHECK_IS(req_track_decode(dec, &req), ==, 0);
	ctl_model_log("track %s domain %u kind %u op %u:", req.session, req.domain, req.kind,
		      req.op);
	while (msg_track_id_next(&req.ids, &id)) {
		ctl_model_log(" %u", id.id);
		rep.changed += id.id != 7;
	}
	ctl_model_log("\n");
	if (ctl_model_no_session(a, req.session))
		return;
	rep_track_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_contexts(struct ctl_answer *a, struct decoder *dec)
{
	static const struct msg_context known[] = { { "pid", DOMAIN_KERNEL, "integer" },
						    { "comm", DOMAIN_KERNEL, "string" } };
	struct req_context_list req;

	CHECK_IS(req_context_list_decode(dec, &req), ==, 0);
	for (size_t i = 0; req.domain == DOMAIN_KERNEL && i < ARRAY_SIZE(known); i++) {
		msg_context_encode(ctl_model_begin(a, MSG_context, MSG_ITEM), &known[i]);
		ctl_model_send(a);
	}
	ctl_model_reply(a, 0, "");
	ctl_model_send(a);
}

/* The channel has "comm" already. */
static void ctl_model_context_add(struct ctl_answer *a, struct decoder *dec)
{
	struct rep_context_add rep = { 0 };
	struct req_context_add req;

	CHECK_IS(req_context_add_decode(dec, &req), ==, 0);
	ctl_model_log("context %s domain %u channel '%s' %s\n", req.session, req.domain,
		      req.channel, req.type);
	if (ctl_model_no_session(a, req.session))
		return;
	rep.channels = strcmp(req.type, "comm") != 0;
	rep_context_add_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

/* One of three applications is late. */
static void ctl_model_statedump(struct ctl_answer *a, struct decoder *dec)
{
	struct rep_statedump rep = { .channels = 1, .applications = 3, .late = 1 };
	struct req_statedump req;

	CHECK_IS(req_statedump_decode(dec, &req), ==, 0);
	ctl_model_log("statedump %s\n", req.session);
	if (ctl_model_no_session(a, req.session))
		return;
	rep_statedump_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_snapshot(struct ctl_answer *a, struct decoder *dec)
{
	const struct msg_saved_ring ring = {
		.channel = "c",
		.ring = 7,
		.cpu = 1,
		.records = 20,
		.before = 1000,
		.bytes = 400,
		.begin_ns = 1000000000,
		.end_ns = 3000000000,
	};
	const struct rep_snapshot_record rep = {
		.directory = "/t/snapshot-1-x-0",
		.records = 20,
		.before = 1000,
		.lost = 3,
		.bytes = 400,
		.begin_ns = 1000000000,
		.end_ns = 3000000000,
		.remembered = 100,
		.problem = "a disk is full",
	};
	struct req_snapshot_record req;

	CHECK_IS(req_snapshot_record_decode(dec, &req), ==, 0);
	ctl_model_log("snapshot %s '%s'", req.session, req.name);
	if (*req.path)
		ctl_model_log(" to %s%s, %llu bytes", strrchr(req.path, '/') + 1,
			      req.dir >= 0 ? " +fd" : "", (unsigned long long)req.max_size);
	ctl_model_log("\n");
	close_fd(req.dir);
	if (ctl_model_no_session(a, req.session))
		return;
	msg_saved_ring_encode(ctl_model_begin(a, MSG_saved_ring, MSG_ITEM), &ring);
	ctl_model_send(a);
	rep_snapshot_record_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_end(struct ctl_answer *a, struct decoder *dec)
{
	struct rep_daemon_end rep = { .sessions = *ctl_model.session != '\0' };
	struct req_daemon_end req;
	pid_t ends = ctl_model.stays ? 0 : ctl_model.pid; /* the test goes on with the reply */

	CHECK_IS(req_daemon_end_decode(dec, &req), ==, 0);
	ctl_model_log("end%s\n", req.force ? " force" : "");
	if (rep.sessions && !req.force) {
		ctl_model_reply(a, ERR_BUSY, "the session daemon has 1 session");
		ctl_model_send(a);
		return;
	}
	rep_daemon_end_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
	if (ends)
		kill(ends, SIGKILL);
}

/* All of the spool's file `data` is sent unless there is a problem. */
static void ctl_model_spool_send(struct ctl_answer *a, struct decoder *dec)
{
	struct rep_spool_send rep = { .problem = ctl_model.problem };
	struct req_spool_send req;

	CHECK(req_spool_send_decode(dec, &req) == 0 && req.dir >= 0);
	CHECK(req.id.len == 16 && req.id.data[0] == 42);
	ctl_model_log("spool %s %s %s sync %u %u live %u link %u%s\n", req.name, req.stamp, req.url,
		      req.sync, req.sync_us, req.live_us, req.relay_clear,
		      req.compress ? " compress" : "");
	if (!*ctl_model.problem)
		unlinkat(req.dir, "data", 0);
	close(req.dir);
	rep_spool_send_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

static void ctl_model_stats(struct ctl_answer *a, struct decoder *dec)
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

	CHECK_IS(req_stats_list_decode(dec, &req), ==, 0);
	if (ctl_model_no_session(a, req.session))
		return;
	encoder_init(&list, buf, sizeof(buf));
	msg_bucket_add(&list, &buckets[0]);
	msg_bucket_add(&list, &buckets[1]);
	m.buckets = encoder_list(&list);
	msg_counted_encode(ctl_model_begin(a, MSG_counted, MSG_ITEM), &m);
	ctl_model_send(a);
	m = (struct msg_counted){ .event = "sched_switch", .count = 7, .domain = DOMAIN_KERNEL };
	msg_counted_encode(ctl_model_begin(a, MSG_counted, MSG_ITEM), &m);
	ctl_model_send(a);
	ctl_model_reply(a, 0, "");
	ctl_model_send(a);
}

/* It has one key, of two owners. */
static void ctl_model_maps(struct ctl_answer *a, struct decoder *dec)
{
	const struct msg_map m = { .name = "hits",
				   .domain = DOMAIN_USER,
				   .keys = 1,
				   .overflow = 3,
				   .value_type = MAP_VALUE_INT_32,
				   .max_keys = 1,
				   .ownership = OWNERSHIP_PROCESS,
				   .update = MAP_UPDATE_PER_EVENT,
				   .dead = MAP_DEAD_SUM };
	const struct msg_map_part parts[] = { { 0, 0x7fffffff }, { 2, 2 } };
	struct msg_map_value value = { .key = "it's\t", .uid = 7, .pid = 17 };
	struct req_map_list req;
	struct encoder list;
	uint8_t buf[100];

	CHECK_IS(req_map_list_decode(dec, &req), ==, 0);
	if (ctl_model_no_session(a, req.session))
		return;
	msg_map_encode(ctl_model_begin(a, MSG_map, MSG_ITEM), &m);
	ctl_model_send(a);
	for (size_t i = 0; i < 2; i++) {
		encoder_init(&list, buf, sizeof(buf));
		msg_map_part_add(&list, &parts[i]);
		value.parts = encoder_list(&list);
		msg_map_value_encode(ctl_model_begin(a, MSG_map_value, MSG_ITEM), &value);
		ctl_model_send(a);
		value.pid = 0;
		value.shared = 1;
	}
	ctl_model_reply(a, 0, "");
	ctl_model_send(a);
}

static void ctl_model_quotas(struct ctl_answer *a)
{
	const struct msg_quota m = { 1000, 1, "sessions", 3, 64, 2 };

	msg_quota_encode(ctl_model_begin(a, MSG_quota, MSG_ITEM), &m);
	ctl_model_send(a);
	ctl_model_reply(a, 0, "");
	ctl_model_send(a);
}

static void ctl_model_consumers(struct ctl_answer *a)
{
	const struct msg_consumer own = { 0, 17, 0, 2, 0 }, user = { 1000, 18, 3000, 1, 0 },
				  kernel = { 0, 19, 0, 1, 1 };

	msg_consumer_encode(ctl_model_begin(a, MSG_consumer, MSG_ITEM), &own);
	ctl_model_send(a);
	msg_consumer_encode(ctl_model_begin(a, MSG_consumer, MSG_ITEM), &user);
	ctl_model_send(a);
	msg_consumer_encode(ctl_model_begin(a, MSG_consumer, MSG_ITEM), &kernel);
	ctl_model_send(a);
	ctl_model_reply(a, 0, "");
	ctl_model_send(a);
}

static void ctl_model_show(struct ctl_answer *a, struct decoder *dec)
{
	struct req_session_show req;

	CHECK_IS(req_session_show_decode(dec, &req), ==, 0);
	if (ctl_model_no_session(a, req.session))
		return;
	ctl_model_item_session(a);
	ctl_model_item_trackers(a);
	ctl_model_item_channel(a);
	ctl_model_item_conflict(a);
	ctl_model_reply(a, 0, "");
	ctl_model_send(a);
}

static void ctl_model_programs(struct ctl_answer *a, struct decoder *dec)
{
	struct req_session_programs req;
	struct rep_session_programs rep = { .recording = ctl_model.recording,
					    .apps = 2 * ctl_model.recording,
					    .matched = ctl_model.matched };
	struct msg_announced m = { .name = ctl_model.announced };

	CHECK_IS(req_session_programs_decode(dec, &req), ==, 0);
	if (ctl_model_no_session(a, req.session))
		return;
	if (ctl_model.announced) {
		msg_announced_encode(ctl_model_begin(a, MSG_announced, MSG_ITEM), &m);
		ctl_model_send(a);
	}
	rep_session_programs_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

/* A filter holds for one event and not for the other; one is malformed. */
static void ctl_model_filter_check(struct ctl_answer *a, struct decoder *dec)
{
	static const struct msg_verdict verdicts[] = {
		{ .name = "web:request" },
		{ .name = "web:reply", .column = 4, .why = "it has no field 'id'" },
	};
	struct req_filter_check req;

	CHECK_IS(req_filter_check_decode(dec, &req), ==, 0);
	ctl_model_log("filter '%s' of '%s'%s\n", req.expression, req.pattern,
		      req.domain == DOMAIN_KERNEL ? " in the kernel" : "");
	if (strcmp(req.expression, "(") == 0) {
		ctl_model_reply(a, ERR_INVALID, "an expression is missing");
		ctl_model_send(a);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		msg_verdict_encode(ctl_model_begin(a, MSG_verdict, MSG_ITEM), &verdicts[i]);
		ctl_model_send(a);
	}
	ctl_model_reply(a, 0, "");
	ctl_model_send(a);
}

/* All sessions, or the one of a name. */
static bool ctl_model_lists_session(const struct ctl_answer *a, struct decoder *dec)
{
	struct req_session_list req = { .name = "" };

	if (a->request.type == MSG_session_list)
		CHECK_IS(req_session_list_decode(dec, &req), ==, 0);
	return *ctl_model.session && (!*req.name || strcmp(req.name, ctl_model.session) == 0);
}

static void ctl_model_lists(struct ctl_answer *a, struct decoder *dec)
{
	struct req_point_list points;

	if (a->request.type == MSG_point_list) {
		const struct msg_preset preset = {
			.name = "net",
			.events = "net_*",
			.subbuf_size = 65536,
			.num_subbuf = 8,
			.unused = "",
		};

		CHECK_IS(req_point_list_decode(dec, &points), ==, 0);
		if (points.domain == DOMAIN_KERNEL) {
			msg_preset_encode(ctl_model_begin(a, MSG_preset, MSG_ITEM), &preset);
			ctl_model_send(a);
		}
		ctl_model_points(a, &points);
		return;
	}
	if (ctl_model_lists_session(a, dec)) {
		if (ctl_model.lists_left && --ctl_model.lists_left == 0)
			ctl_model.totals.written =
				ctl_model.totals.recorded - ctl_model.totals.lost_output;
		ctl_model_item_session(a);
	}
	ctl_model_reply(a, 0, "");
	ctl_model_send(a);
}

/* A state, an item of a newer daemon's, a loss, and the end. */
static void ctl_model_follow(struct ctl_answer *a, struct decoder *dec)
{
	struct msg_news state = { .at_ns = 5, .kind = NEWS_STATE, .state = SESSION_RECORDING };
	struct msg_news loss = {
		.kind = NEWS_LOSS, .channel = "channel0", .cause = LOSS_FULL, .count = 12
	};
	struct rep_session_follow rep = { .problem = "the disk is full" };
	struct req_session_follow req;
	struct encoder list;
	uint8_t buf[300];

	CHECK_IS(req_session_follow_decode(dec, &req), ==, 0);
	if (ctl_model_no_session(a, req.session))
		return;
	msg_news_encode(ctl_model_begin(a, MSG_news, MSG_ITEM), &state);
	ctl_model_send(a);
	ctl_model_begin(a, 9999, MSG_ITEM);
	ctl_model_send(a);
	if (ctl_model.bad_news) {
		encode_u8(ctl_model_begin(a, MSG_news, MSG_ITEM),
			  1); /* a part of the first field */
		ctl_model_send(a);
	}
	msg_news_encode(ctl_model_begin(a, MSG_news, MSG_ITEM), &loss);
	ctl_model_send(a);
	rep.totals = ctl_model_totals(&list, buf, sizeof(buf));
	rep_session_follow_encode(ctl_model_reply(a, 0, ""), &rep);
	ctl_model_send(a);
}

/* A command that needs no model: each number of its reply is 7, each flag ctl_model.flag. */
static void ctl_model_plain(struct ctl_answer *a, struct decoder *dec)
{
	const char *session = decode_str(dec);

	switch (a->request.type) {
#define SAMPLE_u8 ctl_model.flag
#define SAMPLE_u32 7
#define SAMPLE_u64 7
#define SAMPLE_i64 7
#define SAMPLE_str ""
#define COMMAND(name, number, access, turn, doc)            \
	case MSG_##name: {                                  \
		ctl_model_log("%s %s\n", #name, session);   \
		if (ctl_model_no_session(a, session))       \
			return;                             \
		rep_##name##_encode(ctl_model_reply(a, 0, ""), &(struct rep_##name){
#define OUT(type, field, doc) .field = SAMPLE_##type,
#define COMMAND_END(name) \
		});       \
		break;    \
	}
#include "proto/client.def"
	}
	ctl_model_send(a);
}

void ctl_model_command(struct ctl_answer *a, struct decoder *dec)
{
	switch (a->request.type) {
	case MSG_hello:
		ctl_model_hello(a, dec);
		break;
	case MSG_session_create:
		ctl_model_create(a, dec);
		break;
	case MSG_session_start:
		ctl_model_start(a, dec);
		break;
	case MSG_session_stop:
		ctl_model_stop(a, dec);
		break;
	case MSG_session_destroy:
		ctl_model_destroy(a, dec);
		break;
	case MSG_channel_enable:
		ctl_model_channel_enable(a, dec);
		break;
	case MSG_event_enable:
		ctl_model_event_enable(a, dec);
		break;
	case MSG_event_disable:
	case MSG_channel_disable:
		ctl_model_disable(a, dec);
		break;
	case MSG_session_show:
		ctl_model_show(a, dec);
		break;
	case MSG_session_follow:
		ctl_model_follow(a, dec);
		break;
	case MSG_track:
		ctl_model_track(a, dec);
		break;
	case MSG_context_list:
		ctl_model_contexts(a, dec);
		break;
	case MSG_context_add:
		ctl_model_context_add(a, dec);
		break;
	case MSG_snapshot_record:
		ctl_model_snapshot(a, dec);
		return;
	case MSG_statedump:
		ctl_model_statedump(a, dec);
		break;
	case MSG_daemon_end:
		ctl_model_end(a, dec);
		break;
	case MSG_spool_send:
		ctl_model_spool_send(a, dec);
		break;
	case MSG_stats_list:
		ctl_model_stats(a, dec);
		break;
	case MSG_map_list:
		ctl_model_maps(a, dec);
		break;
	case MSG_quota_list:
		ctl_model_quotas(a);
		break;
	case MSG_consumer_list:
		ctl_model_consumers(a);
		break;
	case MSG_session_programs:
		ctl_model_programs(a, dec);
		break;
	case MSG_filter_check:
		ctl_model_filter_check(a, dec);
		break;
	case MSG_session_list:
	case MSG_point_list:
		ctl_model_lists(a, dec);
		break;
	default:
		ctl_model_plain(a, dec);
	}
}
