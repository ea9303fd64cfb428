/* SPDX-License-Identifier: GPL-2.0-only */
/* spool.c - the sink of outputs with a relay and a spool (spool.h). */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "consumerd/ring/reclaim.h"
#include "consumerd/ring/ringcopy.h"
#include "io/lockfile.h"

#define PAUSE_MS 20
#define FOUND_TRACES (1ull << 63) /* no session daemon gives such a number */
#define CLAIM_TRIES 15 /* a reader of the spool locks it for an instant */
#define TURNS_TRIES 15 /* there may be no descriptor for an instant */

static struct spool *spool_of(const struct sink *sink)
{
	return container_of(sink, struct spool, sink);
}

static struct spooled *spooled_of(const struct sink_stream *out)
{
	return container_of(out, struct spooled, out);
}

/* --- ownership ---------------------------------------------------------------------- */

static int write_facts(struct spool *spool)
{
	const struct relay_conn_config *config = relay_conn_config(spool->sink.link);
	struct spoolfacts *facts = &spool->facts;

	if (!config->url)
		return 0; /* a session of an earlier version's; the file is a lock all the same */
	*facts = (struct spoolfacts){
		.link = (uint8_t)config->link,
		.sync = (uint8_t)config->sync,
		.compress = config->compress,
		.sync_us = config->sync_us,
		.live_us = config->live_us,
	};
	snprintf(facts->name, sizeof(facts->name), "%s", config->name);
	snprintf(facts->stamp, sizeof(facts->stamp), "%s", config->stamp);
	snprintf(facts->url, sizeof(facts->url), "%s", config->url);
	memcpy(facts->id, config->id, sizeof(facts->id));
	return spoolfacts_write(spool->lock, facts);
}

static void note_choice(void *data, const char *url)
{
	struct spool *spool = data;
	struct spoolfacts *facts = &spool->facts;

	if (spool->lock < 0 || !*facts->name)
		return;
	snprintf(facts->chosen, sizeof(facts->chosen), "%s", url);
	if (spoolfacts_write(spool->lock, facts) < 0)
		log_warn("the relay of the session can't be written to the spool of '%s'",
			 facts->name);
}

/* If it can't be, the relay's trace looks like that of a session that has not ended. */
static void note_end(struct spool *spool)
{
	spool->facts.ended = true;
	if (spool->lock >= 0 && !spool->leftover && *spool->facts.name)
		(void)!spoolfacts_write(spool->lock, &spool->facts);
}

/* Of some relays one has the session already, if an earlier consumer got so far. */
static int take_facts(struct spool *spool)
{
	struct spoolfacts *facts = &spool->facts;
	int ret = spoolfacts_read(spool->lock, facts);

	relay_conn_set_choice(spool->sink.link, note_choice, spool);
	if (ret < 0)
		*facts = (struct spoolfacts){ 0 };
	spool->unfinished = spool->leftover && !facts->ended;
	if (*facts->chosen)
		relay_conn_choose(spool->sink.link, facts->chosen);
	return ret == 0 || spool->leftover ? 0 : write_facts(spool);
}

static void spool_leave(struct spool *spool)
{
	spool->lock = close_fd(spool->lock);
}

/* A disk that has no room for it costs no event: then the rest can only be read where it is. */
static int spool_claim(struct spool *spool, struct err *err)
{
	int ret = -EWOULDBLOCK;

	for (unsigned int i = 0; i < CLAIM_TRIES && ret == -EWOULDBLOCK; i++) {
		if (i > 0)
			poll(NULL, 0, PAUSE_MS);
		spool_leave(spool);
		ret = lockfile_lock(spool->dir_fd, SPOOLFACTS_FILE, &spool->lock);
	}
	if (ret == -EWOULDBLOCK) {
		spool_leave(spool);
		return err_set(err, ERR_STATE,
			       "the spool is in use: its session has it, or it is being sent or "
			       "removed");
	}
	if (ret == 0)
		ret = take_facts(spool);
	if (ret < 0)
		log_warn("can't store the session and relay of the spool of '%s': %s",
			 relay_conn_config(spool->sink.link)->name, strerror(-ret));
	return 0;
}

