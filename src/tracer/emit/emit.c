// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ltt_emit() - the path of every event, from its site to all listeners. Runs in
 * any thread of the program and in signal handlers.
 */
#include <errno.h>
#include <signal.h>

#include "counter.h"
#include "emit.h"
#include "tracer/site/registry.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/rseq.h"
#define SECTION_WORD
#include "tracer/ring/section.h"

/*
 * The sessions that the calling thread may emit to; 0 is all. The low half is the one
 * session that listens (a state dump), the high half how often it is muted.
 */
static __thread uint64_t emit_limits __attribute__((tls_model("initial-exec")));
#define LIMIT_MUTE (1ull << 32)
#define LIMIT_SESSION (LIMIT_MUTE - 1)

static __thread sigset_t unmuted_mask __attribute__((tls_model("initial-exec")));

__thread bool emit_plainly;

/* To be called after each change of the limits. */
static void find_way(void)
{
	emit_plainly = !emit_limits && ring_rseq_used();
}

void site_only_session(uint32_t session)
{
	emit_limits = (emit_limits & ~LIMIT_SESSION) | session;
	find_way();
}

/*
 * Events of a signal handler are the program's: it waits until we are done.
 * By libc's function: a sanitizer that puts handlers off has to hear of it.
 */
void site_mute(void)
{
	sigset_t every;

	if (!emit_is_muted()) {
		sigfillset(&every);
		pthread_sigmask(SIG_SETMASK, &every, &unmuted_mask);
	}
	emit_limits += LIMIT_MUTE;
	find_way();
}

void site_unmute(void)
{
	emit_limits -= LIMIT_MUTE;
	find_way();
	if (!emit_is_muted())
		pthread_sigmask(SIG_SETMASK, &unmuted_mask, NULL);
}

bool emit_is_muted(void)
{
	return emit_limits >= LIMIT_MUTE;
}

static const struct binding *emit_binding_of(const struct hook *hook)
{
	return __atomic_load_n(&hook->binding, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void emit_to_probe(const struct hook *hook,
						    const struct ltt_site *site,
						    const void *payload, size_t len, size_t extra)
{
	int saved = errno;
	unsigned int token = reader_enter();
	struct ltt_probe *probe = __atomic_load_n(&hook->probe, __ATOMIC_ACQUIRE);

	if (probe)
		probe_call(probe, site, payload, len, extra);
	reader_exit(token);
	errno = saved;
}

/* A state dump is for one session's buffers, for no probe and no counter. */
static __attribute__((noinline, cold)) void emit_limited(const struct hook_table *table,
							 const void *payload, size_t len)
{
	uint32_t session = (uint32_t)(emit_limits & LIMIT_SESSION);
	uint32_t nr = table ? __atomic_load_n(&table->nr, __ATOMIC_ACQUIRE) : 0;

	if (emit_is_muted())
		return;
	for (uint32_t i = 0; i < nr; i++)
		if (ring_hook_session(&table->hook[i]) == session)
			ring_record(&table->hook[i], payload, len);
}

static void emit_to_hook(const struct hook *hook, const struct ltt_site *site, const void *payload,
			 size_t len, size_t extra)
{
	if (likely(emit_binding_of(hook)))
		ring_record(hook, payload, len);
	else if (__atomic_load_n(&hook->probe, __ATOMIC_RELAXED))
		emit_to_probe(hook, site, payload, len, extra);
	else if (__atomic_load_n(&hook->counter, __ATOMIC_RELAXED))
		counter_hit(hook, site, payload, len + extra);
}

static __attribute__((noinline)) void emit_to_all(const struct hook_table *table,
						  const struct ltt_site *site, const void *payload,
						  size_t len, size_t extra)
{
	uint32_t nr = __atomic_load_n(&table->nr, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < nr; i++)
		emit_to_hook(&table->hook[i], site, payload, len, extra);
}

void ltt_emit(struct ltt_site *site, const void *payload, size_t len, size_t extra)
{
	const struct hook_table *table = __atomic_load_n(&site->hooks, __ATOMIC_ACQUIRE);

	if (unlikely(emit_limits || !table)) {
		emit_limited(table, payload, len);
		return;
	}
	/* One session listens: a jump, not a loop. */
	if (likely(__atomic_load_n(&table->nr, __ATOMIC_ACQUIRE) == 1 &&
		   emit_binding_of(&table->hook[0]))) {
		ring_record(&table->hook[0], payload, len);
		return;
	}
	emit_to_all(table, site, payload, len, extra);
}

void emit_word_slow(struct ltt_site *site, uint64_t word, size_t len)
{
	const uint64_t payload[1 + LTT_PAYLOAD_SLACK / 8] = { word };

	find_way();
	ltt_emit(site, payload, len, 0);
}

#ifndef SECTION_HAS_WORD
void ltt_emit_word(struct ltt_site *site, uint64_t word, size_t len)
{
	emit_word_slow(site, word, len);
}
#endif

static void lose_oversize(const struct hook *hook, uint32_t session)
{
	if (!emit_binding_of(hook)) {
		if (!session)
			counter_hit_oversize(hook);
	} else if (!session || ring_hook_session(hook) == session) {
		ring_lose_oversize(hook);
	}
}

void emit_lost_oversize(const struct ltt_site *site)
{
	const struct hook_table *table = __atomic_load_n(&site->hooks, __ATOMIC_ACQUIRE);
	uint32_t nr = table ? __atomic_load_n(&table->nr, __ATOMIC_ACQUIRE) : 0;
	uint32_t session = (uint32_t)(emit_limits & LIMIT_SESSION);

	if (emit_is_muted())
		return;
	for (uint32_t i = 0; i < nr; i++)
		lose_oversize(&table->hook[i], session);
}
