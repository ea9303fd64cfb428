/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "agent.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ltt/statedump.h>

#include "tracer/agent/host/bypass.h"
#include "tracer/agent/host/census.h"
#include "tracer/base/env.h"
#include "tracer/agent/host/fork.h"
#include "tracer/agent/host/identity.h"
#include "tracer/agent/host/leave.h"
#include "link.h"
#include "tracer/agent/host/next.h"
#include "points.h"
#include "tracer/agent/host/spawn.h"
#include "thread.h"
#include "tracer/ring/context.h"
#include "tracer/ring/fallback.h"
#include "tracer/ring/populate.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/rseq.h"
#include "tracer/ring/wait.h"
#include "tracer/site/site.h"
#include "tracer/statedump/statedump.h"

/* The wait of a forked child for buffers of its own, and the pause without such waits after one
 * timed out. */
#define CHILD_WAIT_MS 1000
#define CHILD_NO_WAIT_MS 60000

static int64_t *no_wait_until; /* shared with all children */
static bool waited_in_vain;    /* a daemon took too long, and none has answered since */

/* Return: false: timed out. */
static bool wait_confirmed(uint32_t generation, int timeout_ms)
{
	agent_wake();
	if (agent_thread_wait_confirmed(generation, timeout_ms))
		return true;
	if (timeout_ms)
		tracer_debug("a daemon took too long; the program continues");
	return false;
}

/* After one timeout, registration does not wait until daemons have answered. */
static void wait_registered(void)
{
	bool no_wait = __atomic_load_n(&waited_in_vain, __ATOMIC_RELAXED);
	uint32_t generation = agent_points_generation();

	if (agent_thread_is_helper() ||
	    wait_confirmed(generation, no_wait ? 0 : tracer_env.register_timeout_ms))
		return;
	__atomic_store_n(&waited_in_vain, true, __ATOMIC_RELAXED);
	agent_links_begin(generation);
}

void agent_sites_changed(void)
{
	if (agent_thread_id() == 0)
		return;
	if (tracer_env.register_timeout_ms)
		wait_registered();
	else
		agent_names_added();
}

void agent_names_added(void)
{
	if (agent_thread_id() && agent_points_any_link_up())
		agent_wake();
}

void agent_await_buffers(void)
{
	int timeout_ms =
		tracer_env.register_timeout_ms ? tracer_env.register_timeout_ms : CHILD_WAIT_MS;

	if (!no_wait_until || agent_now_ms() < __atomic_load_n(no_wait_until, __ATOMIC_RELAXED))
		return;
	if (!wait_confirmed(agent_points_generation(), timeout_ms))
		__atomic_store_n(no_wait_until, agent_now_ms() + CHILD_NO_WAIT_MS,
				 __ATOMIC_RELAXED);
}

void agent_daemons_answered(void)
{
	__atomic_store_n(&waited_in_vain, false, __ATOMIC_RELAXED);
	if (no_wait_until)
		__atomic_store_n(no_wait_until, 0, __ATOMIC_RELAXED);
}

void agent_expect_children(void)
{
	void *page;

	if (no_wait_until)
		return;
	page = mmap(NULL, sizeof(*no_wait_until), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED)
		no_wait_until = page;
}

/* A library that is loaded later may call vfork(), which nothing reports: then sequences are not
 * used either. A call for each event could end a program that has forbidden it unnoticed. */
static void heed_bypassed_calls(void)
{
	uint32_t found = bypass_find();

	if (found & (CONTEXT_TASK | BYPASS_LOADS))
		site_stop_sequences();
	if (found & (BYPASS_LOADS | BYPASS_STACKS))
		ring_stacks_hidden();
	if (found & (BYPASS_LOADS | BYPASS_FILTERS))
		context_forbid_calls(CONTEXT_CALLS_POPULATE | CONTEXT_CALLS_FALLBACK |
				     CONTEXT_CALLS_WAIT);
	else
		context_keep_not(found & ~BYPASS_STACKS);
	if (found)
		tracer_debug("libc's functions are called in place of libltt's (%x)", found);
}

static void prepare(void)
{
	agent_census_init();
	tracer_env_read();
	if (tracer_env.disabled)
		return;
	ring_on_rseq_given_up(agent_wake);
	populate_on_request(agent_wake);
	ring_wait_read_environment();
	ring_init(); /* reads the environment, too */
	agent_links_init();
	agent_points_start();
	agent_leave_init();
	agent_identity_init();
	agent_spawn_init();
	statedump_init();
	site_on_exit(ltt_statedump_libraries);
	heed_bypassed_calls();
}

__attribute__((constructor)) static void agent_start(void)
{
	struct next_scope scope;

	agent_next_begin(&scope);
	prepare();
	agent_next_end();
	if (tracer_env.disabled)
		return;
	if (agent_fork_init() < 0 || agent_thread_start(0) < 0)
		return;
	agent_sites_changed();
}

/* Where libraries alone have sites, the handler of site_on_exit() comes behind the end of our own,
 * which is behind this: their destructor has a priority. */
__attribute__((destructor)) static void agent_end(void)
{
	if (!tracer_env.disabled)
		ltt_statedump_libraries();
}