/* --- the rest of a session that is over ------------------------------------------------ */

static int adopt_rest(struct spool *spool, const char *path, int metadata_fd, struct err *err)
{
	struct chunk_trace_spec spec = { .path = path, .may_be_shorter = true };
	struct metapacket head;
	struct chunk_trace *dir;
	struct stat st;

	if (chunk_find_path(spool->chunk, path))
		return 0;
	if (fstat(metadata_fd, &st) < 0 ||
	    !chunk_read_metapacket(metadata_fd, 0, &head) || !head.has_uuid)
		return err_set(err, ERR_OUTPUT, "%s: its metadata is invalid", path);
	spec.id = FOUND_TRACES + ++spool->nr_found_traces;
	spec.uuid = head.uuid;
	spec.metadata_bytes = (uint64_t)st.st_size;
	if (chunk_trace_continue(spool->chunk, &spec, &dir, err))
		return err->code;
	spool->fills = true; /* it is sent with all that waits */
	spool_find(spool, dir);
	return 0;
}

/* A directory with metadata is a trace. Nothing else that lies there matters; where the session
 * goes on, a damaged trace doesn't, either. */
static int find_rest(struct spool *spool, int at_fd, const char *name, const char *path,
		     unsigned int depth, struct err *err)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	AUTO_FD int metadata = dir ? chunk_open_file(dirfd(dir), "metadata") : -1;
	struct dirent *entry;

	if (metadata >= 0)
		return adopt_rest(spool, path, metadata, err);
	while ((!err->code || !spool->leftover) && depth < CHUNK_MAX_DEPTH &&
	       (entry = dir_next(dir))) {
		AUTO_FREE char *below = xasprintf("%s%s%s", path, *path ? "/" : "", entry->d_name);

		if (entry->d_type != DT_REG && *entry->d_name != '.')
			(void)!find_rest(spool, dirfd(dir), entry->d_name, below, depth + 1, err);
	}
	return err->code;
}

/* Traces that no session daemon requests again, once it has requested its own: of programs that
 * have ended, whose data waits, and of events beside the session's. */
static void spool_adopted(struct sink *sink)
{
	struct spool *spool = spool_of(sink);
	struct err ignored = { 0 };
	struct chunk_trace *dir;

	(void)!find_rest(spool, spool->dir_fd, ".", "", 0, &ignored);
	list_for_each(dir, &spool->chunk->traces, node)
		if (dir->id > FOUND_TRACES && !spool->error)
			(void)!sink_link_result(sink, relay_conn_trace(sink->link, dir));
}

/* --- the output ------------------------------------------------------------------------ */

/* Nothing answers there now; a relay that refuses is another matter. */
static bool is_away(int error)
{
	return error == -ETIMEDOUT || error == -ECONNREFUSED || error == -EHOSTUNREACH ||
	       error == -ENETUNREACH || error == -EHOSTDOWN || error == -ENETDOWN;
}

/* A session with a spool may begin before its relay does. */
static int spool_connect(struct spool *spool, struct err *err)
{
	int ret = relay_conn_open(spool->sink.link);

	if (ret < 0 && (spool->leftover || !is_away(ret)))
		return err_set(err, ERR_OUTPUT, "%s", relay_conn_problem(spool->sink.link));
	return sink_link_result(&spool->sink, ret);
}

static int find_turns(struct spool *spool, struct err *err)
{
	int ret = spool_find_marks(spool);

	for (unsigned int i = 1; i < TURNS_TRIES && ret < 0; i++) {
		poll(NULL, 0, PAUSE_MS);
		ret = spool_find_marks(spool);
	}
	return ret < 0 ? err_errno(err, ERR_OUTPUT, -ret, "can't read the turns in the spool") : 0;
}

static int spool_start(struct sink *sink, const struct sink_start *start, struct err *err)
{
	struct spool *spool = spool_of(sink);
	int ret;

	spool->dir_fd = start->dir_fd;
	spool->leftover = start->leftover;
	ret = spool_claim(spool, err);
	if (ret == 0)
		ret = find_turns(spool, err);
	if (ret == 0 && spool->leftover) {
		spool->fills = true; /* metadata is sent also where nothing else waits */
		ret = find_rest(spool, spool->dir_fd, ".", "", 0, err);
	}
	if (ret == 0 && start->connect)
		ret = spool_connect(spool, err);
	if (ret && spool->leftover) { /* the next attempt need not wait for our end */
		relay_conn_shutdown(spool->sink.link);
		spool_leave(spool);
	}
	return ret;
}

