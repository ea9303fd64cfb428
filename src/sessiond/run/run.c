/* SPDX-License-Identifier: GPL-2.0-only */
#include "priv.h"

#include <stdio.h>

#include "base/mem.h"
#include "rotation.h"
#include "trace/clock_watch.h"
#include "trace/metadata.h"

struct idle_callback {
	struct list_node node;
	void (*done)(void *data);
	void *data;
};

static void run_wake(struct loop_work *work)
{
	struct run *run = container_of(work, struct run, wake);
	struct list_node list;
	struct idle_callback *callback;

	/* a callback may call run_when_idle() again, or free the run: take the list off first */
	list_init(&list);
	while ((callback = list_first(&run->idle_callbacks, struct idle_callback, node))) {
		list_remove(&callback->node);
		list_append(&list, &callback->node);
	}
	while ((callback = list_first(&list, struct idle_callback, node))) {
		list_remove(&callback->node);
		callback->done(callback->data);
		free(callback);
	}
}

void run_when_idle(struct run *run, void (*done)(void *data), void *data)
{
	struct idle_callback *callback = xalloc(sizeof(*callback));

	callback->done = done;
	callback->data = data;
	list_append(&run->idle_callbacks, &callback->node);
	if (!run->op)
		loop_defer(run->config.loop, &run->wake);
}

void run_save(struct run *run)
{
	if (run->config.save)
		run->config.save(run->session);
}

void run_changed(const struct run *run)
{
	if (run->config.changed)
		run->config.changed(run->session);
}

struct run *run_new(const struct run_config *config, struct consumer *consumer,
		    struct sessions *sessions, struct session *session, int outdir)
{
	struct run *run = xalloc(sizeof(*run));

	run->config = *config;
	run->parts[RUN_FIRST] = (struct run_part){ .run = run, .consumer = consumer };
	run->parts[RUN_KERNEL] = (struct run_part){ .run = run };
	run->sessions = sessions;
	run->session = session;
	run->outdir = outdir;
	run->doorbell = -1;
	if (outdir >= 0 && dirid_of(outdir, &run->dir) < 0)
		run->dir = (struct dirid){ 0 }; /* then it is not found again */
	list_init(&run->queries);
	list_init(&run->idle_callbacks);
	loop_work_init(&run->wake, run_wake);
	rotation_init(run);
	session->run = run;
	return run;
}

struct sessions *run_sessions(struct run *run)
{
	return run->sessions;
}

struct consumer *run_consumer(const struct run *run, enum domain_id domain)
{
	const struct run_part *kernel = &run->parts[RUN_KERNEL];

	return domain == DOMAIN_KERNEL && kernel->consumer ? kernel->consumer :
							     run->parts[RUN_FIRST].consumer;
}

bool run_uses(const struct run *run, const struct consumer *consumer)
{
	return run->parts[RUN_FIRST].consumer == consumer ||
	       run->parts[RUN_KERNEL].consumer == consumer;
}

bool run_is_busy(const struct run *run)
{
	return run->op != NULL;
}

bool run_waits(const struct run *run)
{
	return run->op || !list_empty(&run->queries);
}

struct session *run_session(struct run *run)
{
	return run->session;
}

/* A new consumer may have been requested to open the output while it was closed at the last one. */
static void close_part(const struct run_part *part)
{
	struct req_con_output_close req = { part->run->session->id };
	bool opens = part->consumer && consumer_forget(part->consumer, part);

	if (opens || part->open)
		CONSUMER_CALL(part->consumer, con_output_close, &req, NULL, NULL, NULL);
}

void run_free(struct run *run)
{
	uint64_t id = run->session->id;
	struct run_part *part;

	/* first of all: a successor must not search for descriptors that the keeper releases */
	if (run->config.discard)
		run->config.discard(run->session);
	domains_forget(run->config.domains, run->session);
	rotation_fini(run);
	for (part = run->parts; part < run->parts + RUN_PARTS; part++)
		close_part(part);
	if (run->op)
		op_free(run->op);
	session_free(run->sessions, run->session);
	run_end_queries(run);
	run_wake(&run->wake);
	loop_work_cancel(&run->wake);
	if ((run->outdir >= 0 || run->doorbell >= 0) && run->config.keeper)
		keeper_drop(run->config.keeper, "output", id);
	close_fd(run->outdir);
	close_fd(run->doorbell);
	for (part = run->parts; part < run->parts + RUN_PARTS; part++)
		if (part->consumer && run->config.released)
			run->config.released(part->consumer);
	free(run);
}

