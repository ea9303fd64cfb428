/* SPDX-License-Identifier: GPL-2.0-only */
#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "words.h"

void record_set(struct json_object *o, const char *key, struct json_object *value)
{
	json_object_object_add(o, key, value);
}

void record_set_str(struct json_object *o, const char *key, const char *value)
{
	record_set(o, key, json_object_new_string(value));
}

void record_set_num(struct json_object *o, const char *key, uint64_t value)
{
	record_set(o, key, json_object_new_uint64(value));
}

void record_set_time(struct json_object *o, const char *key, int64_t ns)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, ns);
	record_set_str(o, key, text);
}

void record_set_bool(struct json_object *o, const char *key, bool value)
{
	record_set(o, key, json_object_new_boolean(value));
}

void record_append(struct json_object *o, const char *key, struct json_object *value)
{
	if (!record_get(o, key))
		record_set(o, key, json_object_new_array());
	json_object_array_add(record_get(o, key), value);
}

struct json_object *record_get(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(o, key, &value);
	return value;
}

const char *record_str(struct json_object *o, const char *key)
{
	struct json_object *value = record_get(o, key);

	return value ? json_object_get_string(value) : "";
}

uint64_t record_num(struct json_object *o, const char *key)
{
	return json_object_get_uint64(record_get(o, key));
}

bool record_bool(struct json_object *o, const char *key)
{
	return json_object_get_boolean(record_get(o, key));
}

size_t record_len(struct json_object *o, const char *key)
{
	struct json_object *array = record_get(o, key);

	return array ? json_object_array_length(array) : 0;
}

struct json_object *record_at(struct json_object *o, const char *key, size_t i)
{
	return json_object_array_get_idx(record_get(o, key), i);
}

static const char *word(const char *const *words, size_t nr, unsigned int n)
{
	return n < nr && words[n] ? words[n] : "unknown";
}
#define WORD(words, n) word(words, ARRAY_SIZE(words), n)

const char *record_domain(unsigned int domain)
{
	return words_name(&words_domain, domain);
}

const char *record_track_kind(unsigned int kind)
{
	return words_name(&words_track_kind, kind);
}

struct json_object *record_tracker(const struct ltt_ctl_tracker *t)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "domain", record_domain(t->domain));
	record_set_str(o, "kind", record_track_kind(t->kind));
	record_set(o, "ids", json_object_new_array());
	for (size_t i = 0; i < t->nr_ids; i++)
		record_append(o, "ids", json_object_new_uint64(t->ids[i]));
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

	record_set_num(o, "buffer_full", t->lost_full);
	record_set_num(o, "too_large", t->lost_size);
	record_set_num(o, "buffer_busy", t->lost_busy);
	record_set_num(o, "output_failed", t->lost_output);
	record_set_num(o, "invalid_bytes", t->invalid_bytes);
	return o;
}

struct json_object *record_totals(const struct ltt_ctl_totals *totals)
{
	struct json_object *o;

	if (!totals)
		return NULL;
	o = json_object_new_object();
	record_set_num(o, "recorded", totals->recorded);
	record_set_num(o, "written", totals->written);
	record_set_num(o, "waiting", totals->waiting);
	record_set_num(o, "lost", totals->lost);
	record_set(o, "lost_by_cause", ctl_record_lost(totals));
	record_set_num(o, "lost_buffers", totals->lost_buffers);
	record_set_num(o, "bytes", totals->bytes);
	record_set_num(o, "packets", totals->packets);
	record_set_num(o, "not_sampled", totals->not_sampled);
	record_set_num(o, "unrecorded", totals->unrecorded);
	record_set_num(o, "overwritten", totals->overwritten);
	record_set_num(o, "slow_ns", totals->slow_ns);
	record_set_num(o, "slow_bytes", totals->slow_bytes);
	record_set_num(o, "cleared", totals->cleared);
	return o;
}

