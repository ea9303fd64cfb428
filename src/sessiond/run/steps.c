/* SPDX-License-Identifier: GPL-2.0-only */
/* steps.c - start, stop, flush, turn, destroy, and the query of figures: each is a row of steps,
 * whose answers come through the loop. */
#include "priv.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/realtime.h"
#include "rotation.h"

/** struct step - a part of an operation. It calls op_next() when it is done, or op_fail(). The last
 *  one ends the operation. */
struct step {
	void (*begin)(struct op *op);
	void (*undo)(struct op *op); /* also if it has failed itself; NULL: nothing */
};

static struct op *op_new(struct run *run, run_done done, void *data)
{
	struct op *op = xalloc(sizeof(*op));

	list_init(&op->node);
	op->run = run;
	op->done = done;
	op->data = data;
	for (size_t i = 0; i < RUN_PARTS; i++)
		op->parts[i].op = op;
	return op;
}

static void op_fini(struct op *op)
{
	list_remove(&op->node);
	loop_timer_cancel(&op->timeout);
	for (size_t i = 0; i < RUN_PARTS; i++)
		free(op->parts[i].streams);
	free(op->stats.streams);
	free(op);
}

/* Ignore answers that are still to come. */
static void op_forget(struct op *op)
{
	for (size_t i = 0; i < RUN_PARTS; i++) {
		struct consumer *consumer = op->run->parts[i].consumer;

		if (!consumer)
			continue;
		consumer_forget(consumer, &op->parts[i]);
		consumer_forget(consumer, op);
	}
}

void op_free(struct op *op)
{
	op_forget(op);
	op_fini(op);
}

/* The last step. The session may be gone by now: only the operation is used. */
static void op_finish(struct op *op)
{
	struct run_result result = { &op->err, op->apps, op->late, &op->stats, &op->turned };

	list_remove(&op->node);
	loop_timer_cancel(&op->timeout);
	if (op->done)
		op->done(op->data, &result);
	op_fini(op);
}

static void op_end(struct op *op)
{
	struct run *run = op->run;

	if (run->op == op) {
		run->op = NULL;
		loop_defer(run->config.loop, &run->wake);
	}
	op_finish(op);
}

static void op_begin(struct op *op, const struct step *steps)
{
	op->steps = op->step = steps;
	steps->begin(op);
}

static void op_next(struct op *op)
{
	op->step++;
	op->step->begin(op);
}

/* Undo this step and those before it; op->err is set. */
static void op_fail(struct op *op)
{
	for (const struct step *step = op->step; step >= op->steps; step--)
		if (step->undo)
			step->undo(op);
	op_end(op);
}

/* The first one answers in any case: then an answer always comes later. */
#define op_each_part(part, op)                                                           \
	for ((part) = (op)->run->parts; (part) < (op)->run->parts + RUN_PARTS; (part)++) \
		if ((part)->open || (part) == (op)->run->parts)

/* The operation's part at a consumer, which has one answer more to send. */
static struct op_part *op_part_of(struct op *op, const struct run_part *part)
{
	op->left++;
	return &op->parts[part - op->run->parts];
}

static void op_answered(struct op *op)
{
	if (--op->left == 0)
		op_next(op);
}

/* --- figures ------------------------------------------------------------------- */

static void push_stream(struct msg_con_stream **streams, size_t *nr, size_t *cap,
			const struct msg_con_stream *stream)
{
	if (*nr == *cap) {
		*cap = MAX(2 * *cap, (size_t)16);
		*streams = xrealloc(*streams, *cap * sizeof(**streams));
	}
	(*streams)[(*nr)++] = *stream;
}

static void add_stats(struct op *op, const struct msg_con_stream *stream)
{
	push_stream(&op->stats.streams, &op->stats.nr, &op->stats_cap, stream);
}

static void add_final(const struct msg_con_stream *sum, void *data)
{
	add_stats(data, sum);
}

static void take_stream(void *data, struct decoder *dec)
{
	struct op_part *part = data;
	struct msg_con_stream stream;

	if (!dec)
		part->nr = 0;
	if (dec && msg_con_stream_decode(dec, &stream) == 0)
		push_stream(&part->streams, &part->nr, &part->cap, &stream);
}

