/* SPDX-License-Identifier: GPL-2.0-only */
#include "conn.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "relayd/store/retention.h"
#include "relayd/store/session.h"
#include "trace/index.h"

#define STUCK_US 30000000u /* in the middle of something: go on with it */
/* The share of a connection in a turn of the loop, and of all connections of a host, so that a
 * busy one starves no other: bytes written to files, after decompression. */
#define TURN_BYTES (1u << 20)
#define HOST_TURN_BYTES (8u << 20)
#define LEAST_WAIT_US 1000u
#define MESSAGE_COST 4096u /* cost of a request that creates or searches files */

/* --- answers ---------------------------------------------------------------------- */

/* Decrypted bytes in the TLS library wake no poll: a socket with room does. */
static uint32_t relconn_events_of(const struct relconn *conn)
{
	if (!conn->chan.up)
		return chan_wants_write(&conn->chan) ? EPOLLOUT : EPOLLIN;
	if (conn->answer_end != conn->answer_begin)
		return EPOLLOUT;
	if (conn->pace.at_ns || conn->nr_unsynced == RELCONN_MAX_UNSYNCED)
		return 0;
	return conn->postponed || chan_pending(&conn->chan) ? EPOLLIN | EPOLLOUT : EPOLLIN;
}

static void relconn_watch(struct relconn *conn)
{
	uint32_t events = relconn_events_of(conn);

	if (conn->broken || conn->watched == events)
		return;
	conn->watched = events;
	if (loop_fd_events(&conn->source, events) < 0)
		relconn_drop(conn);
}

static void relconn_send_reply(struct relconn *conn)
{
	while (conn->answer_begin != conn->answer_end) {
		const struct iovec iov = { conn->answer + conn->answer_begin,
					   conn->answer_end - conn->answer_begin };
		ssize_t n = chan_send(&conn->chan, &iov, 1);

		if (n == -EAGAIN)
			break;
		if (n < 0) {
			relconn_drop(conn);
			return;
		}
		conn->answer_begin += (size_t)n;
	}
	relconn_watch(conn);
}

/* Of which nothing is there yet: requests wait for the answer before. */
void relconn_begin_answer(struct relconn *conn, struct encoder *enc, uint16_t type, uint32_t serial,
			  const struct err *err)
{
	encoder_init(enc, conn->answer + FRAME_HEAD_BYTES, sizeof(conn->answer) - FRAME_HEAD_BYTES);
	encode_header(enc, type, MSG_REPLY, serial);
	encode_outcome(enc, err->code, err->text);
}

/* Many packets come at a time, and may wait for one another; after any other request, its sender
 * waits for the reply. */
void relconn_keep(struct relconn *conn, const struct chunk_trace *dirs, int fd)
{
	int ret = 0;

	if (conn->sync_us == SYNCER_NONE)
		return;
	if (fd >= 0)
		ret = syncer_file(conn->syncer, fd);
	if (ret == 0 && dirs)
		ret = syncer_dirs(conn->syncer, dirs->index_fd);
	if (ret < 0)
		log_warn_some("%s can't be synced: %s", conn->session->path, strerror(-ret));
	conn->unkept |= ret < 0;
	conn->promised = true;
}

void relconn_keep_stream(struct relconn *conn, const struct relstream *stream)
{
	const struct chunk_stream *file = &stream->file;

	relconn_keep(conn, file->bytes == stream->last.packet_size / 8 ? file->config->trace : NULL,
		     file->fd);
	relconn_keep(conn, NULL, file->index_fd);
}

/* Behind those that wait already it waits in any case. */
static void defer_answer(struct relconn *conn, bool promised, uint64_t within_us)
{
	unsigned int last = conn->first_unsynced + conn->nr_unsynced - 1;
	unsigned int at = (last + 1) % RELCONN_MAX_UNSYNCED;
	struct relconn_unsynced *u = &conn->unsynced[at];

	u->commit = promised ? syncer_join(conn->syncer, within_us) :
			       conn->unsynced[last % RELCONN_MAX_UNSYNCED].commit;
	u->len = conn->answer_end;
	memcpy(u->bytes, conn->answer, u->len);
	conn->answer_end = 0;
	conn->nr_unsynced++;
}

