/* SPDX-License-Identifier: GPL-2.0-only */
/* run_ops.c - figures, start, stop, destroy: each an operation of several steps, whose
 * answers come through the loop. */
#include "run_priv.h"

#include <stdio.h>

#include "base/mem.h"

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
	struct run_result result = { &op->err, op->apps, op->late, &op->stats };

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
		op->then(op);
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

static void run_ops_add_stream(void *data, struct decoder *dec)
{
	struct op_part *part = data;
	struct msg_con_stream stream;

	if (!dec)
		part->nr = 0;
	if (dec && msg_con_stream_decode(dec, &stream) == 0)
		push_stream(&part->streams, &part->nr, &part->cap, &stream);
}

/* Before the requests for counters. They are known if each consumer has sent its own. */
static void begin_stats(struct op *op, void (*then)(struct op *op))
{
	op->then = then;
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
		op->stats.clock_offset_ns = rep.clock_offset_ns;
		op->stats.clock_error_ns = rep.clock_error_ns;
	}
	/* figures of an output that failed are figures, too, also if it has no streams any more, as
	 * the programs that had them have ended */
	if (answer->code && answer->code != ERR_OUTPUT && !part->nr)
		op->stats.known = false;
	if (op->left == 1)
		join_stats(op);
	op_answered(op);
}

static void get_stats(struct op *op, void (*then)(struct op *op))
{
	struct req_con_stats req = { op->run->session->id };
	struct run_part *part;

	begin_stats(op, then);
	op_each_part(part, op) CONSUMER_CALL(part->consumer, con_stats, &req, run_ops_add_stream,
					     stats_there, op_part_of(op, part));
}

#define TIMEOUT_US 2000000u

static void run_ops_on_timeout(struct loop_timer *timer)
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
		op_finish(op);
		return;
	}
	loop_timer_set(&op->timeout, TIMEOUT_US);
	get_stats(op, op_finish);
}

static struct op *query_new(struct run *run, run_done done, void *data)
{
	struct op *op = op_new(run, done, data);

	list_append(&run->queries, &op->node);
	loop_timer_init(&op->timeout, run->config.loop, run_ops_on_timeout);
	return op;
}

