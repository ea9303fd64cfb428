/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json.h - converts the daemon's items and totals to JSON, and reads such JSON. Keys are the
 * fields of client.def; numbers of enums become words.
 */
#ifndef CTL_PRINT_JSON_H
#define CTL_PRINT_JSON_H

#include <json-c/json.h>
#include <ltt/control.h>
#include <ltt/foreach.h>
#include <stdbool.h>
#include <stdint.h>

struct json_object *json_session(const struct ltt_ctl_session *session);
struct json_object *json_channel(const struct ltt_ctl_channel *c);
struct json_object *json_rule(const struct ltt_ctl_rule *r);
/** Set the attributes of a map channel. */
void json_map_attributes(struct json_object *o, const struct ltt_ctl_map *map);
/** With the keys of the model's tables, as in files of saved sessions. */
struct json_object *json_model_trigger(const struct ltt_ctl_trigger *t);
struct json_object *json_conflict(const struct ltt_ctl_conflict *c);
struct json_object *json_point(const struct ltt_ctl_point *p);
struct json_object *json_preset(const struct ltt_ctl_preset *m);
/** Return: NULL: the kind is unknown. */
struct json_object *json_news(const struct ltt_ctl_news *n);
/** @session: its name. */
struct json_object *json_snapshot(const char *session, const struct ltt_ctl_snapshot *snapshot);
/** Return: NULL if @totals is NULL. */
struct json_object *json_totals(const struct ltt_ctl_totals *totals);

struct json_object *json_refusal(const struct ltt_ctl_refusal *r);
struct json_object *json_tracker(const struct ltt_ctl_tracker *t);

const char *json_domain(unsigned int domain);
/** "pid", "vpid", ... */
const char *json_track_kind(unsigned int kind);
/** "INFO or more severe", "INFO only", "" */
const char *json_loglevel(struct json_object *rule, char *buf, size_t len);

/* To build objects: json_set() takes ownership of @value. */
void json_set(struct json_object *o, const char *key, struct json_object *value);
void json_set_str(struct json_object *o, const char *key, const char *value);
void json_set_num(struct json_object *o, const char *key, uint64_t value);
/** A time since 1970: a string, as JSON readers round such numbers. */
void json_set_time(struct json_object *o, const char *key, int64_t ns);
void json_set_bool(struct json_object *o, const char *key, bool value);
/** Append to the array @key, which is created if it is missing. Takes ownership of @value. */
void json_append(struct json_object *o, const char *key, struct json_object *value);

/* JSON_COPY(o, from, NAME...): members of the struct *@from that are texts, bool or numbers. Their
 * keys are their names. */
#define JSON_COPY(o, from, ...)                               \
	do {                                                  \
		struct json_object *copy_to_ = (o);           \
		const __typeof__(*(from)) *copy_of_ = (from); \
                                                              \
		LTT__EACH(JSON_COPY_MEMBER, ~, __VA_ARGS__)   \
	} while (0)
#define JSON_COPY_MEMBER(n, id, name) \
	_Generic(copy_of_->name, const char *: json_set_str, char *: json_set_str,           \
		 bool: json_set_bool, default: json_set_num)(copy_to_, #name, copy_of_->name);

/* To read objects: a missing value is returned as NULL, "", 0, false or an empty array. */
struct json_object *json_get(struct json_object *o, const char *key);
const char *json_str(struct json_object *o, const char *key);
/** Also of a string that is a number. */
uint64_t json_num(struct json_object *o, const char *key);
bool json_flag(struct json_object *o, const char *key);
size_t json_len(struct json_object *o, const char *key);
struct json_object *json_at(struct json_object *o, const char *key, size_t i);

static inline void cleanup_record(struct json_object **o)
{
	json_object_put(*o);
}
#define AUTO_RECORD CLEANUP(cleanup_record)

#endif