/* The oldest, as far as they are on the disk and there is room. */
static void send_synced(struct relconn *conn)
{
	while (!conn->broken && conn->nr_unsynced && conn->answer_begin == conn->answer_end) {
		const struct relconn_unsynced *u = &conn->unsynced[conn->first_unsynced];

		if (u->commit > conn->synced)
			return;
		memcpy(conn->answer, u->bytes, u->len);
		conn->answer_begin = 0;
		conn->answer_end = u->len;
		conn->first_unsynced = (conn->first_unsynced + 1) % RELCONN_MAX_UNSYNCED;
		conn->nr_unsynced--;
		relconn_send_reply(conn);
	}
}

static void finish_answer(struct relconn *conn, const struct encoder *enc, uint16_t type)
{
	bool promised = conn->promised;

	conn->promised = false;
	if (conn->unkept || encoder_finish(enc) < 0) {
		relconn_drop(conn);
		return;
	}
	frame_head(conn->answer, enc->len);
	conn->answer_begin = 0;
	conn->answer_end = FRAME_HEAD_BYTES + enc->len;
	if (promised || conn->nr_unsynced)
		defer_answer(conn, promised, type == MSG_rel_packet ? conn->sync_us : 0);
	else
		relconn_send_reply(conn);
}

static void relconn_reply(struct relconn *conn, uint16_t type, uint32_t serial,
			  const struct err *err)
{
	struct encoder enc;

	relconn_begin_answer(conn, &enc, type, serial, err);
	finish_answer(conn, &enc, type);
}

/* Whether another request may be decoded: its reply has room. */
static bool may_answer(const struct relconn *conn)
{
	return conn->answer_begin == conn->answer_end && conn->nr_unsynced < RELCONN_MAX_UNSYNCED;
}

/* A session that sends nothing may stay, as long as such ones may here. */
static void relconn_set_idle_timer(struct relconn *conn)
{
	if (conn->relay->peers.quotas.idle_us)
		loop_timer_set(&conn->timer, conn->relay->peers.quotas.idle_us);
	else
		loop_timer_cancel(&conn->timer);
}

/* --- turns of the loop ------------------------------------------------------------ */

/* The more connections a host has, the less of a turn each of them gets, but for one chunk. */
static void begin_turn(struct relconn *conn)
{
	size_t share = HOST_TURN_BYTES;

	if (conn->peer)
		share /= relpeer_nr_connections(conn->peer);
	conn->turn_left = MIN(MAX(share, (size_t)ZCHUNK_BYTES), (size_t)TURN_BYTES);
	conn->postponed = false;
}

/* If the turn is over, received data waits for the next one; or, if the host has created too many
 * files in too little time, until it may create more. */
static bool postpone(struct relconn *conn)
{
	uint64_t wait_us = conn->peer ? relpeer_wait_us(conn->peer) : 0;

	if (wait_us)
		loop_timer_set(&conn->pace, MAX(wait_us, LEAST_WAIT_US));
	conn->postponed = wait_us || !conn->turn_left;
	return conn->postponed;
}

static void spend(struct relconn *conn, size_t bytes)
{
	conn->turn_left -= MIN(bytes, conn->turn_left);
}

/* --- messages --------------------------------------------------------------------- */

static bool is_in_packet(const struct relconn *conn)
{
	return conn->body_left || conn->sum_left;
}

/* The part that has come stays as it is: the files that it was to take are free. */
static void end_body(struct relconn *conn)
{
	conn->body_stream = NULL;
	if (conn->body_part)
		relay_release_fds(conn->relay, conn->peer, 1);
}

/* The room that it was to take is free. */
static void drop_body(struct relconn *conn)
{
	end_body(conn);
	relpeer_unreserve(conn->peer, conn->body_bytes);
}

/* Behind a packet that was refused none of its stream may be taken: it would leave a gap. */
static int begin_body(struct relconn *conn, const struct req_rel_packet *req,
		      const struct packet_header *packet)
{
	struct relstream *stream = relsession_find_stream(conn->session, req->stream);
	struct err *err = &conn->body_err;

	conn->body_stream = NULL;
	if (!stream)
		return err_set(err, ERR_INVALID, "no stream %u", req->stream);
	if (req->chained && stream->refused)
		return err_set(err, ERR_STATE, "the packet before was refused");
	stream->refused = true; /* until all of it has been taken */
	if (conn->body_part && relay_reserve_fds(conn->relay, conn->peer, 1, err))
		return err->code;
	if (relpeer_reserve(conn->peer, conn->body_bytes, err)) {
		if (conn->body_part)
			relay_release_fds(conn->relay, conn->peer, 1);
		return err->code;
	}
	conn->body_stream = stream;
	if ((!req->part_at &&
	     relsession_make_files(conn->peer, stream, packet->packet_size / 8, err)) ||
	    (conn->body_part ? relstream_begin_part(stream, packet, req->part_at, err) :
			       relstream_begin(stream, packet, err)))
		drop_body(conn);
	return err->code;
}

