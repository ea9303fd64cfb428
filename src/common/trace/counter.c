/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "counter.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#if defined(__x86_64__)
#include <asm/prctl.h>
#include <cpuid.h>
#endif

#include "base/macros.h"

#define NSEC 1000000000ull

uint64_t counter_here(unsigned int cpu)
{
	(void)cpu;
#if defined(__x86_64__)
	uint64_t v;

	__asm__ volatile("lfence; rdtsc; lfence; shl $32, %%rdx; or %%rdx, %0"
			 : "=a"(v)
			 :
			 : "rdx", "memory");
	return v;
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v)::"memory");
	return v;
#else
	return 0;
#endif
}

/* --- the kernel's statements ----------------------------------------------------------------- */

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || strchr(" \t\n", at[-1])) && strchr(" \t\n", at[len]))
			return true;
	return false;
}

#if defined(__x86_64__)
/* The clocksources of a kernel that gave the time stamp counter up, or was started without it. */
static bool is_resort(const char *source)
{
	static const char *const resorts[] = {
		"", "hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"
	};

	for (size_t i = 0; i < ARRAY_SIZE(resorts); i++)
		if (strcmp(source, resorts[i]) == 0)
			return true;
	return false;
}

bool counter_relied_on(const char *flags, const char *current, const char *available, char *why,
		       size_t len)
{
	const char *by = has_word(flags, "tsc_reliable") ? "flag tsc_reliable" :
			 has_word(available, "tsc")	 ? "tsc is an available clocksource" :
							   NULL;

	if (strcmp(current, "tsc") == 0) {
		snprintf(why, len, "the kernel's clocksource is tsc");
		return true;
	}
	if (!has_word(flags, "constant_tsc") || !has_word(flags, "nonstop_tsc"))
		by = NULL;
	if (by && !is_resort(current)) {
		snprintf(why, len,
			 "the time stamp counter is invariant and the kernel relies on it (%s)",
			 by);
		return true;
	}
	snprintf(why, len,
		 "the kernel does not rely on the time stamp counter (clocksource '%s', %s)",
		 *current ? current : "unknown",
		 by ? by : "the processor's flags do not call it invariant and reliable");
	return false;
}
#elif defined(__aarch64__)
bool counter_relied_on(const char *flags, const char *current, const char *available, char *why,
		       size_t len)
{
	bool is_it = strcmp(current, "arch_sys_counter") == 0;

	(void)flags, (void)available;
	snprintf(why, len, "the kernel's clocksource is %s", *current ? current : "unknown");
	return is_it;
}
#else
bool counter_relied_on(const char *flags, const char *current, const char *available, char *why,
		       size_t len)
{
	(void)flags, (void)current, (void)available;
	snprintf(why, len, "the cycle counter of this architecture is not used");
	return false;
}
#endif

/* --- comparison of CPUs ---------------------------------------------------------------------- */

/* More do not make the narrowest exchange narrower, where both threads run. */
#define EXCHANGES 64
#define EXCHANGES_NS 2000000ull /* of one pair, if one of them has to wait for its CPU */

/* Of the other thread, which reads its counter for each request. */
struct exchange {
	counter_read *read;
	unsigned int cpu;
	_Atomic unsigned int request, answered; /* UINT32_MAX in request: end */
	uint64_t reading;
};

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

static bool run_on(unsigned int cpu, size_t size)
{
	cpu_set_t *set = CPU_ALLOC(size * 8);
	bool done = false;

	if (!set)
		return false;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	done = sched_setaffinity(0, size, set) == 0;
	CPU_FREE(set);
	return done;
}

static void *answer(void *data)
{
	struct exchange *x = data;
	unsigned int number = 0, request;

	if (!run_on(x->cpu, CPU_ALLOC_SIZE(x->cpu + 1)))
		return NULL;
	while ((request = x->request) != UINT32_MAX) {
		if (request == number)
			continue;
		number = request;
		x->reading = x->read(x->cpu);
		x->answered = number;
	}
	return NULL;
}

/* One pair. Return whether there was an exchange: the difference lies within @error of *@diff. */
static bool compare_pair(counter_read *read, unsigned int first, unsigned int cpu, int64_t *diff,
			 uint64_t *error)
{
	struct exchange x = { .read = read, .cpu = cpu };
	uint64_t end = monotonic_ns() + EXCHANGES_NS, narrowest = UINT64_MAX;
	pthread_t thread;

	if (pthread_create(&thread, NULL, answer, &x) != 0)
		return false;
	for (unsigned int i = 1; i <= EXCHANGES && monotonic_ns() < end; i++) {
		uint64_t before, after;
		unsigned int spins = 0;

		before = read(first);
		x.request = i;
		while (x.answered != i)
			if (++spins % 256 == 0 && monotonic_ns() >= end)
				goto out;
		after = read(first);
		if (after - before >= narrowest)
			continue;
		narrowest = after - before;
		*diff = (int64_t)(x.reading - (before + narrowest / 2));
		*error = narrowest / 2 + 1;
	}
out:
	x.request = UINT32_MAX;
	pthread_join(thread, NULL);
	return narrowest != UINT64_MAX;
}

