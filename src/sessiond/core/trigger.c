/* SPDX-License-Identifier: GPL-2.0-only */
#include "trigger.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "attribute.h"
#include "base/mem.h"
#include "base/str.h"
#include "session.h"

#define MILLION 1000000u

/* --- checks ------------------------------------------------------------------------ */

static bool core_trigger_given(const char *text)
{
	return text && *text;
}

static const char *core_trigger_text(const char *text)
{
	return text ? text : "";
}

struct rule_spec trigger_rule(const struct trigger_spec *spec, bool end)
{
	return (struct rule_spec){
		.pattern = end ? spec->end : spec->pattern,
		.exclude = end ? "" : core_trigger_text(spec->exclude),
		.loglevel_type = end ? LOGLEVEL_ALL : spec->loglevel_type,
		.loglevel = spec->loglevel,
		.kind = end ? RULE_EVENTS : spec->kind,
		.location = end ? "" : core_trigger_text(spec->location),
		.fetch = end ? "" : core_trigger_text(spec->fetch),
		.file = end ? "" : core_trigger_text(spec->file),
		.places = end ? "" : core_trigger_text(spec->places),
		.filter = end ? "" : core_trigger_text(spec->filter),
		.sampling = "",
		.by = "",
	};
}

static int core_trigger_check_pair(const struct trigger_spec *spec, struct err *err)
{
	struct rule_spec end = trigger_rule(spec, true);

	if (!core_trigger_given(spec->end))
		return err_set(err, ERR_INVALID, "a pair has two events: BEGIN..END");
	if (rule_spec_check(&end, err))
		return err->code;
	if (glob_is_pattern(spec->pattern) || glob_is_pattern(spec->end))
		return err_set(err, ERR_INVALID,
			       "begin and end of a pair are names of events, without '*'");
	if (strcmp(spec->pattern, spec->end) == 0 && !core_trigger_given(spec->key))
		return err_set(err, ERR_INVALID,
			       "begin and end are the same event, which ends nothing; name two "
			       "events");
	if (core_trigger_given(spec->key) && strlen(spec->key) > RULE_MAX_BY)
		return err_set(err, ERR_INVALID, "the name of the key has at most %u bytes",
			       RULE_MAX_BY);
	return 0;
}

static uint32_t core_trigger_nr_names(const char *names)
{
	uint32_t nr = core_trigger_given(names);

	for (; names && *names; names++)
		nr += *names == ',';
	return nr;
}

static void core_capture_read(const char *text, size_t len, struct capture *ret)
{
	const char *bracket = memchr(text, '[', len);
	char *end = NULL;

	*ret = (struct capture){ .kind = CAPTURE_FIELD, .name = text, .len = len };
	if (*text == '$') {
		bool own = strncmp(text, "$ctx.", 5) == 0;

		ret->kind = CAPTURE_CONTEXT;
		ret->name += own ? 5 : 0;
		ret->len -= own ? 5 : 0;
		if (!ret->len || (!own && strncmp(text, "$app.", 5) != 0))
			ret->len = 0;
	} else if (bracket) {
		ret->kind = CAPTURE_ELEMENT;
		ret->len = (size_t)(bracket - text);
		if (bracket[1] >= '0' && bracket[1] <= '9')
			ret->number = (uint32_t)strtoul(bracket + 1, &end, 10);
		if (!end || *end != ']' || end + 1 != text + len || end - bracket > 9)
			ret->len = 0;
	}
}

bool capture_next(const char **list, struct capture *ret)
{
	const char *text = *list;
	size_t len = strcspn(text, ",");

	if (!*text)
		return false;
	core_capture_read(text, len, ret);
	*list = text + len + (text[len] == ',');
	return true;
}

static int core_trigger_check_captures(const struct trigger_spec *spec, struct err *err)
{
	const char *list = spec->captures ? spec->captures : "", *text = list;
	struct capture capture;

	for (; capture_next(&list, &capture); text = list) {
		if (!capture.len)
			return err_set(err, ERR_INVALID,
				       "'%.*s' can't be captured: a capture is FIELD, FIELD[NUMBER], "
				       "$ctx.NAME or $app.PROVIDER:NAME",
				       (int)strcspn(text, ","), text);
		if (capture.kind == CAPTURE_CONTEXT && capture.name == text &&
		    spec->domain != DOMAIN_USER)
			return err_set(err, ERR_UNSUPPORTED,
				       "'%.*s' can't be captured: events of the kernel have no "
				       "contexts of applications; use $ctx.NAME",
				       (int)strcspn(text, ","), text);
	}
	return 0;
}

