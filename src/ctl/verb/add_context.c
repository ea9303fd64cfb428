/* SPDX-License-Identifier: GPL-2.0-only */
/* add_context.c - lttctl add-context: record a fact about the task with each event. */
#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/table.h"
#include "ctl/session/logger.h"
#include "ctl/session/target.h"

static struct {
	struct domain_options domain;
	char *session, *channel;
	int list;
	struct names types;
} opt;

enum { TYPE };

static const struct poptOption options[] = {
	OPTIONS_DOMAIN(opt.domain),
	OPTION_SESSION(&opt.session),
	OPTION_CHANNEL(&opt.channel, "to this channel, not to all"),
	OPTION_EACH("type", 't', TYPE, 0, "these contexts; may be repeated", "TYPE[,...]"),
	OPTION_FLAG("list", 0, &opt.list, "list the types"),
	POPT_TABLEEND,
};

static enum status add_context_option(struct ctl *ctl, int number, const char *argument)
{
	struct names types CLEANUP(names_fini) = { 0 };

	(void)ctl, (void)number;
	names_split(argument, &types);
	for (size_t i = 0; i < types.nr; i++)
		names_add(&opt.types, types.names[i]);
	return STATUS_OK;
}

static enum status add_context_check(struct ctl *ctl)
{
	enum status status =
		opt.list && !domain_any(&opt.domain) ? STATUS_OK :
						       domain_check_any(ctl, &opt.domain);

	if (status != STATUS_OK)
		return status;
	if (opt.list && opt.types.nr)
		err_set(&ctl->err, ERR_INVALID, "--list adds nothing: omit --type");
	else if (!opt.list && !opt.types.nr)
		err_set(&ctl->err, ERR_INVALID,
			"missing context: use --type=TYPE; 'lttctl add-context --list' lists the "
			"types");
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* ---- list ---- */

static enum status add_context_list_domain(struct ctl *ctl, enum ltt_ctl_domain domain)
{
	struct ltt_ctl_contexts *list;

	if (ctl_done(ctl, ltt_ctl_list_contexts(ctl->library, domain, &list), &ctl->err) != 0)
		return STATUS_ERROR;
	for (size_t i = 0; i < list->nr; i++) {
		struct json_object *o = json_object_new_object();

		json_set_str(o, "name", list->contexts[i]->name);
		json_set_str(o, "domain", json_domain(list->contexts[i]->domain));
		json_set_str(o, "type", list->contexts[i]->type);
		json_append(ctl->record, "types", o);
	}
	ltt_ctl_contexts_free(list);
	return STATUS_OK;
}

/* Without a domain: of all that can be traced. */
static enum status add_context_list(struct ctl *ctl)
{
	enum status status = STATUS_OK;

	ctl->record = json_object_new_object();
	json_set(ctl->record, "types", json_object_new_array());
	if (!opt.domain.kernel)
		status = add_context_list_domain(ctl, LTT_CTL_USER);
	if (status != STATUS_OK || (domain_any(&opt.domain) && !opt.domain.kernel))
		return status;
	status = add_context_list_domain(ctl, LTT_CTL_KERNEL);
	if (ctl->err.code == ERR_UNSUPPORTED && !opt.domain.kernel) {
		ctl->err = (struct err){ 0 };
		return STATUS_OK;
	}
	return status;
}

/* ---- add ---- */

/* "vpid,vtid"; allocated. */
static char *add_context_types(void)
{
	char *list = xstrdup("");

	for (size_t i = 0; i < opt.types.nr; i++) {
		char *before AUTO_FREE = list;

		list = xasprintf("%s%s%s", before, i ? "," : "", opt.types.names[i]);
	}
	return list;
}

/* In one request: if one type can't be added, none is. */
static enum status add_context_add(struct ctl *ctl)
{
	enum domain_id domain = opt.domain.kernel ? DOMAIN_KERNEL : DOMAIN_USER;
	const struct logger_domain *loggers = logger_domain_named(&opt.domain);
	const char *channel = opt.channel || !loggers ? opt.channel : loggers->channel;
	char *session AUTO_FREE = target_begin(ctl, opt.session, domain, "contexts");
	char *types AUTO_FREE = add_context_types();
	uint32_t channels;
	int code;

	if (!session)
		return STATUS_ERROR;
	if (channel)
		json_set_str(ctl->record, "channel", channel);
	code = ltt_ctl_add_context(ctl->library, session, (enum ltt_ctl_domain)domain, channel,
				   types, &channels);
	if (ctl_done(ctl, code, &ctl->err) != 0) {
		target_suggest(ctl, session, channel, NULL);
		return STATUS_ERROR;
	}
	if (channels == 0) {
		print_warning(ctl, "context%s '%s' %s added before", opt.types.nr == 1 ? "" : "s",
			      types, opt.types.nr == 1 ? "was" : "were");
		return STATUS_WARNING;
	}
	for (size_t i = 0; i < opt.types.nr; i++)
		json_append(ctl->record, "contexts", json_object_new_string(opt.types.names[i]));
	return STATUS_OK;
}

static enum status add_context_run(struct ctl *ctl)
{
	return opt.list ? add_context_list(ctl) : add_context_add(ctl);
}

static void add_context_text(FILE *out, struct json_object *record)
{
	const char *channel = json_str(record, "channel");
	static const char *const cells[][2] = {
		{ "TYPE", "{name}" },
		{ "DOMAIN", "{domain}" },
		{ "VALUE", "{type}" },
	};

	for (size_t i = 0; i < json_len(record, "contexts"); i++)
		fprintf(out, "%s context %s added to %s%s of session %s\n", domain_title(record),
			json_object_get_string(json_at(record, "contexts", i)),
			*channel ? "channel " : "all channels", channel,
			json_str(record, "session"));
	if (json_len(record, "types"))
		table_records(out, "lll", cells, json_get(record, "types"));
}

const struct verb verb_add_context = {
	.name = "add-context",
	.operands = "(-u | -k) -t TYPE[,TYPE]... | [-u | -k] --list",
	.help = "Record something about the thread with each event",
	.options = options,
	.daemon = DAEMON_STARTED,
	.option = add_context_option,
	.check = add_context_check,
	.run = add_context_run,
	.text = add_context_text,
};
