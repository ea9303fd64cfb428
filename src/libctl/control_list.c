/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_list.c - lists of ltt/control.h: contexts, instrumentation points, verdicts about
 * filters, programs of a session, counts, quotas, consumers. */
#include <string.h>

#include "base/macros.h"
#include "calls.h"
#include "control.h"
#include "outdir.h"
#include "url.h"

/* --- contexts ----------------------------------------------------------------------------- */

static int control_context_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl_contexts *list = priv;
	struct pool *pool = pool_of(list);
	struct ltt_ctl_context *c;
	struct msg_context m;

	if (type != MSG_context)
		return 0; /* a newer daemon sends more */
	if (msg_context_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	c = pool_alloc(pool, sizeof(*c));
	if (!c)
		return 0;
	c->name = pool_str(pool, m.name);
	c->type = pool_str(pool, m.type);
	c->domain = (enum ltt_ctl_domain)m.domain;
	pool_append(pool, (const void *const **)&list->contexts, &list->nr, c);
	return 0;
}

int ltt_ctl_list_contexts(struct ltt_ctl *ctl, enum ltt_ctl_domain domain,
			  struct ltt_ctl_contexts **ret_contexts)
{
	const struct req_context_list req = { .domain = (uint8_t)domain };
	struct ltt_ctl_contexts *list = control_begin_result(ctl, sizeof(*list));
	struct rep_context_list rep;
	int code;

	if (!list)
		return ctl->err.code;
	code = control_check_enum(ctl, CONTROL_DOMAIN, domain);
	if (code == 0)
		code = call_context_list(ctl->client, &req, control_context_item, list, &rep,
					 &ctl->err);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	*ret_contexts = list;
	return 0;
}

void ltt_ctl_contexts_free(struct ltt_ctl_contexts *contexts)
{
	pool_owner_free(contexts);
}

/* --- instrumentation points ----------------------------------------------------------------- */

static void control_take_fields(struct pool *pool, struct ltt_ctl_point *point, struct list fields)
{
	struct msg_point_field m;

	while (msg_point_field_next(&fields, &m)) {
		struct ltt_ctl_field *f = pool_alloc(pool, sizeof(*f));

		if (!f)
			return;
		f->name = pool_str(pool, m.name);
		f->type = pool_str(pool, m.type);
		f->recorded = m.recorded;
		pool_append(pool, (const void *const **)&point->fields, &point->nr_fields, f);
	}
}

/* A list of points, or their receiver. */
struct point_answer {
	struct ltt_ctl_points *list; /* has the presets alone if there is a receiver */
	void (*fn)(const struct ltt_ctl_point *point, void *data);
	void *data;
};

static void control_fill_point(struct pool *pool, struct ltt_ctl_point *p,
			       const struct msg_point *m)
{
	*p = (struct ltt_ctl_point){
		.name = pool_str(pool, m->name),
		.process = pool_str(pool, m->process),
		.format = pool_str(pool, m->format),
		.file = pool_str(pool, m->file),
		.refused = pool_str(pool, m->refused),
		.domain = (enum ltt_ctl_domain)m->domain,
		.kind = (enum ltt_ctl_point_kind)m->kind,
		.loglevel = m->loglevel,
		.line = m->line,
		.pid = m->pid,
		.uid = m->uid,
		.active = m->active,
		.way = (enum ltt_ctl_way)m->way,
	};
	control_take_fields(pool, p, m->fields);
}

