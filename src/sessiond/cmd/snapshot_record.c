/* SPDX-License-Identifier: GPL-2.0-only */
/* snapshot_record: has the consumer write the events that the buffers of a session have now.
 * Applications dump their state before, so that it is among the events. The events that other
 * sessions of the owner remember are copied into its directory then, one session after the other,
 * as a relay has one connection for a session. */
#include "remembered.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "io/relayurl.h"
#include "io/spoolfacts.h"
#include "proto/relay.h"
#include "sessiond/state/state.h"
#include "trace/streamlist.h"

#define DEFAULT_NAME "snapshot-1" /* LTTng's */
#define SNAPSHOT_IS_LAST "the session was destroyed; its last snapshot is complete"

struct snapshot_request {
	struct domain_dumps dumps;
	struct command *cmd;
	char directory[256]; /* below @path, or the session's own */
	char *path;	   /* of @dir, or URL of the relay; NULL: the output of the session */
	int dir;	   /* or -1: the consumer opens @path, */
	struct dirid dir_id; /* if it is this one; zero: any */
	char *relay;	   /* its addresses; "": none */
	char *relay_host;
	uint8_t relay_clear;
	bool own;	   /* through the connection of the session, which records to a relay */
	bool again;	   /* a consumer ended before it had answered */
	uint64_t max_size; /* or 0 */
	uint64_t last_us;  /* or 0; before @since_ns */
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	struct msg_con_snapshot_ring *rings;
	size_t nr, cap;
	uint64_t from; /* id of the other session whose events are copied now, or were last */
	uint64_t remembered, one_remembered; /* events of those before it; of it */
	uint64_t remembered_bytes, one_bytes;
	char problem[300]; /* of copying them; empty: none */
};

static void snapshot_record_end(struct snapshot_request *request)
{
	close_fd(request->dir);
	free(request->path);
	free(request->relay);
	free(request->relay_host);
	free(request->rings);
	free(request);
}

/* --- the answer ------------------------------------------------------------------- */

static void sum_up(const struct snapshot_request *request, const struct clock_facts *clock,
		   struct rep_snapshot_record *ret)
{
	for (size_t i = 0; i < request->nr; i++) {
		const struct msg_con_snapshot_ring *r = &request->rings[i];
		int64_t begin = clock_facts_ns(clock, r->begin);
		int64_t end = clock_facts_ns(clock, r->end);

		ret->records += r->records;
		ret->before += r->before;
		ret->lost += r->lost;
		ret->bytes += r->bytes;
		ret->copy_ns += r->copy_ns;
		ret->begin_ns = i ? MAX(ret->begin_ns, begin) : begin;
		ret->end_ns = i ? MIN(ret->end_ns, end) : end;
	}
}

static void send_ring(struct command *cmd, const struct session *session,
		      const struct clock_facts *clock, const struct msg_con_snapshot_ring *r)
{
	struct domain_ring ring;
	bool known = domains_find_ring(&cmd->sd->domains, session, r->ring, &ring);
	const struct msg_saved_ring item = {
		.channel = known ? ring.channel->name : "",
		.ring = r->ring,
		.cpu = r->cpu,
		.records = r->records,
		.before = r->before,
		.lost = r->lost,
		.bytes = r->bytes,
		.begin_ns = clock_facts_ns(clock, r->begin),
		.end_ns = clock_facts_ns(clock, r->end),
	};

	item_saved_ring(cmd, &item);
}

static char *snapshot_record_place(const struct snapshot_request *request,
				   const struct session *session)
{
	if (request->own)
		return run_place_at_relay(session, session->path, request->directory);
	if (*request->relay)
		return run_place_at_relay(session, request->path, request->directory);
	return xasprintf("%s/%s", request->path ? request->path : session->path,
			 request->directory);
}

static void snapshot_record_answer(struct snapshot_request *request, const struct session *session)
{
	const struct clock_facts *clock = run_clock(session->run);
	AUTO_FREE char *path = snapshot_record_place(request, session);
	struct rep_snapshot_record rep = {
		.directory = path,
		.remembered = request->remembered,
		.problem = request->problem,
	};

	for (size_t i = 0; i < request->nr; i++)
		send_ring(request->cmd, session, clock, &request->rings[i]);
	sum_up(request, clock, &rep);
	reply_snapshot_record(request->cmd, &rep);
}