static struct json_object *record_snapshot_ring(const struct ltt_ctl_snapshot_ring *ring)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "channel", ring->channel);
	record_set_num(o, "ring", ring->ring);
	record_set_num(o, "cpu", ring->cpu);
	record_set_num(o, "recorded", ring->records);
	record_set_num(o, "overwritten", ring->before);
	record_set_num(o, "lost", ring->lost);
	record_set_num(o, "bytes", ring->bytes);
	record_set_time(o, "begin_ns", ring->begin_ns);
	record_set_time(o, "end_ns", ring->end_ns);
	return o;
}

struct json_object *record_snapshot(const char *session, const struct ltt_ctl_snapshot *snapshot)
{
	struct json_object *o = json_object_new_object(), *rings = json_object_new_array();

	record_set_str(o, "session", session);
	record_set_str(o, "directory", snapshot->directory);
	record_set_num(o, "recorded", snapshot->records);
	record_set_num(o, "overwritten", snapshot->before);
	record_set_num(o, "lost", snapshot->lost);
	record_set_num(o, "bytes", snapshot->bytes);
	record_set_time(o, "begin_ns", snapshot->begin_ns);
	record_set_time(o, "end_ns", snapshot->end_ns);
	record_set_num(o, "copy_ns", snapshot->copy_ns);
	record_set(o, "buffers", rings);
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

struct json_object *record_news(const struct ltt_ctl_news *n)
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
	record_set_time(o, "ns", (int64_t)n->at_ns);
	record_set_str(o, "news", words[n->kind]);
	if (n->kind == LTT_CTL_NEWS_STATE)
		record_set_str(o, "state", session_state(n->state));
	if (*n->text)
		record_set_str(o, "text", n->text);
	if (n->kind != LTT_CTL_NEWS_LOSS)
		return o;
	record_set_str(o, "channel", n->channel);
	record_set_str(o, "cause", loss_cause(n->cause));
	record_set_num(o, "count", n->count);
	return o;
}

/* The attributes of the model's tables, by their types. */
#define ATTRIBUTE_SHOW(type, o, from, name) ATTRIBUTE_SHOW_##type(o, #name, (from)->name)
#define ATTRIBUTE_SHOW_text record_set_str
#define ATTRIBUTE_SHOW_derived record_set_str
#define ATTRIBUTE_SHOW_option set_unless_empty
#define ATTRIBUTE_SHOW_names(o, key, value) record_set(o, key, words_of(value))
#define ATTRIBUTE_SHOW_flag record_set_bool
#define ATTRIBUTE_SHOW_relay_link record_set_bool
#define ATTRIBUTE_SHOW_u32 record_set_num
#define ATTRIBUTE_SHOW_u64 record_set_num
#define ATTRIBUTE_SHOW_mode record_set_bool
#define ATTRIBUTE_SHOW_ownership(o, key, value) set_word(o, key, &words_owner, value)
#define ATTRIBUTE_SHOW_output_type(o, key, value) set_word(o, key, &words_output_type, value)
#define ATTRIBUTE_SHOW_sync_mode(o, key, value) set_word(o, key, &words_sync, value)
#define ATTRIBUTE_SHOW_rule_kind(o, key, value) set_word(o, key, &words_rule_kind, value)
#define ATTRIBUTE_SHOW_loglevel_type(o, key, value) set_word(o, key, &words_level_type, value)
#define ATTRIBUTE_SHOW_loglevel(o, key, value) record_set_str(o, key, loglevel_name(value))

static void set_word(struct json_object *o, const char *key, const struct words *words,
		     unsigned int number)
{
	record_set_str(o, key, words_name(words, number));
}