static int core_trigger_check_events(const struct trigger_spec *spec, struct err *err)
{
	struct rule_spec rule = trigger_rule(spec, false);

	if (spec->condition == CONDITION_PAIR && spec->kind != RULE_EVENTS)
		return err_set(err, ERR_INVALID,
			       "begin and end of a pair are names of events, and not of one at a "
			       "place");
	if (spec->kind == RULE_COUNT || spec->kind == RULE_HISTOGRAM)
		return err_set(err, ERR_INVALID, "events that are counted fire no trigger");
	if (spec->domain == DOMAIN_USER && spec->kind != RULE_EVENTS)
		return err_set(err, ERR_INVALID,
			       "probes need the kernel domain: use -k (--kernel)");
	if (spec->domain != DOMAIN_USER && spec->domain != DOMAIN_KERNEL)
		return err_set(err, ERR_INVALID, "unknown domain %u", spec->domain);
	if (!core_trigger_given(spec->pattern))
		return err_set(err, ERR_INVALID, "the condition names no event");
	if (rule_spec_check(&rule, err))
		return err->code;
	if (core_trigger_nr_names(spec->captures) > TRIGGER_MAX_CAPTURES)
		return err_set(err, ERR_INVALID, "a notification has at most %u captured fields",
			       TRIGGER_MAX_CAPTURES);
	if (core_trigger_given(spec->captures) && !condition_has_events(spec->condition))
		return err_set(err, ERR_INVALID,
			       "fields are captured of single events, not of their rate");
	if (core_trigger_check_captures(spec, err))
		return err->code;
	return spec->condition == CONDITION_PAIR ? core_trigger_check_pair(spec, err) : 0;
}

/* Return: 0: it is no signal. */
static int core_trigger_signal(const char *word, size_t len)
{
	char name[SIGNAL_NAME_BYTES] = "", *end;
	const char *known;
	long number;

	if (!len || len >= sizeof(name))
		return 0;
	memcpy(name, word, len);
	number = strtol(name, &end, 10);
	if (!*end && number >= 1 && number < NSIG)
		return (int)number;
	for (int signo = 1; signo < NSIG; signo++) {
		known = sigabbrev_np(signo);
		if (known && strcasecmp(known, strncasecmp(name, "SIG", 3) ? name : name + 3) == 0)
			return signo;
	}
	return 0;
}

const char *signal_text(int signo, char buf[SIGNAL_NAME_BYTES])
{
	const char *known = sigabbrev_np(signo);

	snprintf(buf, SIGNAL_NAME_BYTES, "%d", signo);
	return known ? known : buf;
}

bool signal_list_has(const char *list, int signo)
{
	if (strcmp(list, "any") == 0)
		return true;
	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (core_trigger_signal(list, len) == signo)
			return true;
	}
	return false;
}

static int core_trigger_check_program(const struct trigger_spec *spec, struct err *err)
{
	if (!core_trigger_given(spec->pattern))
		return err_set(err, ERR_INVALID, "the condition names no program");
	if (!core_trigger_given(spec->key))
		return err_set(err, ERR_INVALID,
			       "the condition names no signal, such as SEGV, or any");
	if (strcmp(spec->key, "any") == 0)
		return 0;
	for (const char *word = spec->key; word; word = strchr(word, ',')) {
		word += *word == ',';
		if (!core_trigger_signal(word, strcspn(word, ",")))
			return err_set(err, ERR_INVALID,
				       "'%.*s' is not a signal, such as SEGV or 11",
				       (int)strcspn(word, ","), word);
	}
	return 0;
}

static int core_trigger_check_session(const struct trigger_spec *spec, struct err *err)
{
	bool usage = spec->condition == CONDITION_USAGE_HIGH ||
		     spec->condition == CONDITION_USAGE_LOW;

	if (!core_trigger_given(spec->session))
		return err_set(err, ERR_INVALID, "the condition names no session");
	if (usage && !core_trigger_given(spec->channel))
		return err_set(err, ERR_INVALID, "the condition names no channel");
	if (usage && spec->threshold > MILLION)
		return err_set(err, ERR_INVALID, "a buffer is full at a usage of 1");
	if (spec->condition == CONDITION_QUANTILE &&
	    (!core_trigger_given(spec->pattern) || !core_trigger_given(spec->key)))
		return err_set(err, ERR_INVALID,
			       "a quantile is of a field of an event that the session counts with "
			       "--histogram");
	if (spec->condition == CONDITION_QUANTILE &&
	    (!spec->quantile || spec->quantile >= MILLION))
		return err_set(err, ERR_INVALID, "quantiles are between 0 and 1");
	return 0;
}

static bool core_trigger_needs_threshold(enum condition condition)
{
	return condition == CONDITION_PAIR || condition == CONDITION_RATE ||
	       condition == CONDITION_SILENCE || condition == CONDITION_CONSUMED ||
	       condition == CONDITION_LOSSES;
}

