/* SPDX-License-Identifier: GPL-2.0-only */
/* conn_request.c - requests of a peer, except packets: decoded, executed, and answered. */

#include "base/mem.h"
#include "conn.h"

#include "base/realtime.h"
#include "relayd/store/session.h"
#include "relayd/store/turn.h"

/* After success, if the reply has content. */
static void begin_answer(const struct relconn_request *rq)
{
	const struct err none = { 0 };

	relconn_begin_answer(rq->conn, rq->enc, rq->header->type, rq->header->serial, &none);
}

static int is_bad(struct err *err)
{
	return err_set(err, ERR_BAD_MESSAGE, "the message is malformed");
}

static int on_rel_hello(const struct relconn_request *rq, struct req_rel_hello *req,
			struct err *err)
{
	struct rep_rel_hello rep = { LTT_VERSION, RELAY_PROTOCOL,
				     rq->conn->relay->archiver != NULL };

	(void)req;
	if (chan_is_viewer(&rq->conn->chan))
		return err_set(
			err, ERR_DENIED,
			"'%s' has the key of a viewer, which may not send: make one of a host "
			"(ltt-keys host)",
			chan_peer(&rq->conn->chan));
	if (chan_peer(&rq->conn->chan) && !rq->conn->peer &&
	    relpeer_join(&rq->conn->relay->peers, chan_peer(&rq->conn->chan), &rq->conn->peer, err))
		return err->code;
	rq->conn->greeted = true;
	begin_answer(rq);
	rep_rel_hello_encode(rq->enc, &rep);
	return 0;
}

/* As the session wants, or as the relay wants of all, if that is sooner. */
static uint32_t sync_period(const struct relconn *conn, const struct req_rel_session *req)
{
	uint32_t asked = req->sync == SYNC_NONE	  ? SYNCER_NONE :
			 req->sync == SYNC_PERIOD ? MIN(req->sync_us, SYNCER_MOST_US) :
						    0;

	return MIN(asked, conn->relay->sync_us);
}

static int on_rel_session(const struct relconn_request *rq, struct req_rel_session *req,
			  struct err *err)
{
	const struct relay *relay = rq->conn->relay;
	AUTO_FREE char *live_name = NULL;
	struct rep_rel_session rep;
	int ret;

	if (rq->conn->session)
		return err_set(err, ERR_STATE, "this connection has a session");
	if (relsession_new(rq->conn, req, &rq->conn->session, err))
		relconn_end_session(rq->conn);
	if (!rq->conn->session)
		return err->code;
	ret = relconn_sync(rq->conn, sync_period(rq->conn, req));
	if (ret < 0) {
		err_errno(err, ERR_OUTPUT, -ret, "%s can't be synced", rq->conn->session->path);
		relconn_end_session(rq->conn);
		return err->code;
	}
	rep.path = rq->conn->session->path;
	rep.idle_us = relay->peers.quotas.idle_us;
	rep.live_name = live_name = live_session_name(rq->conn->session->live);
	rep.live_port = rq->conn->chan.tls ? relay->live_tls_port : relay->live_port;
	begin_answer(rq);
	rep_rel_session_encode(rq->enc, &rep);
	return 0;
}

static int on_rel_trace(const struct relconn_request *rq, struct req_rel_trace *req,
			struct err *err)
{
	struct rep_rel_trace rep;

	if (relsession_trace(rq->conn->session, req, &rep.bytes, err))
		return err->code;
	begin_answer(rq);
	rep_rel_trace_encode(rq->enc, &rep);
	return 0;
}

static int on_rel_metadata(const struct relconn_request *rq, struct req_rel_metadata *req,
			   struct err *err)
{
	struct rep_rel_metadata rep;

	if (relsession_metadata(rq->conn->session, req, &rep.bytes, err))
		return err->code;
	begin_answer(rq);
	rep_rel_metadata_encode(rq->enc, &rep);
	return 0;
}

static int on_rel_stream(const struct relconn_request *rq, struct req_rel_stream *req,
			 struct err *err)
{
	struct rep_rel_stream rep = { 0 };
	struct relstream *stream;

	if (relsession_stream(rq->conn->session, req, &stream, err))
		return err->code;
	if (packet_is_set(&stream->last))
		rep.last = (struct blob){ (const uint8_t *)&stream->last, sizeof(stream->last) };
	if (stream->received)
		rep.begun = (struct blob){ (const uint8_t *)&stream->incoming,
					   sizeof(stream->incoming) };
	rep.begun_bytes = stream->received;
	begin_answer(rq);
	rep_rel_stream_encode(rq->enc, &rep);
	return 0;
}

