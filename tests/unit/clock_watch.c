/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulated counter that jumps, drifts, stops: which changes are noticed, and the times of
 * values before and after them. */
#include <string.h>
#include <time.h>

#include "base/macros.h"
#include "check.h"
#include "sessiond/clock_check.h"
#include "trace/clock_watch.h"

#define HZ 2300000000ull
#define NSEC 1000000000ull
#define SEC (int64_t) NSEC
#define PERIOD (3 * NSEC)
#define EPOCH_S 1700000000ull

/* The machine: its counter has counted @counted ns of its own, at @hz. */
static struct {
	uint64_t hz, cycles, ns, asleep_ns, real_ns;
} m;
static struct clock_watch watch;
static struct clock_change change;
static struct clock_facts facts;

static void pass(uint64_t ns)
{
	m.ns += ns;
	m.real_ns += ns;
	m.cycles += (uint64_t)((unsigned __int128)ns * m.hz / NSEC);
}

static enum watch_verdict look(uint64_t width_ns)
{
	const struct watch_reading now = { m.cycles, m.ns, m.asleep_ns, width_ns };

	return watch_step(&watch, &now, &change);
}

static void begin(void)
{
	m.hz = HZ;
	m.cycles = 77 * HZ;
	m.ns = 100 * NSEC;
	m.asleep_ns = 0;
	m.real_ns = EPOCH_S * NSEC;
	memset(&change, 0, sizeof(change));
	watch = (struct clock_watch){ .hz = HZ };
	facts = (struct clock_facts){ .freq_hz = HZ, .offset_s = EPOCH_S - 77 };
	CHECK_IS(look(50), ==, WATCH_STEADY);
	for (int i = 0; i < 20; i++) {
		pass(PERIOD);
		CHECK_IS(look(50 + (uint64_t)i), ==, WATCH_STEADY);
	}
}

/* A reader's computation. */
static int64_t time_of(uint64_t cycles)
{
	return clock_facts_ns(&facts, cycles);
}

/* A producer's. */
static uint64_t value(void)
{
	return m.cycles + facts.clock_add;
}

static int64_t wrong_ns(void)
{
	int64_t ns = time_of(value()) - (int64_t)m.real_ns;

	return ns < 0 ? -ns : ns;
}

/* The same in a reader that has the first segment only. */
static int64_t first_wrong_ns(void)
{
	struct clock_facts first = facts;
	int64_t ns;

	first.nr_changes = 0;
	ns = clock_facts_ns(&first, value()) - (int64_t)m.real_ns;
	return ns < 0 ? -ns : ns;
}

/* The change is confirmed, and times are right; then it is quiet. */
static void confirm(enum clock_cause cause)
{
	CHECK_IS(look(60), ==, WATCH_SUSPECT);
	pass(WATCH_AGAIN_NS / 2);
	CHECK_IS(look(60), ==, WATCH_SUSPECT); /* too early */
	pass(WATCH_AGAIN_NS);
	CHECK_IS(look(60), ==, WATCH_CHANGED);
	CHECK_IS((int)change.cause, ==, (int)cause);
	clock_apply(&facts, &change);
	CHECK_IS(facts.nr_changes, ==, 1);
	for (int i = 0; i < 200; i++) {
		if (value() > facts.changed.from)	  /* it may have gone back a little */
			CHECK_IS(wrong_ns(), <, 5000000); /* a small drift is found late */
		pass(PERIOD);
		CHECK_IS(look(60), ==, WATCH_STEADY);
	}
	CHECK_IS(value(), >, facts.changed.from);
}

/* All but those that can be of either side. */
static void check_time(uint64_t cycles, int64_t ns)
{
	int64_t away = time_of(cycles) - ns;

	if (cycles < facts.changed.first || cycles > facts.changed.last)
		CHECK(away > -1000 && away < 1000);
}

