/* SPDX-License-Identifier: GPL-2.0-only */
/* add_trigger.c - lttctl add-trigger --condition=TYPE ... --action=TYPE ...: LTTng's grammar. An
 * option belongs to the condition or the action before it, and the operands are the sessions of
 * the actions, in their order. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/destination.h"
#include "ctl/options.h"
#include "ctl/session/logger.h"
#include "ctl/session/place.h"
#include "ctl/session/trigger.h"
#include "ctl/words.h"

enum add_trigger_option {
	ADD_NAME,
	ADD_OWNER,
	ADD_CONDITION,
	ADD_ACTION,
	ADD_TYPE,
	ADD_EXCLUDE,
	ADD_LEVEL,
	ADD_FILTER,
	ADD_CAPTURE,
	ADD_SESSION,
	ADD_CHANNEL,
	ADD_DOMAIN,
	ADD_SIZE,
	ADD_RATIO,
	ADD_POLICY,
	ADD_MAX_SIZE,
	ADD_SIGNAL,
	ADD_LOCATION,
	ADD_EVENT,
	ADD_PATH,
	ADD_URL,
	ADD_CTRL_URL,
	ADD_DATA_URL,
	ADD_KEY,
};

#define ADD_EACH(name, letter, number, text, what) \
	OPTION_EACH(name, letter, number, 0, text, what)

static const struct poptOption options[] = {
	ADD_EACH("name", 'n', ADD_NAME, "of the trigger, the event or the snapshot", "NAME"),
	ADD_EACH("owner-uid", 0, ADD_OWNER, "of this user, not the caller; for root", "UID"),
	ADD_EACH("condition", 0, ADD_CONDITION, "when it fires; its options follow", "TYPE"),
	ADD_EACH("action", 0, ADD_ACTION, "what is done; its options follow", "TYPE"),
	ADD_EACH("type", 't', ADD_TYPE, "of the event: user, kernel, syscall, python, jul, log4j, log4j2; or as --threshold-size", "TYPE"),
	ADD_EACH("exclude-name", 'x', ADD_EXCLUDE, "events to leave out", "NAME"),
	ADD_EACH("log-level", 'l', ADD_LEVEL, "LEVEL.. or more severe; or only LEVEL", "LEVEL"),
	ADD_EACH("filter", 'f', ADD_FILTER, "only events for which this holds", "EXPR"),
	ADD_EACH("capture", 0, ADD_CAPTURE, "value that notifications have", "FIELD"),
	ADD_EACH("session", 's', ADD_SESSION, "of the condition, or of incr-map-value", "NAME"),
	ADD_EACH("channel", 'c', ADD_CHANNEL, "of the condition, or of incr-map-value", "NAME"),
	ADD_EACH("domain", 'd', ADD_DOMAIN, "of the channel: user or kernel", "DOMAIN"),
	ADD_EACH("threshold-size", 0, ADD_SIZE, "bytes; suffixes: k, M, G", "SIZE"),
	ADD_EACH("threshold-ratio", 'r', ADD_RATIO, "share of the buffer: 0 to 1", "RATIO"),
	ADD_EACH("rate-policy", 0, ADD_POLICY, "every:N or once-after:N", "POLICY"),
	ADD_EACH("max-size", 'm', ADD_MAX_SIZE, "of the snapshot", "SIZE"),
	ADD_EACH("signal", 0, ADD_SIGNAL, "of the condition signal: SEGV,..., or any", "NAME"),
	ADD_EACH("location", 0, ADD_LOCATION, "of --type=kernel:kprobe or kernel:uprobe", "PLACE"),
	ADD_EACH("event-name", 0, ADD_EVENT, "of the event there", "NAME"),
	ADD_EACH("path", 0, ADD_PATH, "directory of the snapshot", "DIR"),
	ADD_EACH("url", 0, ADD_URL, "the same, file:///DIR, or a relay that receives it, net://RELAY", "URL"),
	ADD_EACH("ctrl-url", 0, ADD_CTRL_URL, "such a relay", "URL"),
	ADD_EACH("data-url", 0, ADD_DATA_URL, "for compatibility: the same relay, tcp://RELAY", "URL"),
	ADD_EACH("key", 'k', ADD_KEY, "of --action=incr-map-value: {event_name}, {provider_name}", "TEMPLATE"),
	POPT_TABLEEND,
};

static struct {
	struct ltt_ctl_trigger_options options;
	struct ltt_ctl_action actions[LTT_CTL_ACTIONS_MAX];
	struct destination outputs[LTT_CTL_ACTIONS_MAX]; /* of them */
	bool has_condition;
	enum ltt_ctl_domain map_domain; /* --type of incr-map-value; 0: none */
	const char *owner; /* NULL: the caller */
	const char *calls; /* behind "syscall" in its --type; NULL: it is about no system calls */
	const char *level; /* --log-level; NULL: all */
	const struct logger_domain *loggers; /* whose messages are watched; NULL: none */
} built;

