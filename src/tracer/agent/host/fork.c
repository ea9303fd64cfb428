/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fork.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "tracer/agent/agent.h"
#include "alone.h"
#include "seccomp.h"
#include "tracer/agent/buffers.h"
#include "tracer/agent/channels.h"
#include "tracer/agent/counts.h"
#include "tracer/agent/kept.h"
#include "leave.h"
#include "tracer/agent/link.h"
#include "tracer/agent/points.h"
#include "tracer/agent/thread.h"
#include "tracer/agent/traces.h"
#include "tracer/emit/trigger.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/fallback.h"
#include "tracer/site/site.h"
#include "tracer/statedump/statedump.h"

/* Most children exec or exit before this; those cost the daemon nothing. */
#define CHILD_DELAY_MS 10

static bool by_helper; /* a state dump forks */

/* The order of locks everywhere: the program's functions', the helper's, the registry's, then the
 * leaves. */
static void agent_fork_lock_all(void)
{
	agent_traces_lock();
	agent_lock();
	site_before_fork();
	agent_points_lock();
	agent_channels_lock();
	statedump_before_fork();
	by_helper = agent_thread_is_helper();
}

static void after_in_parent(void)
{
	statedump_after_fork_parent();
	agent_channels_unlock();
	agent_points_unlock();
	site_after_fork_parent();
	agent_unlock();
	agent_traces_unlock();
	agent_filter_after_fork_parent();
}

/* The child does not record into buffers that belong to its parent alone: it starts with its own,
 * and while a daemon does not answer, its events are lost. */
static void start_helper(void)
{
	bool own = agent_buffers_own();
	bool hurry = own || agent_buffers_exclusive();

	if (agent_filter_is_fatal()) {
		agent_thread_retire("a seccomp filter would end the program for it");
		agent_alone_give_up();
		return;
	}
	if (own) {
		agent_buffers_disown();
		agent_thread_unsettle();
	}
	if (agent_thread_start(hurry ? 0 : CHILD_DELAY_MS) == 0 && own)
		agent_await_buffers();
}

static void after_in_child(void)
{
	const bool may_call = !agent_filter_is_fatal();

	if (may_call && !by_helper)
		ring_clock_find_namespace_again();
	statedump_after_fork_child();
	agent_channels_unlock();
	agent_points_after_fork_child();
	site_after_fork_child();
	reader_after_fork_child(may_call);
	admit_after_fork_child();
	agent_buffers_after_fork_child();
	agent_counts_after_fork_child();
	pairings_after_fork_child();
	agent_kept_after_fork_child();
	agent_links_after_fork_child();
	agent_thread_after_fork_child();
	agent_traces_after_fork_child();
	agent_leave_after_fork_child();
	agent_alone_after_fork_child(may_call);
	if (!by_helper && !agent_alone_has_departed())
		start_helper();
}

int agent_fork_init(void)
{
	return -pthread_atfork(agent_fork_lock_all, after_in_parent, after_in_child);
}
