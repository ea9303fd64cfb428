/* SPDX-License-Identifier: GPL-2.0-only */
/* add_context.c - lttctl add-context: record something about the task with each event. */
#include <inttypes.h>

#include "base/mem.h"
#include "libctl/calls.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/record.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "ctl/target.h"

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
	OPTION_EACH("type", 't', TYPE, 0, "this context; may be repeated", "TYPE"),
	OPTION_FLAG("list", 0, &opt.list, "list the types"),
	POPT_TABLEEND,
};

static enum status add_context_option(struct ctl *ctl, int number, const char *argument)
{
	(void)ctl, (void)number;
	names_add(&opt.types, argument);
	return STATUS_OK;
}

static enum status unsupported(struct ctl *ctl)
{
	err_set(&ctl->err, ERR_UNSUPPORTED,
		"events of applications have no contexts yet; those of the kernel (-k) can have "
		"them");
	return STATUS_UNSUPPORTED;
}

static enum status add_context_check(struct ctl *ctl)
{
	enum status status =
		opt.list && !domain_any(&opt.domain) ? STATUS_OK : domain_check(ctl, &opt.domain);

	if (status != STATUS_OK)
		return status;
	if (opt.list && opt.types.nr)
		err_set(&ctl->err, ERR_INVALID, "--list adds nothing: omit --type");
	else if (!opt.list && !opt.types.nr)
		err_set(&ctl->err, ERR_INVALID,
			"missing context: use --type=TYPE; 'lttctl add-context --list' lists the "
			"types");
	if (ctl->err.code)
		return STATUS_ERROR;
	return opt.domain.user ? unsupported(ctl) : STATUS_OK;
}

/* ---- list ---- */

static int take_context(void *priv, unsigned int type, struct decoder *dec)
{
	struct json_object *o;
	struct msg_context m;

	if (type != MSG_context)
		return 0;
	if (msg_context_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	o = json_object_new_object();
	record_set_str(o, "name", m.name);
	record_set_str(o, "domain", record_domain(m.domain));
	record_set_str(o, "type", m.type);
	record_append(priv, "types", o);
	return 0;
}

static enum status add_context_list(struct ctl *ctl)
{
	const struct req_context_list req = { .domain = DOMAIN_KERNEL };
	struct rep_context_list rep;

	ctl->record = json_object_new_object();
	record_set(ctl->record, "types", json_object_new_array());
	if (call_context_list(ctl->client, &req, take_context, ctl->record, &rep, &ctl->err) != 0)
		return STATUS_ERROR;
	return STATUS_OK;
}

/* ---- add ---- */

static enum status add_context_add(struct ctl *ctl, const struct req_context_add *req)
{
	struct rep_context_add rep;

	if (call_context_add(ctl->client, req, NULL, NULL, &rep, &ctl->err) != 0) {
		target_suggest(ctl, req->session, req->channel, NULL);
		return STATUS_ERROR;
	}
	if (rep.channels == 0) {
		print_warning(ctl, "context '%s' was added before", req->type);
		return STATUS_WARNING;
	}
	record_append(ctl->record, "contexts", json_object_new_string(req->type));
	return STATUS_OK;
}

static enum status add_context_add_all(struct ctl *ctl)
{
	struct req_context_add req = { .domain = DOMAIN_KERNEL, .channel = opt.channel };
	char *session AUTO_FREE = target_begin(ctl, opt.session, req.domain, "contexts");
	enum status worst = STATUS_OK;

	if (!session)
		return STATUS_ERROR;
	req.session = session;
	if (opt.channel)
		record_set_str(ctl->record, "channel", opt.channel);
	for (size_t i = 0; i < opt.types.nr && !ctl->err.code; i++) {
		req.type = opt.types.names[i];
		worst = target_worse(worst, add_context_add(ctl, &req));
	}
	return worst;
}

static enum status add_context_run(struct ctl *ctl)
{
	return opt.list ? add_context_list(ctl) : add_context_add_all(ctl);
}

static void add_context_text(FILE *out, struct json_object *record)
{
	const char *channel = record_str(record, "channel");
	struct table table = { .columns = "ll" };

	for (size_t i = 0; i < record_len(record, "contexts"); i++)
		fprintf(out, "%s context %s added to %s%s of session %s\n", domain_title(record),
			json_object_get_string(record_at(record, "contexts", i)),
			*channel ? "channel " : "all channels", channel,
			record_str(record, "session"));
	if (!record_len(record, "types"))
		return;
	table_cell(&table, "TYPE");
	table_cell(&table, "VALUE");
	for (size_t i = 0; i < record_len(record, "types"); i++) {
		struct json_object *type = record_at(record, "types", i);

		table_cell(&table, "%s", record_str(type, "name"));
		table_cell(&table, "%s", record_str(type, "type"));
	}
	table_print(out, &table);
}

const struct verb verb_add_context = {
	.name = "add-context",
	.operands = "-k -t TYPE... | --list",
	.help = "Record something about the task with each event",
	.options = options,
	.daemon = DAEMON_STARTED,
	.option = add_context_option,
	.check = add_context_check,
	.run = add_context_run,
	.text = add_context_text,
};
