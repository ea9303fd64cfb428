/* SPDX-License-Identifier: GPL-2.0-only */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/str.h"
#include "ctl/session/logger.h"
#include "ctl/words.h"

void json_set(struct json_object *o, const char *key, struct json_object *value)
{
	json_object_object_add(o, key, value);
}

void json_set_str(struct json_object *o, const char *key, const char *value)
{
	json_set(o, key, json_object_new_string(value));
}

void json_set_num(struct json_object *o, const char *key, uint64_t value)
{
	json_set(o, key, json_object_new_uint64(value));
}

void json_set_time(struct json_object *o, const char *key, int64_t ns)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, ns);
	json_set_str(o, key, text);
}

void json_set_bool(struct json_object *o, const char *key, bool value)
{
	json_set(o, key, json_object_new_boolean(value));
}

void json_append(struct json_object *o, const char *key, struct json_object *value)
{
	if (!json_get(o, key))
		json_set(o, key, json_object_new_array());
	json_object_array_add(json_get(o, key), value);
}

struct json_object *json_get(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(o, key, &value);
	return value;
}

const char *json_str(struct json_object *o, const char *key)
{
	struct json_object *value = json_get(o, key);

	return value ? json_object_get_string(value) : "";
}

uint64_t json_num(struct json_object *o, const char *key)
{
	return json_object_get_uint64(json_get(o, key));
}

bool json_flag(struct json_object *o, const char *key)
{
	return json_object_get_boolean(json_get(o, key));
}

size_t json_len(struct json_object *o, const char *key)
{
	struct json_object *array = json_get(o, key);

	return array ? json_object_array_length(array) : 0;
}

struct json_object *json_at(struct json_object *o, const char *key, size_t i)
{
	return json_object_array_get_idx(json_get(o, key), i);
}

static const char *word(const char *const *words, size_t nr, unsigned int n)
{
	return n < nr && words[n] ? words[n] : "unknown";
}
#define WORD(words, n) word(words, ARRAY_SIZE(words), n)

const char *json_domain(unsigned int domain)
{
	return words_name(&words_domain, domain);
}

const char *json_track_kind(unsigned int kind)
{
	return words_name(&words_track_kind, kind);
}

struct json_object *json_tracker(const struct ltt_ctl_tracker *t)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "domain", json_domain(t->domain));
	json_set_str(o, "kind", json_track_kind(t->kind));
	json_set(o, "ids", json_object_new_array());
	for (size_t i = 0; i < t->nr_ids; i++)
		json_append(o, "ids", json_object_new_uint64(t->ids[i]));
	return o;
}

static const char *session_state(unsigned int state)
{
	static const char *const words[] = {
		[LTT_CTL_NEW] = "new",
		[LTT_CTL_STARTING] = "starting",
		[LTT_CTL_RECORDING] = "recording",
		[LTT_CTL_STOPPING] = "stopping",
		[LTT_CTL_STOPPED] = "stopped",
		[LTT_CTL_DESTROYING] = "destroying",
	};

	return WORD(words, state);
}

static struct json_object *ctl_record_lost(const struct ltt_ctl_totals *t)
{
	struct json_object *o = json_object_new_object();

	json_set_num(o, "buffer_full", t->lost_full);
	json_set_num(o, "too_large", t->lost_size);
	json_set_num(o, "buffer_busy", t->lost_busy);
	json_set_num(o, "output_failed", t->lost_output);
	JSON_COPY(o, t, invalid_bytes);
	return o;
}

struct json_object *json_totals(const struct ltt_ctl_totals *totals)
{
	struct json_object *o;

	if (!totals)
		return NULL;
	o = json_object_new_object();
	JSON_COPY(o, totals, recorded, written, waiting, lost);
	json_set(o, "lost_by_cause", ctl_record_lost(totals));
	JSON_COPY(o, totals, lost_buffers, bytes, packets, not_sampled, unrecorded, overwritten,
		  slow_ns, slow_bytes, cleared);
	return o;
}