static void set_unless_empty(struct json_object *o, const char *key, const char *text)
{
	if (*text)
		record_set_str(o, key, text);
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

struct json_object *record_session(const struct ltt_ctl_session *session)
{
	struct json_object *o = json_object_new_object();

	record_set_num(o, "id", session->id);
	record_set_str(o, "name", session->name);
	record_set_str(o, "state", session_state(session->state));
	record_set_str(o, "output", session->output);
	record_set_num(o, "uid", session->uid);
	record_set_time(o, "created_ns", (int64_t)session->created_ns);
	record_set_num(o, "recording_ns", session->recording_ns);
	record_set_num(o, "applications", session->applications);
	record_set_bool(o, "scoped", session->scoped);
	record_set_str(o, "problem", session->problem);
	record_set_str(o, "link", link_state(session->link));
#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, session, name);
#include "model/session.def"
	record_set_num(o, "spooled", session->spooled);
	record_set(o, "clock_offset_ns", json_object_new_int64(session->clock_offset_ns));
	record_set_num(o, "clock_error_ns", session->clock_error_ns);
	record_set_str(o, "clock_change", session->clock_change);
	record_set_num(o, "chunk", session->chunk);
	record_set_num(o, "archives", session->archives);
	record_set(o, "totals", record_totals(session->totals));
	return o;
}

struct json_object *record_channel(const struct ltt_ctl_channel *c)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", c->name);
	record_set_str(o, "domain", record_domain(c->domain));
#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, c, name);
#include "model/channel.def"
	record_set_num(o, "used", c->used);
	record_set_num(o, "size", c->size);
	record_set_num(o, "memory", c->memory);
	record_set(o, "rules", json_object_new_array());
	record_set(o, "conflicts", json_object_new_array());
	record_set(o, "refusals", json_object_new_array());
	record_set(o, "totals", record_totals(c->totals));
	return o;
}

struct json_object *record_rule(const struct ltt_ctl_rule *r)
{
	struct json_object *o = json_object_new_object();

#define SHOWN(type, name, init, doc) ATTRIBUTE_SHOW(type, o, r, name);
#include "model/rule.def"
	if (r->loglevel_type == LTT_CTL_LEVEL_ALL)
		json_object_object_del(o, "loglevel");
	record_set_num(o, "nr_points", r->points);
	if (*r->filter)
		record_set_num(o, "points_never", r->points_never);
	return o;
}

const char *record_loglevel(struct json_object *rule, char *buf, size_t len)
{
	const char *type = record_str(rule, "loglevel_type");
	bool only = strcmp(type, "only") == 0;

	if (!only && strcmp(type, "at-least") != 0)
		return "";
	snprintf(buf, len, "%s %s", record_str(rule, "loglevel"), only ? "only" : "or more severe");
	return buf;
}

struct json_object *record_refusal(const struct ltt_ctl_refusal *r)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", r->event);
	record_set_str(o, "why", r->why);
	record_set_str(o, "domain", record_domain(r->domain));
	record_set_str(o, "refused", r->counted ? "count" : "record");
	return o;
}

struct json_object *record_conflict(const struct ltt_ctl_conflict *c)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", c->event);
	record_set_str(o, "armed", c->recorded);
	record_set_str(o, "refused", c->refused);
	record_set_num(o, "pid", c->pid);
	return o;
}

static struct json_object *point_field(const struct ltt_ctl_field *m)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", m->name);
	record_set_str(o, "type", m->type);
	record_set_bool(o, "is_recorded", m->recorded);
	return o;
}

struct json_object *record_preset(const struct ltt_ctl_preset *m)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", m->name);
	record_set_str(o, "pattern", m->events);
	record_set_num(o, "subbuf_size", m->subbuf_size);
	record_set_num(o, "num_subbuf", m->num_subbuf);
	record_set_num(o, "uid", m->uid);
	if (*m->unused)
		record_set_str(o, "unused", m->unused);
	return o;
}

struct json_object *record_point(const struct ltt_ctl_point *p)
{
	static const char *const kinds[] = { [1] = "tracepoint", [2] = "marker", [3] = "kernel" };
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", p->name);
	record_set_str(o, "kind", WORD(kinds, p->kind));
	if (p->domain != LTT_CTL_KERNEL)
		record_set_str(o, "loglevel", loglevel_name(p->loglevel));
	record_set_num(o, "pid", p->pid);
	record_set_num(o, "uid", p->uid);
	record_set_str(o, "process", p->process);
	record_set_str(o, "domain", record_domain(p->domain));
	record_set_str(o, "format", p->format);
	record_set_str(o, "file", p->file);
	record_set_num(o, "line", p->line);
	record_set_num(o, "active", p->active);
	for (size_t i = 0; i < p->nr_fields; i++)
		record_append(o, "field_list", point_field(p->fields[i]));
	if (*p->refused)
		record_set_str(o, "refused", p->refused);
	return o;
}
