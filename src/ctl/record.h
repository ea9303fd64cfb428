/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - converts the daemon's items and totals to JSON, and reads such JSON. Keys are the
 * fields of client.def; numbers of enums become words.
 */
#ifndef CTL_RECORD_H
#define CTL_RECORD_H

#include <json-c/json.h>
#include <ltt/control.h>
#include <stdbool.h>
#include <stdint.h>

#include "libctl/calls.h"

struct json_object *record_session(const struct msg_session *m);
struct json_object *record_channel(const struct msg_channel *m);
struct json_object *record_rule(const struct msg_rule *m);
struct json_object *record_conflict(const struct msg_conflict *m);
struct json_object *record_point(const struct ltt_ctl_point *p);
struct json_object *record_preset(const struct ltt_ctl_preset *m);
/** NULL: unknown kind. */
struct json_object *record_news(const struct msg_news *m);
/** The first of a list of totals; NULL if it is empty. */
struct json_object *record_totals(struct list totals);

struct json_object *record_refusal(const struct msg_refusal *m);
struct json_object *record_tracked(const struct msg_tracked *m);

const char *record_domain(unsigned int domain);
/** "pid", "vpid", ... */
const char *record_track_kind(unsigned int kind);
/** "INFO or more severe", "INFO only", "" */
const char *record_loglevel(struct json_object *rule, char *buf, size_t len);

/* For building: set() takes ownership of @value. */
void record_set(struct json_object *o, const char *key, struct json_object *value);
void record_set_str(struct json_object *o, const char *key, const char *value);
void record_set_num(struct json_object *o, const char *key, uint64_t value);
void record_set_bool(struct json_object *o, const char *key, bool value);
/** Append to the array @key, which is made if need be. Takes over @value. */
void record_append(struct json_object *o, const char *key, struct json_object *value);

/* For reading: a missing value is returned as NULL, "", 0, false or an empty array. */
struct json_object *record_get(struct json_object *o, const char *key);
const char *record_str(struct json_object *o, const char *key);
uint64_t record_num(struct json_object *o, const char *key);
bool record_bool(struct json_object *o, const char *key);
size_t record_len(struct json_object *o, const char *key);
struct json_object *record_at(struct json_object *o, const char *key, size_t i);

static inline void cleanup_record(struct json_object **o)
{
	json_object_put(*o);
}
#define AUTO_RECORD CLEANUP(cleanup_record)

#endif