/* The answer comes behind the body, which is thrown away where it can't be kept.
 * Return: negative: its length is unknown. */
static int relconn_on_packet(struct relconn *conn, const struct msg_header *header,
			     struct decoder *dec)
{
	struct packet_header packet;
	struct req_rel_packet req;

	if (req_rel_packet_decode(dec, &req) < 0 || req.header.len != sizeof(packet))
		return -EBADMSG;
	memcpy(&packet, req.header.data, sizeof(packet));
	if (packet.packet_size / 8 < sizeof(packet) ||
	    packet.packet_size > RELSTREAM_MAX_PACKET * 8)
		return -EBADMSG;
	conn->body_bytes = packet.packet_size / 8 + sizeof(struct index_entry);
	conn->body_left = packet.packet_size / 8 - sizeof(packet);
	conn->body_part = req.part_bytes != 0;
	if (conn->body_part) {
		if (req.part_at > conn->body_left || req.sum_behind ||
		    req.part_bytes > conn->body_left - req.part_at)
			return -EBADMSG;
		conn->body_bytes = conn->body_left = req.part_bytes;
	}
	conn->packed = req.packed;
	conn->sum_left = req.sum_behind ? RELAY_SUM_BYTES : 0;
	conn->body_serial = header->serial;
	conn->body_err = (struct err){ 0 };
	(void)!begin_body(conn, &req, &packet);
	return 0;
}

/* A part is no promise: it is sent again with the packet where it is missing. */
static void finish_body(struct relconn *conn)
{
	struct relstream *stream = conn->body_stream;
	struct err *err = &conn->body_err;

	if (stream) {
		end_body(conn);
		if (relstream_finish(stream, err)) {
			relpeer_unreserve(conn->peer, conn->body_bytes);
		} else {
			stream->refused = false;
			relpeer_commit(conn->peer, conn->body_bytes);
			if (!stream->received) {
				relconn_keep_stream(conn, stream);
				archived_note(conn->session->archived);
			}
		}
	}
	if (err->code == ERR_OUTPUT)
		retention_kick(conn->relay->retention);
	relconn_set_idle_timer(conn);
	relconn_reply(conn, MSG_rel_packet, conn->body_serial, err);
}

/* Return: 0, or negative: it makes no sense to go on. */
static int relconn_receive_message(struct relconn *conn, const uint8_t *msg, size_t len)
{
	struct msg_header header;
	struct err err = { 0 };
	struct encoder enc = { 0 };
	struct decoder dec;

	decoder_init(&dec, msg, len, NULL, 0);
	if (decode_header(&dec, &header) < 0 || header.flags)
		return -EBADMSG;
	log_debug("message %u", header.type);
	spend(conn, MESSAGE_COST);
	if (!conn->greeted && header.type != MSG_rel_hello)
		return -EPROTO;
	if (header.type == MSG_rel_packet && conn->session) {
		int ret = relconn_on_packet(conn, &header, &dec);

		if (ret == 0 && !is_in_packet(conn))
			finish_body(conn);
		return ret;
	}
	if (!relconn_request(&(struct relconn_request){ conn, &header, &dec, &enc }, &err)) {
		frames_put_back(&conn->frames, len);
		return 0;
	}
	if (err.code || !enc.len)
		relconn_reply(conn, header.type, header.serial, &err);
	else
		finish_answer(conn, &enc, header.type);
	return err.code == ERR_BAD_MESSAGE ? -EBADMSG : 0;
}

/* --- bytes -------------------------------------------------------------------------- */

static void store_body(struct relconn *conn, const uint8_t *data, size_t len)
{
	if (conn->body_stream && relstream_body(conn->body_stream, data, len, &conn->body_err))
		drop_body(conn);
	conn->body_left -= len;
	spend(conn, len);
	if (!is_in_packet(conn))
		finish_body(conn);
}

