// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ltt_emit() - the path of every event, from its site to all listeners. Runs in
 * any thread of the program and in signal handlers.
 */
#include <errno.h>
#include <signal.h>

#include "counter.h"
#include "emit.h"
#include "trigger.h"
#include "tracer/site/registry.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/context.h"
#include "tracer/ring/prepare.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/rseq.h"
#define SECTION_WORD
#include "tracer/ring/section.h"

/*
 * The sessions that the calling thread may emit to; 0 is all. The low half is the only session that
 * receives events (a state dump), the high half the depth of muting.
 */
static __thread uint64_t emit_limits __attribute__((tls_model("initial-exec")));
#define LIMIT_MUTE (1ull << 32)
#define LIMIT_SESSION (LIMIT_MUTE - 1)

static __thread sigset_t unmuted_mask __attribute__((tls_model("initial-exec")));

__thread bool emit_fast_path_valid;

/* To be called after each change of emit_limits. */
static void emit_update_fast_path(void)
{
	emit_fast_path_valid = !emit_limits && ring_rseq_used() && !ring_is_clock_given();
}

void site_only_session(uint32_t session)
{
	emit_limits = (emit_limits & ~LIMIT_SESSION) | session;
	emit_update_fast_path();
}

/*
 * Signals are blocked while events are muted, so that events of signal handlers, which belong to
 * the program, are not suppressed. libc's function is called, as a sanitizer that defers handlers
 * must intercept it.
 */
void site_mute(void)
{
	sigset_t every;

	if (!emit_is_muted()) {
		sigfillset(&every);
		pthread_sigmask(SIG_SETMASK, &every, &unmuted_mask);
	}
	emit_limits += LIMIT_MUTE;
	emit_update_fast_path();
}

void site_unmute(void)
{
	emit_limits -= LIMIT_MUTE;
	emit_update_fast_path();
	if (!emit_is_muted())
		pthread_sigmask(SIG_SETMASK, &unmuted_mask, NULL);
}

bool emit_is_muted(void)
{
	return emit_limits >= LIMIT_MUTE;
}