static struct json_object *record_snapshot_ring(const struct ltt_ctl_snapshot_ring *ring)
{
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, ring, channel, ring, cpu);
	json_set_num(o, "recorded", ring->records);
	json_set_num(o, "overwritten", ring->before);
	JSON_COPY(o, ring, lost, bytes);
	json_set_time(o, "begin_ns", ring->begin_ns);
	json_set_time(o, "end_ns", ring->end_ns);
	return o;
}

struct json_object *json_snapshot(const char *session, const struct ltt_ctl_snapshot *snapshot)
{
	struct json_object *o = json_object_new_object(), *rings = json_object_new_array();

	json_set_str(o, "session", session);
	JSON_COPY(o, snapshot, directory);
	json_set_num(o, "recorded", snapshot->records);
	json_set_num(o, "overwritten", snapshot->before);
	JSON_COPY(o, snapshot, lost, bytes);
	json_set_time(o, "begin_ns", snapshot->begin_ns);
	json_set_time(o, "end_ns", snapshot->end_ns);
	JSON_COPY(o, snapshot, copy_ns, remembered, problem);
	json_set(o, "buffers", rings);
	for (size_t i = 0; i < snapshot->nr; i++)
		json_object_array_add(rings, record_snapshot_ring(snapshot->rings[i]));
	return o;
}

static const char *loss_cause(unsigned int cause)
{
	/* members of lost_by_cause */
	static const char *const words[] = {
		[LTT_CTL_LOSS_FULL] = "buffer_full",	  [LTT_CTL_LOSS_SIZE] = "too_large",
		[LTT_CTL_LOSS_BUSY] = "buffer_busy",	  [LTT_CTL_LOSS_OUTPUT] = "output_failed",
		[LTT_CTL_LOSS_INVALID] = "invalid_bytes",
	};

	return WORD(words, cause);
}

struct json_object *json_news(const struct ltt_ctl_news *n)
{
	static const char *const words[] = {
		[LTT_CTL_NEWS_STATE] = "state",
		[LTT_CTL_NEWS_PROBLEM] = "problem",
		[LTT_CTL_NEWS_SOLVED] = "solved",
		[LTT_CTL_NEWS_LOSS] = "loss",
		[LTT_CTL_NEWS_CONSUMER_DIED] = "consumer-died",
		[LTT_CTL_NEWS_CONSUMER_REPLACED] = "consumer-replaced",
	};
	struct json_object *o;

	if (n->kind == 0 || (size_t)n->kind >= ARRAY_SIZE(words))
		return NULL;
	o = json_object_new_object();
	json_set_time(o, "ns", (int64_t)n->at_ns);
	json_set_str(o, "news", words[n->kind]);
	if (n->kind == LTT_CTL_NEWS_STATE)
		json_set_str(o, "state", session_state(n->state));
	if (*n->text)
		json_set_str(o, "text", n->text);
	if (n->kind != LTT_CTL_NEWS_LOSS)
		return o;
	JSON_COPY(o, n, channel);
	json_set_str(o, "cause", loss_cause(n->cause));
	JSON_COPY(o, n, count);
	return o;
}

