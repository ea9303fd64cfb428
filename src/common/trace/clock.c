/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macros.h"
#include "counter.h"
#include "ltt_timens.h"

#define NSEC 1000000000ull
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

static uint64_t ahead_ns; /* this process's CLOCK_MONOTONIC, of the machine's */

static int read_line(const char *path, char *buf, size_t len);

/* Before anything is confined. A daemon changes no namespaces. */
__attribute__((constructor)) static void find_namespace(void)
{
	char text[128];

	read_line(LTT_TIMENS_OFFSETS, text, sizeof(text));
	ahead_ns = ltt_timens_monotonic(text);
}

uint64_t clock_monotonic_ns(void)
{
	return read_ns(CLOCK_MONOTONIC) - ahead_ns;
}

static uint64_t read_clock(enum ltt_clock_kind kind)
{
	return kind == LTT_CLOCK_CYCLES ? counter_here(0) : clock_monotonic_ns();
}

/* Bracket the readings; the narrowest of several tries was not interrupted. */
static struct clock_sample take_sample(enum ltt_clock_kind kind)
{
	struct clock_sample best = { .width_ns = UINT64_MAX };

	for (int i = 0; i < 32; i++) {
		uint64_t before = read_ns(CLOCK_MONOTONIC_RAW);
		uint64_t cycles = read_clock(kind);
		uint64_t after = read_ns(CLOCK_MONOTONIC_RAW);
		uint64_t real = read_ns(CLOCK_REALTIME);
		uint64_t end = read_ns(CLOCK_MONOTONIC_RAW);

		if (end - before >= best.width_ns)
			continue;
		best.cycles = cycles;
		best.raw_ns = before + (after - before) / 2;
		best.real_ns = real - ((after + end) / 2 - best.raw_ns);
		best.width_ns = end - before;
	}
	return best;
}

static int read_line(const char *path, char *buf, size_t len)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, len - 1);

	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return n > 0 ? 0 : -1;
}

/* The kernel's idea of the counter in whole kHz, where /proc/cpuinfo shows it
 * (it shows the momentary frequency on some machines: so it must agree). */
static uint64_t cpuinfo_hz(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];
	unsigned long mhz, khz;
	uint64_t hz = 0;

	while (f && !hz && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu MHz : %lu.%3lu", &mhz, &khz) == 2)
			hz = (uint64_t)mhz * 1000000 + (uint64_t)khz * 1000;
	if (f)
		fclose(f);
	return hz;
}

/* --- the choice ------------------------------------------------------------------------------ */

#define COMPARE_NS 5000000ull /* all CPUs */
#define RATE_MIN_NS 1000000ull

static struct counter_verdict {
	bool usable;
	bool refused; /* by the measurement, although the kernel relies on it */
	uint64_t stated_hz;
	char why[160], source[96];
} verdict; /* of this process: it does not change */

static bool kernel_relies(char *why, size_t len)
{
	char flags[8192], current[64], available[256];
	AUTO_FD int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, flags, sizeof(flags) - 1);
	char *line, *end;

	flags[n > 0 ? n : 0] = '\0';
	line = strstr(flags, "\nflags");
	end = line ? strchr(line + 1, '\n') : NULL;
	if (end)
		*end = '\0';
	read_line(CLOCKSOURCE "current_clocksource", current, sizeof(current));
	read_line(CLOCKSOURCE "available_clocksource", available, sizeof(available));
	return counter_relied_on(end ? line + 1 : "", current, available, why, len);
}

static bool is_refused(struct counter_verdict *v)
{
	struct clock_sample from = take_sample(LTT_CLOCK_CYCLES), to;
	struct counter_spread spread;

	counter_compare(counter_here, COMPARE_NS, &spread);
	do
		to = take_sample(LTT_CLOCK_CYCLES);
	while (to.raw_ns - from.raw_ns < RATE_MIN_NS);
	return counter_refused(v->stated_hz, v->source, &from, &to, &spread, v->why,
			       sizeof(v->why));
}

static void find_verdict(void)
{
	verdict.stated_hz = counter_stated_hz(verdict.source, sizeof(verdict.source));
	verdict.usable = kernel_relies(verdict.why, sizeof(verdict.why));
#if defined(__x86_64__)
	verdict.refused = verdict.usable && is_refused(&verdict);
	verdict.usable = verdict.usable && !verdict.refused;
#endif
}

static void clock_set(struct trace_clock *clock, enum ltt_clock_kind kind)
{
	clock->kind = kind;
	clock->known_hz = kind == LTT_CLOCK_CYCLES ? verdict.stated_hz : NSEC;
	snprintf(clock->source, sizeof(clock->source), "%s",
		 kind == LTT_CLOCK_CYCLES ? verdict.source : "CLOCK_MONOTONIC");
	clock->first = take_sample(kind);
}

/* Return: LTT_CLOCK; NULL: it decides nothing. */
static const char *clock_wish(void)
{
	const char *wish = getenv("LTT_CLOCK");

	return wish && (strcmp(wish, "monotonic") == 0 || strcmp(wish, "cycles") == 0) ? wish : NULL;
}

void clock_init(struct trace_clock *clock)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	enum ltt_clock_kind kind = LTT_CLOCK_MONOTONIC;
	const char *wish = clock_wish();

	pthread_once(&once, find_verdict);
	*clock = (struct trace_clock){ .refused = verdict.refused };
	snprintf(clock->why, sizeof(clock->why), "%s", verdict.why);
	if (wish) {
		snprintf(clock->why, sizeof(clock->why), "LTT_CLOCK=%s", wish);
		clock->refused = false;
		if (strcmp(wish, "cycles") == 0 && counter_here(0) != 0)
			kind = LTT_CLOCK_CYCLES;
	} else if (verdict.usable) {
		kind = LTT_CLOCK_CYCLES;
	}
	clock_set(clock, kind);
}