/* Before the requests for counters. They are known if each consumer has sent its own. */
static void begin_stats(struct op *op)
{
	op->stats.nr = 0;
	op->stats.known = true;
	op->stats.unrecorded = op->run->session->unrecorded;
	for (size_t i = 0; i < RUN_PARTS; i++)
		op->parts[i].nr = 0;
}

/* Closed ring sets are in the session's sums: a consumer knows only those of its own lifetime. They
 * are left out when all consumers have answered: one may be closed after its own has. */
static void join_stats(struct op *op)
{
	const struct run *run = op->run;
	struct domain_ring ring;

	for (const struct op_part *part = op->parts; part < op->parts + RUN_PARTS; part++)
		for (size_t i = 0; i < part->nr; i++)
			if (domains_find_ring(run->config.domains, run->session,
					      part->streams[i].ring, &ring) &&
			    !ring.final)
				add_stats(op, &part->streams[i]);
	if (op->stats.known)
		domains_each_final(run->config.domains, run->session, add_final, op);
}

static void stats_there(void *data, const struct con_answer *answer)
{
	struct op_part *part = data;
	struct op *op = part->op;
	struct rep_con_stats rep;

	/* also where the session is being closed: that command has no such field */
	if (part == &op->parts[RUN_FIRST] && answer->code == 0 &&
	    rep_con_stats_decode(answer->dec, &rep) == 0) {
		op->stats.spooled = rep.spooled;
		op->stats.undurable = rep.undurable;
		op->stats.clock_offset_ns = rep.clock_offset_ns;
		op->stats.clock_error_ns = rep.clock_error_ns;
		snprintf(op->stats.live_url, sizeof(op->stats.live_url), "%s", rep.live_url);
	}
	/* figures of an output that failed are figures, too, also if it has no streams any more, as
	 * the programs that had them have ended */
	if (answer->code && answer->code != ERR_OUTPUT && !part->nr)
		op->stats.known = false;
	if (op->left == 1)
		join_stats(op);
	op_answered(op);
}

static void get_stats(struct op *op)
{
	struct req_con_stats req = { op->run->session->id };
	struct run_part *part;

	begin_stats(op);
	op_each_part(part, op) CONSUMER_CALL(part->consumer, con_stats, &req, take_stream,
					     stats_there, op_part_of(op, part));
}

#define TIMEOUT_US 2000000u

static void stats_timeout(struct loop_timer *timer)
{
	struct op *op = container_of(timer, struct op, timeout);

	op_forget(op);
	op->stats.known = false;
	op_finish(op);
}

static bool any_silent(const struct run *run)
{
	const struct run_part *part;

	run_each_open(part, run) if (consumer_silence(part->consumer)) return true;
	return false;
}

static void get_stats_in_time(struct op *op)
{
	op->stats.known = !op->run->parts[RUN_FIRST].open;
	op->stats.unrecorded = op->run->session->unrecorded;
	if (op->stats.known || any_silent(op->run)) {
		op_next(op);
		return;
	}
	loop_timer_set(&op->timeout, TIMEOUT_US);
	get_stats(op);
}

static const struct step stats_steps[] = { { .begin = get_stats_in_time },
					   { .begin = op_finish } };

static struct op *query_new(struct run *run, run_done done, void *data)
{
	struct op *op = op_new(run, done, data);

	list_append(&run->queries, &op->node);
	loop_timer_init(&op->timeout, run->config.loop, stats_timeout);
	return op;
}

void run_stats(struct run *run, run_done done, void *data)
{
	op_begin(query_new(run, done, data), stats_steps);
}

void run_end_queries(struct run *run)
{
	struct op *op;

	while ((op = list_first(&run->queries, struct op, node))) {
		op_forget(op);
		op->stats.known = false;
		op_finish(op);
	}
}

/* --- flush ----------------------------------------------------------------------- */

static void query_flushed(void *data, const struct con_answer *answer)
{
	struct op *op = ((struct op_part *)data)->op;

	if (answer->code)
		err_set(&op->err, (enum err_code)answer->code, "session '%s': %s",
			op->run->session->name, answer->text);
	op_answered(op);
}

static void request_flush(struct op *op, con_done done)
{
	struct req_con_output_flush req = { op->run->session->id };
	struct run_part *part;

	op_each_part(part, op) CONSUMER_CALL(part->consumer, con_output_flush, &req, NULL, done,
					     op_part_of(op, part));
}

static void flush_query(struct op *op)
{
	request_flush(op, query_flushed);
}