static int add_trigger_bad(struct ctl *ctl, const char *option, const char *text,
			   const char *wanted)
{
	return err_set(&ctl->err, ERR_INVALID, "--%s=%s: this is not %s", option, text, wanted);
}

/* The action that an option belongs to; NULL: it belongs to the condition. */
static struct ltt_ctl_action *add_trigger_action(void)
{
	size_t nr = built.options.nr_actions;

	return nr ? &built.actions[nr - 1] : NULL;
}

/* Texts of popt live as long as lttctl; lists are joined. */
static void add_trigger_append(const char **list, const char *text)
{
	AUTO_FREE char *before = (char *)*list;

	*list = before ? xasprintf("%s,%s", before, text) : xstrdup(text);
}

static int add_trigger_take_condition(struct ctl *ctl, const char *text)
{
	int number = words_number(&words_condition, text);

	if (built.has_condition)
		return err_set(&ctl->err, ERR_INVALID, "a trigger has one --condition");
	if (number < 0)
		return add_trigger_bad(ctl, "condition", text,
				       "a condition, such as event-rule-matches");
	built.has_condition = true;
	built.options.condition = (enum ltt_ctl_condition)number;
	return 0;
}

static int add_trigger_take_action(struct ctl *ctl, const char *text)
{
	int number = words_number(&words_action, text);

	if (number < 0)
		return add_trigger_bad(ctl, "action", text, "an action, such as notify");
	if (built.options.nr_actions == LTT_CTL_ACTIONS_MAX)
		return err_set(&ctl->err, ERR_INVALID, "a trigger has at most %d actions",
			       LTT_CTL_ACTIONS_MAX);
	built.actions[built.options.nr_actions++].kind = (enum ltt_ctl_action_kind)number;
	return 0;
}

static void add_trigger_take_name(const char *text)
{
	struct ltt_ctl_action *action = add_trigger_action();

	if (action)
		action->text = xstrdup(text);
	else if (built.has_condition)
		built.options.pattern = xstrdup(text);
	else
		built.options.name = xstrdup(text);
}

static int add_trigger_take_size(struct ctl *ctl, const char *option, const char *text,
				 uint64_t *ret)
{
	if (parse_size(text, ret) == 0 && *ret)
		return 0;
	return add_trigger_bad(ctl, option, text, "a size, such as 64M");
}

/* The action that increments a value, if an option belongs to one. */
static struct ltt_ctl_action *add_trigger_increment(void)
{
	struct ltt_ctl_action *action = add_trigger_action();

	return action && action->kind == LTT_CTL_DO_INCR_MAP ? action : NULL;
}

static int add_trigger_take_map_domain(struct ctl *ctl, const char *text)
{
	int number = words_number(&words_domain, text);

	if (number < 0)
		return add_trigger_bad(ctl, "type", text, "user or kernel");
	built.map_domain = (enum ltt_ctl_domain)number;
	return 0;
}

