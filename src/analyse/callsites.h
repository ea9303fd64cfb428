/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * callsites.h - the places in programs and libraries at which functions were called, by the
 * addresses that events have. Names are found on request: a report shows few of them.
 * Owned by one reader.
 */
#ifndef ANALYSE_CALLSITES_H
#define ANALYSE_CALLSITES_H

#include "base/idmap.h"
#include "read/host.h"

struct event;
struct object;
struct objects;
struct overview_process;

#define CALLSITES_MOST (1u << 16) /* a damaged trace may have any number */

/**
 * struct callsite - a place that all processes with the same file have in common.
 * @object: NULL: unknown.
 * @address: in the object's file; without an object, in memory.
 * @label: by callsites_label(); NULL: not yet.
 * @shown: with it, of code: the first function that is no servant, of those inlined there.
 */
struct callsite {
	struct idmap_node node;
	struct callsite *next;
	const struct overview_process *process; /* NULL: it is in an object */
	const struct object *object;
	uint64_t address;
	struct symbol symbol;
	char *label;
	uint32_t shown;
};

struct callsites;

/** @objects, @host: to name places; they outlive the callsites. */
struct callsites *callsites_new(struct objects *objects, const struct view_host *host);
void callsites_free(struct callsites *sites);

/**
 * callsites_find() - the place of an address in the event's process.
 * @is_return: the address is the one behind a call.
 * Return: NULL: the address is 0, or there are CALLSITES_MOST others.
 */
struct callsite *callsites_find(struct callsites *sites, const struct overview_process *process,
				const struct event *event, uint64_t address, bool is_return);

#define CALLSITES_CALLERS 15u
#define CALLSITES_CHAINS_MOST (1u << 16) /* with callers */

/** struct callchain - a place of a call and the calls that led to it, the innermost one first. */
struct callchain {
	struct idmap_node node;
	struct callchain *next;
	struct callsite *place;
	uint32_t nr_callers;
	struct callsite *callers[];
};

/** The place at callsites_address() and its callers, as our wrappers record them: one object for
 *  all events that have the same. Return: NULL: the place is unknown. */
const struct callchain *callsites_chain(struct callsites *sites,
					const struct overview_process *process,
					const struct event *event);

/** The name: of a function, of data with an offset, of an object with an offset, or an address.
 *  @is_code: without the offset in the function; of those inlined there, the first one that is no
 *  servant's (servants.h), if there is one. */
const char *callsites_label(struct callsites *sites, struct callsite *site, bool is_code);

/** Whether all functions at a place that callsites_label() named only serve others. */
bool callsites_serves(const struct callsite *site);

/** The function that callsites_label() named, and those that it is inlined in: the first one is 0.
 *  Return: false: there are no more. */
bool callsites_frame(const struct callsite *site, uint32_t nr, struct symbol_inline *ret);

#endif