static const struct step flush_steps[] = { { .begin = flush_query },
					   { .begin = get_stats_in_time },
					   { .begin = op_finish } };

void run_flush(struct run *run, run_done done, void *data)
{
	op_begin(query_new(run, done, data), flush_steps);
}

/* --- turn ------------------------------------------------------------------------ */

/* After a failure the name is kept, as a part of the output may have moved. */
static void output_turned(void *data, const struct con_answer *answer)
{
	struct op *op = ((struct op_part *)data)->op;
	struct session *session = op->run->session;
	struct rep_con_turn rep;

	if (answer->code && !op->err.code)
		err_set(&op->err, (enum err_code)answer->code, "session '%s' could not be %s: %s",
			session->name, op->clear ? "cleared" : "rotated", answer->text);
	if (answer->code == 0 && rep_con_turn_decode(answer->dec, &rep) == 0) {
		op->turned.bytes += rep.bytes;
		op->turned.cleared += rep.cleared;
		op->turned.waits |= rep.waits;
	}
	if (--op->left)
		return;
	if (op->err.code) {
		op_end(op);
		return;
	}
	chunk_turned(&session->chunk, session->state == SESSION_RECORDING, realtime_ns(),
		     loop_now_ns());
	run_save(op->run);
	op_next(op);
}

/* All domains of a session are in one directory, so they have one archive; but each consumer
 * removes its own cleared files. The name is saved
 * before: whatever ends meanwhile, the turn is repeated with it until it is done. */
static void request_turn(struct op *op)
{
	const struct session *session = op->run->session;
	char name[TURN_NAME_BYTES];
	struct req_con_turn req = {
		.output = session->id,
		.name = name,
		.clear = chunk_clears(&session->chunk),
	};
	struct run_part *part;

	op->turned = (struct run_turned){ .number = session->chunk.number };
	snprintf(op->turned.name, sizeof(op->turned.name), "%s", session->chunk.turning);
	op_each_part(part, op)
	{
		chunk_turn_name(&session->chunk, (unsigned int)(part - op->run->parts), name);
		CONSUMER_CALL(part->consumer, con_turn, &req, NULL, output_turned,
			      op_part_of(op, part));
	}
}

/* A turn that failed, or that an earlier daemon has begun. One of the same kind is repeated by the
 * next step. */
static void finish_other_turn(struct op *op)
{
	const struct session_chunk *chunk = &op->run->session->chunk;

	if (*chunk->turning && chunk_clears(chunk) != op->clear)
		request_turn(op);
	else
		op_next(op);
}

static void note_rotation(const struct op *op, bool begun)
{
	const struct run *run = op->run;

	if (!op->clear && run->config.rotated)
		run->config.rotated(run->session, begun);
}

static void begin_turn(struct op *op)
{
	struct run *run = op->run;

	if (!*run->session->chunk.turning) {
		chunk_turn(&run->session->chunk, op->clear, realtime_ns());
		note_rotation(op, true);
	}
	run_save(run);
	request_turn(op);
}

/* The size of the next chunk begins here: the turn itself is saved, and only rotation by size needs
 * this as well. */
static void end_turn(struct op *op)
{
	struct run *run = op->run;
	uint64_t bytes = 0;

	for (size_t i = 0; i < op->stats.nr; i++)
		bytes += op->stats.streams[i].bytes;
	if (op->stats.known)
		run->session->chunk.turned_bytes = bytes;
	if (run->session->rotate_size)
		run_save(run);
	if (!op->clear)
		rotation_limit_archives(run);
	rotation_arm(run);
	session_trouble(run->session, TROUBLE_TURN, "");
	run_changed(run);
	note_rotation(op, false);
	op_end(op);
}

static const struct step turn_steps[] = { { .begin = finish_other_turn },
					  { .begin = begin_turn },
					  { .begin = get_stats },
					  { .begin = end_turn } };

/* An event that begins an operation. A turn has no state of its own, and others wait for it. */
static enum session_outcome run_apply_event(struct run *run, enum session_event event)
{
	if (run->op && run->op->steps == turn_steps)
		return SESSION_LATER;
	return session_apply_event(run->session, event, loop_now_ns());
}

enum session_outcome run_turn(struct run *run, bool clear, run_done done, void *data)
{
	if (run->op)
		return SESSION_LATER;
	run->op = op_new(run, done, data);
	run->op->clear = clear;
	op_begin(run->op, turn_steps);
	return SESSION_DONE;
}

