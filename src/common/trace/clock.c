/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clock.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/macros.h"
#include "ltt_timens.h"

#define NSEC 1000000000ull

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

static uint64_t read_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return 0;
#endif
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
	return kind == LTT_CLOCK_CYCLES ? read_counter() : clock_monotonic_ns();
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

static enum ltt_clock_kind clock_choose(void)
{
	const char *choice = getenv("LTT_CLOCK");
	char source[32];

	if (choice && strcmp(choice, "monotonic") == 0)
		return LTT_CLOCK_MONOTONIC;
	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		  sizeof(source));
#if defined(__x86_64__)
	return strcmp(source, "tsc") == 0 ? LTT_CLOCK_CYCLES : LTT_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
	return strcmp(source, "arch_sys_counter") == 0 ? LTT_CLOCK_CYCLES : LTT_CLOCK_MONOTONIC;
#else
	return LTT_CLOCK_MONOTONIC;
#endif
}

/* time = (cycles * time_mult) >> time_shift is the kernel's own computation; it exports the two
 * factors in the mmap page of any perf event (linux/perf_event.h). */
static uint64_t perf_hz(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	AUTO_FD int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	uint64_t hz = 0;

	if (fd < 0)
		return 0;
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return 0;
	if (page->cap_user_time && page->time_mult && page->time_shift < 64)
		hz = (uint64_t)((((unsigned __int128)NSEC << page->time_shift) +
				 page->time_mult / 2) /
				page->time_mult);
	munmap(page, size);
	return hz;
}

static uint64_t kernel_hz(enum ltt_clock_kind kind)
{
	if (kind == LTT_CLOCK_MONOTONIC)
		return NSEC;
#if defined(__aarch64__)
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
#else
	return perf_hz();
#endif
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

void clock_init(struct trace_clock *clock)
{
	clock->kind = clock_choose();
	clock->known_hz = kernel_hz(clock->kind);
	snprintf(clock->source, sizeof(clock->source), "%s",
		 clock->kind == LTT_CLOCK_MONOTONIC ? "CLOCK_MONOTONIC" :
						      "frequency according to the kernel");
	clock->first = take_sample(clock->kind);
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
	read_line("/proc/sys/kernel/random/boot_id", ret->uuid, sizeof(ret->uuid));
}
