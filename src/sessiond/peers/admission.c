/* SPDX-License-Identifier: GPL-2.0-only */
#include "admission.h"

#include <sys/resource.h>

#include "base/log.h"

/* Number of descriptors that each use of enum admission_use leaves free for the uses before it:
 * 256, fewer if the limit is small, but at least 8. */
static unsigned int admission_reserve(unsigned int limit)
{
	return MAX(8u, MIN(limit / 16, 256u));
}

unsigned int admission_fd_limit(void)
{
	struct rlimit limit = { 1024, 1024 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return (unsigned int)MIN(limit.rlim_cur, (rlim_t)1 << 20);
}

bool admission_has_room(int fd, enum admission_use use)
{
	unsigned int limit = admission_fd_limit();

	return (unsigned int)fd + (unsigned int)use * admission_reserve(limit) < limit;
}

static void await_first(struct admission *admission)
{
	struct pending_hello *first =
		list_first(&admission->pending_hellos, struct pending_hello, node);
	uint64_t now = loop_now_ns(), due;

	if (!first || admission->timeout.at_ns)
		return;
	due = first->since_ns + ADMISSION_TIMEOUT_US * 1000ull;
	loop_timer_set(&admission->timeout, due > now ? (due - now) / 1000 + 1 : 0);
}

static void admission_on_timeout(struct loop_timer *timer)
{
	struct admission *admission = container_of(timer, struct admission, timeout);
	uint64_t now = loop_now_ns();
	struct pending_hello *pending_hello;
	unsigned int nr = 0;

	while ((pending_hello =
			list_first(&admission->pending_hellos, struct pending_hello, node)) &&
	       pending_hello->since_ns + ADMISSION_TIMEOUT_US * 1000ull <= now) {
		admission_remove(pending_hello);
		peer_hang_up(pending_hello->peer);
		nr++;
	}
	if (nr)
		log_info("closed %u connections that did not introduce themselves within %u s", nr,
			 ADMISSION_TIMEOUT_US / 1000000);
	await_first(admission);
}

void admission_init(struct admission *admission, struct loop *loop)
{
	list_init(&admission->pending_hellos);
	loop_timer_init(&admission->timeout, loop, admission_on_timeout);
}

void admission_fini(struct admission *admission)
{
	loop_timer_cancel(&admission->timeout);
}

void admission_add(struct admission *admission, struct pending_hello *pending_hello,
		   struct peer *peer)
{
	pending_hello->peer = peer;
	pending_hello->since_ns = loop_now_ns();
	list_append(&admission->pending_hellos, &pending_hello->node);
	await_first(admission);
}

void admission_remove(struct pending_hello *pending_hello)
{
	list_remove(&pending_hello->node);
}
