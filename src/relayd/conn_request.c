/* SPDX-License-Identifier: GPL-2.0-only */
/* conn_request.c - requests of a peer, except packets: decoded, executed, and answered. */
#include <time.h>

#include "conn.h"
#include "session.h"

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

static int on_hello(const struct relconn_request *rq, struct err *err)
{
	struct rep_rel_hello rep = { LTT_VERSION, RELAY_FEATURES };
	struct req_rel_hello req;

	if (req_rel_hello_decode(rq->dec, &req) < 0)
		return is_bad(err);
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

static int on_session(const struct relconn_request *rq, struct err *err)
{
	struct rep_rel_session rep;
	struct req_rel_session req;
	int ret;

	if (req_rel_session_decode(rq->dec, &req) < 0)
		return is_bad(err);
	if (rq->conn->session)
		return err_set(err, ERR_STATE, "this connection has a session");
	if (relsession_new(rq->conn, &req, &rq->conn->session, err))
		relconn_end_session(rq->conn);
	if (!rq->conn->session)
		return err->code;
	ret = relconn_sync(rq->conn, sync_period(rq->conn, &req));
	if (ret < 0) {
		err_errno(err, ERR_OUTPUT, -ret, "%s can't be synced", rq->conn->session->path);
		relconn_end_session(rq->conn);
		return err->code;
	}
	rep.path = rq->conn->session->path;
	rep.idle_us = rq->conn->relay->peers.quotas.idle_us;
	begin_answer(rq);
	rep_rel_session_encode(rq->enc, &rep);
	return 0;
}

static int on_trace(const struct relconn_request *rq, struct err *err)
{
	struct rep_rel_trace rep;
	struct req_rel_trace req;

	if (req_rel_trace_decode(rq->dec, &req) < 0)
		return is_bad(err);
	if (relsession_trace(rq->conn->session, &req, &rep.bytes, err))
		return err->code;
	begin_answer(rq);
	rep_rel_trace_encode(rq->enc, &rep);
	return 0;
}

static int conn_request_on_metadata(const struct relconn_request *rq, struct err *err)
{
	struct rep_rel_metadata rep;
	struct req_rel_metadata req;

	if (req_rel_metadata_decode(rq->dec, &req) < 0)
		return is_bad(err);
	if (relsession_metadata(rq->conn->session, &req, &rep.bytes, err))
		return err->code;
	begin_answer(rq);
	rep_rel_metadata_encode(rq->enc, &rep);
	return 0;
}

static int on_stream(const struct relconn_request *rq, struct err *err)
{
	struct rep_rel_stream rep = { 0 };
	struct req_rel_stream req;
	struct relstream *stream;

	if (req_rel_stream_decode(rq->dec, &req) < 0)
		return is_bad(err);
	if (relsession_stream(rq->conn->session, &req, &stream, err))
		return err->code;
	if (stream->has_last)
		rep.last = (struct blob){ (const uint8_t *)&stream->last, sizeof(stream->last) };
	if (stream->begun_bytes)
		rep.begun = (struct blob){ (const uint8_t *)&stream->begun, sizeof(stream->begun) };
	rep.begun_bytes = stream->begun_bytes;
	begin_answer(rq);
	rep_rel_stream_encode(rq->enc, &rep);
	return 0;
}

static int on_stream_end(const struct relconn_request *rq, struct err *err)
{
	struct req_rel_stream_end req;

	if (req_rel_stream_end_decode(rq->dec, &req) < 0)
		return is_bad(err);
	return relsession_stream_end(rq->conn->session, req.stream, err);
}

static uint64_t conn_request_realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int on_clock(const struct relconn_request *rq, struct err *err)
{
	struct rep_rel_clock rep = { conn_request_realtime_ns() };
	struct req_rel_clock req;

	if (req_rel_clock_decode(rq->dec, &req) < 0)
		return is_bad(err);
	if (req.error_ns)
		relsession_clock(rq->conn->session, rep.now_ns, &req);
	begin_answer(rq);
	rep_rel_clock_encode(rq->enc, &rep);
	return 0;
}

static int on_beacon(const struct relconn_request *rq, struct err *err)
{
	struct req_rel_beacon req;

	if (req_rel_beacon_decode(rq->dec, &req) < 0)
		return is_bad(err);
	live_beacon(rq->conn->session->live, req.time);
	return 0;
}

static int on_end(const struct relconn_request *rq, struct err *err)
{
	struct req_rel_end req;

	if (req_rel_end_decode(rq->dec, &req) < 0)
		return is_bad(err);
	rq->conn->session->unfinished = req.unfinished;
	rq->conn->session->ended = true;
	relconn_end_session(rq->conn);
	loop_timer_set(&rq->conn->timer, RELCONN_SILENT_US);
	return 0;
}

static const struct {
	uint16_t type;
	int (*handle)(const struct relconn_request *rq, struct err *err);
	bool in_session;
} handlers[] = {
	{ MSG_rel_hello, on_hello, false },  { MSG_rel_session, on_session, false },
	{ MSG_rel_trace, on_trace, true },   { MSG_rel_metadata, conn_request_on_metadata, true },
	{ MSG_rel_stream, on_stream, true }, { MSG_rel_stream_end, on_stream_end, true },
	{ MSG_rel_end, on_end, true },	     { MSG_rel_beacon, on_beacon, true },
	{ MSG_rel_clock, on_clock, true },
};

bool relconn_request(const struct relconn_request *rq, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		if (handlers[i].type != rq->header->type)
			continue;
		if (handlers[i].in_session && !rq->conn->session)
			err_set(err, ERR_STATE, "name the session first");
		else
			handlers[i].handle(rq, err);
		return !rq->conn->next;
	}
	err_set(err, ERR_UNKNOWN_COMMAND, "this relay does not know message %u", rq->header->type);
	return true;
}
