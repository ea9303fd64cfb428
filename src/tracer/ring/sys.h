/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sys.h - the system calls of the ring's producer, made without libc.
 *
 * libc's wrappers set errno, may be cancellation points and may themselves be
 * traced (preloaded wrappers). These functions are not, and may run in a signal handler. They
 * return the kernel's results: negative errno.
 */
#ifndef TRACER_RING_SYS_H
#define TRACER_RING_SYS_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
static inline long ring_syscall5(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long ring_syscall5(long nr, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
}
#elif defined(__i386__)
static inline long ring_syscall5(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return ret;
}
#else
#include <errno.h>
#include <unistd.h>

static inline long ring_syscall5(long nr, long a, long b, long c, long d, long e)
{
	int saved = errno;
	long ret = syscall(nr, a, b, c, d, e);

	ret = ret < 0 ? -errno : ret;
	errno = saved;
	return ret;
}
#endif

static inline long ring_syscall(long nr, long a, long b, long c, long d)
{
	return ring_syscall5(nr, a, b, c, d, 0);
}

/** A full memory barrier, also between stores and later loads. In assembly, because
 *  ThreadSanitizer does not support the compiler's. */
static inline void ring_full_fence(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lock orq $0, (%%rsp)" ::: "memory", "cc");
#elif defined(__i386__)
	__asm__ volatile("lock orl $0, (%%esp)" ::: "memory", "cc");
#elif defined(__aarch64__)
	__asm__ volatile("dmb ish" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/** Sleep while *word == value, for at most @ns; spurious returns are for the caller's loop. */
static inline void ring_futex_wait(uint32_t *word, uint32_t value, uint64_t ns)
{
	const struct timespec most = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	ring_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value, (long)&most);
}

static inline void ring_futex_wake(uint32_t *word)
{
	ring_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

/** Wake a process that sleeps on the word. The word is changed first, so that the process can't
 * fall asleep on the old value. */
static inline void ring_doorbell(uint32_t *doorbell)
{
	__atomic_add_fetch(doorbell, 1, __ATOMIC_SEQ_CST);
	ring_syscall(SYS_futex, (long)doorbell, FUTEX_WAKE, INT_MAX, 0);
}

#endif