/* A library, or "LIBRARY:logging". */
static const struct logger_domain *add_trigger_loggers(const char *text)
{
	const char *colon = strchr(text, ':');
	char *name AUTO_FREE = xasprintf(
		"%.*s", (int)(colon ? colon - text : (long)strlen(text)), text);

	return colon && strcmp(colon, ":logging") != 0 ? NULL : logger_domain_find(name);
}

/* LTTng's -t is --type or --threshold-size, by the condition. */
static int add_trigger_take_type(struct ctl *ctl, const char *text)
{
	if (add_trigger_increment())
		return add_trigger_take_map_domain(ctl, text);
	built.options.domain = LTT_CTL_USER;
	if (built.options.condition == LTT_CTL_IF_CONSUMED)
		return add_trigger_take_size(ctl, "threshold-size", text,
					     &built.options.threshold);
	built.loggers = add_trigger_loggers(text);
	if (built.loggers || strcmp(text, "user") == 0 || strcmp(text, "user:tracepoint") == 0)
		return 0;
	built.options.domain = LTT_CTL_KERNEL;
	if (strcmp(text, "kernel") == 0 || strcmp(text, "kernel:tracepoint") == 0)
		return 0;
	if (strcmp(text, "kernel:kprobe") == 0 || strcmp(text, "kernel:uprobe") == 0) {
		built.options.kind = text[7] == 'k' ? LTT_CTL_RULE_PROBE : LTT_CTL_RULE_USER;
		return 0;
	}
	text += strncmp(text, "kernel:", 7) == 0 ? 7 : 0;
	if (strcmp(text, "syscall") == 0 || strncmp(text, "syscall:", 8) == 0) {
		built.calls = xstrdup(text + 7);
		return 0;
	}
	return add_trigger_bad(ctl, "type", text,
			       "a type of events that can be watched: user, kernel, syscall, "
			       "python, jul, log4j or log4j2");
}

/* A system call has the events syscall_entry_NAME and syscall_exit_NAME. No other call whose name
 * ends in the same way is meant. */
static int add_trigger_name_calls(struct ctl *ctl)
{
	struct ltt_ctl_trigger_options *o = &built.options;
	const char *name = o->pattern;

	if (strcmp(built.calls, ":entry") == 0 || strcmp(built.calls, ":exit") == 0) {
		o->pattern = xasprintf("syscall_%s_%s", built.calls + 1, name);
		return 0;
	}
	if (*built.calls && strcmp(built.calls, ":entry+exit") != 0)
		return add_trigger_bad(ctl, "type=syscall", built.calls,
				       ":entry, :exit or :entry+exit");
	o->pattern = xasprintf("syscall_e*_%s", name);
	if (*name != '*')
		add_trigger_append(&o->exclude, xasprintf("syscall_entry_*_%s,syscall_exit_*_%s",
							  name, name));
	return 0;
}

static int add_trigger_take_level(struct ctl *ctl, const char *text)
{
	const char *dots = strstr(text, "..");
	char *level AUTO_FREE = xasprintf("%.*s", (int)(dots ? dots - text : (long)strlen(text)),
					  text);

	if (strcmp(text, "..") == 0)
		return 0;
	if (dots && dots[2])
		return add_trigger_bad(ctl, "log-level", text, "LEVEL, LEVEL.. or ..");
	if (built.loggers && logger_level_parse(built.loggers, level, &built.options.loglevel,
						&ctl->err))
		return ctl->err.code;
	if (!built.loggers && loglevel_parse(level, &built.options.loglevel) != 0)
		return add_trigger_bad(ctl, "log-level", text, "LEVEL, LEVEL.. or ..");
	built.options.loglevel_type = dots ? LTT_CTL_LEVEL_AT_LEAST : LTT_CTL_LEVEL_ONLY;
	return 0;
}