void run_restore(struct run *run, const struct clock_facts *clock, int doorbell, bool output_open,
		 bool kernel_open, const struct dirid *dir)
{
	struct run_part *kernel = &run->parts[RUN_KERNEL];

	run->dir = *dir;
	run->doorbell = doorbell;
	run->parts[RUN_FIRST].open = output_open;
	if (kernel_open && run->session->kernel_consumer && run->config.kernel_consumer) {
		kernel->consumer = run->config.kernel_consumer(run->session);
		kernel->open = true;
	}
	run->clock_known = clock != NULL;
	if (clock)
		run->clock = *clock;
	rotation_arm(run);
}

const struct clock_facts *run_clock(const struct run *run)
{
	return run->clock_known ? &run->clock : NULL;
}

/* @remark: is freed. */
static void run_clock_remark(struct run *run, char *remark)
{
	if (remark)
		domains_clock_remark(run->config.domains, run->session, remark);
	free(remark);
}

bool run_clock_changed(struct run *run, const struct clock_change *change)
{
	uint64_t before = run->clock.clock_add;
	bool noted = clock_apply(&run->clock, change);
	struct run_part *part;

	if (run->clock.clock_add != before)
		run_each_open(part, run)
		{
			struct req_con_clock_add req = { run->session->id, run->clock.clock_add };

			CONSUMER_CALL(part->consumer, con_clock_add, &req, NULL, NULL, NULL);
		}
	if (noted)
		run_clock_remark(run, metadata_clock(&run->clock.changed));
	run_save(run);
	run_changed(run);
	return noted;
}

bool run_clock_set(struct run *run)
{
	const int64_t least_ns = 1000000; /* less is the error of the readings */
	int64_t by_ns = run->clock_known && run->clock.wall_ns ?
				clock_wall_ns() - run->clock.wall_ns - run->clock.set_ns :
				0;

	if (by_ns < least_ns && by_ns > -least_ns)
		return false;
	run->clock.set_ns += by_ns;
	run_clock_remark(run, metadata_clock_set(run->clock.set_ns));
	run_save(run);
	run_changed(run);
	return true;
}

void run_clock_pair(struct run *run)
{
	struct clock_pair pair;

	if (!run->clock_known || run->clock.kind != LTT_CLOCK_MONOTONIC)
		return;
	clock_pair(run->config.clock, &pair);
	if (!pair.width)
		return;
	if (!run->clock.pair.width)
		run->first_pair = pair.value;
	run->clock.pair = pair;
	run_clock_remark(run, metadata_clock_pair(&pair));
}

/* Each pair is as long after the one before as that one was after the first. */
uint64_t run_clock_pair_if_due(struct run *run)
{
	const struct clock_pair *last = &run->clock.pair;
	uint64_t now = clock_monotonic_ns(), due;

	if (run->clock.kind != LTT_CLOCK_MONOTONIC)
		return UINT64_MAX;
	due = last->value +
	      MAX(MIN(last->value - run->first_pair, CLOCK_PAIR_MOST_NS), CLOCK_PAIR_LEAST_NS);
	if (last->width && now < due)
		return due - now;
	run_clock_pair(run);
	return last->width ? CLOCK_PAIR_LEAST_NS : UINT64_MAX;
}

int run_outdir(const struct run *run)
{
	return run->outdir;
}

const struct dirid *run_dir(const struct run *run)
{
	return &run->dir;
}

int run_doorbell(const struct run *run)
{
	return run->doorbell;
}

bool run_output_open(const struct run *run)
{
	return run->parts[RUN_FIRST].open;
}

bool run_kernel_open(const struct run *run)
{
	return run->parts[RUN_KERNEL].open;
}

void run_halt(struct run *run)
{
	domains_stop(run->config.domains, run->session, NULL, NULL);
}

void run_trouble(struct run *run, enum trouble trouble, const char *text)
{
	session_trouble(run->session, trouble, text);
	run_changed(run);
	domains_retry(run->config.domains, run->session);
}