/* Packets that failed can go to the files. While files are sent, none is sent out of a ring. */
static int spool_settle(struct sink *sink)
{
	struct spool *spool = spool_of(sink);

	if (!spool->nr_ahead)
		(void)!relay_conn_drain(spool->sink.link);
	return 0;
}

/* Streams that a turn at the relay does not know of could not go on. */
static bool awaits_streams(const struct spool *spool)
{
	return !list_empty(&spool->marks) && spool->host->adopts(spool->host->data);
}

struct sink_state spool_sink_state(const struct sink *sink)
{
	const struct spool *spool = spool_of(sink);
	uint64_t due_ns = spool->error ? spool->retry_ns : 0;

	if (!spool->fills)
		due_ns = spool->sink.spooled.kept ? MAX(due_ns, spool->poll_ns) : UINT64_MAX;
	else if (awaits_streams(spool))
		due_ns = UINT64_MAX;

	return (struct sink_state){
		.behind = spool->fills,
		.keeps = spool->sink.spooled.kept,
		.store_fails = *spool->store_problem,
		.due_ns = due_ns,
		.turns = !list_empty(&spool->marks),
		.trouble = spool->error,
		.problem = spool->error ? spool->problem : "",
	};
}

/* Whether the relay has all packets, and knows all streams. */
static bool is_in_step(const struct spool *spool)
{
	const struct spooled *sp;

	if (spool->fills)
		return false;
	list_for_each(sp, &spool->streams, node)
		if (!relay_conn_knows(spool->sink.link, &sp->place))
			return false;
	return true;
}

/* Its place is stored first, so that it is made whatever happens. Where the relay refuses it at
 * once, it is the caller's to repeat it. */
static int spool_turn(struct sink *sink, const char *name, bool clear)
{
	struct spool *spool = spool_of(sink);
	int ret = spool_settle(sink);
	bool at_once = ret == 0 && is_in_step(spool);

	ret = spool_add_mark(spool, name, clear);
	spool->host->turned(spool->host->data);
	if (ret < 0 || !at_once)
		return ret;
	ret = spool_send_mark(spool);
	if (ret == -EREMOTEIO) {
		spool_give_up_mark(spool);
		return ret;
	}
	if (ret < 0)
		spool_sink_link_failed(sink, ret);
	return 0;
}

static int spool_sync(struct sink *sink)
{
	struct spooled *sp;
	int ret = 0;

	list_for_each(sp, &spool_of(sink)->streams, node)
		ret = ret ? ret : chunk_stream_sync(&sp->file);
	return ret;
}

static void spool_remove(struct spool *spool)
{
	struct spooled *sp, *tmp;
	struct chunk_trace *dir;

	list_for_each_safe(sp, tmp, &spool->streams, node)
		if (sp->ended && !sp->drain.waiting)
			spooled_free(sp, true);
	list_for_each(dir, &spool->chunk->traces, node) {
		chunk_trace_release(dir);
		chunk_trace_remove(dir);
	}
	spool_release_marks(spool);
	spool_forget_rotated(spool);
	unlinkat(spool->dir_fd, SPOOLFACTS_FILE, 0);
}

