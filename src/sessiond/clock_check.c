/* SPDX-License-Identifier: GPL-2.0-only */
#include "clock_check.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "trace/metadata.h"

#define CHECK_US 3000000u
#define AGAIN_US (WATCH_AGAIN_NS / 1000 + 100000)

static bool has_counter(const struct session *session)
{
	const struct clock_facts *facts = run_clock(session->run);

	return facts && facts->kind == LTT_CLOCK_CYCLES && facts->freq_hz;
}

/* Whether a session records, @by_counter: with the counter as its clock. */
static bool is_needed(const struct sessiond *sd, bool by_counter)
{
	const struct session *session;

	list_for_each(session, &sd->sessions.list, node)
		if (session->state == SESSION_RECORDING && (!by_counter || has_counter(session)))
			return true;
	return false;
}

/* Return: ns until a session needs the next pair. */
static uint64_t note_pairs(struct sessiond *sd)
{
	struct session *session;
	uint64_t soonest = CLOCK_PAIR_MOST_NS;

	list_for_each(session, &sd->sessions.list, node) {
		if (session->state == SESSION_RECORDING) {
			uint64_t due = run_clock_pair_if_due(session->run);

			soonest = MIN(soonest, due);
		}
	}
	return soonest;
}

static void log_change(const struct clock_change *change, unsigned int nr)
{
	const struct clock_segment segment = {
		.cause = change->cause,
		.jump_ns = change->jump_ns,
		.freq_hz = change->hz,
		.old_hz = change->old_hz,
	};
	char text[160];

	clock_describe(&segment, text, sizeof(text));
	if (change->cause == CLOCK_STOPPED)
		log_info("clock: the cycle counter %s", text);
	else
		log_warn("clock: the cycle counter %s, between %llu and %llu ns of "
			 "CLOCK_MONOTONIC_RAW; it is noted in the traces of %u session%s",
			 text, (unsigned long long)change->good.ns,
			 (unsigned long long)change->found.ns, nr, nr == 1 ? "" : "s");
}

static void clock_check_changed(struct sessiond *sd, const struct clock_change *change)
{
	struct session *session;
	unsigned int nr = 0;

	if (change->cause == CLOCK_RATE && sd->clock.kind == LTT_CLOCK_CYCLES) {
		sd->clock.known_hz = change->hz;
		snprintf(sd->clock.source, sizeof(sd->clock.source),
			 "frequency measured against CLOCK_MONOTONIC_RAW, as it has changed");
	}
	list_for_each(session, &sd->sessions.list, node) {
		if (!has_counter(session))
			continue;
		nr += run_clock_changed(session->run, change);
	}
	if (nr)
		log_change(change, nr);
}

/* A measured frequency becomes more exact with time, at first. */
static void expect_rate(struct sessiond *sd)
{
	bool is_counter = sd->clock.kind == LTT_CLOCK_CYCLES;

	if (is_counter && (!sd->watch.hz || !sd->clock.known_hz))
		sd->watch = (struct clock_watch){ .hz = clock_hz(&sd->clock) };
}

static void clock_check_read(struct sessiond *sd)
{
	uint64_t pair_us = note_pairs(sd) / 1000 + 1, again_us;
	struct watch_reading now;
	struct clock_change change;
	enum watch_verdict verdict;

	expect_rate(sd);
	/* the saved state may be damaged: a session with a counter of which no rate is known */
	if (!is_needed(sd, true) || !sd->watch.hz) {
		loop_timer_set(&sd->clock_check, pair_us);
		return;
	}
	now = watch_read();
	verdict = watch_step(&sd->watch, &now, &change);
	again_us = verdict == WATCH_SUSPECT ? AGAIN_US : CHECK_US;
	loop_timer_set(&sd->clock_check, MIN(again_us, pair_us));
	if (verdict == WATCH_CHANGED)
		clock_check_changed(sd, &change);
}

static void clock_check_expired(struct loop_timer *timer)
{
	struct sessiond *sd = container_of(timer, struct sessiond, clock_check);

	if (is_needed(sd, false))
		clock_check_read(sd);
}

/* Cancelled, or, in a far future, expired. Return: 0 or -1. */
static int clock_check_arm(int fd)
{
	const struct itimerspec never = { .it_value = { .tv_sec = INT32_MAX } };

	return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

static void clock_check_time_set(struct loop_fd *source, uint32_t events)
{
	struct sessiond *sd = container_of(source, struct sessiond, time_set);
	struct session *session;
	unsigned int nr = 0;
	uint64_t times;

	(void)events;
	(void)!read(source->fd, &times, sizeof(times));
	(void)!clock_check_arm(source->fd);
	list_for_each(session, &sd->sessions.list, node)
		nr += run_clock_set(session->run);
	if (nr)
		log_info("clock: the time of day was set; it is noted in the traces of %u session%s",
			 nr, nr == 1 ? "" : "s");
}

/* Without it, times are those of the clock as it was at the start of a session. */
static void clock_check_watch_time(struct sessiond *sd)
{
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && clock_check_arm(fd) == 0 &&
	    loop_fd_init(&sd->time_set, sd->loop, fd, EPOLLIN, clock_check_time_set) == 0)
		return;
	close_fd(fd);
	log_warn("clock: a change of the time of day will not be noted");
}

void clock_check_init(struct sessiond *sd)
{
	loop_timer_init(&sd->clock_check, sd->loop, clock_check_expired);
	clock_check_watch_time(sd);
}

void clock_check_fini(struct sessiond *sd)
{
	int fd = sd->time_set.loop ? sd->time_set.fd : -1;

	loop_timer_cancel(&sd->clock_check);
	loop_fd_fini(&sd->time_set);
	close_fd(fd);
}

void clock_check_begin(struct sessiond *sd)
{
	bool pairs = sd->clock.kind != LTT_CLOCK_CYCLES; /* a new session's are due sooner */

	if ((pairs || !sd->clock_check.at_ns) && is_needed(sd, false))
		clock_check_read(sd);
}

void clock_check_restore(struct sessiond *sd, const struct clock_facts *facts,
			 const struct watch_reading *last)
{
	if (facts->kind != LTT_CLOCK_CYCLES || !facts->freq_hz || last->ns <= sd->watch.last.ns)
		return;
	sd->watch = (struct clock_watch){
		.hz = facts->nr_changes ? facts->changed.freq_hz : facts->freq_hz,
		.anchor = *last,
		.last = *last,
	};
	if (sd->clock.kind == LTT_CLOCK_CYCLES)
		sd->clock.known_hz = sd->watch.hz;
}

void clock_check_restored(struct sessiond *sd)
{
	struct session *session;

	list_for_each(session, &sd->sessions.list, node)
		run_clock_set(session->run);
}

void clock_check_sentence(const struct clock_facts *facts, char *buf, size_t len)
{
	char how[160], when[32];
	const char *then = "times before and after are right";

	*buf = '\0';
	if (!facts || !facts->nr_changes || facts->changed.cause == CLOCK_STOPPED)
		return;
	clock_describe(&facts->changed, how, sizeof(how));
	metadata_datetime(facts->changed_ns, when, sizeof(when));
	if (clock_went_back(&facts->changed))
		then = "times before and after are right, but for the seconds until it was found";
	if (facts->nr_changes > CLOCK_CHANGES_MAX)
		then = "it is the last one of 1,024 that were noted, and later times can be wrong; "
		       "record into another session";
	snprintf(buf, len, "%s at about %s; %s", how, when, then);
}