bool site_is_limited(void)
{
	return emit_limits != 0;
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

static uint32_t emit_preparation_of(const struct hook *hook)
{
	return __atomic_load_n(&hook->preparation, __ATOMIC_ACQUIRE) & ~PREPARATION_GIVEN;
}

/**
 * struct emit_ip - the address of the call site. @given: as the caller passed it, if it did.
 * @returns: where a function that the program calls returns to. Which of them it is, is decided
 * only where it is needed; as all of this is inlined, other events pay nothing for it.
 */
struct emit_ip {
	const void *given, *returns;
	bool known; /* @given is the address */
};

static inline const void *emit_ip_of(const struct ltt_site *site, struct emit_ip ip)
{
	bool is_given = ip.known || site->event->reserved[0] & LTT_EVENT_TELLS_IP;

	return typed_address(is_given ? ip.given : ip.returns);
}

/* A payload with bytes that only a filter reads goes the longer way, which knows their number. */
static inline void emit_to_ring(const struct hook *hook, const struct ltt_site *site,
				const void *payload, size_t len, size_t extra, struct emit_ip ip)
{
	uint32_t preparation = emit_preparation_of(hook);

	if (preparation)
		ring_record_prepared(hook, preparation, payload, len, extra, emit_ip_of(site, ip));
	else if (extra)
		ring_record_prepared(hook, 0, payload, len, extra, NULL);
	else
		ring_record(hook, payload, len);
}

/* A state dump is recorded into one session's buffers; probes and counters do not receive it. */
static __attribute__((noinline, cold)) void
emit_limited(const struct ltt_site *site, const void *payload, size_t len, size_t extra)
{
	const struct hook_table *table = __atomic_load_n(&site->hooks, __ATOMIC_ACQUIRE);
	const struct emit_ip ip = { .known = true };
	uint32_t session = (uint32_t)(emit_limits & LIMIT_SESSION);
	uint32_t nr = table ? __atomic_load_n(&table->nr, __ATOMIC_ACQUIRE) : 0;

	if (emit_is_muted())
		return;
	for (uint32_t i = 0; i < nr; i++)
		if (ring_hook_session(&table->hook[i]) == session)
			emit_to_ring(&table->hook[i], site, payload, len, extra, ip);
}

/* Or to a trigger. */
static inline void emit_to_counter(const struct hook *hook, const struct ltt_site *site,
				   const void *payload, size_t len, struct emit_ip ip)
{
	uint32_t preparation = emit_preparation_of(hook);
	const struct trigger *trigger;

	if (unlikely(preparation) &&
	    !admit_event(hook, preparation, payload, len, emit_ip_of(site, ip)))
		return;
	trigger = __atomic_load_n(&hook->trigger, __ATOMIC_ACQUIRE);
	if (trigger)
		trigger_hit(trigger, site, payload, len);
	else
		counter_hit(hook, site, payload, len);
}

static inline void emit_to_hook(const struct hook *hook, const struct ltt_site *site,
				const void *payload, size_t len, size_t extra, struct emit_ip ip)
{
	if (likely(emit_binding_of(hook)))
		emit_to_ring(hook, site, payload, len, extra, ip);
	else if (__atomic_load_n(&hook->probe, __ATOMIC_RELAXED))
		emit_to_probe(hook, site, payload, len, extra);
	else if (__atomic_load_n(&hook->counter, __ATOMIC_RELAXED) ||
		 __atomic_load_n(&hook->trigger, __ATOMIC_RELAXED))
		emit_to_counter(hook, site, payload, len + extra, ip);
}

static inline void emit_to_each(const struct hook_table *table, const struct ltt_site *site,
				const void *payload, size_t len, size_t extra, struct emit_ip ip)
{
	uint32_t nr = __atomic_load_n(&table->nr, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < nr; i++)
		emit_to_hook(&table->hook[i], site, payload, len, extra, ip);
}

/* Any listeners. A function of its own, so that its callers save no registers. */
static __attribute__((noinline)) void emit_to_any(const struct hook_table *table,
						  const struct ltt_site *site, const void *payload,
						  size_t len, size_t extra, const void *address)
{
	const struct emit_ip ip = { .given = address, .known = true };

	emit_to_each(table, site, payload, len, extra, ip);
}

/* The usual case: one session listens, whose records need a filter or contexts. */
static inline void emit_to_one_or_any(const struct hook_table *table, const struct ltt_site *site,
				      const void *payload, size_t len, size_t extra,
				      struct emit_ip ip)
{
	const struct hook *hook = &table->hook[0];
	uint32_t preparation = emit_preparation_of(hook);
	const void *address = emit_ip_of(site, ip);

	if (likely(preparation && __atomic_load_n(&table->nr, __ATOMIC_ACQUIRE) == 1 &&
		   emit_binding_of(hook)))
		ring_record_prepared(hook, preparation, payload, len, extra, address);
	else
		emit_to_any(table, site, payload, len, extra, address);
}

/*
 * ltt_emit_at() ends by a jump to here, so both return to the same address; and both have the same
 * parameters, so that it moves none of them for the sake of this.
 */
static __attribute__((noinline)) void emit_to_all(struct ltt_site *site, const void *payload,
						  size_t len, size_t extra, const void *given)
{
	const struct hook_table *table = __atomic_load_n(&site->hooks, __ATOMIC_ACQUIRE);
	const struct emit_ip ip = { .given = given, .returns = __builtin_return_address(0) };

	emit_to_one_or_any(table, site, payload, len, extra, ip);
}

/* One session listens, and all of the payload is recorded. */
static inline bool emit_is_single(const struct hook_table *table, size_t extra)
{
	return __atomic_load_n(&table->nr, __ATOMIC_ACQUIRE) == 1 &&
	       emit_binding_of(&table->hook[0]) && !extra;
}

/* No filter decides, and the values of the contexts are as in the last event. */
static inline bool emit_is_prepared(uint32_t preparation)
{
	return preparation < PREPARATION_CONTEXT_SETS && context_has_image(preparation);
}

/* @ip: NULL: not known here. Return: false: the other way must be taken. Its calls are jumps, and
 * loop over nothing. */
static inline bool emit_single(const struct hook_table *table, const void *payload, size_t len,
			       size_t extra, const struct emit_ip *ip)
{
	const struct hook *hook = &table->hook[0];
	uint32_t number = __atomic_load_n(&hook->preparation, __ATOMIC_ACQUIRE);
	uint32_t preparation = number & ~PREPARATION_GIVEN;

	if (unlikely(!emit_is_single(table, extra)))
		return false;
	if (likely(!number))
		ring_record(hook, payload, len);
	else if (!preparation)
		ring_record_given(hook, payload, len);
	else if (emit_is_prepared(number))
		ring_record_image(hook, preparation, payload, len);
	else if (number != preparation && emit_is_prepared(preparation))
		ring_record_image_given(hook, preparation, payload, len);
	else if (ip)
		ring_record_prepared(hook, preparation, payload, len, 0, typed_address(ip->given));
	else
		return false;
	return true;
}

void ltt_emit_at(struct ltt_site *site, const void *payload, size_t len, size_t extra,
		 const void *given)
{
	const struct hook_table *table = __atomic_load_n(&site->hooks, __ATOMIC_ACQUIRE);

	if (unlikely(emit_limits || !table))
		emit_limited(site, payload, len, extra);
	else if (!emit_single(table, payload, len, extra, NULL))
		emit_to_all(site, payload, len, extra, given);
}

void emit_from(struct ltt_site *site, const void *payload, size_t len, const void *address)
{
	const struct hook_table *table = __atomic_load_n(&site->hooks, __ATOMIC_ACQUIRE);
	const struct emit_ip ip = { .given = address, .known = true };

	if (unlikely(emit_limits || !table))
		emit_limited(site, payload, len, 0);
	else if (!emit_single(table, payload, len, 0, &ip))
		emit_to_any(table, site, payload, len, 0, address);
}

/* ltt_emit_word() jumps to here. */
void emit_word_slow(struct ltt_site *site, uint64_t word, size_t len)
{
	const struct hook_table *table = __atomic_load_n(&site->hooks, __ATOMIC_ACQUIRE);
	const struct trigger *trigger =
		table ? __atomic_load_n(&table->only, __ATOMIC_ACQUIRE) : NULL;

	if (trigger && !emit_limits) {
		trigger_hit_word(site, word, len, trigger);
	} else {
		const uint64_t payload[1 + LTT_PAYLOAD_SLACK / 8] = { word };

		if (emit_fast_path_valid == ring_is_clock_given())
			emit_update_fast_path();
		emit_from(site, payload, len, __builtin_return_address(0));
	}
}

#ifndef SECTION_HAS_WORD
void ltt_emit_word(struct ltt_site *site, uint64_t word, size_t len)
{
	emit_word_slow(site, word, len);
}
#endif

static void lose_oversize(const struct hook *hook, const struct ltt_site *site, uint32_t session)
{
	if (!emit_binding_of(hook)) {
		if (session)
			return;
		if (__atomic_load_n(&hook->trigger, __ATOMIC_RELAXED))
			trigger_hit_oversize(hook, site);
		else
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
		lose_oversize(&table->hook[i], site, session);
}

void site_lose(const struct ltt_site *site)
{
	emit_lost_oversize(site);
}