/* The attributes of the model's tables, by their types. */
#define ATTRIBUTE_SHOW(type, o, from, name) ATTRIBUTE_SHOW_##type(o, #name, (from)->name)
#define ATTRIBUTE_SHOW_text json_set_str
#define ATTRIBUTE_SHOW_derived json_set_str
#define ATTRIBUTE_SHOW_option set_unless_empty
#define ATTRIBUTE_SHOW_names(o, key, value) json_set(o, key, words_of(value))
#define ATTRIBUTE_SHOW_flag json_set_bool
#define ATTRIBUTE_SHOW_relay_link json_set_bool
#define ATTRIBUTE_SHOW_u32 json_set_num
#define ATTRIBUTE_SHOW_u64 json_set_num
#define ATTRIBUTE_SHOW_mode json_set_bool
#define ATTRIBUTE_SHOW_ownership(o, key, value) set_word(o, key, &words_owner, value)
#define ATTRIBUTE_SHOW_output_type(o, key, value) set_word(o, key, &words_output_type, value)
#define ATTRIBUTE_SHOW_sync_mode(o, key, value) set_word(o, key, &words_sync, value)
#define ATTRIBUTE_SHOW_trace_format(o, key, value) set_word(o, key, &words_trace_format, value)
#define ATTRIBUTE_SHOW_rule_kind(o, key, value) set_word(o, key, &words_rule_kind, value)
#define ATTRIBUTE_SHOW_loglevel_type(o, key, value) set_word(o, key, &words_level_type, value)
#define ATTRIBUTE_SHOW_condition(o, key, value) set_word(o, key, &words_condition, value)
#define ATTRIBUTE_SHOW_action_kind(o, key, value) set_word(o, key, &words_action, value)
#define ATTRIBUTE_SHOW_map_value(o, key, value) set_word(o, key, &words_map_value, value)
#define ATTRIBUTE_SHOW_map_update(o, key, value) set_word(o, key, &words_map_update, value)
#define ATTRIBUTE_SHOW_map_dead(o, key, value) set_word(o, key, &words_map_dead, value)
#define ATTRIBUTE_SHOW_loglevel(o, key, value) json_set_str(o, key, loglevel_name(value))

static void set_word(struct json_object *o, const char *key, const struct words *words,
		     unsigned int number)
{
	json_set_str(o, key, words_name(words, number));
}

static void set_unless_empty(struct json_object *o, const char *key, const char *text)
{
	if (*text)
		json_set_str(o, key, text);
}

/* Names that commas separate. */
static struct json_object *words_of(const char *list)
{
	struct json_object *array = json_object_new_array();

	while (*list) {
		size_t len = strcspn(list, ",");

		json_object_array_add(array, json_object_new_string_len(list, (int)len));
		list += len + (list[len] == ',');
	}
	return array;
}

static const char *link_state(unsigned int value)
{
	static const char *const words[] = {
		[LTT_CTL_LINK_NONE] = "none",
		[LTT_CTL_LINK_UP] = "up",
		[LTT_CTL_LINK_DOWN] = "down",
	};

	return WORD(words, value);
}

struct json_object *json_session(const struct ltt_ctl_session *session)
{
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, session, id, name);
	json_set_str(o, "state", session_state(session->state));
	JSON_COPY(o, session, output, uid);
	json_set_time(o, "created_ns", (int64_t)session->created_ns);
	JSON_COPY(o, session, recording_ns, applications);
	json_set_bool(o, "scoped", session->scoped);
	JSON_COPY(o, session, problem);
	json_set_str(o, "link", link_state(session->link));
#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, session, name);
#include "model/session.def"
	JSON_COPY(o, session, spooled, undurable);
	json_set(o, "clock_offset_ns", json_object_new_int64(session->clock_offset_ns));
	JSON_COPY(o, session, clock_error_ns, live_url, clock_change, chunk, archives);
	json_set(o, "totals", json_totals(session->totals));
	return o;
}

struct json_object *json_channel(const struct ltt_ctl_channel *c)
{
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, c, name);
	json_set_str(o, "domain", json_domain(c->domain));
#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, c, name);
#include "model/channel.def"
	JSON_COPY(o, c, used, size, memory);
	json_set(o, "rules", json_object_new_array());
	json_set(o, "conflicts", json_object_new_array());
	json_set(o, "refusals", json_object_new_array());
	json_set(o, "totals", json_totals(c->totals));
	return o;
}

void json_map_attributes(struct json_object *o, const struct ltt_ctl_map *map)
{
#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, map, name);
#include "model/map.def"
}

static struct json_object *json_model_action(const struct ltt_ctl_action *a)
{
	struct json_object *o = json_object_new_object();

#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, a, name);
#include "model/action.def"
	return o;
}