static void jumps(void)
{
	static const int64_t seconds[] = { 86400, 4, 2, -2, -30 };
	char text[160];

	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		uint64_t before, after;
		int64_t before_ns, after_ns;

		begin();
		pass(PERIOD / 3);
		before = m.cycles;
		before_ns = (int64_t)m.real_ns;
		m.cycles += (uint64_t)seconds[i] * HZ;
		after = m.cycles + HZ / 1000;
		after_ns = before_ns + SEC / 1000;
		pass(2 * PERIOD / 3);
		confirm(CLOCK_JUMPED);
		CHECK_IS(change.jump_ns - seconds[i] * SEC, <, 1000);
		CHECK_IS(change.jump_ns - seconds[i] * SEC, >, -1000);
		CHECK_IS(change.hz, ==, HZ);
		/* further than the time between two readings: all of them are right */
		CHECK_IS(facts.changed.first > facts.changed.last, ==, seconds[i] > 3);
		check_time(before, before_ns);
		if (after > before || facts.clock_add) /* else it is recorded as the one before */
			check_time(after + facts.clock_add, after_ns);
		CHECK_IS(facts.clock_add > 0, ==, seconds[i] == -30);
		if (seconds[i] == -30) /* no segment is needed */
			CHECK_IS(first_wrong_ns(), <, 1000000);
		CHECK_IS(time_of(before), >=, before_ns - 1000);
		clock_describe(&facts.changed, text, sizeof(text));
		CHECK_IS(clock_went_back(&facts.changed), ==, seconds[i] == -30);
		CHECK(strstr(text, seconds[i] < 0 ? "jumped by -" : "jumped by +"));
	}
	CHECK(strcmp(text, "jumped by -30.000000 s") == 0);
}

/* A jump while nothing was compared for long, and a second one later. */
static void again(void)
{
	begin();
	pass(1000 * NSEC);
	m.cycles += HZ;
	CHECK_IS(look(60), ==, WATCH_SUSPECT);
	pass(NSEC);
	CHECK_IS(look(60), ==, WATCH_CHANGED);
	clock_apply(&facts, &change);
	pass(PERIOD);
	CHECK_IS(look(60), ==, WATCH_STEADY);
	for (unsigned int nr = 2; nr < 10; nr++) {
		uint64_t last = value();
		int64_t last_ns = (int64_t)m.real_ns;

		m.cycles -= 20 * HZ;
		pass(PERIOD);
		CHECK_IS(look(60), ==, WATCH_SUSPECT);
		pass(NSEC);
		CHECK_IS(look(60), ==, WATCH_CHANGED);
		clock_apply(&facts, &change);
		CHECK_IS(facts.nr_changes, ==, nr);
		CHECK(clock_went_back(&facts.changed));
		CHECK(value() > facts.changed.from && facts.changed.from > last);
		CHECK(facts.changed.first <= last + 1 && facts.changed.last > last);
		CHECK_IS(wrong_ns(), <, 1000000);
		CHECK(time_of(last) - last_ns < 1000000 && last_ns - time_of(last) < 1000000);
		pass(nr % 2 ? PERIOD : 300 * NSEC); /* which is more than it went back by */
		CHECK_IS(look(60), ==, WATCH_STEADY);
		CHECK_IS(wrong_ns(), <, 1000000);
	}
}

static void rates(void)
{
	static const int64_t ppm[] = { 100, -100, 5000, -5000, 40 };
	char text[160];

	for (size_t i = 0; i < ARRAY_SIZE(ppm); i++) {
		int steps = 0;

		begin();
		m.hz = (uint64_t)((int64_t)HZ + (int64_t)HZ / 1000000 * ppm[i]);
		do {
			pass(PERIOD);
			CHECK_IS(++steps, <, 60);
		} while (look(60) == WATCH_STEADY);
		watch.suspect.width_ns = 0; /* confirm() sees it once more */
		confirm(CLOCK_RATE);
		CHECK_IS(change.jump_ns, ==, 0);
		CHECK_IS(change.hz, <, m.hz + HZ / 500000);
		CHECK_IS(change.hz, >, m.hz - HZ / 500000);
		clock_describe(&facts.changed, text, sizeof(text));
		CHECK(strstr(text, "no longer at 2300000000") && !strstr(text, "jumped"));
	}
	begin(); /* both, as by a migration */
	m.hz = HZ / 1000 * 1001;
	m.cycles += 50 * HZ;
	pass(PERIOD);
	confirm(CLOCK_RATE);
	CHECK_IS(change.jump_ns, >, 49 * SEC);
	clock_describe(&facts.changed, text, sizeof(text));
	CHECK(strstr(text, "and jumped by +"));
	begin(); /* the same, back */
	m.hz = HZ / 1000 * 1001;
	m.cycles -= 50 * HZ;
	pass(PERIOD);
	confirm(CLOCK_RATE);
	CHECK(clock_went_back(&facts.changed) && facts.clock_add > 49 * HZ);
}

/* A stated frequency that is rounded to kHz, readings that were interrupted, one wrong reading;
 * CLOCK_MONOTONIC and CLOCK_REALTIME, which NTP slews, take no part. */