static void snapshot_record_refuse(struct snapshot_request *request, int code, const char *why)
{
	(void)!command_error(request->cmd, (enum err_code)code, "%s", why);
	command_fail(request->cmd);
}

/* --- where it goes ---------------------------------------------------------------- */

/* @from: the session whose buffers are copied. */
static void snapshot_record_send(struct snapshot_request *request, const struct session *from,
				 struct req_con_snapshot *req, con_item item, con_done done)
{
	const struct session *session = command_session(request->cmd);
	uint8_t id[sizeof(session->relay_id)];
	char stamp[RUN_STAMP_BYTES];

	memcpy(id, session->relay_id, sizeof(id));
	if (*request->relay && *session->relay) /* perhaps the same, where its connection stays */
		id[0] ^= 0xff;
	req->to = request->own ? session->id : 0;
	req->relay = request->relay;
	req->relay_name = session->name;
	run_stamp(session, stamp);
	req->relay_stamp = stamp;
	req->relay_id = (struct blob){ id, sizeof(id) };
	req->relay_clear = request->relay_clear;
	req->relay_host = request->relay_host;
	req->relay_url = *request->relay ? request->path : "";
	req->path = request->path && request->dir < 0 && !*request->relay ? request->path : "";
	req->path_dev = request->dir_id.dev;
	req->path_ino = request->dir_id.ino;
	req->path_born_ns = request->dir_id.born_ns;
	CONSUMER_CALL(run_consumer(from->run, DOMAIN_USER), con_snapshot, req, item, done,
		      request);
}

/* --- remembered events of other sessions ------------------------------------------- */

static void remember_next(struct snapshot_request *request);

static void snapshot_record_on_remembered(void *data, struct decoder *dec)
{
	struct snapshot_request *request = data;
	struct msg_con_snapshot_ring ring;

	if (!dec)
		request->one_remembered = request->one_bytes = 0;
	if (!dec || msg_con_snapshot_ring_decode(dec, &ring) < 0)
		return;
	request->one_remembered += ring.records;
	request->one_bytes += ring.bytes;
}

static void snapshot_record_remembered(void *data, const struct con_answer *answer)
{
	struct snapshot_request *request = data;

	if (answer->code == 0) {
		request->remembered += request->one_remembered;
		request->remembered_bytes += request->one_bytes;
	} else if (answer->code != ERR_NO_EVENT) {
		snprintf(request->problem, sizeof(request->problem),
			 "the remembered events of another session could not be copied: %.200s",
			 answer->text);
	}
	remember_next(request);
}

/* Without a directory of the session that is known here, they can't be put into it. */
static const struct session *snapshot_record_from(const struct snapshot_request *request,
						  const struct session *session)
{
	if (!request->path && !request->own && run_outdir(session->run) < 0)
		return NULL;
	return remembered_next(&request->cmd->sd->sessions, session, request->from);
}

/* A largest size is that of all files. Return: the rest of it; 0: no limit. */
static uint64_t snapshot_record_rest(const struct snapshot_request *request)
{
	uint64_t bytes = request->remembered_bytes;

	for (size_t i = 0; i < request->nr; i++)
		bytes += request->rings[i].bytes;
	if (!request->max_size)
		return 0;
	return request->max_size > bytes ? request->max_size - bytes : 1;
}

static void remember_next(struct snapshot_request *request)
{
	const struct session *session = command_session(request->cmd);
	const struct session *from = session ? snapshot_record_from(request, session) : NULL;
	char one[REMEMBERED_NAME_BYTES], name[sizeof(request->directory) + sizeof(one)];
	struct req_con_snapshot req;

	if (!from) {
		if (session)
			snapshot_record_answer(request, session);
		else
			snapshot_record_refuse(request, ERR_NO_SESSION, SNAPSHOT_IS_LAST);
		snapshot_record_end(request);
		return;
	}
	request->from = from->id;
	request->one_remembered = request->one_bytes = 0;
	remembered_name(from, one);
	snprintf(name, sizeof(name), "%s/%s", request->directory, one);
	req = remembered_request(from, session);
	req.name = name;
	req.dir = request->path ? request->dir : run_outdir(session->run);
	req.max_size = snapshot_record_rest(request);
	snapshot_record_send(request, from, &req, snapshot_record_on_remembered,
			     snapshot_record_remembered);
}

/* --- the snapshot ------------------------------------------------------------------ */

