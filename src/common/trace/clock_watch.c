/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clock_watch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/macros.h"
#include "counter.h"

#define NSEC 1000000000ull
#define MSEC 1000000ull

/* --- readings -------------------------------------------------------------------------------- */

static uint64_t watch_clock_ns(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

/* The narrowest of several tries: the others were interrupted. So was the one between
 * CLOCK_MONOTONIC and CLOCK_BOOTTIME whose difference is larger than another one's. */
struct watch_reading watch_read(void)
{
	struct watch_reading best = { .asleep_ns = UINT64_MAX, .width_ns = UINT64_MAX };

	for (int i = 0; i < 16; i++) {
		uint64_t monotonic = watch_clock_ns(CLOCK_MONOTONIC);
		uint64_t asleep = watch_clock_ns(CLOCK_BOOTTIME) - monotonic;
		uint64_t before = watch_clock_ns(CLOCK_MONOTONIC_RAW);
		uint64_t cycles = counter_here(0);
		uint64_t after = watch_clock_ns(CLOCK_MONOTONIC_RAW);

		best.asleep_ns = MIN(best.asleep_ns, asleep);
		if (after - before >= best.width_ns)
			continue;
		best.cycles = cycles;
		best.ns = before + (after - before) / 2;
		best.width_ns = MAX(after - before, 1ull);
	}
	return best;
}

/* --- comparison ------------------------------------------------------------------------------ */

/* Differences below these are no change: 1 ms, and the error of the frequency, some 10 ppm if it
 * was measured. From one reading to the next the rate may also be a changed one. */
#define SMALL_NS 1000000ull
#define LINE_PPM 20
#define STEP_PPM 200
#define RATE_PPM 10
#define RATE_NS 5000ull
/* An RTC has seconds: the kernel's measure of a suspension can be that inexact. */
#define ASLEEP_NS 1000000000ull

static int64_t cycles_to_ns(uint64_t hz, int64_t cycles)
{
	return (int64_t)((__int128)cycles * (int64_t)NSEC / (int64_t)hz);
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* How far the counter is ahead of where the rate leads from a reading. */
static int64_t ahead(uint64_t hz, const struct watch_reading *from, const struct watch_reading *to)
{
	return cycles_to_ns(hz, (int64_t)(to->cycles - from->cycles)) -
	       (int64_t)(to->ns - from->ns);
}

static uint64_t tolerance(const struct watch_reading *from, const struct watch_reading *to,
			  uint64_t least, uint64_t ppm)
{
	return least + from->width_ns + to->width_ns + (to->ns - from->ns) / 1000000 * ppm;
}

static uint64_t slept(const struct watch_reading *from, const struct watch_reading *to)
{
	int64_t ns = (int64_t)(to->asleep_ns - from->asleep_ns);

	return ns > (int64_t)SMALL_NS ? (uint64_t)ns : 0;
}

static bool is_on_line(const struct clock_watch *w, const struct watch_reading *now)
{
	return magnitude(ahead(w->hz, &w->last, now)) <=
		       tolerance(&w->last, now, SMALL_NS, STEP_PPM) &&
	       magnitude(ahead(w->hz, &w->anchor, now)) <=
		       tolerance(&w->anchor, now, SMALL_NS, LINE_PPM);
}

static void set_out_from(struct clock_watch *w, const struct watch_reading *reading)
{
	w->anchor = w->last = *reading;
	w->suspect.width_ns = 0;
}

/* The rate between two readings, if it is not the expected one; else 0. */
static uint64_t other_rate(uint64_t hz, const struct watch_reading *from,
			   const struct watch_reading *to)
{
	const struct clock_sample a = { .cycles = from->cycles, .raw_ns = from->ns };
	const struct clock_sample b = { .cycles = to->cycles, .raw_ns = to->ns };

	if (magnitude(ahead(hz, from, to)) <= tolerance(from, to, RATE_NS, RATE_PPM))
		return 0;
	return clock_measure_hz(&a, &b);
}

/* By which time another rate alone can have moved the counter between two readings. */
static uint64_t rate_effect(uint64_t hz, uint64_t other, const struct watch_reading *from,
			    const struct watch_reading *to)
{
	uint64_t away = !other ? 0 : other > hz ? other - hz : hz - other;

	return (uint64_t)((unsigned __int128)away * (to->ns - from->ns) / hz);
}

/* The second reading off the line. */
static enum watch_verdict conclude(struct clock_watch *w, const struct watch_reading *now,
				   struct clock_change *ret)
{
	struct watch_reading good = w->last, found = w->suspect;
	int64_t jump = ahead(w->hz, &good, &found);
	uint64_t hz = other_rate(w->hz, &found, now);
	bool jumped = magnitude(jump) > tolerance(&good, &found, SMALL_NS, STEP_PPM) +
						rate_effect(w->hz, hz, &good, &found);

	if (now->cycles <= found.cycles) { /* once more */
		w->suspect = *now;
		return WATCH_SUSPECT;
	}
	set_out_from(w, now);
	if (!hz && !jumped) /* a small difference that has added up, or a change that is undone */
		return WATCH_STEADY;
	*ret = (struct clock_change){
		.cause = hz ? CLOCK_RATE : CLOCK_JUMPED,
		.good = good,
		.found = found,
		.jump_ns = jumped ? jump : 0,
		.hz = hz ? hz : w->hz,
		.old_hz = w->hz,
	};
	w->hz = ret->hz;
	return WATCH_CHANGED;
}

/* The counter may go on during a suspension, of which CLOCK_MONOTONIC_RAW knows nothing: traces
 * have the time of day then as before. Or it stands still. */
static enum watch_verdict wake(struct clock_watch *w, const struct watch_reading *now,
			       struct clock_change *ret)
{
	uint64_t asleep = slept(&w->last, now);
	int64_t awake = ahead(w->hz, &w->last, now); /* its count meanwhile */
	uint64_t least = tolerance(&w->last, now, SMALL_NS, STEP_PPM);
	struct watch_reading good = w->last;

	if (magnitude(awake - (int64_t)asleep) <= least + ASLEEP_NS &&
	    magnitude(awake - (int64_t)asleep) <= magnitude(awake)) {
		set_out_from(w, now);
		return WATCH_STEADY;
	}
	*ret = (struct clock_change){
		.cause = magnitude(awake) <= least ? CLOCK_STOPPED : CLOCK_JUMPED,
		.good = good,
		.found = *now,
		.jump_ns = awake - (int64_t)asleep,
		.hz = w->hz,
		.old_hz = w->hz,
	};
	set_out_from(w, now);
	return WATCH_CHANGED;
}

enum watch_verdict watch_step(struct clock_watch *w, const struct watch_reading *now,
			      struct clock_change *ret)
{
	if (!w->anchor.width_ns || now->ns < w->last.ns) { /* the latter never, in one boot */
		set_out_from(w, now);
		return WATCH_STEADY;
	}
	if (slept(&w->last, now))
		return wake(w, now, ret);
	if (is_on_line(w, now)) {
		w->last = *now;
		w->suspect.width_ns = 0; /* that reading was the wrong one */
		return WATCH_STEADY;
	}
	if (!w->suspect.width_ns) {
		w->suspect = *now;
		return WATCH_SUSPECT;
	}
	if (now->ns - w->suspect.ns < WATCH_AGAIN_NS)
		return WATCH_SUSPECT;
	return conclude(w, now, ret);
}

/* --- segments -------------------------------------------------------------------------------- */

static uint64_t ns_to_cycles(uint64_t hz, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * hz / NSEC);
}

/*
 * From the good reading the counter went on for at most the time between both, and before the found
 * one it had gone for that long: where these two ranges of values overlap, a value can be of before
 * and of after the change. They don't if it jumped ahead by more than that time. Where it went back
 * (@back), records keep the last value, and then go on behind the found one.
 */
static void find_bounds(struct clock_segment *s, const struct clock_change *c, bool back)
{
	uint64_t good = c->good.cycles, found = c->found.cycles;
	uint64_t span = ns_to_cycles(c->old_hz, c->found.ns - c->good.ns);

	s->first = c->jump_ns > 0 && found > good + span ? found - span : good + 1;
	s->last = c->jump_ns < 0 ? found : good + span;
	if (s->first > s->last)
		s->from = s->first;
	else
		s->from = back ? found : good + (found - good) / 2;
}

bool clock_apply(struct clock_facts *facts, const struct clock_change *change)
{
	struct clock_change c = *change;
	uint64_t passed = c.found.ns - c.good.ns + slept(&c.good, &c.found);
	bool back = c.jump_ns < 0 && c.found.cycles <= c.good.cycles;
	struct clock_segment s = {
		.freq_hz = c.hz,
		.jump_ns = c.jump_ns,
		.old_hz = c.old_hz,
		.cause = c.cause,
	};
	const struct clock_line old = clock_facts_line(facts, UINT64_MAX);
	int64_t found_ns;

	c.good.cycles += facts->clock_add;
	if (back)
		facts->clock_add = c.good.cycles + ns_to_cycles(c.old_hz, passed) - c.found.cycles;
	c.found.cycles += facts->clock_add;
	if (facts->nr_changes >= CLOCK_CHANGES_MAX) {
		facts->nr_changes = CLOCK_CHANGES_MAX + 1;
		return false;
	}
	s.old_base_ns = old.base_ns;
	found_ns = clock_facts_ns(facts, c.good.cycles) + (int64_t)passed;
	find_bounds(&s, &c, back);
	s.base_ns = found_ns - cycles_to_ns(c.hz, (int64_t)c.found.cycles);
	facts->changed = s;
	facts->changed_ns = (uint64_t)found_ns;
	facts->nr_changes++;
	return true;
}

bool clock_went_back(const struct clock_segment *s)
{
	return s->jump_ns < 0 && s->from == s->last;
}

/* "+2.000000 s" */
static void put_seconds(int64_t ns, char *buf, size_t len)
{
	uint64_t m = magnitude(ns) + 500;

	snprintf(buf, len, "%c%llu.%06llu s", ns < 0 ? '-' : '+', (unsigned long long)(m / NSEC),
		 (unsigned long long)(m % NSEC / 1000));
}

void clock_describe(const struct clock_segment *s, char *buf, size_t len)
{
	char jump[40];

	put_seconds(s->jump_ns, jump, sizeof(jump));
	if (s->cause == CLOCK_STOPPED)
		snprintf(buf, len, "stood still while the machine was suspended for %s", jump + 1);
	else if (s->cause == CLOCK_RATE)
		snprintf(buf, len, "runs at %llu Hz, no longer at %llu%s%s",
			 (unsigned long long)s->freq_hz, (unsigned long long)s->old_hz,
			 s->jump_ns ? ", and jumped by " : "", s->jump_ns ? jump : "");
	else
		snprintf(buf, len, "jumped by %s", jump);
}
