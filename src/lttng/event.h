/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event.h - an event of a provider: a site of libltt, and the structures through which the
 * provider's function records it.
 *
 * Made when the provider registers itself, freed when it unregisters itself, after a grace period.
 * In between, `common.enabled` alone changes: libltt sets it while a rule wants the event.
 */
#ifndef LTTNG_EVENT_H
#define LTTNG_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ltt/site.h>

#include "abi.h"

#define MAX_FIELDS 256u
#define MAX_NAME 256u

/** struct hidden - a field that is not recorded: its value for filters is in the probe's stack. */
struct hidden {
	const struct ltt_field *field;
	uint32_t slot; /* of the saved ones */
};

struct event {
	struct tp_common common;
	struct tp_recorder recorder;
	struct ltt_site site;
	struct ltt_event event;
	const struct tp_event *from;
	struct target *targets; /* its call sites, see join.h */
	struct old_recorder *old; /* of a provider of 2.12 and before (old/provider.c), or NULL */
	struct event *next;
	struct hidden *hidden;
	uint32_t nr_hidden, nr_slots; /* slots: of the whole stack */
	uint32_t nr_room;	      /* in event.fields */
	char *name;
};

/**
 * event_new() - make an event of a provider's description, which is checked.
 * @file: the program or library that has it.
 * Return: NULL: the description is refused, for @ret_reason.
 */
struct event *event_new(const char *provider, const struct tp_event *from, const char *file,
			const char **ret_reason);
void event_free(struct event *event);

/** Prepare the members through which the provider's function records. */
void event_prepare_recording(struct event *event);

/**
 * A payload of @bytes that is written piece by piece, by a thread with a block (readers.h).
 * @owner: an address of the probe's frame. record_open() returns NULL if there is no room: the
 * event is counted as lost. record_text(): @bytes: with the end, as measured before.
 */
struct frame *record_open(struct event *event, const void *owner, size_t bytes);
void record_bytes(struct frame *frame, const void *from, size_t bytes);
void record_text(struct frame *frame, const char *from, size_t bytes);
void record_close(struct frame *frame);

/** Whether @text consists of letters, digits and underscores, and ends within MAX_NAME bytes. */
bool event_is_name(const char *text);

/** In join.c: the function of libltt's site. */
void event_changed(struct ltt_site *site, int listened);

#endif
