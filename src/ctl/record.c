/* SPDX-License-Identifier: GPL-2.0-only */
#include "record.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "libctl/control.h"

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
	static const char *const words[] = { [DOMAIN_KERNEL] = "kernel", [DOMAIN_USER] = "user" };

	return WORD(words, domain);
}

const char *record_track_kind(unsigned int kind)
{
	static const char *const words[] = {
		[TRACK_PID] = "pid",   [TRACK_TID] = "tid",   [TRACK_VPID] = "vpid",
		[TRACK_VTID] = "vtid", [TRACK_UID] = "uid",   [TRACK_GID] = "gid",
		[TRACK_VUID] = "vuid", [TRACK_VGID] = "vgid",
	};

	return WORD(words, kind);
}

struct json_object *record_tracked(const struct msg_tracked *m)
{
	struct json_object *o = json_object_new_object();
	struct list ids = m->ids;
	struct msg_track_id id;

	record_set_str(o, "domain", record_domain(m->domain));
	record_set_str(o, "kind", record_track_kind(m->kind));
	record_set(o, "ids", json_object_new_array());
	while (msg_track_id_next(&ids, &id))
		record_append(o, "ids", json_object_new_uint64(id.id));
	return o;
}

static const char *session_state(unsigned int state)
{
	static const char *const words[] = {
		[SESSION_NEW] = "new",
		[SESSION_STARTING] = "starting",
		[SESSION_RECORDING] = "recording",
		[SESSION_STOPPING] = "stopping",
		[SESSION_STOPPED] = "stopped",
		[SESSION_DESTROYING] = "destroying",
	};

	return WORD(words, state);
}

static struct json_object *ctl_record_lost(const struct ltt_ctl_totals *t)
{
	struct json_object *o = json_object_new_object();

	record_set_num(o, "buffer_full", t->lost_full);
	record_set_num(o, "too_large", t->lost_size);
	record_set_num(o, "buffer_busy", t->lost_busy);
	record_set_num(o, "output", t->lost_output);
	record_set_num(o, "invalid_bytes", t->invalid_bytes);
	return o;
}

struct json_object *record_totals(struct list totals)
{
	struct ltt_ctl_totals t;
	struct json_object *o;
	struct msg_totals m;

	if (!msg_totals_next(&totals, &m))
		return NULL;
	control_fill_totals(&t, &m);
	o = json_object_new_object();
	record_set_num(o, "recorded", t.recorded);
	record_set_num(o, "written", t.written);
	record_set_num(o, "waiting", t.waiting);
	record_set_num(o, "lost", t.lost);
	record_set(o, "lost_by_cause", ctl_record_lost(&t));
	record_set_num(o, "lost_buffers", t.lost_buffers);
	record_set_num(o, "bytes", t.bytes);
	record_set_num(o, "packets", t.packets);
	return o;
}

static const char *loss_cause(unsigned int cause)
{
	/* members of lost_by_cause */
	static const char *const words[] = {
		[LOSS_FULL] = "buffer_full",	  [LOSS_SIZE] = "too_large",
		[LOSS_BUSY] = "buffer_busy",	  [LOSS_OUTPUT] = "output",
		[LOSS_INVALID] = "invalid_bytes",
	};

	return WORD(words, cause);
}

struct json_object *record_news(const struct msg_news *m)
{
	static const char *const words[] = {
		[NEWS_STATE] = "state",	       [NEWS_PROBLEM] = "problem",
		[NEWS_SOLVED] = "solved",      [NEWS_LOSS] = "loss",
		[NEWS_DIED] = "consumer-died", [NEWS_REPLACED] = "consumer-replaced",
	};
	struct json_object *o;

	if (m->kind == 0 || m->kind >= ARRAY_SIZE(words))
		return NULL;
	o = json_object_new_object();
	record_set_num(o, "ns", m->at_ns);
	record_set_str(o, "news", words[m->kind]);
	if (m->kind == NEWS_STATE)
		record_set_str(o, "state", session_state(m->state));
	if (*m->text)
		record_set_str(o, "text", m->text);
	if (m->kind != NEWS_LOSS)
		return o;
	record_set_str(o, "channel", m->channel);
	record_set_str(o, "cause", loss_cause(m->cause));
	record_set_num(o, "count", m->count);
	return o;
}

static const char *sync_mode(unsigned int value)
{
	static const char *const words[] = {
		[SYNC_NONE] = "none",
		[SYNC_PACKET] = "packet",
		[SYNC_PERIOD] = "period",
	};

	return WORD(words, value);
}

static const char *link_state(unsigned int value)
{
	static const char *const words[] = {
		[LINK_NONE] = "none",
		[LINK_UP] = "up",
		[LINK_DOWN] = "down",
	};

	return WORD(words, value);
}

struct json_object *record_session(const struct msg_session *m)
{
	struct json_object *o = json_object_new_object();

