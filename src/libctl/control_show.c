/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_show.c - calls of ltt/control.h that report the state of sessions. */
#include <string.h>

#include "base/macros.h"
#include "calls.h"
#include "control.h"

/* Attributes: a value of a message, whose texts are copied then. */
#define CONTROL_TAKE(to, value) ((to) = (__typeof__(to))(value))
#define CONTROL_KEEP(type, pool, to) MODEL_BY_CLASS(type, CONTROL_KEEP_)(pool, to)
#define CONTROL_KEEP_TEXT(pool, to) ((to) = pool_str(pool, to)) /* NULL: no memory */
#define CONTROL_KEEP_NUMBER(pool, to) ((void)(to))

struct control_view {
	struct ltt_ctl_session_status status; /* first: the caller's pointer */
	struct ltt_ctl_channel *channel;      /* the last one: rules and refusals are its */
};

void control_fill_session(struct ltt_ctl_session *ret, struct ltt_ctl_totals *totals,
			  const struct msg_session *m)
{
	struct list list = m->totals;
	struct msg_totals t;

	*ret = (struct ltt_ctl_session){
		.id = m->id,
		.name = m->name,
		.output = m->path,
		.problem = m->problem,
		.uid = m->uid,
		.state = (enum ltt_ctl_state)m->state,
		.created_ns = m->created_ns,
		.recording_ns = m->recording_ns,
		.applications = m->apps,
		.scoped = m->scoped,
		.link = (enum ltt_ctl_link)m->link,
		.spooled = m->spooled,
		.undurable = m->undurable,
		.clock_offset_ns = m->clock_offset_ns,
		.clock_error_ns = m->clock_error_ns,
		.live_url = m->live_url,
		.clock_change = m->clock_change,
		.chunk = m->chunk,
		.archives = m->archives,
	};
#define SHOWN(type, name, init, doc) CONTROL_TAKE(ret->name, m->name);
#include "model/session.def"
	ret->relay_clear = m->relay_clear == RELAY_LINK_CLEAR;
	if (msg_totals_next(&list, &t)) {
		control_fill_totals(totals, &t);
		ret->totals = totals;
	}
}

/* Return: NULL: no memory, which the pool remembers. */
static const struct ltt_ctl_session *control_session(struct pool *pool, const struct msg_session *m)
{
	struct ltt_ctl_session *s = pool_alloc(pool, sizeof(*s));
	struct ltt_ctl_totals *totals = pool_alloc(pool, sizeof(*totals));

	if (!s || !totals)
		return NULL;
	control_fill_session(s, totals, m);
	s->name = pool_str(pool, s->name);
	s->clock_change = pool_str(pool, s->clock_change);
	s->output = pool_str(pool, s->output);
	s->problem = pool_str(pool, s->problem);
#define SHOWN(type, name, init, doc) CONTROL_KEEP(type, pool, s->name);
#include "model/session.def"
	return s;
}

void control_fill_totals(struct ltt_ctl_totals *ret, const struct msg_totals *m)
{
	*ret = (struct ltt_ctl_totals){
		/* an event that was recorded and then lost is lost; the sum is all events */
		.recorded = m->recorded - MIN(m->recorded, m->lost_output),
		.written = m->written,
		.waiting = m->waiting,
		.lost = m->lost_full + m->lost_size + m->lost_busy + m->lost_output,
		/* a larger buffer would not have helped while nothing could be written */
		.lost_full = m->lost_full - MIN(m->lost_full, m->lost_stalled),
		.lost_size = m->lost_size,
		.lost_busy = m->lost_busy,
		.lost_output = m->lost_output + MIN(m->lost_full, m->lost_stalled),
		.invalid_bytes = m->lost_invalid,
		.lost_buffers = m->lost_buffers,
		.bytes = m->bytes,
		.packets = m->packets,
		.not_sampled = m->not_sampled,
		.unrecorded = m->unrecorded,
		.overwritten = m->overwritten,
		.slow_ns = m->slow_ns,
		.slow_bytes = m->slow_bytes,
		.cleared = m->cleared,
	};
}

const struct ltt_ctl_totals *control_totals(struct pool *pool, struct list totals)
{
	struct ltt_ctl_totals *t;
	struct msg_totals m;

	if (!msg_totals_next(&totals, &m))
		return NULL;
	t = pool_alloc(pool, sizeof(*t));
	if (t)
		control_fill_totals(t, &m);
	return t;
}

