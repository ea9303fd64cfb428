/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trigger.h - triggers: a kind of listener at sites, which notes in memory of the session daemon
 * (abi/ltt_fired.h) that an event happened, or that the time between two events was above a
 * threshold.
 *
 * Made by the helper thread; hit by any thread and any signal handler. A hit takes no lock and
 * allocates nothing. A thread may be late and hit a trigger that was removed: so memory of triggers
 * is used again for other triggers, but never freed, and that of pairs stays mapped.
 */
#ifndef TRACER_EMIT_TRIGGER_H
#define TRACER_EMIT_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ltt_fired.h"
#include "tracer/ring/hook.h"

struct ltt_site;
struct pairing;

/** Numbers of app.def. */
enum trigger_role {
	TRIGGER_MATCH = 0, /* each event fires */
	TRIGGER_BEGIN = 1, /* of a pair */
	TRIGGER_END = 2,   /* the same; fires if the pair took more time than the threshold */
	TRIGGER_COUNT = 3, /* events are counted, without records and without the bell */
	TRIGGER_NR_ROLES,
};

#define TRIGGER_BY_THREAD UINT32_MAX
#define TRIGGER_NO_FIELD UINT32_MAX

/** Numbers of app.def. */
enum trigger_capture {
	TRIGGER_CAPTURE_FIELD = 0,
	TRIGGER_CAPTURE_ELEMENT = 1,
	TRIGGER_CAPTURE_CONTEXT = 2,
};

/**
 * struct trigger_spec
 * @fired, @program, @slot, @generation: of the memory.
 * @clock: enum ltt_clock_kind, of @threshold and of durations.
 * @key: field that begin and end have in common, or TRIGGER_BY_THREAD.
 * @pairs: of roles TRIGGER_BEGIN and TRIGGER_END: the same for both.
 * @captures: fields whose values are recorded, or TRIGGER_NO_FIELD.
 * @capture_kinds: enum trigger_capture, of each. @capture_numbers: of its element, or of its
 * context in the set @contexts.
 * @preparation: the filter.
 */
struct trigger_spec {
	struct ltt_fired *fired;
	uint64_t program;
	uint32_t slot, generation;
	enum trigger_role role;
	uint32_t clock;
	uint64_t threshold;
	uint32_t key;
	struct pairing *pairs;
	uint32_t nr_captures;
	uint32_t captures[LTT_FIRED_VALUES];
	uint8_t capture_kinds[LTT_FIRED_VALUES];
	uint32_t capture_numbers[LTT_FIRED_VALUES];
	uint32_t contexts;
	uint32_t preparation;
};

/** An event that the trigger's filter accepts. @trigger may be removed concurrently. @len: bytes of
 *  the payload, including fields that are not recorded. errno is kept. */
void trigger_hit(const struct trigger *trigger, const struct ltt_site *site, const void *payload,
		 size_t len);
/** The same for a payload of at most 8 bytes (ltt_emit_word()). */
void trigger_hit_word(const struct ltt_site *site, uint64_t word, size_t len,
		      const struct trigger *trigger);
/** An event that is too large to be serialised: it has no fields, and no filter accepts it. */
void trigger_hit_oversize(const struct hook *hook, const struct ltt_site *site);

/**
 * site_watch() - hit the trigger with each event of the point from now on, also at sites that
 * appear later. One that is there with the same memory, slot and role is replaced.
 * Return: 0, -ENOENT (no such point), -EINVAL (the field can't be a key), -ENOMEM.
 */
int site_watch(uint32_t point, const struct trigger_spec *spec);
/** Return: 0; -ENOENT: the point does not have it. */
int site_unwatch(uint32_t point, const struct ltt_fired *fired, uint32_t slot,
		 enum trigger_role role);

/** Whether the point still exists: else its triggers have ended with it. */
bool site_is_known(uint32_t point);

/** Tables of begins, empty in a forked child; used again after pairing_release(). With agent_lock.
 *  Return: NULL: no memory. */
struct pairing *pairing_new(void);
void pairing_release(struct pairing *pairs);
void pairings_after_fork_child(void);

#endif