struct json_object *json_model_trigger(const struct ltt_ctl_trigger *t)
{
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, t, name);
#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, &t->options, name);
#include "model/trigger.def"
	if (t->options.loglevel_type == LTT_CTL_LEVEL_ALL)
		json_object_object_del(o, "loglevel");
	for (size_t i = 0; i < t->nr_actions; i++)
		json_append(o, "actions", json_model_action(&t->actions[i]->action));
	return o;
}

/* As in /proc/self/mountinfo. */
static struct json_object *json_device(uint64_t device)
{
	char text[32];

	snprintf(text, sizeof(text), "%u:%u", major(device), minor(device));
	return json_object_new_string(text);
}

struct json_object *json_rule(const struct ltt_ctl_rule *r)
{
	struct json_object *o = json_object_new_object();

#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, r, name);
#include "model/rule.def"
	if (r->loglevel_type == LTT_CTL_LEVEL_ALL)
		json_object_object_del(o, "loglevel");
	if (*r->logger && logger_domain_of_event(r->pattern))
		json_set_str(o, "domain", logger_domain_of_event(r->pattern)->name);
	json_set_num(o, "nr_points", r->points);
	if (*r->filter)
		json_set_num(o, "points_never", r->points_never);
	if (r->file_inode) {
		json_set(o, "file_device", json_device(r->file_device));
		json_set_num(o, "file_inode", r->file_inode);
		if (*r->earlier_files)
			json_set(o, "earlier_files", json_object_new_string(r->earlier_files));
	}
	return o;
}

const char *json_loglevel(struct json_object *rule, char *buf, size_t len)
{
	const char *type = json_str(rule, "loglevel_type");
	bool only = strcmp(type, "only") == 0;

	if (!only && strcmp(type, "at-least") != 0)
		return "";
	snprintf(buf, len, "%s %s", json_str(rule, "loglevel"), only ? "only" : "or more severe");
	return buf;
}

struct json_object *json_refusal(const struct ltt_ctl_refusal *r)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "name", r->event);
	JSON_COPY(o, r, why);
	json_set_str(o, "domain", json_domain(r->domain));
	json_set_str(o, "refused", r->counted ? "count" : "record");
	return o;
}

struct json_object *json_conflict(const struct ltt_ctl_conflict *c)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "name", c->event);
	json_set_str(o, "armed", c->recorded);
	JSON_COPY(o, c, refused, pid);
	return o;
}

static struct json_object *point_field(const struct ltt_ctl_field *m)
{
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, m, name, type);
	json_set_bool(o, "is_recorded", m->recorded);
	return o;
}

struct json_object *json_preset(const struct ltt_ctl_preset *m)
{
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, m, name);
	json_set_str(o, "pattern", m->events);
	JSON_COPY(o, m, subbuf_size, num_subbuf, uid);
	if (*m->unused)
		json_set_str(o, "unused", m->unused);
	return o;
}

struct json_object *json_point(const struct ltt_ctl_point *p)
{
	static const char *const kinds[] = { [1] = "tracepoint", [2] = "marker", [3] = "kernel" };
	static const char *const ways[] = { [LTT_CTL_WAY_NATIVE] = "native",
					    [LTT_CTL_WAY_PERF] = "perf",
					    [LTT_CTL_WAY_SYSCALL] = "syscall",
					    [LTT_CTL_WAY_STATE] = "state" };
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, p, name);
	json_set_str(o, "kind", WORD(kinds, p->kind));
	if (p->domain != LTT_CTL_KERNEL)
		json_set_str(o, "loglevel", loglevel_name(p->loglevel));
	JSON_COPY(o, p, pid, uid, process);
	json_set_str(o, "domain", json_domain(p->domain));
	JSON_COPY(o, p, format, file, line, active);
	for (size_t i = 0; i < p->nr_fields; i++)
		json_append(o, "field_list", point_field(p->fields[i]));
	if (*p->refused)
		json_set_str(o, "refused", p->refused);
	if (p->way)
		json_set_str(o, "way", WORD(ways, p->way));
	return o;
}