void run_finish_turn(struct run *run)
{
	const struct session_chunk *chunk = &run->session->chunk;

	if (*chunk->turning && run_output_open(run))
		(void)run_turn(run, chunk_clears(chunk), rotation_finished, run);
}

/* --- start ----------------------------------------------------------------------- */

static void state_reached(struct run *run, enum session_event event)
{
	session_apply_event(run->session, event, loop_now_ns());
	run_save(run);
	run_changed(run);
}

/* Until the next attempt, `status` has the reason. */
static void start_failed(struct op *op, const char *why)
{
	char text[sizeof(op->run->session->troubles[0])];

	snprintf(text, sizeof(text), "it could not be started: %s", why);
	session_trouble(op->run->session, TROUBLE_START, text);
	op_fail(op);
}

static void output_opened(void *data, const struct con_answer *answer)
{
	struct op *op = data;

	if (answer->code == 0) {
		run_on_output_opened(&op->run->parts[RUN_FIRST], answer);
		op_next(op);
		return;
	}
	err_set(&op->err, (enum err_code)answer->code, "session '%s' can't record: %s",
		op->run->session->name, answer->text);
	op->run->session->relay_down = true;
	start_failed(op, answer->text);
}

static void start_output(struct op *op)
{
	if (run_output_open(op->run))
		op_next(op);
	else
		run_open_output(&op->run->parts[RUN_FIRST], false, output_opened, op);
}

/* Without an output there is no trace. */
static void undo_start(struct op *op)
{
	state_reached(op->run, run_output_open(op->run) ? SESSION_EV_STOPPED : SESSION_EV_REFUSED);
}

static void tracers_started(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct op *op = data;

	op->apps = apps;
	op->late = late;
	if (problem) {
		op->err = *problem;
		start_failed(op, problem->text);
	} else {
		op_next(op);
	}
}

static void start_tracers(struct op *op)
{
	struct run *run = op->run;

	if (!run->clock_known)
		clock_facts(run->config.clock, &run->clock);
	run->clock_known = true;
	run_clock_pair(run);
	domains_start(run->config.domains, run->session, &run->clock, tracers_started, op);
}

static void undo_tracers(struct op *op)
{
	domains_stop(op->run->config.domains, op->run->session, NULL, NULL);
}

static void end_start(struct op *op)
{
	state_reached(op->run, SESSION_EV_STARTED);
	rotation_arm(op->run);
	op_end(op);
}

static const struct step start_steps[] = {
	{ .begin = start_output, .undo = undo_start },
	{ .begin = start_tracers, .undo = undo_tracers },
	{ .begin = end_start },
};

enum session_outcome run_start(struct run *run, run_done done, void *data)
{
	enum session_outcome outcome = run_apply_event(run, SESSION_EV_START);

	if (outcome != SESSION_DONE)
		return outcome;
	run->session->drained = false;
	chunk_record(&run->session->chunk, realtime_ns(), loop_now_ns());
	session_trouble(run->session, TROUBLE_START, "");
	run->session->relay_down = run_output_open(run) && run->session->relay_down;
	run->op = op_new(run, done, data);
	op_begin(run->op, start_steps);
	return SESSION_DONE;
}

/* --- stop -------------------------------------------------------------------------- */

/* The session's state once all is done. */
static const char *ending(const struct op *op)
{
	return op->run->session->state == SESSION_DESTROYING ? "destroyed" : "stopped";
}

/* No consumer can be started: the data of a session that is to be destroyed stays there. */
static bool is_kept(const struct op *op, int code)
{
	return code == ERR_CONSUMER && op->run->session->state == SESSION_DESTROYING;
}

static void unwritten(struct op *op, const struct con_answer *answer)
{
	const char *name = op->run->session->name;

	if (is_kept(op, answer->code))
		err_set(&op->err, ERR_CONSUMER,
			"session '%s' is stopped, and not destroyed, as its data can't be written: "
			"%s; destroy it again when that is mended",
			name, answer->text);
	else
		err_set(&op->err, (enum err_code)answer->code,
			"session '%s' is %s, but not all of its data could be written: %s", name,
			ending(op), answer->text);
}

