// SPDX-License-Identifier: GPL-2.0-only
/*
 * tsc_clock.c - a clock plugin that gives LTTng-UST the CPU counter as its trace
 * clock: the strongest form of the peer (LTTNG_UST_CLOCK_PLUGIN=this.so, for the
 * application and for the session daemon).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <lttng/ust-clock.h>

static uint64_t counter(void)
{
	return __builtin_ia32_rdtsc();
}

static uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t frequency(void)
{
	static uint64_t hz;

	if (!hz) {
		uint64_t begin = mono_ns(), tsc = counter(), ns;

		while ((ns = mono_ns() - begin) < 20000000)
			;
		hz = (uint64_t)((double)(counter() - tsc) * 1e9 / (double)ns);
	}
	return hz;
}

static int uuid(char *text)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	size_t n;

	if (!f)
		return -1;
	n = fread(text, 1, LTTNG_UST_UUID_STR_LEN - 1, f);
	text[n] = '\0';
	fclose(f);
	return n == LTTNG_UST_UUID_STR_LEN - 1 ? 0 : -1;
}

static const char *name(void)
{
	return "tsc";
}

static const char *description(void)
{
	return "CPU counter";
}

void lttng_ust_clock_plugin_init(void);
void lttng_ust_clock_plugin_init(void)
{
	if (lttng_ust_trace_clock_set_read64_cb(counter) ||
	    lttng_ust_trace_clock_set_freq_cb(frequency) ||
	    lttng_ust_trace_clock_set_uuid_cb(uuid) ||
	    lttng_ust_trace_clock_set_name_cb(name) ||
	    lttng_ust_trace_clock_set_description_cb(description))
		return;
	lttng_ust_enable_trace_clock_override();
}
