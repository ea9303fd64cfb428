/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "guest.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest_env.h"
#include "guest_fork.h"
#include "guest_leave.h"
#include "guest_link.h"
#include "guest_points.h"
#include "guest_thread.h"
#include "ring.h"
#include "ring_rseq.h"

/* How long a forked child waits for buffers of its own, and for how long no other does where that
 * was in vain. */
#define CHILD_WAIT_MS 1000
#define CHILD_NO_WAIT_MS 60000

static int64_t *no_wait_until; /* shared with all children */

/* Return: false: it took too long. */
static bool wait_settled(int timeout_ms)
{
	guest_wake();
	if (guest_thread_settle(guest_points_generation(), timeout_ms))
		return true;
	guest_debug("a daemon took too long; the program goes on");
	return false;
}

/* A daemon that made us wait in vain once does not do so again. */
static void wait_registered(void)
{
	static bool waited_in_vain;

	if (__atomic_load_n(&waited_in_vain, __ATOMIC_RELAXED) ||
	    guest_thread_id() == (int)syscall(SYS_gettid))
		return;
	if (!wait_settled(guest_env.register_timeout_ms))
		__atomic_store_n(&waited_in_vain, true, __ATOMIC_RELAXED);
}

void guest_sites_changed(void)
{
	if (guest_thread_id() == 0)
		return;
	if (guest_env.register_timeout_ms)
		wait_registered();
	else if (guest_points_anybody())
		guest_wake();
}

void guest_await_buffers(void)
{
	int timeout_ms =
		guest_env.register_timeout_ms ? guest_env.register_timeout_ms : CHILD_WAIT_MS;

	if (!no_wait_until || guest_now_ms() < __atomic_load_n(no_wait_until, __ATOMIC_RELAXED))
		return;
	if (!wait_settled(timeout_ms))
		__atomic_store_n(no_wait_until, guest_now_ms() + CHILD_NO_WAIT_MS,
				 __ATOMIC_RELAXED);
}

void guest_expect_children(void)
{
	void *page;

	if (no_wait_until)
		return;
	page = mmap(NULL, sizeof(*no_wait_until), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED)
		no_wait_until = page;
}

__attribute__((constructor)) static void guest_start(void)
{
	guest_env_read();
	if (guest_env.disabled)
		return;
	ring_call_when_given_up(guest_wake);
	ring_init(); /* reads the environment, too */
	guest_links_init();
	guest_points_start();
	guest_leave_init();
	if (guest_fork_init() < 0 || guest_thread_start(0) < 0)
		return;
	guest_sites_changed();
}