static void flushed(void *data, const struct con_answer *answer)
{
	struct op *op = ((struct op_part *)data)->op;

	if (answer->code && !op->err.code)
		unwritten(op, answer);
	op_answered(op);
}

/* Of applications and the kernel; @problem: of recording, which is over. */
static void tracers_answered(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	(void)apps, (void)late, (void)problem;
	op_next(data);
}

/* Nothing is in flight then: the buffers have their final contents. */
static void stop_tracers(struct op *op)
{
	domains_stop(op->run->config.domains, op->run->session, tracers_answered, op);
}

static void count_not_sampled(struct op *op)
{
	if (op->run->session->sampled)
		get_stats(op);
	else
		op_next(op);
}

static void write_not_sampled(struct op *op)
{
	const struct run *run = op->run;

	if (run->session->sampled)
		domains_write_not_sampled(run->config.domains, run->session, op->stats.streams,
					  op->stats.nr, tracers_answered, op);
	else
		op_next(op);
}

static void flush_rest(struct op *op)
{
	request_flush(op, flushed);
}

/* The first steps of a stop and of the end of a session: all data is written. */
#define WIND_UP                                                    \
	{ .begin = stop_tracers }, { .begin = count_not_sampled }, \
		{ .begin = write_not_sampled }, { .begin = flush_rest }

static bool is_drained(const struct op *op)
{
	uint64_t waiting = 0;

	for (size_t i = 0; i < op->stats.nr; i++)
		waiting += op->stats.streams[i].waiting;
	return op->stats.known && !op->err.code && !waiting;
}

static void end_stop(struct op *op)
{
	op->run->session->drained = is_drained(op);
	state_reached(op->run, SESSION_EV_STOPPED);
	op_end(op);
}

static const struct step stop_steps[] = { WIND_UP, { .begin = get_stats }, { .begin = end_stop } };

enum session_outcome run_stop(struct run *run, run_done done, void *data)
{
	enum session_outcome outcome = run_apply_event(run, SESSION_EV_STOP);

	if (outcome != SESSION_DONE)
		return outcome;
	run_clock_pair(run);
	run->op = op_new(run, done, data);
	op_begin(run->op, stop_steps);
	return SESSION_DONE;
}

/* --- destroy ------------------------------------------------------------------------ */

static void end_destroy(struct op *op)
{
	const struct run_result result = { &op->err, op->apps, op->late, &op->stats, &op->turned };
	struct run *run = op->run;

	if (!op->err.code && *run->session->troubles[TROUBLE_BUFFERS])
		err_set(&op->err, ERR_CONSUMER, "%s", run->session->troubles[TROUBLE_BUFFERS]);
	if (run->op == op)
		run->op = NULL;
	if (run->config.destroyed)
		run->config.destroyed(run->session, &result);
	run_free(run);
	op_finish(op);
}

static void output_closed(void *data, const struct con_answer *answer)
{
	struct op_part *part = data;
	struct op *op = part->op;

	op->run->parts[part - op->parts].open = false;
	if (answer->code && !op->err.code)
		unwritten(op, answer);
	stats_there(part, answer);
}

/* Its last counters: unwritten records are lost now. Unless no consumer can be started. */
static void close_output(struct op *op)
{
	struct req_con_output_close req = { op->run->session->id };
	struct run_part *part;

	if (is_kept(op, (int)op->err.code)) {
		state_reached(op->run, SESSION_EV_STOPPED);
		op_end(op);
		return;
	}
	begin_stats(op);
	op_each_part(part, op)
		CONSUMER_CALL(part->consumer, con_output_close, &req, take_stream,
			      output_closed, op_part_of(op, part));
}

static const struct step destroy_steps[] = { WIND_UP,
					     { .begin = close_output },
					     { .begin = end_destroy } };

enum session_outcome run_destroy(struct run *run, run_done done, void *data)
{
	bool recording = run->session->state == SESSION_RECORDING;
	enum session_outcome outcome = run_apply_event(run, SESSION_EV_DESTROY);

	if (outcome != SESSION_DONE)
		return outcome;
	if (recording)
		run_clock_pair(run);
	else /* it was reported by the stop */
		session_trouble(run->session, TROUBLE_BUFFERS, "");
	run->op = op_new(run, done, data);
	if (run_output_open(run)) {
		op_begin(run->op, destroy_steps);
	} else {
		run->op->stats.known = true;
		end_destroy(run->op);
	}
	return SESSION_DONE;
}
