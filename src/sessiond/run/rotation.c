/* SPDX-License-Identifier: GPL-2.0-only */
#include "rotation.h"

#include <stdio.h>
#include <time.h>

#include "base/macros.h"
#include "priv.h"

#define SIZE_CHECK_US 1000000u /* as LTTng's monitor timer */
#define BUSY_US 100000u	       /* until an operation has perhaps ended */
#define RETRY_US 10000000u     /* after a rotation that failed */

int rotation_check(const struct session *session, struct err *err)
{
	if (session->snapshots)
		return err_set(err, ERR_UNSUPPORTED,
			       "session '%s' writes only snapshots, each to a directory of its "
			       "own: it can't be rotated",
			       session->name);
	if (!*session->path && !*session->relay)
		return err_set(err, ERR_INVALID,
			       "session '%s' has no output to rotate (--no-output)", session->name);
	return 0;
}

/* --- archives --------------------------------------------------------------------- */

static void archives_removed(void *data, const struct con_answer *answer)
{
	struct run *run = container_of((struct loop_timer *)data, struct run, rotation);
	struct rep_con_archive_remove rep;

	if (answer->code || rep_con_archive_remove_decode(answer->dec, &rep) < 0)
		return; /* the next rotation tries it again */
	if (run->session->chunk.archives == rep.archives)
		return;
	run->session->chunk.archives = rep.archives;
	run_save(run);
}

/* Archives that ended before this time are removed; 0: none. */
static uint64_t oldest_s(uint64_t keep_us)
{
	uint64_t now = (uint64_t)time(NULL), keep_s = keep_us / 1000000u;

	return keep_us && keep_s < now ? now - keep_s : 0;
}

void rotation_limit_archives(struct run *run)
{
	const struct session *session = run->session;
	const struct req_con_archive_remove req = {
		.output = session->id,
		.most = session->keep_archives,
		.since_s = oldest_s(session->keep_us),
		.max_size = session->keep_size,
	};

	if (!session->keep_us && !req.max_size && session->chunk.archives <= req.most)
		return; /* many archives take time to be read */
	if (!req.most && !session->keep_us && !req.max_size)
		return;
	consumer_forget(run->parts[RUN_FIRST].consumer, &run->rotation);
	CONSUMER_CALL(run->parts[RUN_FIRST].consumer, con_archive_remove, &req, NULL,
		      archives_removed, &run->rotation);
}

/* --- the schedule ------------------------------------------------------------------- */

static bool is_due(const struct session *session)
{
	return session->rotate_us &&
	       loop_now_ns() >= session->chunk.turned_ns + session->rotate_us * 1000;
}

void rotation_finished(void *data, const struct run_result *result)
{
	struct run *run = data;
	char text[sizeof(run->session->troubles[0])];

	if (!result->err->code)
		return;
	snprintf(text, sizeof(text), "%.300s; this is retried", result->err->text);
	loop_timer_set(&run->rotation, RETRY_US);
	run_trouble(run, TROUBLE_TURN, text);
}

static void rotate_now(struct run *run)
{
	if (run_turn(run, false, rotation_finished, run) != SESSION_DONE)
		loop_timer_set(&run->rotation, BUSY_US);
}

static void size_known(void *data, const struct run_result *result)
{
	struct run *run = data;
	const struct session *session = run->session;
	uint64_t bytes = 0;

	for (size_t i = 0; i < result->stats->nr; i++)
		bytes += result->stats->streams[i].bytes;
	if (result->stats->known && session->rotate_size && session->state == SESSION_RECORDING &&
	    bytes >= session->chunk.turned_bytes + session->rotate_size)
		rotate_now(run);
	else
		rotation_arm(run);
}

static void rotation_expired(struct loop_timer *timer)
{
	struct run *run = container_of(timer, struct run, rotation);

	if (run->session->state != SESSION_RECORDING)
		return; /* its next start sets the timer again */
	if (is_due(run->session))
		rotate_now(run);
	else if (run->session->rotate_size)
		run_stats(run, size_known, run);
	else
		rotation_arm(run);
}

void rotation_arm(struct run *run)
{
	const struct session *session = run->session;
	uint64_t now = loop_now_ns(), due = UINT64_MAX;

	loop_timer_cancel(&run->rotation);
	if (session->state != SESSION_RECORDING || (!session->rotate_us && !session->rotate_size))
		return;
	if (session->rotate_us)
		due = session->chunk.turned_ns + session->rotate_us * 1000;
	due = due > now ? (due - now) / 1000 + 1 : 0;
	loop_timer_set(&run->rotation, session->rotate_size ? MIN(due, SIZE_CHECK_US) : due);
}

void rotation_init(struct run *run)
{
	loop_timer_init(&run->rotation, run->config.loop, rotation_expired);
}

void rotation_fini(struct run *run)
{
	loop_timer_cancel(&run->rotation);
	if (run->parts[RUN_FIRST].consumer)
		consumer_forget(run->parts[RUN_FIRST].consumer, &run->rotation);
}
