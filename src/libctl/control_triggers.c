/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_triggers.c - calls of ltt/control.h about triggers and their notifications. */
#include <errno.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "base/macros.h"
#include "calls.h"
#include "control.h"
#include "io/dirid.h"

/* --- add and remove ------------------------------------------------------------------ */

#define ACTIONS_BYTES 61440u

/* Texts may be NULL in the caller's structs. */
static const char *control_text(const char *text)
{
	return text ? text : "";
}

#define MODEL_GIVEN(type, value) MODEL_BY_CLASS(type, MODEL_GIVEN_)(type, value)
#define MODEL_GIVEN_TEXT(type, value) control_text(value)
#define MODEL_GIVEN_NUMBER(type, value) (MODEL_WIRE_TYPE(type))(value)

/** The actions of a request, and the directories that were made for them. */
struct control_actions {
	uint8_t buf[ACTIONS_BYTES];
	struct list list;
	struct outdir dirs[LTT_CTL_ACTIONS_MAX];
	size_t nr_dirs;
};

/* With the rights of the trigger's owner: of another user, only root adds one. */
static int control_find_output(struct ltt_ctl *ctl, const struct ltt_ctl_trigger_options *o,
			       const struct ltt_ctl_action *action, struct snapshot_place *ret)
{
	const char *output = *control_text(action->output) ? action->output : NULL;
	bool other = output && o->other_owner && geteuid() == 0;
	gid_t gid = other ? (gid_t)setfsgid(o->gid) : 0;
	uid_t uid = other ? (uid_t)setfsuid(o->uid) : 0;
	int code = control_snapshot_place(ctl, output, action->data_url, true, ret);

	if (code == 0 && ret->dir.fd >= 0 &&
	    faccessat(ret->dir.fd, ".", W_OK | X_OK, AT_EACCESS) < 0) {
		code = err_errno(&ctl->err, ERR_OUTPUT, errno, "can't write into %s",
				 ret->dir.path);
		outdir_undo(&ret->dir);
	}
	if (other) {
		setfsuid(uid);
		setfsgid(gid);
	}
	return code;
}

static int control_put_action(struct ltt_ctl *ctl, const struct ltt_ctl_trigger_options *o,
			      const struct ltt_ctl_action *action, struct encoder *enc,
			      struct outdir *ret_dir)
{
	struct snapshot_place place;
	struct dirid id = { 0 };
	struct msg_trigger_action m = {
		.problem = "",
#define REPEATED(type, name, init, doc) .name = MODEL_GIVEN(type, action->name),
#include "model/action.def"
	};

	if (control_find_output(ctl, o, action, &place) != 0)
		return ctl->err.code;
	*ret_dir = place.dir;
	if (place.dir.fd >= 0 && dirid_of(place.dir.fd, &id) < 0)
		return err_errno(&ctl->err, ERR_OUTPUT, errno, "can't open %s", place.dir.path);
	m.output = place.dir.fd >= 0 ? place.dir.path : place.relay.text;
	m.dir_dev = id.dev;
	m.dir_ino = id.ino;
	m.dir_born_ns = id.born_ns;
	msg_trigger_action_add(enc, &m);
	return enc->overflow ? err_set(&ctl->err, ERR_INVALID, "the actions are too long") : 0;
}

static int control_put_actions(struct ltt_ctl *ctl, const struct ltt_ctl_trigger_options *o,
			       struct control_actions *ret)
{
	struct encoder enc;
	int code = 0;

	encoder_init(&enc, ret->buf, sizeof(ret->buf));
	ret->nr_dirs = 0;
	for (size_t i = 0; i < o->nr_actions && code == 0; i++) {
		struct outdir *dir = &ret->dirs[ret->nr_dirs++];

		*dir = (struct outdir)OUTDIR_NONE;
		code = control_put_action(ctl, o, &o->actions[i], &enc, dir);
	}
	ret->list = encoder_list(&enc);
	return code;
}

/* @code: of the request: the directories of a trigger that was not added are removed. */
static void control_end_actions(struct control_actions *actions, int code)
{
	while (actions->nr_dirs)
		(code ? outdir_undo : outdir_fini)(&actions->dirs[--actions->nr_dirs]);
}

static int control_check_trigger(struct ltt_ctl *ctl, const struct ltt_ctl_trigger_options *o)
{
	if (o->nr_actions > LTT_CTL_ACTIONS_MAX)
		return err_set(&ctl->err, ERR_INVALID, "a trigger has at most %d actions",
			       LTT_CTL_ACTIONS_MAX);
	return 0;
}