void run_stats(struct run *run, run_done done, void *data)
{
	get_stats_in_time(query_new(run, done, data));
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

void run_flush(struct run *run, run_done done, void *data)
{
	struct op *op = query_new(run, done, data);

	op->then = get_stats_in_time;
	request_flush(op, query_flushed);
}

/* --- start ----------------------------------------------------------------------- */

static void run_ops_finish(struct run *run, enum session_event event)
{
	session_apply_event(run->session, event, loop_now_ns());
	run_save(run);
	run_changed(run);
}

/* Until the next attempt, `status` has the reason. */
static void run_ops_refuse(struct op *op, const char *why, enum session_event event)
{
	char text[sizeof(op->run->session->troubles[0])];

	snprintf(text, sizeof(text), "it could not be started: %s", why);
	session_trouble(op->run->session, TROUBLE_START, text);
	run_ops_finish(op->run, event);
}

static void run_ops_on_started(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct op *op = data;
	struct run *run = op->run;

	op->apps = apps;
	op->late = late;
	if (problem) {
		op->err = *problem;
		domains_stop(run->config.domains, run->session, NULL, NULL);
		run_ops_refuse(op, problem->text, SESSION_EV_STOPPED);
	} else {
		run_ops_finish(run, SESSION_EV_STARTED);
	}
	op_end(op);
}

static void start_tracers(struct op *op)
{
	struct run *run = op->run;

	if (!run->clock_known)
		clock_facts(run->config.clock, &run->clock);
	run->clock_known = true;
	run_clock_pair(run);
	domains_start(run->config.domains, run->session, &run->clock, run_ops_on_started, op);
}

static void output_opened(void *data, const struct con_answer *answer)
{
	struct op *op = data;

	if (answer->code == 0) {
		run_on_output_opened(&op->run->parts[RUN_FIRST], answer);
		start_tracers(op);
		return;
	}
	err_set(&op->err, (enum err_code)answer->code, "session '%s' can't record: %s",
		op->run->session->name, answer->text);
	op->run->session->relay_down = true;
	run_ops_refuse(op, answer->text, SESSION_EV_REFUSED); /* there is no trace */
	op_end(op);
}

enum session_outcome run_start(struct run *run, run_done done, void *data)
{
	enum session_outcome outcome =
		session_apply_event(run->session, SESSION_EV_START, loop_now_ns());

	if (outcome != SESSION_DONE)
		return outcome;
	run->session->drained = false;
	session_trouble(run->session, TROUBLE_START, "");
	run->session->relay_down = run_output_open(run) && run->session->relay_down;
	run->op = op_new(run, done, data);
	if (run_output_open(run))
		start_tracers(run->op);
	else
		run_open_output(&run->parts[RUN_FIRST], false, output_opened, run->op);
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

static void run_ops_flush(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct op *op = data;

	(void)apps, (void)late, (void)problem;
	op->then = op->after;
	request_flush(op, flushed);
}

static void run_ops_write_not_sampled(struct op *op)
{
	const struct domains *domains = op->run->config.domains;

	domains_write_not_sampled(domains, op->run->session, op->stats.streams, op->stats.nr,
				  run_ops_flush, op);
}

/* Nothing is in flight: the buffers now have their final contents. */
static void quiet(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct op *op = data;

	(void)apps;
	(void)late;
	(void)problem; /* of recording, which is over */
	if (op->run->session->sampled)
		get_stats(op, run_ops_write_not_sampled);
	else
		run_ops_flush(op, 0, 0, NULL);
}

/* Stop recording, write all data, then call @then. */
static void wind_up(struct op *op, void (*then)(struct op *op))
{
	struct run *run = op->run;

	op->after = then;
	domains_stop(run->config.domains, run->session, quiet, op);
}

static bool is_drained(const struct op *op)
{
	uint64_t waiting = 0;

	for (size_t i = 0; i < op->stats.nr; i++)
		waiting += op->stats.streams[i].waiting;
	return op->stats.known && !op->err.code && !waiting;
}

static void run_ops_on_stopped(struct op *op)
{
	op->run->session->drained = is_drained(op);
	run_ops_finish(op->run, SESSION_EV_STOPPED);
	op_end(op);
}

static void last_figures(struct op *op)
{
	get_stats(op, run_ops_on_stopped);
}

enum session_outcome run_stop(struct run *run, run_done done, void *data)
{
	enum session_outcome outcome =
		session_apply_event(run->session, SESSION_EV_STOP, loop_now_ns());

	if (outcome != SESSION_DONE)
		return outcome;
	run_clock_pair(run);
	run->op = op_new(run, done, data);
	wind_up(run->op, last_figures);
	return SESSION_DONE;
}

/* --- destroy ------------------------------------------------------------------------ */

static void run_ops_on_destroyed(struct op *op)
{
	const struct run_result result = { &op->err, op->apps, op->late, &op->stats };
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

/* Its last counters: unwritten records are lost now. */
static void close_output(struct op *op)
{
	struct req_con_output_close req = { op->run->session->id };
	struct run_part *part;

	begin_stats(op, run_ops_on_destroyed);
	op_each_part(part, op)
		CONSUMER_CALL(part->consumer, con_output_close, &req, run_ops_add_stream,
			      output_closed, op_part_of(op, part));
}

static void close_or_keep(struct op *op)
{
	if (!is_kept(op, (int)op->err.code)) {
		close_output(op);
		return;
	}
	run_ops_finish(op->run, SESSION_EV_STOPPED);
	op_end(op);
}

static void destroy_unopened(void *data)
{
	struct op *op = data;

	op->stats.known = true;
	run_ops_on_destroyed(op);
}

enum session_outcome run_destroy(struct run *run, run_done done, void *data)
{
	bool recording = run->session->state == SESSION_RECORDING;
	enum session_outcome outcome =
		session_apply_event(run->session, SESSION_EV_DESTROY, loop_now_ns());
	struct op *op;

	if (outcome != SESSION_DONE)
		return outcome;
	if (recording)
		run_clock_pair(run);
	else /* it was reported by the stop */
		session_trouble(run->session, TROUBLE_BUFFERS, "");
	op = run->op = op_new(run, done, data);
	if (run_output_open(run))
		wind_up(op, close_or_keep);
	else
		destroy_unopened(op);
	return SESSION_DONE;
}