static int control_list_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl_sessions *list = priv;
	struct pool *pool = pool_of(list);
	struct msg_session m;

	if (type != MSG_session)
		return 0; /* a newer daemon sends more */
	if (msg_session_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	pool_append(pool, (const void *const **)&list->sessions, &list->nr,
		    control_session(pool, &m));
	return 0;
}

int control_list(struct ltt_ctl *ctl, bool settled, const char *name,
		 struct ltt_ctl_sessions **ret_sessions)
{
	struct req_session_list req = { .settled = settled, .name = name };
	struct ltt_ctl_sessions *list = control_begin_result(ctl, sizeof(*list));
	struct rep_session_list rep;
	int code;

	if (!list)
		return ctl->err.code;
	code = call_session_list(ctl->client, &req, control_list_item, list, &rep, &ctl->err);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	list->loading = rep.loading;
	*ret_sessions = list;
	return 0;
}

int ltt_ctl_list(struct ltt_ctl *ctl, struct ltt_ctl_sessions **ret_sessions)
{
	return control_list(ctl, true, "", ret_sessions);
}

int ltt_ctl_find(struct ltt_ctl *ctl, const char *name, struct ltt_ctl_sessions **ret_sessions)
{
	return control_list(ctl, false, name ? name : "", ret_sessions);
}

void ltt_ctl_sessions_free(struct ltt_ctl_sessions *sessions)
{
	pool_owner_free(sessions);
}

/* --- one session ------------------------------------------------------------------------ */