static void store_sum(struct relconn *conn, const uint8_t *data, size_t len)
{
	uint32_t sum;

	memcpy(conn->sum + RELAY_SUM_BYTES - conn->sum_left, data, len);
	conn->sum_left -= (uint32_t)len;
	memcpy(&sum, conn->sum, sizeof(sum));
	if (conn->sum_left)
		return;
	if (conn->body_stream)
		relstream_sum(conn->body_stream, le32toh(sum));
	finish_body(conn);
}

/* Return: 0, or negative: it is none. */
static int relconn_receive_chunk(struct relconn *conn, const uint8_t *chunk, size_t chunk_len)
{
	size_t len;
	const uint8_t *data =
		zunpacker_unpack(conn->worker->unpacker, chunk, chunk_len, conn->body_left, &len);

	if (!data)
		return -EBADMSG;
	store_body(conn, data, len);
	return 0;
}

/* Does the next part of the input begin with its length? */
static bool is_framed(const struct relconn *conn)
{
	return !is_in_packet(conn) || (conn->body_left && conn->packed);
}

/* Return: 1: there was one; 0: there is none; negative: it makes no sense. */
static int relconn_receive_framed(struct relconn *conn)
{
	const uint8_t *msg;
	size_t len;
	int ret = frames_next(&conn->frames, &msg, &len);

	if (ret <= 0)
		return ret;
	ret = (is_in_packet(conn) ? relconn_receive_chunk : relconn_receive_message)(conn, msg,
										     len);
	return ret < 0 ? ret : 1;
}

/* Of a body or its sum. Return: as relconn_receive_framed(). */
static int relconn_receive_bare(struct relconn *conn)
{
	uint64_t left = conn->body_left ? conn->body_left : conn->sum_left;
	const uint8_t *data;
	size_t len = frames_raw(&conn->frames, &data, (size_t)MIN(left, FRAME_BUF_BYTES));

	if (len)
		(conn->body_left ? store_body : store_sum)(conn, data, len);
	return len != 0;
}

/* All that is there, up to an answer that is not taken or the end of the turn.
 * Return: 0 or negative. */
static int process(struct relconn *conn)
{
	while (!conn->broken && !conn->next && may_answer(conn) && !postpone(conn)) {
		int ret =
			is_framed(conn) ? relconn_receive_framed(conn) : relconn_receive_bare(conn);

		if (ret < 0)
			return ret;
		if (ret == 0)
			break;
	}
	/* a sender that has begun something goes on with it */
	if (conn->session && (is_in_packet(conn) || conn->frames.begin != conn->frames.end))
		loop_timer_set(&conn->timer, STUCK_US);
	else if (conn->session)
		relconn_set_idle_timer(conn);
	return 0;
}

/* A body goes by the way that all connections share, all else to the connection's own buffer.
 * Return: room; 0: no memory. */
static size_t find_room(struct relconn *conn, uint8_t **ret_at)
{
	if (!conn->body_left || conn->packed || conn->frames.begin != conn->frames.end) {
		frames_take_spare(&conn->frames, &conn->worker->spare);
		return frames_room(&conn->frames, ret_at);
	}
	*ret_at = conn->worker->body;
	return (size_t)MIN(conn->body_left, RELWORKER_BODY_BYTES);
}

/* Return: bytes, if there may be more; 0: nothing now; negative: it is over. */
static ssize_t relconn_read_some(struct relconn *conn)
{
	uint8_t *at;
	size_t room = find_room(conn, &at);
	ssize_t n = room ? chan_recv(&conn->chan, at, room) : -ENOMEM;
	int ret;

	if (n < 0)
		return n == -EAGAIN ? 0 : n;
	if (n == 0)
		return -ECONNRESET;
	if (at == conn->worker->body)
		store_body(conn, at, (size_t)n);
	else
		frames_filled(&conn->frames, (size_t)n);
	ret = process(conn);
	return ret < 0 ? ret : (size_t)n == room ? n : 0;
}

/* Return: 1: there may be more; 0: nothing now; negative: it is over. */
static int relconn_shake_hands(struct relconn *conn)
{
	int ret = relay_may_step_handshake(conn->relay) ? chan_open(&conn->chan) : -EAGAIN;

	if (ret == 0)
		keyring_watch(&conn->proof, &conn->chan);
	if (ret == -EPROTO)
		log_warn_some("a connection is refused: %s", chan_problem(&conn->chan));
	return ret == -EAGAIN || ret == -EPROTO ? 0 : ret < 0 ? ret : 1;
}

