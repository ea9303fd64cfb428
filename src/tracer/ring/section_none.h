/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * section_none.h - the functions of section.h for processors without a restartable sequence in this
 * project: each event goes to the fallback producer. The clock of the trace is CLOCK_MONOTONIC, but
 * on i386, whose programs record beside those of x86-64.
 */
#ifndef TRACER_RING_SECTION_NONE_H
#define TRACER_RING_SECTION_NONE_H

#define SECTION_SUPPORTED 0
#define SECTION_SIG 0

#ifdef __i386__
#define SECTION_HAS_CYCLES 1

static inline void *section_thread_pointer(void)
{
	void *pointer;

	__asm__("movl %%gs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline uint64_t section_read_cycles(void)
{
	return __builtin_ia32_rdtsc();
}
#else
#define SECTION_HAS_CYCLES 0

static inline void *section_thread_pointer(void)
{
	return __builtin_thread_pointer();
}

static inline uint64_t section_read_cycles(void)
{
	return 0;
}
#endif

#ifdef SECTION_FUNCTIONS

static uint32_t refer(const struct hook *hook)
{
	return hook->binding ? RES_ELSEWHERE | RES_EXCLUSIVE : 0;
}

void ring_record(const struct hook *hook, const void *payload, size_t len)
{
	uint32_t res = refer(hook);

	if (res)
		record_unusual(hook, payload, len, res);
}

uint32_t section_cycles(const struct hook *hook, const void *payload, size_t len,
			uint32_t preparation)
{
	(void)payload;
	(void)len;
	(void)preparation;
	return refer(hook);
}

uint32_t section_given(const struct hook *hook, const void *payload, size_t len,
		       uint32_t preparation, uint64_t ts)
{
	(void)ts;
	return section_cycles(hook, payload, len, preparation);
}

#endif
#endif