static int control_take_point(struct point_answer *answer, struct decoder *dec)
{
	struct pool *pool = pool_of(answer->list), one = { 0 };
	struct ltt_ctl_point *p, received;
	struct msg_point m;

	if (msg_point_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	if (answer->fn) {
		control_fill_point(&one, &received, &m);
		if (!one.failed)
			answer->fn(&received, answer->data);
		pool->failed = pool->failed || one.failed;
		pool_fini(&one);
		return 0;
	}
	p = pool_alloc(pool, sizeof(*p));
	if (p)
		control_fill_point(pool, p, &m);
	pool_append(pool, (const void *const **)&answer->list->points, &answer->list->nr, p);
	return 0;
}

static int control_take_preset(struct ltt_ctl_points *list, struct decoder *dec)
{
	struct pool *pool = pool_of(list);
	struct ltt_ctl_preset *p = pool_alloc(pool, sizeof(*p));
	struct msg_preset m;

	if (msg_preset_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	if (!p)
		return 0;
	*p = (struct ltt_ctl_preset){
		.name = pool_str(pool, m.name),
		.events = pool_str(pool, m.events),
		.subbuf_size = m.subbuf_size,
		.num_subbuf = m.num_subbuf,
		.uid = m.uid,
		.unused = pool_str(pool, m.unused),
	};
	pool_append(pool, (const void *const **)&list->presets, &list->nr_presets, p);
	return 0;
}

static int control_point_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct point_answer *answer = priv;

	if (type == MSG_point)
		return control_take_point(answer, dec);
	return type == MSG_preset ? control_take_preset(answer->list, dec) : 0;
}

int ltt_ctl_each_point(struct ltt_ctl *ctl, enum ltt_ctl_domain domain, unsigned int flags,
		       void (*fn)(const struct ltt_ctl_point *point, void *data), void *data,
		       struct ltt_ctl_points **ret_points)
{
	struct req_point_list req = { .domain = (uint8_t)domain,
				      .fields = flags & LTT_CTL_FIELDS,
				      .after = "" };
	struct ltt_ctl_points *list = control_begin_result(ctl, sizeof(*list));
	struct point_answer answer = { list, fn, data };
	struct rep_point_list rep = { .rest = "" };
	int code;

	if (!list)
		return ctl->err.code;
	code = control_check_enum(ctl, CONTROL_DOMAIN, domain);
	if (code == 0)
		code = control_check_flags(ctl, flags, LTT_CTL_FIELDS);
	do {
		if (code == 0)
			code = call_point_list(ctl->client, &req, control_point_item, &answer,
					       &rep, &ctl->err);
		req.after = rep.rest; /* which is sent before the next answer is received */
	} while (code == 0 && *rep.rest);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	*ret_points = list;
	return 0;
}

int ltt_ctl_list_points(struct ltt_ctl *ctl, enum ltt_ctl_domain domain, unsigned int flags,
			struct ltt_ctl_points **ret_points)
{
	return ltt_ctl_each_point(ctl, domain, flags, NULL, NULL, ret_points);
}

void ltt_ctl_points_free(struct ltt_ctl_points *points)
{
	pool_owner_free(points);
}

/* --- filters ------------------------------------------------------------------------------- */

static int control_verdict_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl_verdicts *list = priv;
	struct pool *pool = pool_of(list);
	struct ltt_ctl_verdict *v;
	struct msg_verdict m;

	if (type != MSG_verdict)
		return 0; /* a newer daemon sends more */
	if (msg_verdict_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	v = pool_alloc(pool, sizeof(*v));
	if (!v)
		return 0;
	v->event = pool_str(pool, m.name);
	v->why = pool_str(pool, m.why);
	v->column = m.column;
	pool_append(pool, (const void *const **)&list->verdicts, &list->nr, v);
	return 0;
}

int ltt_ctl_check_filter(struct ltt_ctl *ctl, const struct ltt_ctl_filter_options *filter,
			 struct ltt_ctl_verdicts **ret_verdicts)
{
	struct ltt_ctl_verdicts *list = control_begin_result(ctl, sizeof(*list));
	struct ltt_ctl_filter_options o;
	struct req_filter_check req;
	struct rep_filter_check rep;
	int code;

	if (!list)
		return ctl->err.code;
	code = control_take(ctl, filter, &o, sizeof(o));
	if (code == 0)
		code = control_check_given(ctl, o.expression, "the expression of the filter");
	if (code == 0 && o.domain)
		code = control_check_enum(ctl, CONTROL_DOMAIN, o.domain);
	req = (struct req_filter_check){ .expression = o.expression,
					 .pattern = o.pattern,
					 .domain = (uint8_t)o.domain };
	do {
		req.after = (uint32_t)list->nr;
		rep.more = 0;
		if (code == 0)
			code = call_filter_check(ctl->client, &req, control_verdict_item, list,
						 &rep, &ctl->err);
	} while (code == 0 && rep.more && list->nr > req.after);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	*ret_verdicts = list;
	return 0;
}

void ltt_ctl_verdicts_free(struct ltt_ctl_verdicts *verdicts)
{
	pool_owner_free(verdicts);
}

/* --- snapshots ------------------------------------------------------------------------------ */

static int control_saved_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl_snapshot *snapshot = priv;
	struct ltt_ctl_snapshot_ring *ring;
	struct pool *pool = pool_of(snapshot);
	struct msg_saved_ring m;

	if (type != MSG_saved_ring)
		return 0; /* a newer daemon sends more */
	if (msg_saved_ring_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	ring = pool_alloc(pool, sizeof(*ring));
	if (ring)
		*ring = (struct ltt_ctl_snapshot_ring){
			.channel = pool_str(pool, m.channel),
			.ring = m.ring,
			.cpu = m.cpu,
			.records = m.records,
			.before = m.before,
			.lost = m.lost,
			.bytes = m.bytes,
			.begin_ns = m.begin_ns,
			.end_ns = m.end_ns,
		};
	pool_append(pool, (const void *const **)&snapshot->rings, &snapshot->nr, ring);
	return 0;
}

int control_snapshot_place(struct ltt_ctl *ctl, const char *output, const char *data_url,
			   bool later, struct snapshot_place *ret)
{
	*ret = (struct snapshot_place){ .dir = OUTDIR_NONE };
	if (!output)
		return 0;
	if (!url_is_relay(output))
		return outdir_at(output, &ret->dir, &ctl->err);
	if (data_url && url_same_host(output, data_url, &ctl->err) != 0)
		return ctl->err.code;
	return url_relay(output, later && !strchr(output, ','), &ret->relay, &ctl->err);
}

int ltt_ctl_snapshot_record(struct ltt_ctl *ctl, const struct ltt_ctl_snapshot_options *snapshot,
			    struct ltt_ctl_snapshot **ret_snapshot)
{
	struct ltt_ctl_snapshot *made = control_begin_result(ctl, sizeof(*made));
	struct rep_snapshot_record rep = { 0 };
	struct ltt_ctl_snapshot_options o = { 0 };
	struct snapshot_place place = { .dir = OUTDIR_NONE };
	struct req_snapshot_record req;
	int code;

	if (!made)
		return ctl->err.code;
	code = control_take(ctl, snapshot, &o, sizeof(o));
	if (code == 0)
		code = control_check_given(ctl, o.session, "the session of the snapshot");
	if (code == 0)
		code = control_snapshot_place(ctl, o.output, o.data_url, false, &place);
	req = (struct req_snapshot_record){
		.session = o.session,
		.name = o.name,
		.path = *place.relay.addr ? place.relay.text : place.dir.path,
		.dir = place.dir.fd,
		.max_size = o.max_size,
		.last_us = o.last_us,
		.relay = place.relay.addr,
		.relay_clear = (uint8_t)place.relay.link,
		.relay_host = place.relay.host,
	};
	if (code == 0)
		code = call_snapshot_record(ctl->client, &req, control_saved_item, made, &rep,
					    &ctl->err);
	if (code != 0)
		outdir_undo(&place.dir);
	outdir_fini(&place.dir);
	made->directory = pool_str(pool_of(made), code == 0 ? rep.directory : "");
	made->records = rep.records;
	made->before = rep.before;
	made->lost = rep.lost;
	made->bytes = rep.bytes;
	made->begin_ns = rep.begin_ns;
	made->end_ns = rep.end_ns;
	made->copy_ns = rep.copy_ns;
	made->remembered = rep.remembered;
	made->problem = pool_str(pool_of(made), code == 0 ? rep.problem : "");
	if (control_finish(ctl, code, made) != 0)
		return ctl->err.code;
	*ret_snapshot = made;
	return 0;
}

int ltt_ctl_set_snapshot_output(struct ltt_ctl *ctl,
				const struct ltt_ctl_snapshot_options *snapshot)
{
	struct ltt_ctl_snapshot_options o = { 0 };
	struct snapshot_place place = { .dir = OUTDIR_NONE };
	struct req_snapshot_output req;
	int code = control_begin(ctl);

	if (code == 0)
		code = control_take(ctl, snapshot, &o, sizeof(o));
	if (code == 0)
		code = control_check_given(ctl, o.session, "the session of the snapshots");
	if (code == 0)
		code = control_snapshot_place(ctl, o.output, o.data_url, true, &place);
	req = (struct req_snapshot_output){
		.session = o.session,
		.name = o.name,
		.path = *place.relay.addr ? place.relay.text : place.dir.path,
		.max_size = o.max_size,
	};
	if (code == 0)
		code = call_snapshot_output(ctl->client, &req, NULL, NULL, NULL, &ctl->err);
	if (code != 0)
		outdir_undo(&place.dir);
	outdir_fini(&place.dir);
	return code == 0 ? 0 : control_failed(ctl);
}

void ltt_ctl_snapshot_free(struct ltt_ctl_snapshot *snapshot)
{
	pool_owner_free(snapshot);
}

/* --- programs of a session ------------------------------------------------------------------ */

static int control_announced_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl_programs *programs = priv;
	struct pool *pool = pool_of(programs);
	struct msg_announced m;

	if (type != MSG_announced)
		return 0; /* a newer daemon sends more */
	if (msg_announced_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	pool_append(pool, (const void *const **)&programs->points, &programs->nr_points,
		    pool_str(pool, m.name));
	return 0;
}

int ltt_ctl_list_programs(struct ltt_ctl *ctl, const char *session,
			  struct ltt_ctl_programs **ret_programs)
{
	const struct req_session_programs req = { .session = session };
	struct ltt_ctl_programs *programs = control_begin_result(ctl, sizeof(*programs));
	struct rep_session_programs rep = { 0 };
	int code;

	if (!programs)
		return ctl->err.code;
	code = control_check_given(ctl, session, "the session of the programs");
	if (code == 0)
		code = call_session_programs(ctl->client, &req, control_announced_item, programs,
					     &rep, &ctl->err);
	programs->recording = rep.recording;
	programs->applications = rep.apps;
	programs->matched = rep.matched;
	programs->more = rep.more;
	if (control_finish(ctl, code, programs) != 0)
		return ctl->err.code;
	*ret_programs = programs;
	return 0;
}

void ltt_ctl_programs_free(struct ltt_ctl_programs *programs)
{
	pool_owner_free(programs);
}

/* --- counts --------------------------------------------------------------------------------- */

static void control_take_buckets(struct pool *pool, struct list buckets,
				 const struct ltt_ctl_bucket *const **ret, size_t *ret_nr)
{
	struct msg_bucket m;

	while (msg_bucket_next(&buckets, &m)) {
		struct ltt_ctl_bucket *b = pool_alloc(pool, sizeof(*b));

		if (!b)
			return;
		*b = (struct ltt_ctl_bucket){ m.first, m.last, m.count };
		pool_append(pool, (const void *const **)ret, ret_nr, b);
	}
}

/** List in which the last event is not complete. */
struct control_counting {
	struct ltt_ctl_stats *list;
	struct ltt_ctl_counted *last;
};

static int control_take_counted(struct control_counting *counting, struct decoder *dec)
{
	struct pool *pool = pool_of(counting->list);
	struct ltt_ctl_counted *c;
	struct msg_counted m;

	if (msg_counted_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	c = counting->last = pool_alloc(pool, sizeof(*c));
	if (!c)
		return 0;
	*c = (struct ltt_ctl_counted){
		.channel = pool_str(pool, m.channel),
		.event = pool_str(pool, m.event),
		.field = pool_str(pool, m.field),
		.domain = (enum ltt_ctl_domain)m.domain,
		.counting = m.counting,
		.since_ns = m.since_ns,
		.count = m.count,
		.sum = m.sum,
		.negative = m.negative,
		.missed = m.missed,
		.by = pool_str(pool, m.by),
		.overflow = m.overflow,
		.at_least = m.at_least,
	};
	control_take_buckets(pool, m.buckets, &c->buckets, &c->nr_buckets);
	pool_append(pool, (const void *const **)&counting->list->counted, &counting->list->nr, c);
	return 0;
}

static void control_take_values(struct pool *pool, struct ltt_ctl_key *key, struct list values)
{
	struct msg_key_value m;

	while (msg_key_value_next(&values, &m)) {
		struct ltt_ctl_key_value *v = pool_alloc(pool, sizeof(*v));

		if (!v)
			return;
		*v = (struct ltt_ctl_key_value){ (enum ltt_ctl_key_kind)m.kind, m.number,
						 pool_str(pool, m.text) };
		pool_append(pool, (const void *const **)&key->values, &key->nr_values, v);
	}
}

static int control_take_key(struct control_counting *counting, struct decoder *dec)
{
	struct pool *pool = pool_of(counting->list);
	struct ltt_ctl_counted *c = counting->last;
	struct ltt_ctl_key *key;
	struct msg_counted_key m;

	if (msg_counted_key_decode(dec, &m) != 0 || !c)
		return ERR_BAD_MESSAGE;
	key = pool_alloc(pool, sizeof(*key));
	if (!key)
		return 0;
	*key = (struct ltt_ctl_key){ .count = m.count, .sum = m.sum, .negative = m.negative };
	control_take_values(pool, key, m.values);
	control_take_buckets(pool, m.buckets, &key->buckets, &key->nr_buckets);
	pool_append(pool, (const void *const **)&c->keys, &c->nr_keys, key);
	return 0;
}

static int control_counted_item(void *priv, unsigned int type, struct decoder *dec)
{
	return type == MSG_counted     ? control_take_counted(priv, dec) :
	       type == MSG_counted_key ? control_take_key(priv, dec) :
					 0;
}

int ltt_ctl_list_stats(struct ltt_ctl *ctl, const char *session, struct ltt_ctl_stats **ret_stats)
{
	const struct req_stats_list req = { .session = session };
	struct ltt_ctl_stats *list = control_begin_result(ctl, sizeof(*list));
	struct control_counting counting = { .list = list };
	struct rep_stats_list rep;
	int code;

	if (!list)
		return ctl->err.code;
	code = call_stats_list(ctl->client, &req, control_counted_item, &counting, &rep, &ctl->err);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	list->at_least = rep.at_least;
	*ret_stats = list;
	return 0;
}

void ltt_ctl_stats_free(struct ltt_ctl_stats *stats)
{
	pool_owner_free(stats);
}

/* --- quotas --------------------------------------------------------------------------------- */

static int control_quota_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl_quotas *list = priv;
	struct pool *pool = pool_of(list);
	struct ltt_ctl_quota *q;
	struct msg_quota m;

	if (type != MSG_quota)
		return 0;
	if (msg_quota_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	q = pool_alloc(pool, sizeof(*q));
	if (!q)
		return 0;
	*q = (struct ltt_ctl_quota){
		.name = pool_str(pool, m.name),
		.uid = m.uid,
		.in_roots = m.guest,
		.used = m.used,
		.limit = m.limit,
		.refused = m.refused,
	};
	pool_append(pool, (const void *const **)&list->quotas, &list->nr, q);
	return 0;
}

int ltt_ctl_list_quotas(struct ltt_ctl *ctl, struct ltt_ctl_quotas **ret_quotas)
{
	struct req_quota_list req;
	struct ltt_ctl_quotas *list = control_begin_result(ctl, sizeof(*list));
	struct rep_quota_list rep;
	int code;

	if (!list)
		return ctl->err.code;
	code = call_quota_list(ctl->client, &req, control_quota_item, list, &rep, &ctl->err);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	*ret_quotas = list;
	return 0;
}

void ltt_ctl_quotas_free(struct ltt_ctl_quotas *quotas)
{
	pool_owner_free(quotas);
}

/* --- consumers ------------------------------------------------------------------------------ */

static int control_consumer_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl_consumers *list = priv;
	struct pool *pool = pool_of(list);
	struct ltt_ctl_consumer *c;
	struct msg_consumer m;

	if (type != MSG_consumer)
		return 0;
	if (msg_consumer_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	c = pool_alloc(pool, sizeof(*c));
	if (!c)
		return 0;
	*c = (struct ltt_ctl_consumer){
		.uid = m.uid,
		.pid = m.pid,
		.silent_ms = m.silent_ms,
		.nr_sessions = m.sessions,
		.kernel = m.kernel,
	};
	pool_append(pool, (const void *const **)&list->consumers, &list->nr, c);
	return 0;
}

int ltt_ctl_list_consumers(struct ltt_ctl *ctl, struct ltt_ctl_consumers **ret_consumers)
{
	struct req_consumer_list req;
	struct ltt_ctl_consumers *list = control_begin_result(ctl, sizeof(*list));
	struct rep_consumer_list rep;
	int code;

	if (!list)
		return ctl->err.code;
	code = call_consumer_list(ctl->client, &req, control_consumer_item, list, &rep, &ctl->err);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	*ret_consumers = list;
	return 0;
}

void ltt_ctl_consumers_free(struct ltt_ctl_consumers *consumers)
{
	pool_owner_free(consumers);
}