	record_set_num(o, "id", m->id);
	record_set_str(o, "name", m->name);
	record_set_str(o, "state", session_state(m->state));
	record_set_str(o, "output", m->path);
	record_set_num(o, "uid", m->uid);
	record_set_num(o, "created_ns", m->created_ns);
	record_set_num(o, "recording_ns", m->recording_ns);
	record_set_num(o, "applications", m->apps);
	record_set_bool(o, "scoped", m->scoped);
	record_set_str(o, "problem", m->problem);
	record_set_num(o, "keep_free", m->keep_free);
	record_set_num(o, "max_size", m->max_size);
	record_set_str(o, "sync", sync_mode(m->sync));
	record_set_num(o, "sync_us", m->sync_us);
	record_set_str(o, "link", link_state(m->link));
	record_set_num(o, "live_us", m->live_us);
	record_set_bool(o, "compress", m->compress);
	record_set_str(o, "spool", m->spool);
	record_set_num(o, "spool_size", m->spool_size);
	record_set_num(o, "spooled", m->spooled);
	record_set(o, "clock_offset_ns", json_object_new_int64(m->clock_offset_ns));
	record_set_num(o, "clock_error_ns", m->clock_error_ns);
	record_set(o, "totals", record_totals(m->totals));
	return o;
}

static const char *ownership(unsigned int value)
{
	static const char *const words[] = {
		[OWNERSHIP_DEFAULT] = "default",
		[OWNERSHIP_USER] = "user",
		[OWNERSHIP_PROCESS] = "process",
		[OWNERSHIP_GLOBAL] = "system",
	};

	return WORD(words, value);
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

struct json_object *record_channel(const struct msg_channel *m)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", m->name);
	record_set_str(o, "domain", record_domain(m->domain));
	record_set_bool(o, "enabled", m->enabled);
	record_set_num(o, "subbuf_size", m->subbuf_size);
	record_set_num(o, "num_subbuf", m->num_subbuf);
	record_set_str(o, "mode", m->overwrite ? "overwrite" : "discard");
	record_set_str(o, "buffer_ownership", ownership(m->ownership));
	record_set_num(o, "tracefile_size", m->tracefile_size);
	record_set_num(o, "tracefile_count", m->tracefile_count);
	record_set_num(o, "switch_timer_us", m->switch_timer_us);
	record_set_num(o, "used", m->used);
	record_set_num(o, "size", m->size);
	record_set_num(o, "memory", m->memory);
	record_set(o, "contexts", words_of(m->contexts));
	record_set_bool(o, "preset", m->preset);
	record_set(o, "rules", json_object_new_array());
	record_set(o, "conflicts", json_object_new_array());
	record_set(o, "refusals", json_object_new_array());
	record_set(o, "totals", record_totals(m->totals));
	return o;
}

static const char *rule_kind(unsigned int kind)
{
	static const char *const words[] = {
		[RULE_EVENTS] = "events",     [RULE_PROBE] = "probe",
		[RULE_FUNCTION] = "function", [RULE_USER] = "userspace-probe",
		[RULE_COUNT] = "count",	      [RULE_HISTOGRAM] = "histogram",
	};

	return WORD(words, kind);
}

struct json_object *record_rule(const struct msg_rule *m)
{
	static const char *const types[] = {
		[LOGLEVEL_ALL] = "all",
		[LOGLEVEL_AT_LEAST] = "at-least",
		[LOGLEVEL_ONLY] = "only",
	};
	struct json_object *o = json_object_new_object();

	record_set_str(o, "pattern", m->pattern);
	record_set_str(o, "exclude", m->exclude);
	record_set_str(o, "loglevel_type", WORD(types, m->loglevel_type));
	if (m->loglevel_type != LOGLEVEL_ALL)
		record_set_str(o, "loglevel", loglevel_name((int)m->loglevel));
	record_set_bool(o, "enabled", m->enabled);
	record_set_num(o, "points", m->points);
	record_set_str(o, "kind", rule_kind(m->kind));
	if (*m->location)
		record_set_str(o, "location", m->location);
	if (*m->fetch)
		record_set_str(o, "fetch", m->fetch);
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

struct json_object *record_refusal(const struct msg_refusal *m)
{
	struct json_object *o = json_object_new_object();
	enum domain_id domain = m->domain ? m->domain : DOMAIN_KERNEL;

	record_set_str(o, "name", m->name);
	record_set_str(o, "why", m->why);
	record_set_str(o, "domain", record_domain(domain));
	record_set_str(o, "refused", domain == DOMAIN_KERNEL || m->recorded ? "record" : "count");
	return o;
}

struct json_object *record_conflict(const struct msg_conflict *m)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", m->name);
	record_set_str(o, "armed", m->armed);
	record_set_str(o, "refused", m->refused);
	record_set_num(o, "pid", m->pid);
	return o;
}

static struct json_object *point_field(const struct ltt_ctl_field *m)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", m->name);
	record_set_str(o, "type", m->type);
	record_set_bool(o, "recorded", m->recorded);
	return o;
}

struct json_object *record_preset(const struct ltt_ctl_preset *m)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "name", m->name);
	record_set_str(o, "events", m->events);
	record_set_num(o, "subbuf_size", m->subbuf_size);
	record_set_num(o, "num_subbuf", m->num_subbuf);
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
		record_append(o, "fields", point_field(p->fields[i]));
	if (*p->refused)
		record_set_str(o, "refused", p->refused);
	return o;
}