bool clock_take(struct trace_clock *clock, enum ltt_clock_kind kind)
{
	if (kind == clock->kind || clock_wish() || (kind == LTT_CLOCK_CYCLES && clock->refused))
		return false;
	snprintf(clock->why, sizeof(clock->why),
		 "the kernel module was loaded with it: `modprobe ltt_instr clock=%s` loads it with "
		 "the other one",
		 kind == LTT_CLOCK_CYCLES ? "monotonic" : "cycles");
	clock_set(clock, kind);
	return true;
}

uint64_t clock_measure_hz(const struct clock_sample *from, const struct clock_sample *to)
{
	uint64_t ns = to->raw_ns - from->raw_ns;

	if (to->raw_ns <= from->raw_ns || to->cycles <= from->cycles)
		return 0;
	return (uint64_t)(((unsigned __int128)(to->cycles - from->cycles) * NSEC + ns / 2) / ns);
}

void clock_offset(uint64_t cycles, uint64_t real_ns, uint64_t freq_hz, uint64_t *ret_s,
		  uint64_t *ret_cycles)
{
	uint64_t s = cycles / freq_hz;
	uint64_t ns = (uint64_t)((unsigned __int128)(cycles % freq_hz) * NSEC / freq_hz);
	uint64_t since = s * NSEC + ns;
	uint64_t zero_ns = real_ns > since ? real_ns - since : 0;

	*ret_s = zero_ns / NSEC;
	*ret_cycles = (uint64_t)((unsigned __int128)(zero_ns % NSEC) * freq_hz / NSEC);
}

/* Long enough that reading errors of some 50 ns stay below 1e-5; and so long that
 * a longer measurement would not be better than the clock it is compared with. */
#define MEASURE_MIN_NS 5000000ull
#define MEASURE_FINAL_NS 10000000000ull

static uint64_t clock_measure(struct trace_clock *clock)
{
	struct clock_sample now = take_sample(clock->kind);
	uint64_t hz, shown = cpuinfo_hz(), ns;

	while (now.raw_ns - clock->first.raw_ns < MEASURE_MIN_NS)
		now = take_sample(clock->kind);
	ns = now.raw_ns - clock->first.raw_ns;
	hz = clock_measure_hz(&clock->first, &now);
	if (shown && (hz > shown ? hz - shown : shown - hz) < shown / 100000) {
		snprintf(clock->source, sizeof(clock->source),
			 "frequency from /proc/cpuinfo, confirmed by measuring");
		return clock->known_hz = shown;
	}
	snprintf(clock->source, sizeof(clock->source),
		 "frequency measured against CLOCK_MONOTONIC_RAW for %llu ms",
		 (unsigned long long)(ns / 1000000));
	if (hz && ns >= MEASURE_FINAL_NS)
		clock->known_hz = hz;
	return hz ? hz : NSEC;
}

uint64_t clock_hz(struct trace_clock *clock)
{
	return clock->known_hz ? clock->known_hz : clock_measure(clock);
}

void clock_facts(struct trace_clock *clock, struct clock_facts *ret)
{
	struct clock_sample now;

	memset(ret, 0, sizeof(*ret));
	ret->kind = clock->kind;
	ret->freq_hz = clock_hz(clock);
	memcpy(ret->source, clock->source, sizeof(ret->source));
	now = take_sample(clock->kind);
	ret->precision = now.width_ns * (ret->freq_hz / 1000) / 1000000 + 1;
	clock_offset(now.cycles, now.real_ns, ret->freq_hz, &ret->offset_s, &ret->offset);
	ret->wall_ns = clock_wall_ns();
	read_line("/proc/sys/kernel/random/boot_id", ret->uuid, sizeof(ret->uuid));
}

/* The narrowest of several tries was not interrupted. */
int64_t clock_wall_ns(void)
{
	uint64_t width = UINT64_MAX;
	int64_t wall = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t before = read_ns(CLOCK_BOOTTIME), real = read_ns(CLOCK_REALTIME);
		uint64_t after = read_ns(CLOCK_BOOTTIME);

		if (after - before >= width)
			continue;
		width = after - before;
		wall = (int64_t)(real - (before + width / 2));
	}
	return wall ? wall : 1;
}

#if defined(__x86_64__)
static uint64_t spread_cycles;

static void find_spread(void)
{
	struct counter_spread spread;

	counter_compare(counter_here, COMPARE_NS, &spread);
	spread_cycles = spread.least;
}

/* The narrowest of several tries was not interrupted. */
void clock_pair(const struct trace_clock *clock, struct clock_pair *ret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct clock_pair best = { .width = UINT64_MAX };

	*ret = (struct clock_pair){ 0 };
	if (clock->kind != LTT_CLOCK_MONOTONIC)
		return;
	pthread_once(&once, find_spread);
	for (int i = 0; i < 32; i++) {
		uint64_t before = counter_here(0), value = clock_monotonic_ns();
		uint64_t width = counter_here(0) - before;

		if (width >= best.width)
			continue;
		best.value = value;
		best.counter = before + width / 2;
		best.width = MAX(width, 1ull);
	}
	best.width += spread_cycles;
	*ret = best;
}
#else
void clock_pair(const struct trace_clock *clock, struct clock_pair *ret)
{
	(void)clock;
	*ret = (struct clock_pair){ 0 };
}
#endif
