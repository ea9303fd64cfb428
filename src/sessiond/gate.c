/* SPDX-License-Identifier: GPL-2.0-only */
#include "gate.h"

#include <sys/resource.h>

#include "base/log.h"

/* Descriptors that each use leaves to those before it: enough of them for a day's work, but
 * no more than a part of a small limit. */
static unsigned int reserve(unsigned int limit)
{
	return MAX(8u, MIN(limit / 16, 256u));
}

unsigned int gate_fd_limit(void)
{
	struct rlimit limit = { 1024, 1024 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return (unsigned int)MIN(limit.rlim_cur, (rlim_t)1 << 20);
}

bool gate_has_room(int fd, enum gate_use use)
{
	unsigned int limit = gate_fd_limit();

	return (unsigned int)fd + (unsigned int)use * reserve(limit) < limit;
}

static void await_first(struct gate *gate)
{
	struct stranger *first = list_first(&gate->strangers, struct stranger, node);
	uint64_t now = loop_now_ns(), due;

	if (!first || gate->patience.at_ns)
		return;
	due = first->since_ns + GATE_PATIENCE_US * 1000ull;
	loop_timer_set(&gate->patience, due > now ? (due - now) / 1000 + 1 : 0);
}

static void out_of_patience(struct loop_timer *timer)
{
	struct gate *gate = container_of(timer, struct gate, patience);
	uint64_t now = loop_now_ns();
	struct stranger *stranger;
	unsigned int nr = 0;

	while ((stranger = list_first(&gate->strangers, struct stranger, node)) &&
	       stranger->since_ns + GATE_PATIENCE_US * 1000ull <= now) {
		gate_leave(stranger);
		peer_hang_up(stranger->peer);
		nr++;
	}
	if (nr)
		log_info("%u connections said nothing for %u s and were closed", nr,
			 GATE_PATIENCE_US / 1000000);
	await_first(gate);
}

void gate_init(struct gate *gate, struct loop *loop)
{
	list_init(&gate->strangers);
	loop_timer_init(&gate->patience, loop, out_of_patience);
}

void gate_fini(struct gate *gate)
{
	loop_timer_cancel(&gate->patience);
}

void gate_enter(struct gate *gate, struct stranger *stranger, struct peer *peer)
{
	stranger->peer = peer;
	stranger->since_ns = loop_now_ns();
	list_append(&gate->strangers, &stranger->node);
	await_first(gate);
}

void gate_leave(struct stranger *stranger)
{
	list_remove(&stranger->node);
}
