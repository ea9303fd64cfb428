/* SPDX-License-Identifier: GPL-2.0-only */
/* on.c - lttctl on CONDITION: add a trigger, whose condition is a text. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/session/condition.h"
#include "ctl/destination.h"
#include "ctl/options.h"
#include "ctl/session/place.h"
#include "ctl/print/json.h"
#include "ctl/session/target.h"
#include "ctl/session/trigger.h"

static struct {
	char *name, *session, *filter, *exclude, *capture, *at_most;
	char *snapshot, *snapshot_name, *max_size;
	struct destination output;
	char **exec;
	int notify, start, stop, rotate, kernel;
	struct place_options place;
} opt;

enum { ON_FETCH };

static const struct poptOption options[] = {
	OPTION_TEXT("name", 'n', &opt.name, "of the trigger", "NAME"),
	OPTION_FLAG("kernel", 'k', &opt.kernel, "the events are the kernel's"),
	OPTIONS_PLACE(opt.place, ON_FETCH),
	OPTION_TEXT("session", 's', &opt.session,
		    "of the condition and of the actions, not the current", "NAME"),
	OPTION_TEXT("filter", 'f', &opt.filter, "only events for which this holds", "EXPR"),
	OPTION_TEXT("exclude", 'x', &opt.exclude, "events to leave out", "NAME,..."),
	OPTION_TEXT("capture", 0, &opt.capture, "values that notifications have", "FIELD,..."),
	OPTION_TEXT("at-most", 0, &opt.at_most, "act at most N times in a period: 3/h", "N/PERIOD"),
	OPTION_FLAG("notify", 0, &opt.notify, "notify 'lttctl watch'; the default"),
	OPTION_TEXT("snapshot", 0, &opt.snapshot,
		    "take a snapshot of the last events: 5s, or all", "TIME"),
	OPTION_TEXT("snapshot-name", 0, &opt.snapshot_name,
		    "beginning of the names of the snapshots", "NAME"),
	OPTION_TEXT("max-size", 'm', &opt.max_size, "of a snapshot; suffixes: k, M, G", "SIZE"),
	OPTION_TEXT("path", 0, &opt.output.path, "directory of the snapshots", "DIR"),
	OPTION_TEXT("url", 0, &opt.output.url,
		    "the same, file:///DIR, or a relay that receives them, net://RELAY", "URL"),
	OPTION_TEXT("ctrl-url", 0, &opt.output.ctrl_url, "such a relay", "URL"),
	OPTION_TEXT("data-url", 0, &opt.output.data_url,
		    "for compatibility: the same relay, tcp://RELAY", "URL"),
	OPTION_LIST_OF("exec", 0, &opt.exec, "run a command", "COMMAND"),
	OPTION_FLAG("start", 0, &opt.start, "start the session"),
	OPTION_FLAG("stop", 0, &opt.stop, "stop the session"),
	OPTION_FLAG("rotate", 0, &opt.rotate, "rotate the session"),
	POPT_TABLEEND,
};

static struct {
	struct ltt_ctl_trigger_options options;
	struct ltt_ctl_action actions[LTT_CTL_ACTIONS_MAX];
	char *memory;
} built;

static struct ltt_ctl_action *on_add(enum ltt_ctl_action_kind kind)
{
	static struct ltt_ctl_action excess;
	size_t n = built.options.nr_actions++;
	struct ltt_ctl_action *action = n < LTT_CTL_ACTIONS_MAX ? &built.actions[n] : &excess;

	*action = (struct ltt_ctl_action){ .kind = kind };
	return action;
}

static int on_take_snapshot(struct ctl *ctl)
{
	struct ltt_ctl_action *action = on_add(LTT_CTL_DO_SNAPSHOT);

	action->text = opt.snapshot_name;
	action->data_url = opt.output.data_url;
	if (destination_take(&opt.output, &action->output, &ctl->err) != 0)
		return ctl->err.code;
	if (opt.max_size &&
	    (parse_size(opt.max_size, &action->max_size) != 0 || !action->max_size))
		return err_set(&ctl->err, ERR_INVALID,
			       "--max-size=%s: this is not a size, such as 64M", opt.max_size);
	if (strcmp(opt.snapshot, "all") == 0 ||
	    (opt.snapshot[strspn(opt.snapshot, "0123456789.")] &&
	     parse_period(opt.snapshot, &action->last_us) == 0 && action->last_us))
		return 0;
	return err_set(&ctl->err, ERR_INVALID,
		       "--snapshot=%s: this is not a time with a unit, such as 5s, nor 'all'",
		       opt.snapshot);
}

/* In the order that is of use: the snapshot has the events before all else. */
static int on_take_actions(struct ctl *ctl)
{
	if (!opt.snapshot && (opt.snapshot_name || opt.max_size || opt.output.path ||
			      opt.output.url || opt.output.ctrl_url || opt.output.data_url))
		return err_set(&ctl->err, ERR_INVALID,
			       "--snapshot-name, --max-size, --path, --url, --ctrl-url and "
			       "--data-url are of a snapshot: add --snapshot");
	if (opt.snapshot && on_take_snapshot(ctl) != 0)
		return ctl->err.code;
	if (opt.stop)
		on_add(LTT_CTL_DO_STOP);
	if (opt.start)
		on_add(LTT_CTL_DO_START);
	if (opt.rotate)
		on_add(LTT_CTL_DO_ROTATE);
	for (char **command = opt.exec; command && *command; command++)
		on_add(LTT_CTL_DO_EXEC)->text = *command;
	if (opt.notify || !built.options.nr_actions)
		on_add(LTT_CTL_DO_NOTIFY);
	if (built.options.nr_actions > LTT_CTL_ACTIONS_MAX)
		return err_set(&ctl->err, ERR_INVALID, "a trigger has at most %d actions",
			       LTT_CTL_ACTIONS_MAX);
	return 0;
}