static void spool_finish(struct sink *sink, enum sink_end how, struct err *err)
{
	struct spool *spool = spool_of(sink);
	struct spooled *sp, *tmp;

	spool->unfinished |= sink->failed || spool->nr_unopened;
	if (how == SINK_ENDED) {
		if (!spool->unfinished)
			note_end(spool);
		if (sink_waiting(sink))
			err_set(err, ERR_OUTPUT, "%llu bytes of the trace stay in the spool: %s",
				(unsigned long long)sink_waiting(sink),
				spool->error ? spool->problem :
					       "they could not be sent in time");
		else if (spool->nr_unopened)
			err_set(err, ERR_OUTPUT,
				"%u streams of the trace stay in the spool, as they could not be "
				"opened: %s; repair that, and use 'lttctl spool send'",
				spool->nr_unopened, strerror(spool->unopened_error));
		else if (sink_kept(sink))
			err_set(err, ERR_OUTPUT,
				"%llu bytes of the trace stay in the spool, too, until they are in "
				"the relay's store: %s",
				(unsigned long long)sink_kept(sink),
				*spool->store_problem ? spool->store_problem :
							"it does not have them yet");
		(void)!relay_conn_end(spool->sink.link, spool->unfinished);
		if (!spool->fills && !spool->nr_unopened && !sink_kept(sink))
			spool_remove(spool);
	}
	list_for_each_safe(sp, tmp, &spool->streams, node)
		spooled_free(sp, false);
	spool_free_marks(spool);
	spool_leave(spool);
}

/* --- while the relay does not answer ----------------------------------------------------- */

/* See wire_meanwhile. A packet on its way out of its ring has no copy yet: the wait has to end for
 * it. */
static int spool_meanwhile(void *data)
{
	struct spool *spool = data;
	const struct sink_host *host = spool->host;

	if (host->is_pressed(host->data)) {
		if (spool->sending || (relay_conn_is_posting(spool->sink.link) && !spool->nr_ahead))
			return -ETIMEDOUT;
		spool->fills = spool->offline = true;
		host->cut(host->data);
		spool->offline = false;
	}
	return host->has_work(host->data);
}

/* --- traces ---------------------------------------------------------------------------- */

static int spool_open_chunk(struct sink *sink, struct chunk_trace *dir, bool found)
{
	int ret = sink_link_result(sink, relay_conn_trace(sink->link, dir));

	if (found)
		spool_find(spool_of(sink), dir);
	return ret;
}

static int spool_append(struct sink *sink, struct chunk_trace *dir, const void *text, uint32_t len)
{
	struct spool *spool = spool_of(sink);
	int ret = chunk_append(dir, text, len);

	if (ret < 0 || spool->fills)
		return ret;
	ret = relay_conn_open(spool->sink.link);
	if (ret == 0)
		ret = relay_conn_metadata_behind(spool->sink.link, dir);
	return sink_link_result(&spool->sink, ret);
}

static void spool_close_chunk(struct sink *sink, struct chunk_trace *dir)
{
	struct spool *spool = spool_of(sink);

	spool->disk->used -= MIN(spool->disk->used, dir->metadata_bytes);
	chunk_trace_remove(dir);
}

/* --- streams --------------------------------------------------------------------------- */

static struct sink_stream *spool_open(struct sink *sink, const struct stream_config *config,
				      uint32_t cpu)
{
	struct spooled *sp = spool_stream(spool_of(sink), config, cpu);

	sp->out.failed = false;
	return &sp->out;
}

/* Where the body of the packet that was sent last begins in the ring. */
static uint64_t noted_pos(const struct packet_header *noted, const struct ring_reader *r)
{
	const struct ltt_ring_stored *end = &r->cons->stored[noted->packet_seq_num & 1];

	if (r->overwrite && end->next == noted->packet_seq_num + 1)
		return end->pos - packet_body_bytes(noted);
	return noted->stream_pos;
}

/* Continue after the packet that was sent last, whether it arrived or not: if not, it is still
 * in the ring, if this is the one that it came from. Where it is overwritten, that may have
 * a part of the packet only: then the relay has the place. */
static int adopt_noted(struct spooled *sp, const struct ring_reader *r)
{
	const struct packet_header noted = sp->note.last;
	uint64_t pos = noted_pos(&noted, r), len = packet_body_bytes(&noted);
	uint64_t consumed = reclaim_position(r->cons);
	bool overwritten = r->overwrite && len && len <= r->size;
	AUTO_FREE uint8_t *copy = overwritten ? xalloc(len) : NULL;
	const uint8_t *body = copy ? copy : r->data + (pos & (r->size - 1));
	int ret = 0;

	if (len && consumed == ((pos + len) & LTT_POS_MASK)) {
		if (!sp->drain.waiting)
			spool_taken(sp);
	} else if (consumed == (pos & LTT_POS_MASK) && len <= r->size &&
		   (!copy || ring_copy_bytes(r, pos, len, copy)) && spool_is_noted(&noted, body)) {
		ret = spool_add(sp, &noted, body, NULL);
		sp->spool->fills = true;
	} else {
		return SINK_UNKNOWN;
	}
	return ret < 0 ? ret : SINK_AFTER;
}