/* Return: 0, or negative: it is over. */
static int relconn_serve_input(struct relconn *conn, uint32_t events)
{
	ssize_t ret = conn->chan.up ? 1 : relconn_shake_hands(conn);

	bool postponed = conn->postponed;

	begin_turn(conn);
	if (ret > 0 && (postponed || (events & EPOLLOUT))) {
		relconn_send_reply(conn);
		send_synced(conn);
		ret = conn->broken ? 0 : process(conn);
		ret = ret < 0 ? ret : 1;
	}
	if (!may_answer(conn) && (events & (EPOLLHUP | EPOLLERR)))
		return -ECONNRESET;
	while (ret > 0 && !conn->postponed) {
		if (conn->broken || conn->next || !may_answer(conn))
			return 0;
		ret = relconn_read_some(conn);
	}
	return ret < 0 ? (int)ret : 0;
}

/* Off this loop, with all that it has. */
static void relconn_leave(struct relconn *conn)
{
	loop_fd_fini(&conn->source);
	loop_timer_cancel(&conn->timer);
	loop_timer_cancel(&conn->pace);
	loop_timer_cancel(&conn->proof);
	list_remove(&conn->node);
	list_remove(&conn->waiter.node);
	conn->syncer = NULL;
	conn->worker = NULL;
}

/* From here on @conn may be gone. */
static void relconn_move(struct relconn *conn)
{
	struct relworker *to = TAKE(conn->next);

	relconn_leave(conn);
	relworker_send(to, conn);
}

static void relconn_on_ready(struct relconn *conn, uint32_t events)
{
	int ret = conn->broken ? 0 : relconn_serve_input(conn, events);

	frames_give_spare(&conn->frames, &conn->worker->spare);
	if (ret < 0) {
		log_debug("a connection ends: %s", strerror(-ret));
		relconn_drop(conn);
	}
	if (conn->next && !conn->broken)
		relconn_move(conn);
	else
		relconn_watch(conn);
}

/* While the connection has to wait, only its end is reported. */
static void relconn_ready(struct loop_fd *source, uint32_t events)
{
	struct relconn *conn = container_of(source, struct relconn, source);

	if (conn->pace.at_ns)
		relconn_drop(conn);
	else
		relconn_on_ready(conn, events);
}

static void relconn_may_continue(struct loop_timer *timer)
{
	relconn_on_ready(container_of(timer, struct relconn, pace), 0);
}

/* --- acknowledgements after a sync ------------------------------------------------------ */

static void on_synced(struct syncer_waiter *waiter, uint64_t commit, int error)
{
	struct relconn *conn = container_of(waiter, struct relconn, waiter);

	if (conn->broken)
		return;
	if (error && conn->nr_unsynced) {
		relconn_drop(conn);
		return;
	}
	conn->synced = commit;
	conn->postponed |= conn->nr_unsynced == RELCONN_MAX_UNSYNCED;
	send_synced(conn);
	relconn_watch(conn);
}

int relconn_sync(struct relconn *conn, uint32_t within_us)
{
	struct syncer *syncer;
	int ret;

	conn->sync_us = within_us;
	if (within_us == SYNCER_NONE)
		return 0;
	ret = relworker_find_syncer(conn->worker, conn->session->fd, &syncer);
	if (ret < 0 || conn->syncer == syncer)
		return ret;
	if (conn->nr_unsynced) /* of a session before, elsewhere */
		return -EBUSY;
	if (!conn->unsynced)
		conn->unsynced = xalloc(RELCONN_MAX_UNSYNCED * sizeof(*conn->unsynced));
	list_remove(&conn->waiter.node);
	conn->synced = 0;
	conn->syncer = syncer;
	syncer_add(syncer, &conn->waiter);
	return 0;
}

/* --- other keys, or a later hour -------------------------------------------------------- */

static bool is_believed(struct relconn *conn)
{
	const char *peer = chan_peer(&conn->chan);

	if (!conn->relay->keyring || keyring_recheck(conn->relay->keyring, &conn->chan) == 0)
		return true;
	log_warn("a connection%s%s is closed: %s", peer ? " of " : "", peer ? peer : "",
		 chan_problem(&conn->chan));
	return false;
}

void relconn_recheck(struct relconn *conn)
{
	if (!is_believed(conn))
		relconn_free(conn);
}

