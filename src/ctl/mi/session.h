/* SPDX-License-Identifier: GPL-2.0-only */
/* session.h - sessions, channels, rules and instrumentation points as elements; see row.h. Pure. */
#ifndef CTL_MI_SESSION_H
#define CTL_MI_SESSION_H

#include <json-c/json.h>
#include <stdbool.h>

/** A session as in a list of them, without its domains. */
struct json_object *mi_session(struct json_object *session);
/** The same, with its schedule, its domains and all in them; of these the names alone if it is
 *  marked so. */
struct json_object *mi_session_whole(struct json_object *session);
/** A channel of a session with its attributes, without events. @session: may be NULL. */
struct json_object *mi_channel(struct json_object *session, struct json_object *channel);
/** A rule. @kernel: it is of this domain. */
struct json_object *mi_rule(struct json_object *rule, bool kernel);
/** The schedules of rotations that are set; an empty object: none is. */
struct json_object *mi_schedules(struct json_object *session);
/** Ids of the processes, users or groups of an array of trackers, or of changes of them, of the
 *  kinds that LTTng has. @changes: each id has its success. */
struct json_object *mi_trackers(struct json_object *from, const char *key, const char *domain,
				bool changes);
/** The domains with instrumentation points of an array. @domain: the one that was listed; "": all
 *  of them. */
struct json_object *mi_points(struct json_object *points, const char *domain);
/** Mark a verb's record: its points are those of a domain, as above. */
void mi_mark_domain(struct json_object *record, const char *domain);
/** Mark a session: the names of its domains alone are printed. */
void mi_mark_domains_alone(struct json_object *session);
/** A place in the kernel, "SYMBOL+OFFSET" or an address. @symbol: element that has its symbol. */
struct json_object *mi_place(const char *location, const char *symbol);
/** A name of a domain of ours as LTTng's. */
const char *mi_domain(const char *domain);

#endif