static int control_take_session(struct control_view *v, struct decoder *dec)
{
	struct msg_session m;

	if (v->status.session || msg_session_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	v->status.session = control_session(pool_of(v), &m);
	return 0;
}

static int control_take_tracker(struct control_view *v, struct decoder *dec)
{
	struct ltt_ctl_tracker *t = pool_alloc(pool_of(v), sizeof(*t));
	uint32_t *ids = NULL;
	struct msg_track_id id;
	struct msg_tracked m;

	if (msg_tracked_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	if (m.ids.nr)
		ids = pool_alloc(pool_of(v), m.ids.nr * sizeof(*ids));
	if (!t || (m.ids.nr && !ids))
		return 0;
	t->domain = (enum ltt_ctl_domain)m.domain;
	t->kind = (enum ltt_ctl_track_kind)m.kind;
	t->ids = ids;
	while (msg_track_id_next(&m.ids, &id))
		ids[t->nr_ids++] = id.id;
	pool_append(pool_of(v), (const void *const **)&v->status.trackers, &v->status.nr_trackers,
		    t);
	return 0;
}

static void control_take_rings(struct control_view *v, struct ltt_ctl_channel *c, struct list list)
{
	struct msg_produced m;

	while (msg_produced_next(&list, &m)) {
		struct ltt_ctl_ring *ring = pool_alloc(pool_of(v), sizeof(*ring));

		if (!ring)
			return;
		*ring = (struct ltt_ctl_ring){ m.ring, m.cpu, m.bytes };
		pool_append(pool_of(v), (const void *const **)&c->rings, &c->nr_rings, ring);
	}
}

static int control_take_channel(struct control_view *v, struct decoder *dec)
{
	struct ltt_ctl_channel *c;
	struct msg_channel m;

	if (msg_channel_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	v->channel = c = pool_alloc(pool_of(v), sizeof(*c));
	if (!c)
		return 0;
	*c = (struct ltt_ctl_channel){
		.name = pool_str(pool_of(v), m.name),
		.domain = (enum ltt_ctl_domain)m.domain,
		.used = m.used,
		.size = m.size,
		.memory = m.memory,
		.totals = control_totals(pool_of(v), m.totals),
	};
#define SHOWN(type, name, init, doc)   \
	CONTROL_TAKE(c->name, m.name); \
	CONTROL_KEEP(type, pool_of(v), c->name);
#include "model/channel.def"
	control_take_rings(v, c, m.produced);
	pool_append(pool_of(v), (const void *const **)&v->status.channels, &v->status.nr_channels,
		    c);
	return 0;
}

static int control_take_rule(struct control_view *v, struct decoder *dec)
{
	struct ltt_ctl_rule *r = pool_alloc(pool_of(v), sizeof(*r));
	struct msg_rule m;

	if (msg_rule_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	if (!r)
		return 0;
	r->points = m.points;
	r->points_never = m.points_never;
	r->file_device = m.file_device;
	r->file_inode = m.file_inode;
	r->earlier_files = pool_str(pool_of(v), m.earlier_files);
#define SHOWN(type, name, init, doc)   \
	CONTROL_TAKE(r->name, m.name); \
	CONTROL_KEEP(type, pool_of(v), r->name);
#include "model/rule.def"
	pool_append(pool_of(v), (const void *const **)&v->channel->rules, &v->channel->nr_rules, r);
	return 0;
}

void control_add_refusal(struct pool *pool, const struct msg_refusal *m,
			 const struct ltt_ctl_refusal *const **list, size_t *nr)
{
	struct ltt_ctl_refusal *r = pool_alloc(pool, sizeof(*r));

	if (!r)
		return;
	*r = (struct ltt_ctl_refusal){
		.event = pool_str(pool, m->name),
		.why = pool_str(pool, m->why),
		.domain = m->domain ? (enum ltt_ctl_domain)m->domain : LTT_CTL_KERNEL,
		.counted = m->domain == DOMAIN_USER && !m->recorded,
	};
	pool_append(pool, (const void *const **)list, nr, r);
}

static int control_take_refusal(struct control_view *v, struct decoder *dec)
{
	struct msg_refusal m;

	if (msg_refusal_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	control_add_refusal(pool_of(v), &m, &v->channel->refusals, &v->channel->nr_refusals);
	return 0;
}

void control_add_conflict(struct pool *pool, const struct msg_conflict *m,
			  const struct ltt_ctl_conflict *const **list, size_t *nr)
{
	struct ltt_ctl_conflict *c = pool_alloc(pool, sizeof(*c));

	if (!c)
		return;
	*c = (struct ltt_ctl_conflict){
		.event = pool_str(pool, m->name),
		.recorded = pool_str(pool, m->armed),
		.refused = pool_str(pool, m->refused),
		.pid = m->pid,
	};
	pool_append(pool, (const void *const **)list, nr, c);
}

static int control_take_conflict(struct control_view *v, struct decoder *dec)
{
	struct msg_conflict m;

	if (msg_conflict_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	control_add_conflict(pool_of(v), &m, &v->channel->conflicts, &v->channel->nr_conflicts);
	return 0;
}

static int control_status_item(void *priv, unsigned int type, struct decoder *dec)
{
	static int (*const take[])(struct control_view *, struct decoder *) = {
		[MSG_rule] = control_take_rule,
		[MSG_refusal] = control_take_refusal,
		[MSG_conflict] = control_take_conflict,
	};
	struct control_view *v = priv;

	if (type == MSG_session)
		return control_take_session(v, dec);
	if (type == MSG_channel)
		return control_take_channel(v, dec);
	if (type == MSG_tracked)
		return control_take_tracker(v, dec);
	if (type >= ARRAY_SIZE(take) || !take[type])
		return 0; /* a newer daemon sends more */
	if (!v->channel)
		return pool_of(v)->failed ? 0 : ERR_BAD_MESSAGE;
	return take[type](v, dec);
}

int ltt_ctl_status(struct ltt_ctl *ctl, const char *session,
		   struct ltt_ctl_session_status **ret_status)
{
	struct req_session_show req = { .session = session };
	struct control_view *v = control_begin_result(ctl, sizeof(*v));
	struct rep_session_show rep;
	int code;

	if (!v)
		return ctl->err.code;
	code = call_session_show(ctl->client, &req, control_status_item, v, &rep, &ctl->err);
	if (code == 0 && !v->status.session && !pool_of(v)->failed)
		code = err_set(&ctl->err, ERR_BAD_MESSAGE,
			       "the session daemon's answer lacks session '%s'", session);
	if (control_finish(ctl, code, v) != 0)
		return ctl->err.code;
	*ret_status = &v->status;
	return 0;
}

void ltt_ctl_status_free(struct ltt_ctl_session_status *status)
{
	pool_owner_free(status);
}