/* A message of a logger is the event of all messages of the library, with a filter. */
static int add_trigger_name_logger(struct ctl *ctl)
{
	struct ltt_ctl_trigger_options *o = &built.options;

	if (o->exclude)
		return err_set(&ctl->err, ERR_INVALID,
			       "--exclude-name is for events; for loggers use "
			       "--filter='logger_name != \"%.100s\"'",
			       o->exclude);
	o->filter = logger_filter(built.loggers, o->pattern, o->loglevel_type, o->loglevel,
				  o->filter);
	o->pattern = built.loggers->event;
	o->loglevel_type = LTT_CTL_LEVEL_ALL;
	o->loglevel = 0;
	return 0;
}

static int add_trigger_take_ratio(struct ctl *ctl, const char *text)
{
	char *end;
	double ratio = strtod(text, &end);

	if (end == text || *end || !(ratio >= 0 && ratio <= 1))
		return add_trigger_bad(ctl, "threshold-ratio", text, "a number from 0 to 1");
	built.options.threshold = (uint64_t)(ratio * 1e6 + 0.5);
	return 0;
}

static int add_trigger_take_domain(struct ctl *ctl, const char *text)
{
	int number = words_number(&words_domain, text);

	if (number < 0)
		return add_trigger_bad(ctl, "domain", text, "user or kernel");
	built.options.domain = (enum ltt_ctl_domain)number;
	return 0;
}

static int add_trigger_take_policy(struct ctl *ctl, const char *text)
{
	struct ltt_ctl_action *action = add_trigger_action();

	if (!action)
		return err_set(&ctl->err, ERR_INVALID, "--rate-policy is of an action: put it "
						       "behind one");
	return trigger_take_policy(text, action, &ctl->err);
}

/* Return: the action that an option of snapshots belongs to; NULL: the error is set. */
static struct ltt_ctl_action *add_trigger_snapshot(struct ctl *ctl, const char *option)
{
	struct ltt_ctl_action *action = add_trigger_action();

	if (action && action->kind == LTT_CTL_DO_SNAPSHOT)
		return action;
	err_set(&ctl->err, ERR_INVALID, "--%s is of --action=snapshot-session: put it behind that",
		option);
	return NULL;
}

static int add_trigger_take_max(struct ctl *ctl, const char *text)
{
	struct ltt_ctl_action *action = add_trigger_snapshot(ctl, "max-size");

	if (!action)
		return ctl->err.code;
	return add_trigger_take_size(ctl, "max-size", text, &action->max_size);
}

static int add_trigger_take_output(struct ctl *ctl, enum add_trigger_option option,
				   const char *text)
{
	struct ltt_ctl_action *action =
		add_trigger_snapshot(ctl, option == ADD_PATH	 ? "path" :
					  option == ADD_URL	 ? "url" :
					  option == ADD_CTRL_URL ? "ctrl-url" :
								   "data-url");
	struct destination *output = action ? &built.outputs[action - built.actions] : NULL;

	if (!output)
		return ctl->err.code;
	*(option == ADD_PATH	 ? &output->path :
	  option == ADD_URL	 ? &output->url :
	  option == ADD_CTRL_URL ? &output->ctrl_url :
				   &output->data_url) = xstrdup(text);
	return 0;
}

static int add_trigger_take_signal(struct ctl *ctl, const char *text)
{
	if (built.options.condition != LTT_CTL_IF_SIGNAL)
		return err_set(&ctl->err, ERR_INVALID,
			       "--signal is of --condition=signal: put it behind that");
	add_trigger_append(&built.options.key, text);
	return 0;
}

static int add_trigger_take_capture(struct ctl *ctl, const char *text)
{
	if (strchr(text, ','))
		return add_trigger_bad(ctl, "capture", text, "one capture");
	add_trigger_append(&built.options.captures, text);
	return 0;
}