static void snapshot_record_on_ring(void *data, struct decoder *dec)
{
	struct snapshot_request *request = data;
	struct msg_con_snapshot_ring ring;

	if (!dec) {
		request->nr = 0;
		request->again = true;
	}
	if (!dec || msg_con_snapshot_ring_decode(dec, &ring) < 0)
		return;
	if (request->nr == request->cap) {
		request->cap = MAX(2 * request->cap, (size_t)16);
		request->rings = xrealloc(request->rings, request->cap * sizeof(*request->rings));
	}
	request->rings[request->nr++] = ring;
}

static void snapshot_record_done(void *data, const struct con_answer *answer)
{
	struct snapshot_request *request = data;

	if (request->again && request->own)
		snapshot_record_refuse(request, ERR_CONSUMER,
				       "the consumer daemon ended while it sent the snapshot, of "
				       "which the relay has a part; take another one");
	else if (answer->code)
		snapshot_record_refuse(request, answer->code, answer->text);
	else {
		remember_next(request);
		return;
	}
	snapshot_record_end(request);
}

/* --- the request ------------------------------------------------------------------ */

static void take(struct snapshot_request *request)
{
	const struct session *session = command_session(request->cmd);
	struct req_con_snapshot req = { .name = request->directory };
	uint64_t hz;

	if (!session || session->state == SESSION_DESTROYING) {
		snapshot_record_refuse(request, ERR_STATE,
				       "the session is being destroyed: no snapshot is written");
		snapshot_record_end(request);
		return;
	}
	req.output = session->id;
	req.dir = request->dir;
	req.max_size = request->max_size;
	hz = clock_facts_line(run_clock(session->run), UINT64_MAX).hz;
	req.last = (uint64_t)((unsigned __int128)request->last_us * hz / 1000000);
	req.last_ns = request->last_us * 1000;
	req.since_ns = request->since_ns;
	snapshot_record_send(request, session, &req, snapshot_record_on_ring,
			     snapshot_record_done);
}

static void state_is_dumped(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	(void)apps, (void)late, (void)problem;
	take(data);
}

/* Records may be far ahead of the published ones, but in buffers that are overwritten, or of which
 * nothing is released. */
static enum cmd_now snapshot_record_check_kernel(struct command *cmd)
{
	const struct channel *channel;

	if (cmd->session->snapshots)
		return CMD_DONE;
	list_for_each(channel, &cmd->session->channels, node)
		if (channel->domain == DOMAIN_KERNEL && !channel->overwrite)
			return command_error(cmd, ERR_UNSUPPORTED,
					     "session '%s' writes all events of channel '%s' of "
					     "the kernel to its trace; snapshots of these need "
					     "--overwrite, or a session for snapshots (create "
					     "--snapshot)",
					     cmd->session->name, channel->name);
	return CMD_DONE;
}

static enum cmd_now snapshot_record_check(struct command *cmd,
					  const struct req_snapshot_record *req)
{
	const struct session *session = cmd->session;
	const char *name = req->name;
	bool has_output = req->dir >= 0 || *req->path || *req->relay || *session->relay;

	if (*name && (name_check(name) || strlen(name) > SESSION_SNAPSHOT_NAME_MOST))
		return command_error(cmd, ERR_INVALID, "the snapshot's name '%.210s' %s", name,
				     name_check(name) ? name_check(name) :
							"is longer than 200 bytes");
	if (*session->relay && !*session->spool && !session->snapshots)
		return command_error(cmd, ERR_UNSUPPORTED,
				     "session '%s' records to a relay without a spool, and its "
				     "snapshots need one: create it with --spool",
				     session->name);
	if (!has_output && (!*session->path || session->snapshot_elsewhere))
		return command_error(cmd, ERR_INVALID,
				     "session '%s' has no output for snapshots: add one with "
				     "'lttctl snapshot add-output PATH', or name a directory: "
				     "'lttctl snapshot record PATH'",
				     session->name);
	if (snapshot_record_check_kernel(cmd) != CMD_DONE)
		return CMD_FAILED;
	if (!run_output_open(session->run) || !run_clock(session->run))
		return command_error(cmd, ERR_STATE,
				     "session '%s' has no events yet: it was never started",
				     session->name);
	return CMD_DONE;
}

