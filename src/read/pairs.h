/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pairs.h - finds for an event that ends something the event that began it, and the time between:
 * entries and exits of functions (`--wrap=cyg-profile`), of system calls, and pairs that a user
 * names. Owned by one view_print().
 */
#ifndef READ_PAIRS_H
#define READ_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctf_event_class;
struct event;
struct pairs;

/**
 * pairs_new() - @spec: "BEGIN,END[,KEY][;...]", names of events, and of the field whose equal value
 * makes two of them a pair; without KEY they have the thread in common. NULL: none.
 * Return: NULL: the spec is wrong; @why receives the reason.
 */
struct pairs *pairs_new(const char *spec, char *why, size_t len);
void pairs_free(struct pairs *pairs);

/** pairs_by_suffix() - events whose names differ in their last word alone, as NAME_begin and
 *  NAME_end, are pairs, too; functions are none then (analyse/calls.h). @key: the field that they
 *  have in common; NULL: the thread. */
void pairs_by_suffix(struct pairs *pairs, const char *key);

/** pairs_on_begin() - have @fn called with each event that begins something; its result becomes
 *  took.mark of the end. */
typedef uint32_t (*pairs_mark_fn)(void *priv, const struct event *event);
void pairs_on_begin(struct pairs *pairs, pairs_mark_fn fn, void *priv);

enum pairs_kind { PAIRS_FUNCTION, PAIRS_FAST, PAIRS_CALL, PAIRS_SUFFIX, PAIRS_NAMED };

/**
 * struct took - @ns: the duration.
 * @lossy: events of this trace were lost meanwhile, so that the begin may be another one's.
 * @name: of the system call, or the part of both names before the suffix; of a pair that the user
 *      named, that of its begin; of functions, of the event. Valid as long as the pairs.
 * @mark: see pairs_on_begin().
 */
struct took {
	int64_t ns;
	bool lossy;
	enum pairs_kind kind;
	const char *name;
	uint32_t mark;
};

/** The event is the next one in time. Return: whether it ends something, for so long. */
bool pairs_take(struct pairs *pairs, const struct event *event, struct took *ret);

/** Whether the fields of events of a class are used, by it or for the result of a system call. */
bool pairs_need_fields(struct pairs *pairs, const struct ctf_event_class *ec);

/**
 * struct pairs_rest
 * @ended: durations. @open: begins without an end; @alone: ends without a begin.
 * @forgotten: begins that more than PAIRS_OPEN_MOST later ones followed before they ended.
 * @lossy: durations with losses in between.
 * @nowhere: events of pairs by thread that have no thread.
 */
struct pairs_rest {
	uint64_t ended, open, alone, forgotten, lossy, nowhere;
};
struct pairs_rest pairs_left(const struct pairs *pairs);

/** The names of the events that they have, for view_select.names. */
#define PAIRS_CALL_EVENTS \
	"syscall_entry_*,syscall_exit_*,compat_syscall_entry_*,compat_syscall_exit_*"
#define PAIRS_SUFFIX_EVENTS                                                           \
	"*_begin,*_start,*_enter,*_entry,*_req,*_end,*_stop,*_exit,*_return,*_done,*_finish," \
	"*_acq"

#define PAIRS_OPEN_MOST (1u << 16) /* of one thread or key */

/**
 * struct pairs_named - a pair that the user names; @begins, @ends: events of it.
 * @keyless: those without the field, or with one that is no key.
 */
struct pairs_named {
	const char *begin, *end, *key;
	uint64_t begins, ends, keyless;
};

/** Return: the pair of this number, from 0 on; owned by @pairs; NULL: there is none. */
const struct pairs_named *pairs_named(const struct pairs *pairs, uint32_t nr);

#endif