static int add_trigger_check_owner(struct ctl *ctl, const char *text)
{
	uint64_t uid = getuid();

	if (text && (parse_u64(text, &uid) != 0 || uid >= UINT32_MAX))
		return add_trigger_bad(ctl, "owner-uid", text, "a user id");
	if (trigger_take_owner((uid_t)uid, &built.options) == 0)
		return 0;
	return add_trigger_bad(ctl, "owner-uid", text,
			       "the id of a user of this machine, whose group is needed");
}

static int add_trigger_take_key(struct ctl *ctl, const char *text)
{
	struct ltt_ctl_action *action = add_trigger_increment();

	if (!action)
		return err_set(&ctl->err, ERR_INVALID,
			       "--key is of --action=incr-map-value: put it behind that");
	action->key = xstrdup(text);
	return 0;
}

/* An event has one domain, and its map channel has the same. */
static int add_trigger_check_increments(struct ctl *ctl)
{
	for (size_t i = 0; i < built.options.nr_actions; i++) {
		const struct ltt_ctl_action *action = &built.actions[i];
		const char *missing = !action->session ? "session" :
				      !action->channel ? "channel" :
				      !action->key     ? "key" :
							 NULL;

		if (action->kind != LTT_CTL_DO_INCR_MAP)
			continue;
		if (missing)
			return err_set(&ctl->err, ERR_INVALID,
				       "--action=incr-map-value: missing --%s", missing);
		if (built.map_domain && built.map_domain != built.options.domain)
			return err_set(&ctl->err, ERR_INVALID,
				       "--action=incr-map-value: --type is that of the condition's "
				       "events");
	}
	return 0;
}

static int add_trigger_take(struct ctl *ctl, enum add_trigger_option option, const char *text)
{
	struct ltt_ctl_trigger_options *o = &built.options;

	switch (option) {
	case ADD_NAME:
		add_trigger_take_name(text);
		return 0;
	case ADD_OWNER:
		built.owner = xstrdup(text);
		return 0;
	case ADD_CONDITION:
		return add_trigger_take_condition(ctl, text);
	case ADD_ACTION:
		return add_trigger_take_action(ctl, text);
	case ADD_TYPE:
		return add_trigger_take_type(ctl, text);
	case ADD_EXCLUDE:
		add_trigger_append(&o->exclude, text);
		return 0;
	case ADD_LEVEL:
		built.level = xstrdup(text);
		return 0;
	case ADD_FILTER:
		o->filter = xstrdup(text);
		return 0;
	case ADD_CAPTURE:
		return add_trigger_take_capture(ctl, text);
	case ADD_SESSION:
		*(add_trigger_increment() ? &add_trigger_increment()->session : &o->session) =
			xstrdup(text);
		return 0;
	case ADD_CHANNEL:
		*(add_trigger_increment() ? &add_trigger_increment()->channel : &o->channel) =
			xstrdup(text);
		return 0;
	case ADD_DOMAIN:
		return add_trigger_take_domain(ctl, text);
	case ADD_SIZE:
		return add_trigger_take_size(ctl, "threshold-size", text, &o->threshold);
	case ADD_RATIO:
		return add_trigger_take_ratio(ctl, text);
	case ADD_POLICY:
		return add_trigger_take_policy(ctl, text);
	case ADD_MAX_SIZE:
		return add_trigger_take_max(ctl, text);
	case ADD_SIGNAL:
		return add_trigger_take_signal(ctl, text);
	case ADD_LOCATION:
		o->location = xstrdup(text);
		return 0;
	case ADD_EVENT:
		o->pattern = xstrdup(text);
		return 0;
	case ADD_KEY:
		return add_trigger_take_key(ctl, text);
	case ADD_PATH:
	case ADD_URL:
	case ADD_CTRL_URL:
	case ADD_DATA_URL:
		return add_trigger_take_output(ctl, option, text);
	}
	return 0;
}

static enum status add_trigger_option(struct ctl *ctl, int number, const char *argument)
{
	return add_trigger_take(ctl, (enum add_trigger_option)number, argument) ? STATUS_ERROR :
										  STATUS_OK;
}