static int core_trigger_check_condition(const struct trigger_spec *spec, struct err *err)
{
	if ((unsigned int)spec->condition >= CONDITION_NR_KINDS)
		return err_set(err, ERR_INVALID, "unknown condition %u", spec->condition);
	if (core_trigger_needs_threshold(spec->condition) && !spec->threshold)
		return err_set(err, ERR_INVALID,
			       "the condition needs a limit greater than 0, as in '> 50ms'");
	if (spec->at_most && !spec->period_us)
		return err_set(err, ERR_INVALID, "a greatest number is that of a period: N/PERIOD");
	if (spec->condition == CONDITION_SIGNAL)
		return core_trigger_check_program(spec, err);
	return condition_is_on_events(spec->condition) ? core_trigger_check_events(spec, err) :
							 core_trigger_check_session(spec, err);
}

/* It is done in the programs, for each event. */
static int core_trigger_check_increment(const struct trigger_spec *spec,
					const struct action_spec *action, struct err *err)
{
	if (!core_trigger_given(action->channel))
		return err_set(err, ERR_INVALID, "the action names no map channel");
	if (map_template_check(core_trigger_text(action->key), err))
		return err->code;
	if (spec->condition != CONDITION_EVENT)
		return err_set(err, ERR_INVALID,
			       "values of maps are incremented by events: use the condition "
			       "event-rule-matches");
	if (action->every || action->once_after || spec->at_most)
		return err_set(err, ERR_INVALID,
			       "each event increments a value: omit the limit and the rate policy");
	return 0;
}

static int core_trigger_check_action(const struct trigger_spec *spec,
				     const struct action_spec *action, struct err *err)
{
	bool exec = action->kind == ACTION_EXEC;

	if ((unsigned int)action->kind >= ACTION_NR_KINDS)
		return err_set(err, ERR_INVALID, "unknown action %u", action->kind);
	if (exec && (!core_trigger_given(action->text) ||
		     strlen(action->text) > TRIGGER_MAX_COMMAND))
		return err_set(err, ERR_INVALID, "a command has 1 to %u bytes",
			       TRIGGER_MAX_COMMAND);
	if (!exec && action->kind != ACTION_NOTIFY && !core_trigger_given(action->session))
		return err_set(err, ERR_INVALID, "the action names no session");
	if (action->kind == ACTION_SNAPSHOT && core_trigger_given(action->text) &&
	    (name_check(action->text) || strlen(action->text) > SESSION_SNAPSHOT_NAME_MOST))
		return err_set(err, ERR_INVALID, "the snapshot's name '%.210s' %s", action->text,
			       name_check(action->text) ? name_check(action->text) :
							  "is longer than 200 bytes");
	if (action->every && action->once_after)
		return err_set(err, ERR_INVALID, "an action has one rate policy");
	return action->kind == ACTION_INCR_MAP ? core_trigger_check_increment(spec, action, err) :
						 0;
}

int trigger_check(const struct trigger_spec *spec, const struct action_spec *actions, uint32_t nr,
		  struct err *err)
{
	if (core_trigger_check_condition(spec, err))
		return err->code;
	if (!nr)
		return err_set(err, ERR_INVALID, "a trigger needs an action, such as notify");
	if (nr > TRIGGER_MAX_ACTIONS)
		return err_set(err, ERR_INVALID, "a trigger has at most %u actions",
			       TRIGGER_MAX_ACTIONS);
	for (uint32_t i = 0; i < nr; i++)
		if (core_trigger_check_action(spec, &actions[i], err))
			return err->code;
	return 0;
}

/* --- triggers ----------------------------------------------------------------------- */

void triggers_init(struct triggers *triggers)
{
	list_init(&triggers->list);
	triggers->next_id = 1;
}

void triggers_fini(struct triggers *triggers)
{
	struct trigger *trigger;

	while ((trigger = list_first(&triggers->list, struct trigger, node)))
		trigger_free(trigger);
}

struct trigger *trigger_find(const struct triggers *triggers, uid_t uid, const char *name)
{
	struct trigger *trigger;

	list_for_each(trigger, &triggers->list, node)
		if (trigger->uid == uid && strcmp(trigger->name, name) == 0)
			return trigger;
	return NULL;
}

struct trigger *trigger_by_id(const struct triggers *triggers, uint64_t id)
{
	struct trigger *trigger;

	list_for_each(trigger, &triggers->list, node)
		if (trigger->id == id)
			return trigger;
	return NULL;
}

static int core_trigger_check_name(const struct triggers *triggers, uid_t uid, const char *name,
				   struct err *err)
{
	const struct trigger *trigger;
	uint32_t nr = 0;

