// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rseq.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <linux/rseq.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "fallback.h"
#include "section.h"
#include "sys.h"

/* glibc >= 2.35; weak, so that an older one will do as well. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

#define RSEQ_AREA_SIZE 32u /* the size that every kernel with rseq accepts */

#ifndef AT_RSEQ_FEATURE_SIZE /* Linux 6.3 */
#define AT_RSEQ_FEATURE_SIZE 27
#define AT_RSEQ_ALIGN 28
#endif

static __thread struct rseq own_area __attribute__((tls_model("initial-exec"), aligned(32))) = {
	.cpu_id = (uint32_t)RSEQ_CPU_ID_UNINITIALIZED,
};
static __thread uint8_t refused __attribute__((tls_model("initial-exec")));

ptrdiff_t ring_rseq_area;

enum { NOT_DECIDED = -1 };
static int producer = NOT_DECIDED;
static int machine_has_rseq;
static void (*given_up)(void); /* called when sequences are disabled */
static int stopped;	       /* sequences are not to be used any more */

static struct rseq *area_at(ptrdiff_t offset)
{
	return (struct rseq *)((char *)section_thread_pointer() + offset);
}

static int cpu_known(ptrdiff_t offset)
{
	return (int32_t)__atomic_load_n(&area_at(offset)->cpu_id, __ATOMIC_RELAXED) >= 0;
}

int ring_rseq_used(void)
{
	return machine_has_rseq;
}

uint32_t ring_rseq_cpu(void)
{
	return __atomic_load_n(&area_at(ring_rseq_area)->cpu_id, __ATOMIC_RELAXED);
}

static int register_thread(ptrdiff_t offset)
{
	if (cpu_known(offset))
		return 1;
	long ret = ring_syscall(SYS_rseq, (long)area_at(offset), RSEQ_AREA_SIZE, 0, SECTION_SIG);
	return (ret == 0 || ret == -EBUSY) && cpu_known(offset);
}

int ring_rseq_adopt_thread(void)
{
	if (!machine_has_rseq || refused || ring_sequences_stopped())
		return 0;
	if (register_thread(ring_rseq_area))
		return 1;
	refused = 1;
	ring_give_up_rseq();
	return 0;
}

/* --- an area that serves another task for a time --------------------------------- */

enum { LENT_REFUSED = 1, LENT_IN_VAIN = 2, LENT_SIZE_SHIFT = 8 };

static void forget_cpu(void)
{
	__atomic_store_n(&area_at(ring_rseq_area)->cpu_id, (uint32_t)RSEQ_CPU_ID_UNINITIALIZED,
			 __ATOMIC_RELAXED);
}

/* The kernel compares the size: libc's may be the one that the kernel advises. */
static uint32_t advised_size(void)
{
	unsigned long align = getauxval(AT_RSEQ_ALIGN), size = getauxval(AT_RSEQ_FEATURE_SIZE);

	return align ? (uint32_t)((size + align - 1) / align * align) : RSEQ_AREA_SIZE;
}

static int rseq_unregister(uint32_t size)
{
	return ring_syscall(SYS_rseq, (long)area_at(ring_rseq_area), size, RSEQ_FLAG_UNREGISTER,
			    SECTION_SIG) == 0;
}

uint64_t ring_rseq_lend(void)
{
	uint64_t lent = refused ? LENT_REFUSED : 0;

	if (!machine_has_rseq || !cpu_known(ring_rseq_area))
		return lent;
	for (int i = 0; i < 2; i++) {
		uint32_t size = i ? advised_size() : RSEQ_AREA_SIZE;

		if (rseq_unregister(size))
			return lent | (uint64_t)size << LENT_SIZE_SHIFT;
	}
	/* The area stays registered for the thread: records of the child are counted as lost. */
	refused = 1;
	forget_cpu();
	return lent | LENT_IN_VAIN;
}

