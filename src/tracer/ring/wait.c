/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "wait.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "context.h"
#include "fallback.h"
#include "ring.h"
#include "set.h"
#include "sys.h"

/* The first pauses are about as long as a consumer takes to write a small packet. */
#define FIRST_PAUSE_NS 20000u
#define LONGEST_PAUSE_NS 5000000u

static bool allowed;
static __thread uint8_t never __attribute__((tls_model("initial-exec")));

/* LTTng's variable has an effect with any value, as there. */
void ring_wait_read_environment(void)
{
	const char *own = secure_getenv("LTT_ALLOW_BLOCKING");

	allowed = own ? *own && strcmp(own, "0") != 0 :
			secure_getenv("LTTNG_UST_ALLOW_BLOCKING") != NULL;
}

bool ring_wait_is_allowed(void)
{
	return allowed;
}

void ring_wait_never_here(void)
{
	never = 1;
}

void ring_set_wait_until(struct ring_set *set, uint64_t end_ns)
{
	__atomic_store_n(&set->wait_until_ns, end_ns, __ATOMIC_RELAXED);
}

/* Between reader_enter() and reader_exit(). Return: the time that is left at @now. */
static uint64_t ring_wait_left(const struct ring_set *set, const struct ring_wait *wait,
			       uint64_t now)
{
	uint64_t until = __atomic_load_n(&set->wait_until_ns, __ATOMIC_RELAXED);
	uint64_t end = set->blocking_us == LTT_RING_WAIT_FOREVER ?
			       UINT64_MAX :
			       wait->begin_ns + set->blocking_us * 1000ull;

	if (until && until < end)
		end = until;
	return now < end ? end - now : 0;
}

/* The consumer may sleep although the ring is full. */
static uint64_t ring_wait_begin(const struct hook *hook, struct ring_wait *wait, uint64_t now)
{
	const bool first = !wait->begin_ns;
	unsigned int token = reader_enter_in(__builtin_frame_address(0));
	const struct binding *binding = __atomic_load_n(&hook->binding, __ATOMIC_ACQUIRE);
	uint64_t left = 0;

	if (first)
		wait->begin_ns = now;
	if (binding)
		left = ring_wait_left(binding->set, wait, now);
	if (left && first)
		ring_set_ring(binding->set);
	reader_exit(token);
	return left;
}

static void ring_wait_sleep(struct ring_wait *wait, uint64_t left)
{
	struct timespec pause = { 0, 0 };

	wait->pause_ns = wait->pause_ns ? 2 * wait->pause_ns : FIRST_PAUSE_NS;
	if (wait->pause_ns > LONGEST_PAUSE_NS)
		wait->pause_ns = LONGEST_PAUSE_NS;
	pause.tv_nsec = (long)(left < wait->pause_ns ? left : wait->pause_ns);
	ring_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0);
}

bool ring_wait_once(const struct hook *hook, struct ring_wait *wait)
{
	uint64_t left;

	if (never || !context_may_call(CONTEXT_CALLS_WAIT) || reader_is_awaited_here())
		return false;
	left = ring_wait_begin(hook, wait, ring_clock_monotonic());
	if (left)
		ring_wait_sleep(wait, left);
	return left;
}