/* The event at a place is called as the place unless it has a name. */
static int add_trigger_find_place(struct ctl *ctl)
{
	struct ltt_ctl_trigger_options *o = &built.options;
	struct place_options place = { .program = (char *)o->location };

	if (o->kind == LTT_CTL_RULE_EVENTS && o->location)
		return err_set(&ctl->err, ERR_INVALID,
			       "--location is of --type=kernel:kprobe or kernel:uprobe");
	if (o->kind == LTT_CTL_RULE_EVENTS)
		return 0;
	if (!o->location)
		return err_set(&ctl->err, ERR_INVALID, "missing --location=PLACE of the event");
	if (!o->pattern)
		o->pattern = o->location;
	if (o->kind != LTT_CTL_RULE_USER)
		return 0;
	if (place_find_program(ctl, &place) != 0)
		return ctl->err.code;
	o->file = place.found->file;
	o->places = place.found->text;
	return 0;
}

/* The sessions, or the commands, of the actions. */
static int add_trigger_take_operands(struct ctl *ctl)
{
	unsigned int n = 0;

	for (size_t i = 0; i < built.options.nr_actions; i++) {
		struct ltt_ctl_action *action = &built.actions[i];
		const char *given = operand(ctl, n);

		if (destination_take(&built.outputs[i], &action->output, &ctl->err) != 0)
			return ctl->err.code;
		action->data_url = built.outputs[i].data_url;
		if (action->kind == LTT_CTL_DO_NOTIFY || action->kind == LTT_CTL_DO_INCR_MAP)
			continue;
		if (!given)
			return err_set(&ctl->err, ERR_INVALID, "--action=%s: missing %s",
				       words_name(&words_action, action->kind),
				       action->kind == LTT_CTL_DO_EXEC ? "command" : "session");
		n++;
		if (action->kind == LTT_CTL_DO_EXEC)
			action->text = given;
		else
			action->session = given;
	}
	if (operand(ctl, n))
		return err_set(&ctl->err, ERR_INVALID, "'%s': there is no action for it",
			       operand(ctl, n));
	return 0;
}

static enum status add_trigger_check(struct ctl *ctl)
{
	struct ltt_ctl_trigger_options *o = &built.options;

	o->size = sizeof(*o);
	o->actions = built.actions;
	if (add_trigger_find_place(ctl) != 0)
		return STATUS_ERROR;
	if (o->condition == LTT_CTL_IF_EVENT && !o->pattern)
		o->pattern = "*";
	if (!built.has_condition)
		err_set(&ctl->err, ERR_INVALID, "missing --condition=TYPE");
	else if (!o->nr_actions)
		err_set(&ctl->err, ERR_INVALID, "missing --action=TYPE");
	else if ((built.loggers || built.calls) && o->condition != LTT_CTL_IF_EVENT)
		err_set(&ctl->err, ERR_INVALID,
			"--type is of --condition=event-rule-matches: put it behind that");
	else if (add_trigger_check_owner(ctl, built.owner) == 0 &&
		 (!built.level || add_trigger_take_level(ctl, built.level) == 0) &&
		 (!built.calls || add_trigger_name_calls(ctl) == 0) &&
		 (!built.loggers || add_trigger_name_logger(ctl) == 0) &&
		 add_trigger_check_increments(ctl) == 0)
		(void)!add_trigger_take_operands(ctl);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status add_trigger_run(struct ctl *ctl)
{
	return trigger_create(ctl, &built.options);
}

const struct verb verb_add_trigger = {
	.name = "add-trigger",
	.operands = "[SESSION]...",
	.help = "Add a trigger, as LTTng does",
	.options = options,
	.daemon = DAEMON_STARTED,
	.max_operands = LTT_CTL_ACTIONS_MAX,
	.option = add_trigger_option,
	.check = add_trigger_check,
	.run = add_trigger_run,
	.form = trigger_form,
};
