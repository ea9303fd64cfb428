/* SPDX-License-Identifier: GPL-2.0-only */
/* filter.c - lttctl filter: check the expression of a filter against the existing events. */
#include <inttypes.h>

#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"

static struct {
	struct domain_options domain;
	char *expression, *event;
} opt;

static const struct poptOption options[] = {
	OPTIONS_DOMAIN(opt.domain),
	OPTION_TEXT("check", 0, &opt.expression, "the expression to be checked", "EXPRESSION"),
	OPTION_TEXT("event", 0, &opt.event, "for these events; default: all of them", "PATTERN"),
	POPT_TABLEEND,
};

static enum status filter_check_options(struct ctl *ctl)
{
	if (opt.expression)
		return domain_any(&opt.domain) ? domain_check(ctl, &opt.domain) : STATUS_OK;
	err_set(&ctl->err, ERR_INVALID,
		"missing expression: use lttctl filter [-k] --check EXPRESSION [--event=PATTERN]");
	return STATUS_ERROR;
}

static struct json_object *filter_verdict(const struct ltt_ctl_verdict *verdict)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "name", verdict->event);
	json_set_bool(o, "can_hold", !verdict->column);
	if (verdict->column) {
		JSON_COPY(o, verdict, column, why);
	}
	return o;
}

/* A warning, so that a script notices: as it is now, nothing would be recorded. */
static enum status filter_judge(struct ctl *ctl)
{
	size_t nr = json_len(ctl->record, "verdicts");

	for (size_t i = 0; i < nr; i++)
		if (json_flag(json_at(ctl->record, "verdicts", i), "can_hold"))
			return STATUS_OK;
	if (nr)
		print_warning(ctl, "it holds for no event that there is now");
	else
		print_note(ctl, "%s event '%s'; the expression is well formed",
			   opt.domain.kernel ? "this kernel has no" :
					       "no running application has an",
			   opt.event ? opt.event : "*");
	return nr ? STATUS_WARNING : STATUS_OK;
}

static enum status filter_run(struct ctl *ctl)
{
	struct ltt_ctl_filter_options o;
	struct ltt_ctl_verdicts *list;

	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "expression", opt.expression);
	json_set(ctl->record, "verdicts", json_object_new_array());
	ltt_ctl_filter_options_init(&o);
	o.expression = opt.expression;
	o.pattern = opt.event;
	o.domain = (enum ltt_ctl_domain)domain_named(&opt.domain);
	if (ctl_done(ctl, ltt_ctl_check_filter(ctl->library, &o, &list), &ctl->err) != 0)
		return STATUS_ERROR;
	for (size_t i = 0; i < list->nr; i++)
		json_append(ctl->record, "verdicts", filter_verdict(list->verdicts[i]));
	ltt_ctl_verdicts_free(list);
	return filter_judge(ctl);
}

static void filter_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "verdicts"); i++) {
		struct json_object *event = json_at(record, "verdicts", i);

		if (json_flag(event, "can_hold"))
			fprintf(out, "%s: it can hold\n", json_str(event, "name"));
		else
			fprintf(out, "%s: never: %s\n  %s\n  %*s\n", json_str(event, "name"),
				json_str(event, "why"), json_str(record, "expression"),
				(int)json_num(event, "column"), "^");
	}
}

const struct verb verb_filter = {
	.name = "filter",
	.operands = "[-k] --check EXPRESSION [--event PATTERN]",
	.help = "Check the expression of a filter",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.check = filter_check_options,
	.run = filter_run,
	.text = filter_text,
};
