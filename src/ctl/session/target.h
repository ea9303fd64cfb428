/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target.h - the sessions that a verb works on: the one that was named, the
 * current one, all, or those that match a glob; and suggestions for names that do
 * not exist.
 */
#ifndef CTL_SESSION_TARGET_H
#define CTL_SESSION_TARGET_H

#include <limits.h>

#include "ctl/ctl.h"

/** @given, else the current session; allocated. NULL: ctl->err is set. */
char *target_session(struct ctl *ctl, const char *given);

/** The same, and ctl->record is begun: session, domain, and an empty array @what. */
char *target_begin(struct ctl *ctl, const char *given, unsigned int domain, const char *what);

#define TARGET_OPERANDS "[SESSION]..."
#define TARGET_MOST UINT_MAX /* operands */

/** Options of verbs that take several sessions. */
extern struct target_options {
	int all;
	int glob;
} target_options;
#define OPTIONS_TARGET                                                 \
	OPTION_FLAG("all", 'a', &target_options.all, "every session"), \
		OPTION_FLAG("glob", 'g', &target_options.glob, "SESSION is a pattern")

/** Check that the options and the operand are compatible. */
enum status target_check(struct ctl *ctl);

/** Whether the options and the operands may select several. */
bool target_has_several(const struct ctl *ctl);

/**
 * target_each() - run @each on every session that the options and the operands
 * select. If it fails for one of several sessions, its error is printed, and the next one
 * follows. ctl->record is begun.
 * @each: returns a status, with ctl->err set if it is STATUS_ERROR.
 * Return: the worst status; STATUS_ERROR with ctl->err set if no session is selected.
 */
enum status target_each(struct ctl *ctl, enum status (*each)(struct ctl *ctl, const char *session));
/** The object of a session in ctl->record, for @each to fill; borrowed. */
struct json_object *target_record(struct ctl *ctl, const char *session);
/** Report a rejected request: a warning if the session has that state already, else an error. */
enum status target_failed(struct ctl *ctl, const char *session);

/** All sessions that the caller may access, an array in *ret. */
int target_sessions(struct ctl *ctl, struct json_object **ret, struct err *err) MUST_CHECK;
/** Fetch the session @name in *@ret; NULL: there is none. The cost does not depend on the number of
 *  sessions, so that verbs can call it for each of many sessions. */
int target_find_session(struct ctl *ctl, const char *name, struct json_object **ret,
			struct err *err) MUST_CHECK;
/** A session of @sessions by name, borrowed; NULL. */
struct json_object *target_find(struct json_object *sessions, const char *name);

/** The worse of two: errors, then losses, then warnings. */
enum status target_worse(enum status a, enum status b);

/** After a failure of the daemon: adds the nearest name to the sentence. */
void target_suggest(struct ctl *ctl, const char *session, const char *channel, const char *event);

#endif