static void relconn_may_have_expired(struct loop_timer *timer)
{
	struct relconn *conn = container_of(timer, struct relconn, proof);

	keyring_watch(timer, &conn->chan);
	relconn_recheck(conn);
}

/* --- where it is ------------------------------------------------------------------------- */

int relconn_claim(struct relconn *conn, const char *host, const char *base, struct err *err)
{
	struct relclaim *claim = relworker_claim(conn->relay, host, base);

	relworker_unclaim(conn->relay, conn->claim);
	conn->claim = claim;
	if (claim->worker == conn->worker)
		return 0;
	if (conn->nr_unsynced) /* of the previous session */
		return err_set(err, ERR_STATE,
			       "a reply of the previous session is pending; wait for it");
	conn->next = claim->worker;
	return 0;
}

/* --- life --------------------------------------------------------------------------- */

static void relconn_on_expiry(struct loop_timer *timer)
{
	struct relconn *conn = container_of(timer, struct relconn, timer);

	log_warn_some("an idle connection is closed%s%s", conn->session ? ": " : "",
		      conn->session ? conn->session->path : "");
	relconn_free(conn);
}

static void relconn_end(struct loop_work *work)
{
	relconn_free(container_of(work, struct relconn, end));
}

/* Return: 0 or negative errno. */
static int relconn_join(struct relconn *conn, struct relworker *worker)
{
	int ret = loop_fd_init(&conn->source, worker->loop, conn->chan.fd, EPOLLIN, relconn_ready);

	if (ret < 0)
		return ret;
	conn->watched = EPOLLIN;
	conn->worker = worker;
	list_append(&worker->conns, &conn->node);
	loop_timer_init(&conn->timer, worker->loop, relconn_on_expiry);
	loop_timer_set(&conn->timer, RELCONN_SILENT_US);
	loop_timer_init(&conn->pace, worker->loop, relconn_may_continue);
	loop_timer_init(&conn->proof, worker->loop, relconn_may_have_expired);
	return 0;
}

/* The keys may have been changed while it was on its way. */
void relconn_arrive(struct relconn *conn, struct relworker *worker)
{
	if (relconn_join(conn, worker) < 0 || !is_believed(conn)) {
		relconn_free(conn);
		return;
	}
	keyring_watch(&conn->proof, &conn->chan);
	conn->postponed = true; /* the message that has brought it here */
	relconn_on_ready(conn, 0);
}

int relconn_new(struct relay *relay, int fd, struct tls *tls)
{
	struct relconn *conn = calloc(1, sizeof(*conn));
	int ret;

	if (!conn) {
		tls_free(tls);
		close(fd);
		return -ENOMEM;
	}
	__atomic_fetch_add(&relay->nr_conns, 1, __ATOMIC_RELAXED);
	conn->relay = relay;
	conn->source.fd = -1;
	chan_init(&conn->chan, fd, tls);
	conn->sync_us = SYNCER_NONE;
	list_init(&conn->node);
	list_init(&conn->waiter.node);
	conn->waiter.synced = on_synced;
	loop_work_init(&conn->end, relconn_end);
	ret = relconn_join(conn, &relay->main);
	if (ret < 0)
		relconn_free(conn);
	return ret;
}

void relconn_end_session(struct relconn *conn)
{
	if (conn->body_stream) {
		relstream_undo(conn->body_stream);
		drop_body(conn);
	}
	relsession_free(TAKE(conn->session));
	relworker_unclaim(conn->relay, TAKE(conn->claim));
}

static void relconn_end_all(struct relconn *conn)
{
	relconn_end_session(conn);
	relpeer_leave(TAKE(conn->peer));
}

void relconn_drop(struct relconn *conn)
{
	if (conn->broken)
		return;
	conn->broken = true;
	relconn_end_all(conn);
	(void)!loop_fd_events(&conn->source, 0);
	loop_defer(conn->worker->loop, &conn->end);
}

void relconn_free(struct relconn *conn)
{
	int fd = conn->chan.fd;

	relconn_end_all(conn);
	loop_work_cancel(&conn->end);
	relconn_leave(conn);
	chan_fini(&conn->chan);
	close_fd(fd);
	free(conn->unsynced);
	__atomic_fetch_sub(&conn->relay->nr_conns, 1, __ATOMIC_RELAXED);
	frames_fini(&conn->frames);
	free(conn);
}