static enum status on_option(struct ctl *ctl, int number, const char *argument)
{
	(void)ctl, (void)number;
	place_add_fetch(&opt.place, argument);
	return STATUS_OK;
}

/* An event at a place, under the name that the condition has. */
static int on_take_place(struct ctl *ctl, struct ltt_ctl_trigger_options *o)
{
	if (!place_option(&opt.place) && !opt.place.fetch)
		return 0;
	if (!opt.kernel || !place_option(&opt.place) ||
	    !!opt.place.probe + !!opt.place.function + !!opt.place.program > 1)
		return err_set(&ctl->err, ERR_INVALID,
			       "an event at a place is one of the kernel: use -k with one of --probe, "
			       "--function and --userspace-probe, and --fetch besides");
	if (place_find_program(ctl, &opt.place) != 0)
		return ctl->err.code;
	o->kind = place_kind(&opt.place);
	o->location = place_given(&opt.place);
	o->fetch = opt.place.fetch;
	o->file = opt.place.found ? opt.place.found->file : NULL;
	o->places = opt.place.found ? opt.place.found->text : NULL;
	return 0;
}

static enum status on_check(struct ctl *ctl)
{
	struct ltt_ctl_trigger_options *o = &built.options;

	ltt_ctl_trigger_options_init(o);
	if (!operand(ctl, 0)) {
		err_set(&ctl->err, ERR_INVALID,
			"missing condition, such as 'web:begin..web:end > 50ms'");
		return STATUS_ERROR;
	}
	if (condition_parse(operand(ctl, 0), o, &built.memory, &ctl->err) != 0 ||
	    on_take_actions(ctl) != 0)
		return STATUS_ERROR;
	if (opt.at_most &&
	    condition_parse_limit(opt.at_most, &o->at_most, &o->period_us, &ctl->err) != 0)
		return STATUS_ERROR;
	if (on_take_place(ctl, o) != 0)
		return STATUS_ERROR;
	if (opt.kernel)
		o->domain = LTT_CTL_KERNEL;
	o->name = opt.name;
	o->filter = opt.filter;
	o->exclude = opt.exclude;
	o->captures = opt.capture;
	o->actions = built.actions;
	return STATUS_OK;
}

static bool on_needs_session(void)
{
	bool needs = condition_has_session(built.options.condition);

	for (size_t i = 0; i < built.options.nr_actions; i++)
		needs |= built.actions[i].kind != LTT_CTL_DO_NOTIFY &&
			 built.actions[i].kind != LTT_CTL_DO_EXEC;
	return needs;
}

static enum status on_run(struct ctl *ctl)
{
	char *session AUTO_FREE = on_needs_session() ? target_session(ctl, opt.session) : NULL;

	if (on_needs_session() && !session)
		return STATUS_ERROR;
	if (condition_has_session(built.options.condition))
		built.options.session = session;
	for (size_t i = 0; i < built.options.nr_actions; i++)
		if (built.actions[i].kind != LTT_CTL_DO_NOTIFY &&
		    built.actions[i].kind != LTT_CTL_DO_EXEC)
			built.actions[i].session = session;
	return trigger_create(ctl, &built.options);
}

const struct verb verb_on = {
	.name = "on",
	.operands = "CONDITION",
	.help = "Act each time a condition holds",
	.options = options,
	.daemon = DAEMON_STARTED,
	.max_operands = 1,
	.option = on_option,
	.check = on_check,
	.run = on_run,
	.form = trigger_form,
};
