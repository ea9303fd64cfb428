/* SPDX-License-Identifier: GPL-2.0-only */
#include "trigger.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "condition.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/words.h"

/* --- objects ----------------------------------------------------------------------------- */

static void trigger_set_text(struct json_object *o, const char *key, const char *text)
{
	if (*text)
		json_set_str(o, key, text);
}

static struct json_object *trigger_json_action(const struct ltt_ctl_listed_action *a)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "action", words_name(&words_action, a->action.kind));
	trigger_set_text(o, "session", a->action.session);
	trigger_set_text(o, a->action.kind == LTT_CTL_DO_EXEC ? "shell_command" : "name", a->action.text);
	trigger_set_text(o, "output", a->action.output);
	trigger_set_text(o, "map_channel", a->action.channel);
	trigger_set_text(o, "map_key", a->action.key);
	if (a->action.last_us)
		json_set_num(o, "last_us", a->action.last_us);
	if (a->action.max_size)
		json_set_num(o, "max_size", a->action.max_size);
	if (a->action.every)
		json_set_num(o, "every", a->action.every);
	if (a->action.once_after)
		json_set_num(o, "once_after", a->action.once_after);
	JSON_COPY(o, a, ran, failed, joined);
	trigger_set_text(o, "problem", a->problem);
	return o;
}

static bool trigger_is_usage(enum ltt_ctl_condition condition)
{
	return condition == LTT_CTL_IF_USAGE_HIGH || condition == LTT_CTL_IF_USAGE_LOW;
}

struct json_object *json_trigger(const struct ltt_ctl_trigger *t)
{
	const struct ltt_ctl_trigger_options *c = &t->options;
	bool ends = c->condition == LTT_CTL_IF_SIGNAL;
	struct json_object *o = json_object_new_object();

	json_set_str(o, "trigger", t->name);
	json_set_num(o, "uid", t->uid);
	json_set_str(o, "condition", words_name(&words_condition, c->condition));
	if (c->condition <= LTT_CTL_IF_SILENCE || trigger_is_usage(c->condition))
		json_set_str(o, "domain", words_name(&words_domain, c->domain));
	trigger_set_text(o, ends ? "program_name" : "event", c->pattern);
	if (c->kind != LTT_CTL_RULE_EVENTS)
		json_set_str(o, "kind", words_name(&words_rule_kind, c->kind));
	trigger_set_text(o, "location", c->location);
	trigger_set_text(o, "fetch", c->fetch);
	trigger_set_text(o, "end", c->end);
	trigger_set_text(o, ends ? "signals" : "key_field", c->key);
	trigger_set_text(o, "exclude", c->exclude);
	if (c->loglevel_type != LTT_CTL_LEVEL_ALL) {
		json_set_str(o, "loglevel", loglevel_name(c->loglevel));
		json_set_str(o, "loglevel_type", words_name(&words_level_type, c->loglevel_type));
	}
	trigger_set_text(o, "filter", c->filter);
	trigger_set_text(o, "session", c->session);
	trigger_set_text(o, "channel", c->channel);
	trigger_set_text(o, "captures", c->captures);
	if (trigger_is_usage(c->condition))
		json_set(o, "percent", json_object_new_double((double)c->threshold / 1e4));
	else if (c->threshold)
		json_set_num(o, "threshold", c->threshold);
	if (c->quantile)
		json_set(o, "quantile", json_object_new_double(c->quantile / 1e4));
	if (c->at_most) {
		json_set_num(o, "at_most_nr", c->at_most);
		json_set_num(o, "period_us", c->period_us);
	}
	json_set_num(o, "matching", t->points);
	JSON_COPY(o, t, fired, delivered, suppressed, unrecorded);
	if (c->condition == LTT_CTL_IF_PAIR)
		JSON_COPY(o, t, evicted, unread);
	json_set_time(o, "created_ns", (int64_t)t->created_ns);
	if (t->last_ns)
		json_set_time(o, "last_ns", (int64_t)t->last_ns);
	trigger_set_text(o, "problem", t->problem);
	for (size_t i = 0; i < t->nr_actions; i++)
		json_append(o, "actions", trigger_json_action(t->actions[i]));
	return o;
}

int trigger_fetch(struct ctl *ctl, struct json_object **ret, struct err *err)
{
	struct ltt_ctl_triggers *list;

	if (ctl_done(ctl, ltt_ctl_list_triggers(ctl->library, &list), err) != 0)
		return err->code;
	*ret = json_object_new_array();
	for (size_t i = 0; i < list->nr; i++)
		json_object_array_add(*ret, json_trigger(list->triggers[i]));
	ltt_ctl_triggers_free(list);
	return 0;
}