	list_for_each(trigger, &triggers->list, node)
		nr += trigger->uid == uid;
	if (nr >= TRIGGER_MOST)
		return err_set(err, ERR_LIMIT,
			       "there are %u triggers, which is the limit; remove one with 'lttctl "
			       "remove-trigger NAME'",
			       TRIGGER_MOST);
	if (*name && (name_check(name) || strlen(name) > TRIGGER_MAX_NAME))
		return err_set(err, ERR_INVALID, "the trigger's name '%.260s' %s", name,
			       name_check(name) ? name_check(name) : "is longer than 255 bytes");
	if (*name && trigger_find(triggers, uid, name))
		return err_set(err, ERR_EVENT_EXISTS,
			       "there is a trigger '%s' already; remove it with 'lttctl "
			       "remove-trigger %s', or choose another --name",
			       name, name);
	return 0;
}

static char *core_trigger_free_name(const struct triggers *triggers, uid_t uid)
{
	char *name = NULL;

	for (unsigned int i = 0; !name; i++) {
		name = xasprintf("trigger%u", i);
		if (trigger_find(triggers, uid, name))
			free(TAKE(name));
	}
	return name;
}

static void core_trigger_set_actions(struct trigger *trigger, const struct action_spec *actions,
				     uint32_t nr)
{
	trigger->nr_actions = nr;
	for (uint32_t i = 0; i < nr; i++) {
		struct trigger_action *action = &trigger->actions[i];

#define EACH(type, name, init, doc) action->name = actions[i].name;
#include "model/action.def"
#define EACH(type, name, init, doc) ATTRIBUTE_OWN(type, action->name);
#include "model/action.def"
	}
}

int trigger_add(struct triggers *triggers, const struct caller *owner, const char *name,
		const struct trigger_spec *spec, const struct action_spec *actions, uint32_t nr,
		struct trigger **ret, struct err *err)
{
	struct rule_spec begin = trigger_rule(spec, false), end = trigger_rule(spec, true);
	struct trigger *trigger;

	if (core_trigger_check_name(triggers, owner->uid, name, err))
		return err->code;
	trigger = xalloc(sizeof(*trigger));
	trigger->id = triggers->next_id++;
	trigger->name = *name ? xstrdup(name) : core_trigger_free_name(triggers, owner->uid);
	trigger->uid = owner->uid;
	trigger->gid = owner->gid;
#define EACH(type, name, init, doc) trigger->name = spec->name;
#include "model/trigger.def"
#define EACH(type, name, init, doc) ATTRIBUTE_OWN(type, trigger->name);
#include "model/trigger.def"
	core_trigger_set_actions(trigger, actions, nr);
	if (condition_is_on_events(spec->condition))
		trigger->match = rule_new(&begin);
	if (spec->condition == CONDITION_PAIR)
		trigger->match_end = rule_new(&end);
	list_append(&triggers->list, &trigger->node);
	*ret = trigger;
	return 0;
}

struct trigger *trigger_free(struct trigger *trigger)
{
	if (!trigger)
		return NULL;
	list_remove(&trigger->node);
	for (uint32_t i = 0; i < trigger->nr_actions; i++) {
#define EACH(type, name, init, doc) ATTRIBUTE_FREE(type, trigger->actions[i].name);
#include "model/action.def"
	}
#define EACH(type, name, init, doc) ATTRIBUTE_FREE(type, trigger->name);
#include "model/trigger.def"
	rule_free(trigger->match);
	rule_free(trigger->match_end);
	free(trigger->name);
	free(trigger);
	return NULL;
}

bool trigger_is_watched(const struct trigger *trigger)
{
	if (!condition_is_on_events(trigger->condition))
		return false;
	for (uint32_t i = 0; i < trigger->nr_actions; i++)
		if (trigger->actions[i].kind != ACTION_INCR_MAP)
			return true;
	return false;
}

bool trigger_concerns(const struct trigger *trigger, uid_t uid)
{
	return condition_is_on_events(trigger->condition) &&
	       (trigger->uid == uid || trigger->uid == 0);
}

/* --- firings ------------------------------------------------------------------------- */

uint64_t trigger_admit(struct trigger *trigger, uint64_t nr, uint64_t now_ns, uint64_t now_real_ns)
{
	uint64_t left;

	trigger->fired += nr;
	trigger->last_ns = now_real_ns;
	if (!trigger->at_most)
		return nr;
	if (!trigger->period_ns || now_ns - trigger->period_ns >= trigger->period_us * 1000) {
		trigger->period_ns = now_ns;
		trigger->in_period = 0;
	}
	left = MIN(nr, trigger->at_most - MIN(trigger->at_most, trigger->in_period));
	trigger->in_period += left;
	return left;
}

bool action_is_due(const struct trigger_action *action, uint64_t number)
{
	if (action->once_after)
		return number == action->once_after;
	return !action->every || number % action->every == 0;
}

void action_interrupted(struct trigger_action *action)
{
	action->failed++;
	snprintf(action->problem, sizeof(action->problem),
		 "its end is not known: the session daemon was replaced before");
}