static int place_here(struct spooled *sp, const struct ring_reader *old,
		      struct packet_header *ret_last)
{
	*ret_last = sp->note.last;
	if (sp->is_last_in_files)
		return SINK_AFTER;
	if (packet_is_set(&sp->note.last))
		return adopt_noted(sp, old);
	return reclaim_position(old->cons) ? SINK_UNKNOWN : SINK_BEGIN;
}

static int spool_place(struct sink_stream *out, const struct ring_reader *old,
		       struct packet_header *ret_last, uint64_t *cut)
{
	struct spooled *sp = spooled_of(out);
	int ret = spooled_open(sp);

	(void)cut;
	if (ret == 0 && old) {
		ret = place_here(sp, old, ret_last);
		sp->unplaced = ret == SINK_UNKNOWN;
		if (!sp->unplaced)
			return ret;
	}
	if (ret >= 0)
		ret = spool_attach(sp);
	if (ret < 0)
		return sp->unplaced && old ? SINK_UNKNOWN : ret;
	sp->unplaced = false;
	*ret_last = sp->note.acked;
	return SINK_CONTINUES;
}

static int spool_write(struct sink_stream *out, const struct packet_header *header,
		       const uint8_t *body)
{
	struct spooled *sp = spooled_of(out);
	int ret = spooled_open(sp);

	if (ret < 0)
		return ret;
	if (!sp->spool->fills && !sp->spool->keeps) {
		ret = spool_send(sp, header, body);
		if (ret <= 0)
			return ret < 0 ? ret : SINK_SENDING;
	}
	ret = spool_add(sp, header, body, sink_stream_source(out));
	if (ret < 0)
		return ret;
	sp->spool->fills |= sp->spool->keeps;
	return SINK_STORED;
}

static int spool_close(struct sink_stream *out, enum sink_end how)
{
	struct spooled *sp = spooled_of(out);

	if (!sp->is_open)
		spooled_free(sp, false);
	else if (how == SINK_ENDED)
		spool_end(sp);
	else if (how == SINK_ABANDONED)
		sp->ended = true;
	return 0;
}

void spool_sink_flush(struct sink *sink)
{
	spool_of(sink)->flush = true;
	spool_of(sink)->poll_ns = 0;
}

bool spool_sink_keeps_trace(const struct sink *sink, const struct chunk_trace *trace)
{
	const struct spooled *sp;

	list_for_each(sp, &spool_of(sink)->streams, node)
		if (sp->relay_config.trace == trace && sp->drain.kept)
			return true;
	return false;
}

static const struct sink_ops spool_ops = {
	.way = SINK_SPOOLS,
	.start = spool_start,
	.adopted = spool_adopted,
	.settle = spool_settle,
	.sync = spool_sync,
	.turn = spool_turn,
	.end = spool_finish,
	.open_chunk = spool_open_chunk,
	.append = spool_append,
	.close_chunk = spool_close_chunk,
	.open = spool_open,
	.place = spool_place,
	.write = spool_write,
	.close = spool_close,
};

struct sink *spool_sink_new(const struct sink_config *config, const struct sink_host *host)
{
	struct spool *spool = xalloc(sizeof(*spool));

	spool->sink.ops = &spool_ops;
	spool->disk = config->disk;
	spool->chunk = config->chunk;
	spool->host = host;
	spool->dir_fd = spool->lock = -1;
	list_init(&spool->streams);
	list_init(&spool->marks);
	list_init(&spool->made);
	spool->sink.link = relay_conn_new(config->relay, &config->chunk->traces);
	relay_conn_set_watch(spool->sink.link, host->watch, host->data);
	relay_conn_set_meanwhile(spool->sink.link, spool_meanwhile, spool);
	return &spool->sink;
}