int ltt_ctl_add_trigger(struct ltt_ctl *ctl, const struct ltt_ctl_trigger_options *trigger,
			struct ltt_ctl_added **ret_added)
{
	struct ltt_ctl_added *added = control_begin_result(ctl, sizeof(*added));
	static __thread struct control_actions actions;
	struct ltt_ctl_trigger_options o;
	struct rep_trigger_add rep = { 0 };
	int code;

	if (!added)
		return ctl->err.code;
	code = control_take(ctl, trigger, &o, sizeof(o));
	if (code == 0)
		code = control_check_trigger(ctl, &o);
	if (code == 0 && !o.domain)
		o.domain = LTT_CTL_USER;
	if (code == 0)
		code = control_put_actions(ctl, &o, &actions);
	if (code == 0) {
		const struct req_trigger_add req = {
			.name = control_text(o.name),
			.actions = actions.list,
			.other = o.other_owner != 0,
			.uid = o.uid,
			.gid = o.gid,
#define ASKED(type, name, init, doc) .name = MODEL_GIVEN(type, o.name),
#include "model/trigger.def"
		};

		code = call_trigger_add(ctl->client, &req, NULL, NULL, &rep, &ctl->err);
	}
	control_end_actions(&actions, code);
	added->name = pool_str(pool_of(added), code == 0 ? rep.name : "");
	added->points = rep.points;
	if (control_finish(ctl, code, added) != 0)
		return ctl->err.code;
	if (ret_added)
		*ret_added = added;
	else
		ltt_ctl_added_free(added);
	return 0;
}

void ltt_ctl_added_free(struct ltt_ctl_added *added)
{
	pool_owner_free(added);
}

