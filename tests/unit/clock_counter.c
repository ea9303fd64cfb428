/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the cycle counter can be the clock: the kernel's statements, CPUs whose counters differ,
 * a rate other than the stated one. */
#include <sched.h>
#include <string.h>

#include "check.h"
#include "trace/counter.h"
#include "base/macros.h"

#define NSEC 1000000000ull

#if defined(__x86_64__)
static void statements(void)
{
#define INVARIANT "constant_tsc rep_good nopl nonstop_tsc"
	static const struct {
		const char *flags, *current, *available, *why;
		bool relied_on;
	} cases[] = {
		{ "fpu tsc", "tsc", "tsc hpet acpi_pm", "clocksource is tsc", true },
		/* Firecracker, and clouds like it: tsc is not among the clocksources */
		{ INVARIANT " tsc_reliable tsc_known_freq", "kvm-clock", "kvm-clock",
		  "tsc_reliable", true },
		{ INVARIANT " tsc_known_freq", "kvm-clock", "kvm-clock tsc acpi_pm", "available",
		  true },
		{ INVARIANT " tsc_known_freq", "kvm-clock", "kvm-clock acpi_pm", "flags", false },
		{ "constant_tsc tsc_reliable", "kvm-clock", "kvm-clock", "flags", false },
		{ "xnonstop_tsc constant_tsc tsc_reliable", "kvm-clock", "kvm-clock tsc", "flags",
		  false },
		{ INVARIANT " tsc_reliable", "hyperv_clocksource_tsc_page",
		  "hyperv_clocksource_tsc_page hyperv_clocksource_msr", "tsc_reliable", true },
		/* which the kernel has replaced, or its command line */
		{ INVARIANT, "hpet", "hpet acpi_pm", "'hpet'", false },
		{ INVARIANT " tsc_reliable", "acpi_pm", "acpi_pm tsc", "'acpi_pm'", false },
		{ INVARIANT, "xen", "xen tsc_early", "'xen'", false },
		{ "", "", "", "unknown", false },
		/* a sandbox that shows no clocksource */
		{ INVARIANT " tsc_reliable", "", "", "unknown", false },
	};
	char why[160];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool is = counter_relied_on(cases[i].flags, cases[i].current, cases[i].available,
					    why, sizeof(why));

		if (is != cases[i].relied_on || !strstr(why, cases[i].why))
			fprintf(stderr, "case %zu: %s\n", i, why);
		CHECK_IS(is, ==, cases[i].relied_on);
		CHECK(strstr(why, cases[i].why));
	}
}
#endif

static unsigned int ahead_cpu;
static uint64_t ahead;

static uint64_t read_simulated(unsigned int cpu)
{
	return counter_here(cpu) + (1ull << 40) + (cpu == ahead_cpu ? ahead : 0);
}

static void comparing(void)
{
	cpu_set_t before, after;
	struct counter_spread spread;

	CHECK(sched_getaffinity(0, sizeof(before), &before) == 0);
	ahead_cpu = UINT32_MAX;
	counter_compare(read_simulated, NSEC, &spread);
	CHECK(sched_getaffinity(0, sizeof(after), &after) == 0 && CPU_EQUAL(&before, &after));
	CHECK_IS(spread.cpus, ==, (unsigned int)CPU_COUNT(&before));
	CHECK_IS(spread.compared, <, spread.cpus);
	if (spread.compared == 0)
		return; /* a single CPU, or busy ones */
	CHECK_IS(spread.least, <, 10000);
	/* one that is ahead, and one that is behind, by more than any error of measurement */
	ahead_cpu = spread.farthest;
	for (int sign = -1; sign <= 1; sign += 2) {
		ahead = (uint64_t)(sign * (1ll << 36));
		do
			counter_compare(read_simulated, NSEC, &spread);
		while (spread.compared == 0 || spread.least == 0);
		CHECK_IS(spread.farthest, ==, ahead_cpu);
		CHECK(spread.least <= 1ull << 36 &&
		      spread.least + 2 * spread.error + 10000 >= 1ull << 36);
	}
	/* no time: nothing is compared, which is no fault */
	counter_compare(read_simulated, 0, &spread);
	CHECK_IS(spread.compared, ==, 0);
	CHECK_IS(spread.least, ==, 0);
}

static void rates(void)
{
	const uint64_t hz = 2450000000;
	struct clock_sample from = { .cycles = 77, .raw_ns = 1000, .width_ns = 100 };
	struct clock_sample to = { .cycles = 77 + hz / 1000,
				   .raw_ns = 1000 + NSEC / 1000,
				   .width_ns = 100 };

	CHECK(!counter_contradicts(hz, &from, &to));
	CHECK(!counter_contradicts(hz + hz / 2000, &from, &to));
	CHECK(counter_contradicts(hz + hz / 500, &from, &to));
	CHECK(counter_contradicts(hz - hz / 500, &from, &to));
	to.width_ns = 10000; /* interrupted: that measurement is no evidence */
	CHECK(!counter_contradicts(hz + hz / 500, &from, &to));
	CHECK(counter_contradicts(2 * hz, &from, &to));
	to.cycles = from.cycles - 1; /* went back */
	CHECK(counter_contradicts(hz, &from, &to));
	to = from; /* no time has passed */
	CHECK(!counter_contradicts(hz, &from, &to));
}

/* Of 1 ms, a counter at @hz, one that is @apart_ns away: the reason for which it is refused. */
static const char *refusal(uint64_t hz, uint64_t stated_hz, uint64_t apart_ns)
{
	const struct clock_sample from = { .cycles = 5, .raw_ns = 1000, .width_ns = 100 };
	const struct clock_sample to = { .cycles = 5 + hz / 1000,
					 .raw_ns = 1000 + NSEC / 1000,
					 .width_ns = 100 };
	const struct counter_spread spread = {
		.cpus = 8, .compared = 7, .farthest = 3, .least = hz / 1000000 * apart_ns / 1000
	};
	static char why[160];

	if (!counter_refused(stated_hz, "stated by the test", &from, &to, &spread, why,
			     sizeof(why)))
		return NULL;
	return why;
}

/* The reason has the figures. */
static void refusals(void)
{
	const uint64_t hz = 2000000000;
	const char *why;

	CHECK(!refusal(hz, hz, 0));
	CHECK(!refusal(hz, 0, 0));
	CHECK(!refusal(hz, hz, COUNTER_APART_NS));
	why = refusal(hz, hz, COUNTER_APART_NS + 1);
	CHECK(why && strcmp(why, "the counter of CPU 3 differs by 201 ns") == 0);
	CHECK(refusal(hz, 0, 5000));
	why = refusal(hz, hz + hz / 100, 0);
	CHECK(why && strcmp(why, "the counter runs at 2000000000 Hz, not at 2020000000: "
				 "stated by the test") == 0);
	CHECK(refusal(hz, hz - hz / 100, 0));
	CHECK(refusal(0, 0, 0)); /* it stands still */
}

int main(void)
{
	refusals();
#if defined(__x86_64__)
	statements();
#endif
	comparing();
	rates();
	return 0;
}