static void no_change(void)
{
	begin();
	m.hz = HZ + 500;
	for (int i = 0; i < 28800; i++) {
		pass(PERIOD);
		m.real_ns += PERIOD / 2000; /* 500 ppm */
		CHECK_IS(look(i % 7 ? 60 : 40000), ==, WATCH_STEADY);
	}
	begin();
	pass(PERIOD);
	m.cycles += HZ / 500; /* 2 ms, of which the reading took as much */
	CHECK_IS(look(2000000), ==, WATCH_STEADY);
	m.cycles -= HZ / 500;
	m.cycles += HZ;
	CHECK_IS(look(60), ==, WATCH_SUSPECT);
	m.cycles -= HZ;
	pass(NSEC);
	CHECK_IS(look(60), ==, WATCH_STEADY);
	pass(PERIOD);
	m.cycles += HZ; /* again: the first one does not count any more */
	CHECK_IS(look(60), ==, WATCH_SUSPECT);
	CHECK_IS(facts.nr_changes, ==, 0);
}

static void suspended(void)
{
	/* it counts on; the kernel may know the time to the second */
	for (int i = 0; i < 3; i++) {
		begin();
		m.cycles += 3600 * HZ + (uint64_t)i * HZ / 3;
		m.asleep_ns += 3600 * NSEC;
		m.real_ns += 3600 * NSEC;
		pass(PERIOD);
		for (int k = 0; k < 100; k++) {
			CHECK_IS(look(60), ==, WATCH_STEADY);
			pass(PERIOD);
		}
		CHECK_IS(wrong_ns(), <, SEC);
	}
	/* it stands still: a segment, and no jump */
	begin();
	m.asleep_ns += 3600 * NSEC;
	m.real_ns += 3600 * NSEC;
	pass(PERIOD);
	CHECK_IS(look(60), ==, WATCH_CHANGED);
	CHECK_IS((int)change.cause, ==, (int)CLOCK_STOPPED);
	clock_apply(&facts, &change);
	pass(PERIOD);
	CHECK_IS(look(60), ==, WATCH_STEADY);
	CHECK_IS(wrong_ns(), <, 1000000);
	/* it begins anew */
	begin();
	m.cycles = 5;
	m.asleep_ns += 10 * NSEC;
	m.real_ns += 10 * NSEC;
	pass(PERIOD);
	CHECK_IS(look(60), ==, WATCH_CHANGED);
	CHECK_IS((int)change.cause, ==, (int)CLOCK_JUMPED);
	clock_apply(&facts, &change);
	CHECK_IS(wrong_ns(), <, 1000000);
	pass(300 * NSEC);
	CHECK_IS(wrong_ns(), <, 1000000);
	CHECK_IS(first_wrong_ns(), <, 1000000);
}

/* More changes than readers read: the last one is kept, and the status has it. */
static void many(void)
{
	struct clock_segment last;
	char text[320];

	begin();
	for (unsigned int i = 0; i < CLOCK_CHANGES_MAX + 10; i++) {
		m.cycles += 10 * HZ;
		pass(PERIOD);
		CHECK_IS(look(60), ==, WATCH_SUSPECT);
		pass(NSEC);
		CHECK_IS(look(60), ==, WATCH_CHANGED);
		CHECK_IS(clock_apply(&facts, &change), ==, i < CLOCK_CHANGES_MAX);
		clock_check_sentence(&facts, text, sizeof(text));
		CHECK_IS(strstr(text, "the last one of 1,024") != NULL, ==, i >= CLOCK_CHANGES_MAX);
		CHECK(i >= CLOCK_CHANGES_MAX || strstr(text, "before and after are right"));
		if (i < CLOCK_CHANGES_MAX)
			last = facts.changed;
	}
	CHECK_IS(facts.nr_changes, ==, CLOCK_CHANGES_MAX + 1);
	CHECK_IS(memcmp(&facts.changed, &last, sizeof(last)), ==, 0);
	last.from = value();
	m.cycles -= 30 * HZ; /* its order is kept all the same */
	pass(PERIOD);
	CHECK_IS(look(60), ==, WATCH_SUSPECT);
	pass(NSEC);
	CHECK_IS(look(60), ==, WATCH_CHANGED);
	CHECK(!clock_apply(&facts, &change));
	CHECK_IS(value(), >, last.from);
}

static void this_machine(void)
{
	struct trace_clock clock;
	struct watch_reading first, second;

	clock_init(&clock);
	if (clock.kind != LTT_CLOCK_CYCLES)
		return;
	watch = (struct clock_watch){ .hz = clock_hz(&clock) };
	first = watch_read();
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	second = watch_read();
	CHECK(first.width_ns && second.cycles > first.cycles && second.ns > first.ns);
	CHECK_IS(watch_step(&watch, &first, &change), ==, WATCH_STEADY);
	CHECK_IS(watch_step(&watch, &second, &change), ==, WATCH_STEADY);
}

int main(void)
{
	jumps();
	again();
	rates();
	no_change();
	suspended();
	many();
	this_machine();
	return 0;
}