static struct json_object *trigger_json_captured(const struct ltt_ctl_captured *c)
{
	switch (c->kind) {
	case LTT_CTL_CAPTURED_SIGNED:
		return json_object_new_int64(c->number);
	case LTT_CTL_CAPTURED_UNSIGNED:
		return json_object_new_uint64(c->bits);
	case LTT_CTL_CAPTURED_DOUBLE:
		return json_object_new_double(c->real);
	case LTT_CTL_CAPTURED_TEXT:
	case LTT_CTL_CAPTURED_CUT:
		return json_object_new_string(c->text);
	default:
		return NULL;
	}
}

static void trigger_set_captures(struct json_object *o, const struct ltt_ctl_notification *n)
{
	struct json_object *values = json_object_new_object();

	for (size_t i = 0; i < n->nr_captured; i++)
		json_set(values, n->captured[i].name, trigger_json_captured(&n->captured[i]));
	json_set(o, "captured", values);
}

static void trigger_set_numbers(struct json_object *o, const struct ltt_ctl_notification *n)
{
	json_set_num(o, "number", n->number);
	json_set_num(o, "count", n->count);
	if (n->duration_ns)
		json_set_num(o, "duration_ns", n->duration_ns);
	if (n->value)
		json_set_num(o, "value", n->value);
	if (n->pid)
		json_set_num(o, "pid", n->pid);
	if (n->tid)
		json_set_num(o, "tid", n->tid);
}

struct json_object *json_notification(const struct ltt_ctl_notification *n)
{
	static const char *const kinds[] = { [LTT_CTL_FIRED] = "fired",
					     [LTT_CTL_ACTION_DONE] = "done",
					     [LTT_CTL_ACTION_FAILED] = "failed",
					     [LTT_CTL_MISSED] = "missed" };
	struct json_object *o;

	if ((unsigned int)n->kind >= ARRAY_SIZE(kinds) || !kinds[n->kind])
		return NULL;
	o = json_object_new_object();
	json_set_str(o, "notification", kinds[n->kind]);
	if (n->kind == LTT_CTL_MISSED) {
		json_set_num(o, "count", n->count);
		return o;
	}
	json_set_time(o, "ns", (int64_t)n->at_ns);
	json_set_str(o, "trigger", n->trigger);
	json_set_num(o, "uid", n->uid);
	json_set_str(o, "condition", words_name(&words_condition, n->condition));
	if (n->kind == LTT_CTL_FIRED)
		trigger_set_numbers(o, n);
	else
		json_set_str(o, "action", words_name(&words_action, n->action));
	trigger_set_text(o, "event", n->event);
	trigger_set_text(o, "process", n->process);
	trigger_set_text(o, "session", n->session);
	trigger_set_text(o, "text", n->text);
	if (n->nr_captured)
		trigger_set_captures(o, n);
	return o;
}

/* --- adding ------------------------------------------------------------------------------- */

int trigger_take_policy(const char *text, struct ltt_ctl_action *action, struct err *err)
{
	const char *colon = strchr(text, ':');
	uint64_t n;

	if (colon && parse_u64(colon + 1, &n) == 0 && n) {
		action->every = action->once_after = 0;
		if (strncmp(text, "every:", 6) == 0) {
			action->every = n;
			return 0;
		}
		if (strncmp(text, "once-after:", 11) == 0) {
			action->once_after = n;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID,
		       "--rate-policy=%s: this is neither every:N nor once-after:N, with N from 1",
		       text);
}

int trigger_take_owner(uid_t uid, struct ltt_ctl_trigger_options *options)
{
	const struct passwd *user = uid == geteuid() ? NULL : getpwuid(uid);

	if (uid == geteuid())
		return 0;
	if (!user)
		return -1;
	options->other_owner = 1;
	options->uid = uid;
	options->gid = user->pw_gid;
	return 0;
}

const char trigger_form[] = "Trigger {trigger} added[{?pending}: it waits, as it matches no "
			    "running application yet|]\n";

enum status trigger_create(struct ctl *ctl, const struct ltt_ctl_trigger_options *options)
{
	bool on_programs = !condition_has_session(options->condition);
	struct ltt_ctl_added *added;

	if (ctl_done(ctl, ltt_ctl_add_trigger(ctl->library, options, &added), &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "trigger", added->name);
	if (on_programs) {
		json_set_num(ctl->record, "matching", added->points);
		json_set_bool(ctl->record, "pending", !added->points);
	}
	ltt_ctl_added_free(added);
	return STATUS_OK;
}
