/* SPDX-License-Identifier: GPL-2.0-only */
#include "doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "io/memfile.h"
#include "ltt_ring.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* struct futex_waitv of <linux/futex.h>, which older headers do not have */
struct wait_entry {
	uint64_t val;
	uint64_t uaddr;
	uint32_t flags;
	uint32_t reserved;
};
#define WAIT_32 2u
#define WAIT_PRIVATE 128u

/* Without futex_waitv (before Linux 5.16) a worker sleeps on the shared word and polls its own
 * periodically. */
#define OLD_KERNEL_NAP_NS 50000000u

int doorbell_init(struct doorbell *doorbell, int fd)
{
	void *page;
	int ret;

	doorbell->own = 0;
	doorbell->shared = NULL;
	doorbell->fd = fd;
	ret = fd < 0 ? memfile_new("ltt-doorbell", LTT_RING_PAGE, &doorbell->fd) :
		       memfile_check(fd, LTT_RING_PAGE);
	if (ret < 0) {
		doorbell->fd = close_fd(doorbell->fd);
		return ret;
	}
	page = mmap(NULL, LTT_RING_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, doorbell->fd, 0);
	if (page == MAP_FAILED) {
		ret = -errno;
		doorbell->fd = close_fd(doorbell->fd);
		return ret;
	}
	doorbell->shared = page;
	return 0;
}

void doorbell_fini(struct doorbell *doorbell)
{
	if (doorbell->shared)
		munmap(doorbell->shared, LTT_RING_PAGE);
	doorbell->shared = NULL;
	doorbell->fd = close_fd(doorbell->fd);
}

void doorbell_ring(struct doorbell *doorbell)
{
	__atomic_add_fetch(&doorbell->own, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &doorbell->own, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void doorbell_ring_shared(struct doorbell *doorbell)
{
	__atomic_add_fetch(doorbell->shared, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, doorbell->shared, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

struct doorbell_seen doorbell_snapshot(const struct doorbell *doorbell)
{
	struct doorbell_seen seen = {
		.shared = __atomic_load_n(doorbell->shared, __ATOMIC_SEQ_CST),
		.own = __atomic_load_n(&doorbell->own, __ATOMIC_SEQ_CST),
	};

	return seen;
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };
}

/* FUTEX_WAIT_BITSET takes an absolute time; FUTEX_WAIT does not. */
static void wait_one(uint32_t *word, uint32_t value, int private, uint64_t until_ns)
{
	struct timespec at = to_timespec(until_ns);

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET | private, value,
		until_ns == DOORBELL_FOREVER ? NULL : &at, NULL, FUTEX_BITSET_MATCH_ANY);
}

static uint64_t nap_end(uint64_t until_ns)
{
	struct timespec ts;
	uint64_t end;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	end = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec + OLD_KERNEL_NAP_NS;
	return MIN(end, until_ns);
}

void doorbell_wait(struct doorbell *doorbell, struct doorbell_seen seen, uint64_t until_ns)
{
	static bool no_waitv; /* the kernel's answer is the same for every thread */
	struct timespec at = to_timespec(until_ns);
	struct wait_entry entries[2] = {
		{ .val = seen.own,
		  .uaddr = (uintptr_t)&doorbell->own,
		  .flags = WAIT_32 | WAIT_PRIVATE },
		{ .val = seen.shared, .uaddr = (uintptr_t)doorbell->shared, .flags = WAIT_32 },
	};

	if (!__atomic_load_n(&no_waitv, __ATOMIC_RELAXED)) {
		long ret = syscall(SYS_futex_waitv, entries, 2, 0,
				   until_ns == DOORBELL_FOREVER ? NULL : &at, CLOCK_MONOTONIC);

		if (ret >= 0 || (errno != ENOSYS && errno != EPERM))
			return;
		__atomic_store_n(&no_waitv, true, __ATOMIC_RELAXED);
	}
	if (__atomic_load_n(&doorbell->own, __ATOMIC_SEQ_CST) == seen.own)
		wait_one(doorbell->shared, seen.shared, 0, nap_end(until_ns));
}

void doorbell_wait_own(struct doorbell *doorbell, struct doorbell_seen seen, uint64_t until_ns)
{
	wait_one(&doorbell->own, seen.own, FUTEX_PRIVATE_FLAG, until_ns);
}
