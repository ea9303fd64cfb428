/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "guest_fork.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "guest_alone.h"
#include "guest_buffers.h"
#include "guest_counts.h"
#include "guest_kept.h"
#include "guest_leave.h"
#include "guest_link.h"
#include "guest_points.h"
#include "guest_thread.h"
#include "ring.h"
#include "ring_fallback.h"
#include "site.h"
#include "statedump.h"

/* Most children exec or exit before this; those cost the daemon nothing. */
#define CHILD_DELAY_MS 10

static bool by_helper; /* a state dump forks */

/* The order of locks everywhere: the helper's, the registry's, then the leaves. */
static void before(void)
{
	guest_lock();
	site_before_fork();
	guest_points_lock();
	statedump_before_fork();
	by_helper = guest_thread_id() == (int)syscall(SYS_gettid);
}

static void after_in_parent(void)
{
	statedump_after_fork_parent();
	guest_points_unlock();
	site_after_fork_parent();
	guest_unlock();
}

/* What is the parent's alone is not for the child's events: it begins with its own. */
static void start_helper(void)
{
	bool own = guest_buffers_own();
	bool hurry = own || guest_buffers_exclusive();

	if (own)
		guest_thread_unsettle();
	if (guest_thread_start(hurry ? 0 : CHILD_DELAY_MS) == 0 && own)
		guest_await_buffers();
}

static void after_in_child(void)
{
	if (!by_helper)
		ring_clock_find_namespace();
	statedump_after_fork_child();
	guest_points_after_fork_child();
	site_after_fork_child();
	reader_after_fork_child();
	guest_buffers_after_fork_child();
	guest_counts_after_fork_child();
	guest_kept_after_fork_child();
	guest_links_after_fork_child();
	guest_thread_after_fork_child();
	guest_leave_after_fork_child();
	guest_alone_after_fork_child();
	if (!by_helper)
		start_helper();
}

int guest_fork_init(void)
{
	return -pthread_atfork(before, after_in_parent, after_in_child);
}
