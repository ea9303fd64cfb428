/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "guest.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest_env.h"
#include "guest_fork.h"
#include "guest_leave.h"
#include "guest_link.h"
#include "guest_points.h"
#include "guest_thread.h"
#include "ring.h"

/* A daemon that made us wait in vain once does not do so again. */
static void wait_settled(void)
{
	static bool waited_in_vain;

	if (__atomic_load_n(&waited_in_vain, __ATOMIC_RELAXED) ||
	    guest_thread_id() == (int)syscall(SYS_gettid))
		return;
	guest_wake();
	if (!guest_thread_settle(guest_points_generation(), guest_env.register_timeout_ms)) {
		__atomic_store_n(&waited_in_vain, true, __ATOMIC_RELAXED);
		guest_debug("a daemon took too long; the program goes on");
	}
}

void guest_sites_changed(void)
{
	if (guest_thread_id() == 0)
		return;
	if (guest_env.register_timeout_ms)
		wait_settled();
	else if (guest_points_anybody())
		guest_wake();
}

__attribute__((constructor)) static void guest_start(void)
{
	guest_env_read();
	if (guest_env.disabled)
		return;
	ring_init(); /* reads the environment, too */
	guest_links_init();
	guest_points_start();
	guest_leave_init();
	if (guest_fork_init() < 0 || guest_thread_start(0) < 0)
		return;
	guest_sites_changed();
}