void counter_compare(counter_read *read, uint64_t ns, struct counter_spread *ret)
{
	size_t size = CPU_ALLOC_SIZE(MAX(sysconf(_SC_NPROCESSORS_CONF), 1024));
	cpu_set_t *set = CPU_ALLOC(size * 8);
	uint64_t end = monotonic_ns() + ns;
	unsigned int first = 0;

	*ret = (struct counter_spread){ 0 };
	if (!set || sched_getaffinity(0, size, set) < 0)
		goto out;
	ret->cpus = (unsigned int)CPU_COUNT_S(size, set);
	while (!CPU_ISSET_S(first, size, set))
		first++;
	if (!run_on(first, size))
		goto out;
	for (unsigned int cpu = first + 1; cpu < size * 8 && monotonic_ns() < end; cpu++) {
		uint64_t error, away, least;
		int64_t diff;

		if (!CPU_ISSET_S(cpu, size, set) || !compare_pair(read, first, cpu, &diff, &error))
			continue;
		ret->compared++;
		away = (uint64_t)(diff < 0 ? -diff : diff);
		least = away > error ? away - error : 0;
		if (ret->compared > 1 && least <= ret->least)
			continue;
		ret->farthest = cpu;
		ret->least = least;
		ret->error = error;
	}
	sched_setaffinity(0, size, set);
out:
	CPU_FREE(set);
}

bool counter_contradicts(uint64_t hz, const struct clock_sample *from,
			 const struct clock_sample *to)
{
	uint64_t measured = clock_measure_hz(from, to);
	uint64_t ns = to->raw_ns - from->raw_ns;
	uint64_t away = measured > hz ? measured - hz : hz - measured;
	unsigned __int128 errors = (unsigned __int128)hz * (from->width_ns + to->width_ns);

	return away > hz / 1000 + (uint64_t)(errors / MAX(ns, 1));
}

bool counter_refused(uint64_t stated_hz, const char *by, const struct clock_sample *from,
		     const struct clock_sample *to, const struct counter_spread *spread, char *why,
		     size_t len)
{
	uint64_t hz = clock_measure_hz(from, to);
	uint64_t apart_ns = hz ? (uint64_t)((unsigned __int128)spread->least * NSEC / hz) : 0;

	if (!hz || (stated_hz && counter_contradicts(stated_hz, from, to)))
		snprintf(why, len, "the counter runs at %llu Hz, not at %llu: %.60s",
			 (unsigned long long)hz, (unsigned long long)stated_hz, by);
	else if (apart_ns > COUNTER_APART_NS)
		snprintf(why, len, "the counter of CPU %u differs by %llu ns", spread->farthest,
			 (unsigned long long)apart_ns);
	else
		return false;
	return true;
}

/* --- frequency ------------------------------------------------------------------------------- */

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

#if defined(__x86_64__)
#define HYPERVISOR_BIT (1u << 31)     /* of ECX of leaf 1 */
#define HYPERVISOR_LEAF 0x40000000u   /* its highest leaf, and a signature of 12 bytes */
#define HYPERVISOR_TIMING 0x40000010u /* EAX: kHz of the time stamp counter; VMware's, and KVM's */

static uint64_t hypervisor_hz(void)
{
	unsigned int a, b, c, d, name[4] = { 0 };

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & HYPERVISOR_BIT))
		return 0;
	__cpuid(HYPERVISOR_LEAF, a, name[0], name[1], name[2]);
	if (a < HYPERVISOR_TIMING || a > HYPERVISOR_LEAF + 0xffff ||
	    (strcmp((char *)name, "VMwareVMware") != 0 && strcmp((char *)name, "KVMKVMKVM") != 0))
		return 0;
	__cpuid(HYPERVISOR_TIMING, a, b, c, d);
	return (uint64_t)a * 1000;
}

/* Intel SDM, CPUID 15H: crystal (ECX) times numerator (EBX) by denominator (EAX). Without the
 * crystal there is 16H, which has whole MHz: less exact than measuring. */
static uint64_t crystal_hz(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(0x15, &a, &b, &c, &d) || !a || !b || !c)
		return 0;
	return (uint64_t)c * b / a;
}

/* In a process for which CPUID faults, executing it would be its end (arch_prctl(2)). */
static uint64_t cpuid_hz(char *source, size_t len)
{
	uint64_t hz;

	if (syscall(SYS_arch_prctl, ARCH_GET_CPUID, 0) == 0)
		return 0;
	if ((hz = hypervisor_hz()) != 0)
		snprintf(source, len, "frequency according to the hypervisor (CPUID 0x40000010)");
	else if ((hz = crystal_hz()) != 0)
		snprintf(source, len, "frequency according to the processor (CPUID 0x15)");
	return hz;
}
#endif

uint64_t counter_stated_hz(char *source, size_t len)
{
	uint64_t hz = 0;

#if defined(__aarch64__)
	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
#else
	hz = perf_hz();
#endif
	if (hz)
		snprintf(source, len, "frequency according to the kernel");
#if defined(__x86_64__)
	if (!hz)
		hz = cpuid_hz(source, len);
#endif
	return hz;
}