int ltt_ctl_remove_trigger(struct ltt_ctl *ctl, const char *name, uint32_t uid)
{
	const struct req_trigger_remove req = { .name = name, .uid = uid };
	struct rep_trigger_remove rep;

	if (control_begin(ctl) != 0 ||
	    control_check_given(ctl, name, "the name of the trigger") != 0)
		return ctl->err.code;
	if (call_trigger_remove(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	return 0;
}

/* --- list ----------------------------------------------------------------------------- */

/* A member that the struct of ltt/control.h has, too. */
#define MODEL_SHOWN(type, value) MODEL_BY_CLASS(type, MODEL_SHOWN_)(value)
#define MODEL_SHOWN_TEXT(value) pool_str(pool, value)
#define MODEL_SHOWN_NUMBER(value) (value)

struct triggers_answer {
	struct ltt_ctl_triggers *list;
	struct ltt_ctl_trigger *last; /* whose actions follow */
};

static int control_take_trigger(struct triggers_answer *answer, struct decoder *dec)
{
	struct pool *pool = pool_of(answer->list);
	struct ltt_ctl_trigger *t = pool_alloc(pool, sizeof(*t));
	struct msg_trigger m;

	if (msg_trigger_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	answer->last = t;
	if (!t)
		return 0;
	*t = (struct ltt_ctl_trigger){
		.name = pool_str(pool, m.name),
		.uid = m.uid,
		.points = m.points,
		.created_ns = m.created_ns,
		.last_ns = m.last_ns,
		.fired = m.fired,
		.delivered = m.delivered,
		.suppressed = m.suppressed,
		.unrecorded = m.unrecorded,
		.problem = pool_str(pool, m.problem),
		.evicted = m.evicted,
		.unread = m.unread,
	};
#define SHOWN(type, name, init, doc) \
	t->options.name = (__typeof__(t->options.name))MODEL_SHOWN(type, m.name);
#include "model/trigger.def"
	pool_append(pool, (const void *const **)&answer->list->triggers, &answer->list->nr, t);
	return 0;
}

static int control_take_action(struct triggers_answer *answer, struct decoder *dec)
{
	struct pool *pool = pool_of(answer->list);
	struct ltt_ctl_listed_action *a = pool_alloc(pool, sizeof(*a));
	struct msg_trigger_action m;

	if (msg_trigger_action_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	if (!a || !answer->last)
		return 0;
	*a = (struct ltt_ctl_listed_action){
		.ran = m.ran,
		.failed = m.failed,
		.joined = m.joined,
		.problem = pool_str(pool, m.problem),
	};
#define SHOWN(type, name, init, doc) \
	a->action.name = (__typeof__(a->action.name))MODEL_SHOWN(type, m.name);
#include "model/action.def"
	pool_append(pool, (const void *const **)&answer->last->actions, &answer->last->nr_actions,
		    a);
	return 0;
}

static int control_trigger_item(void *priv, unsigned int type, struct decoder *dec)
{
	if (type == MSG_trigger)
		return control_take_trigger(priv, dec);
	if (type == MSG_trigger_action)
		return control_take_action(priv, dec);
	return 0; /* a newer daemon sends more */
}

int ltt_ctl_list_triggers(struct ltt_ctl *ctl, struct ltt_ctl_triggers **ret_triggers)
{
	struct ltt_ctl_triggers *list = control_begin_result(ctl, sizeof(*list));
	struct triggers_answer answer = { .list = list };
	struct req_trigger_list req; /* no fields */
	struct rep_trigger_list rep;

	if (!list)
		return ctl->err.code;
	if (control_finish(ctl,
			   call_trigger_list(ctl->client, &req, control_trigger_item, &answer, &rep,
					     &ctl->err),
			   list) != 0)
		return ctl->err.code;
	*ret_triggers = list;
	return 0;
}

void ltt_ctl_triggers_free(struct ltt_ctl_triggers *triggers)
{
	pool_owner_free(triggers);
}

/* --- notifications --------------------------------------------------------------------- */

int ltt_ctl_watch(struct ltt_ctl *ctl, const char *name, uint32_t uid)
{
	struct req_trigger_watch req = { .name = control_text(name), .uid = uid };

	if (control_begin(ctl) != 0)
		return ctl->err.code;
	req_trigger_watch_encode(client_request(ctl->client, MSG_trigger_watch), &req);
	if (client_send(ctl->client, &ctl->err) != 0)
		return control_failed(ctl);
	ctl->following = ctl->watching = true;
	return 0;
}

static void control_take_captured(struct ltt_ctl_notification *n, struct list values)
{
	struct msg_captured m;

	while (n->nr_captured < LTT_CTL_CAPTURES_MAX && msg_captured_next(&values, &m)) {
		struct ltt_ctl_captured *c = &n->captured[n->nr_captured++];

		c->name = m.name;
		c->kind = (enum ltt_ctl_captured_kind)m.kind;
		c->bits = m.bits;
		c->text = m.text;
	}
}

/* In ctl->notification. Return: 0 or the code in ctl->err. */
static int control_take_notification(struct ltt_ctl *ctl, struct decoder *dec)
{
	struct msg_notification m;

	if (msg_notification_decode(dec, &m) != 0)
		return err_set(&ctl->err, ERR_BAD_MESSAGE,
			       "malformed notification of the session daemon");
	ctl->notification = (struct ltt_ctl_notification){
		.kind = (enum ltt_ctl_notification_kind)m.kind,
		.condition = (enum ltt_ctl_condition)m.condition,
		.trigger = m.trigger,
		.uid = m.uid,
		.at_ns = m.at_ns,
		.number = m.number,
		.count = m.count,
		.duration_ns = m.duration_ns,
		.value = m.value,
		.pid = m.pid,
		.tid = m.tid,
		.process = m.process,
		.event = m.event,
		.session = m.session,
		.action = (enum ltt_ctl_action_kind)m.action,
		.text = m.text,
	};
	control_take_captured(&ctl->notification, m.values);
	return 0;
}

static int control_begin_notification(struct ltt_ctl *ctl)
{
	control_forget(ctl);
	if (ctl->watching)
		return 0;
	return err_set(&ctl->err, ctl->client ? ERR_INVALID : ERR_NO_DAEMON,
		       "the connection watches no trigger; call ltt_ctl_watch()");
}

static int control_watch_ended(struct ltt_ctl *ctl)
{
	ctl->following = ctl->watching = false;
	return control_failed(ctl);
}

int ltt_ctl_next_notification(struct ltt_ctl *ctl,
			      const struct ltt_ctl_notification **ret_notification)
{
	enum client_part part = CLIENT_ITEM;
	struct decoder dec;
	unsigned int type;
	bool found = false;

	if (control_begin_notification(ctl) != 0)
		return ctl->err.code;
	while (!found && part != CLIENT_NOTHING) {
		if (client_take(ctl->client, &part, &type, &dec, &ctl->err) != 0)
			return control_watch_ended(ctl);
		if (part == CLIENT_REPLY) {
			(void)err_set(&ctl->err, ERR_BAD_MESSAGE,
				      "the session daemon ended the notifications");
			return control_watch_ended(ctl);
		}
		found = part == CLIENT_ITEM && type == MSG_notification;
		if (found && control_take_notification(ctl, &dec) != 0)
			return ctl->err.code;
	}
	*ret_notification = found ? &ctl->notification : NULL;
	return 0;
}

int ltt_ctl_await_notification(struct ltt_ctl *ctl,
			       const struct ltt_ctl_notification **ret_notification)
{
	const struct ltt_ctl_notification *notification = NULL;

	while (!notification) {
		if (control_begin_notification(ctl) != 0)
			return ctl->err.code;
		if (client_await(ctl->client, &ctl->err) != 0)
			return control_watch_ended(ctl);
		if (ltt_ctl_next_notification(ctl, &notification) != 0)
			return ctl->err.code;
	}
	*ret_notification = notification;
	return 0;
}