static enum cmd_now snapshot_record_check_relay(struct command *cmd,
						const struct req_snapshot_record *req)
{
	if ((command_are_addresses(req->relay) || cmd->internal) &&
	    req->relay_clear <= RELAY_LINK_TLS && strlen(req->relay_host) <= 255 &&
	    strlen(req->path) < SPOOLFACTS_URL_BYTES)
		return CMD_DONE;
	return command_error(cmd, ERR_INVALID, "'%.60s' is not the address of a relay", req->relay);
}

static enum cmd_now snapshot_record_check_dir(struct command *cmd,
					      const struct req_snapshot_record *req)
{
	struct statx st = { 0 };

	if (req->dir < 0 && !*req->path && !*req->relay)
		return CMD_DONE;
	if (*req->relay && req->dir < 0)
		return snapshot_record_check_relay(cmd, req);
	if (req->dir < 0 && cmd->internal)
		return CMD_DONE;
	if (req->dir < 0)
		return command_error(cmd, ERR_INVALID,
				     "'%.250s' was sent without its directory descriptor",
				     req->path);
	if (statx(req->dir, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0 ||
	    !S_ISDIR(st.stx_mode))
		return command_error(cmd, ERR_OUTPUT, "'%.250s' is not a directory", req->path);
	if (*req->path != '/' || strlen(req->path) >= PATH_MAX)
		return command_error(cmd, ERR_INVALID,
				     "the path of the snapshot must be absolute, and shorter than "
				     "%d bytes",
				     PATH_MAX);
	return CMD_DONE;
}

static struct snapshot_request *snapshot_record_new(struct command *cmd,
						    struct req_snapshot_record *req)
{
	const char *name = req->name;
	struct snapshot_request *request = xalloc(sizeof(*request));
	time_t now = time(NULL);
	struct tm tm = { 0 };
	char stamp[32];

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	request->own = *cmd->session->relay && !*req->path && req->dir < 0 && !*req->relay;
	snprintf(request->directory, sizeof(request->directory), "%s%.*s-%s-%" PRIu32,
		 request->own ? BESIDE_SNAPSHOTS "/" : "", (int)SESSION_SNAPSHOT_NAME_MOST,
		 *name ? name : DEFAULT_NAME, stamp, cmd->session->nr_snapshots++);
	request->cmd = cmd;
	request->path = *req->path ? xstrdup(req->path) : NULL;
	request->dir = TAKE_FD(req->dir);
	request->dir_id = cmd->internal ? cmd->internal->dir : (struct dirid){ 0 };
	request->relay = xstrdup(req->relay);
	request->relay_host = xstrdup(req->relay_host);
	request->relay_clear = req->relay_clear;
	request->last_us = req->last_us;
	request->since_ns = loop_now_ns();
	request->max_size = req->max_size;
	return request;
}

/* A client reads the output of the session's snapshots, and resolves the name of a relay. */
static void snapshot_record_use_output(const struct session *session,
				       struct req_snapshot_record *req, struct relayurl *url)
{
	if (!*req->path && *session->snapshot_path) {
		req->path = session->snapshot_path;
		req->name = *req->name ? req->name : session->snapshot_name;
		req->max_size = req->max_size ? req->max_size : session->snapshot_max_size;
	}
	if (*req->path == '/' || !*req->path || relayurl_parse(req->path, url) < 0)
		return;
	req->relay = RELAY_ADDRS_UNKNOWN;
	req->relay_clear = (uint8_t)url->link;
	req->relay_host = url->host;
}

int cmd_snapshot_record(struct command *cmd, struct req_snapshot_record *req,
			struct rep_snapshot_record *rep)
{
	struct snapshot_request *request;
	struct relayurl url;

	(void)rep;
	if (cmd->session->state == SESSION_STARTING)
		return CMD_BUSY;
	if (cmd->internal)
		snapshot_record_use_output(cmd->session, req, &url);
	if (snapshot_record_check(cmd, req) != CMD_DONE ||
	    snapshot_record_check_dir(cmd, req) != CMD_DONE)
		return CMD_FAILED;
	request = snapshot_record_new(cmd, req);
	if (state_save(cmd->sd, cmd->session) < 0)
		cmd->session->nr_snapshots--; /* their times differ */
	request->dumps.for_snapshot = true;
	domains_dump(&cmd->sd->domains, cmd->session, &request->dumps, state_is_dumped, request);
	return CMD_WAIT;
}