/* If the thread migrates in between, the kernel stores the CPU itself. */
static void remember_cpu(void)
{
	uint32_t cpu, now;

	if (ring_syscall(SYS_getcpu, (long)&now, 0, 0, 0) != 0)
		return;
	do {
		cpu = now;
		__atomic_store_n(&area_at(ring_rseq_area)->cpu_id, cpu, __ATOMIC_RELAXED);
		ring_syscall(SYS_getcpu, (long)&now, 0, 0, 0);
	} while (now != cpu);
}

void ring_rseq_take_back(uint64_t lent)
{
	long size = (long)(lent >> LENT_SIZE_SHIFT);

	if (!machine_has_rseq)
		return;
	refused = (lent & LENT_REFUSED) != 0;
	if (lent & LENT_IN_VAIN) {
		remember_cpu();
		return;
	}
	forget_cpu(); /* it is the child's */
	if (size)
		ring_syscall(SYS_rseq, (long)area_at(ring_rseq_area), size, 0, SECTION_SIG);
}

void ring_stop_sequences(void)
{
	__atomic_store_n(&stopped, 1, __ATOMIC_SEQ_CST);
	ring_give_up_rseq();
}

int ring_sequences_stopped(void)
{
	return __atomic_load_n(&stopped, __ATOMIC_SEQ_CST);
}

/* --- features of the machine ----------------------------------------------------------- */

/* A sequence in flight can only be waited for with this (Linux 5.10). */
static int membarrier_restarts_sequences(void)
{
	long commands = ring_syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0, 0);

	return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
}

/* Where libc has registered an area. Return: whether it has. */
static int libc_area(ptrdiff_t *ret_offset)
{
	const unsigned int *size = &__rseq_size;
	const ptrdiff_t *offset = &__rseq_offset;

	if (!size || !offset) { /* mold links a program without weak symbols of ld.so */
		size = dlsym(RTLD_DEFAULT, "__rseq_size");
		offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
	}
	if (!size || !offset || *size == 0)
		return 0;
	*ret_offset = *offset;
	return 1;
}

static int rseq_wanted(void)
{
	const char *unwanted = getenv("LTT_NO_RSEQ");

	return SECTION_SUPPORTED && !(unwanted && !strcmp(unwanted, "1"));
}

void ring_register_membarrier(void)
{
	ring_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0, 0);
}

/* glibc >= 2.32; weak, so that an older one will do as well. */
extern char __libc_single_threaded __attribute__((weak));

static void register_membarrier_early(void)
{
	if (&__libc_single_threaded && __libc_single_threaded)
		ring_register_membarrier();
}

/* Two threads may decide at once: each word is stored once, with its final value. */
static enum ring_producer rseq_decide(void)
{
	ptrdiff_t own = (char *)&own_area - (char *)section_thread_pointer();
	ptrdiff_t offset = own;

	(void)libc_area(&offset);
	if (!rseq_wanted() || !membarrier_restarts_sequences() || !register_thread(offset)) {
		ring_rseq_area = own;
		return RING_FALLBACK;
	}
	ring_rseq_area = offset;
	machine_has_rseq = 1;
	register_membarrier_early();
	return RING_RSEQ;
}

enum ring_producer ring_init(void)
{
	if (__atomic_load_n(&producer, __ATOMIC_ACQUIRE) == NOT_DECIDED) {
		int expected = NOT_DECIDED;

		__atomic_compare_exchange_n(&producer, &expected, (int)rseq_decide(), 0,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
	return ring_producer();
}

enum ring_producer ring_producer(void)
{
	int now = __atomic_load_n(&producer, __ATOMIC_ACQUIRE);

	return now == RING_RSEQ ? RING_RSEQ : RING_FALLBACK;
}

void ring_on_rseq_given_up(void (*call)(void))
{
	given_up = call;
}

void ring_give_up_rseq(void)
{
	if (__atomic_exchange_n(&producer, RING_FALLBACK, __ATOMIC_ACQ_REL) == RING_RSEQ &&
	    given_up)
		given_up();
}