static int on_rel_stream_end(const struct relconn_request *rq, struct req_rel_stream_end *req,
			     struct err *err)
{
	return relsession_stream_end(rq->conn->session, req->stream, err);
}

static int on_rel_clock(const struct relconn_request *rq, struct req_rel_clock *req,
			struct err *err)
{
	struct rep_rel_clock rep = { realtime_ns() };

	(void)err;
	if (req->error_ns)
		relsession_clock(rq->conn->session, rep.now_ns, req);
	begin_answer(rq);
	rep_rel_clock_encode(rq->enc, &rep);
	return 0;
}

static int on_rel_beacon(const struct relconn_request *rq, struct req_rel_beacon *req,
			 struct err *err)
{
	(void)err;
	live_beacon(rq->conn->session->live, req->time);
	return 0;
}

/* Where the files are neither in one state nor in the other, the next connection finishes it. */
static int on_rel_turn(const struct relconn_request *rq, struct req_rel_turn *req, struct err *err)
{
	struct rep_rel_turn rep;
	bool broken;

	(void)relturn(rq->conn->session, req, &rep, &broken, err);
	rq->conn->unkept |= broken;
	if (err->code)
		return err->code;
	archived_note(rq->conn->session->archived);
	begin_answer(rq);
	rep_rel_turn_encode(rq->enc, &rep);
	return 0;
}

static void add_durable(const struct relsession *session, uint32_t id, struct encoder *list)
{
	const struct relstream *stream = relsession_find_stream(session, id);
	struct msg_rel_stream_durable durable = { .stream = id };

	if (stream && archived_durable(session->archived, stream->config.trace->path,
				       stream->config.stream_class,
				       stream->config.first_instance + stream->file.cpu,
				       &durable.seq))
		msg_rel_stream_durable_add(list, &durable);
}

static int on_rel_durable(const struct relconn_request *rq, struct req_rel_durable *req,
			  struct err *err)
{
	const struct relsession *session = rq->conn->session;
	char problem[ARCHIVER_PROBLEM_BYTES];
	uint8_t buf[RELCONN_ANSWER_BYTES];
	struct rep_rel_durable rep = { .problem = problem };
	struct msg_rel_stream_id stream;
	struct encoder list;

	if (!session->archived)
		return err_set(err, ERR_STATE, "this relay has no store for the session");
	if (req->streams.nr > RELAY_DURABLE_MAX)
		return err_set(err, ERR_INVALID, "more than %u streams", RELAY_DURABLE_MAX);
	if (req->flush)
		archived_flush(session->archived);
	encoder_init(&list, buf, sizeof(buf));
	while (msg_rel_stream_id_next(&req->streams, &stream))
		add_durable(session, stream.stream, &list);
	rep.streams = encoder_list(&list);
	archived_problem(session->archived, problem);
	begin_answer(rq);
	rep_rel_durable_encode(rq->enc, &rep);
	return 0;
}

static int on_rel_end(const struct relconn_request *rq, struct req_rel_end *req, struct err *err)
{
	(void)relsession_end(rq->conn->session, req->unfinished, err);
	relconn_end_session(rq->conn);
	loop_timer_set(&rq->conn->timer, RELCONN_SILENT_US);
	return err->code;
}

/* In a session it has a body, and conn.c takes it. */
static int on_rel_packet(const struct relconn_request *rq, struct req_rel_packet *req,
			 struct err *err)
{
	(void)rq, (void)req;
	return is_bad(err);
}

#define COMMAND(name, number, access, turn, doc)                                        \
	static void take_##name(const struct relconn_request *rq, struct err *err)      \
	{                                                                               \
		struct req_##name req;                                                  \
                                                                                        \
		if (req_##name##_decode(rq->dec, &req) < 0)                             \
			is_bad(err);                                                    \
		else                                                                    \
			on_##name(rq, &req, err);                                       \
	}
#include "proto/relay.def"

#define IN_SESSION_PEER false
#define IN_SESSION_SESSION true

static const struct {
	uint16_t type;
	void (*take)(const struct relconn_request *rq, struct err *err);
	bool in_session;
} rows[] = {
#define COMMAND(name, number, access, turn, doc) { number, take_##name, IN_SESSION_##access },
#include "proto/relay.def"
};

bool relconn_request(const struct relconn_request *rq, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].type != rq->header->type)
			continue;
		if (rows[i].in_session && !rq->conn->session)
			err_set(err, ERR_STATE, "name the session first");
		else
			rows[i].take(rq, err);
		return !rq->conn->next;
	}
	err_set(err, ERR_UNKNOWN_COMMAND, "this relay does not know message %u", rq->header->type);
	return true;
}
