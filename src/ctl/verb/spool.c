/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool.c - lttctl spool list, send, remove: data that ended sessions at a relay have left on
 * this host. The session daemon's consumer sends it, as it has the machine's keys.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/table.h"
#include "ctl/session/target.h"
#include "ctl/print/text.h"

#define MAX_OPERANDS 1001 /* the first is the action */

static int all;

static const struct poptOption options[] = {
	OPTION_FLAG("all", 'a', &all, "all that no session uses (send, remove)"),
	POPT_TABLEEND,
};

enum action { LIST, SEND, REMOVE, NR_ACTIONS };

static const char *const actions[NR_ACTIONS] = { "list", "send", "remove" };

static enum action action_of(const struct ctl *ctl)
{
	enum action i = LIST;

	while (i < NR_ACTIONS && strcmp(operand(ctl, 0), actions[i]) != 0)
		i++;
	return i;
}

static enum status spool_verb_check(struct ctl *ctl)
{
	enum action action = operand(ctl, 0) ? action_of(ctl) : NR_ACTIONS;
	bool named = ctl->nr_operands > 1;

	if (action == NR_ACTIONS)
		err_set(&ctl->err, ERR_INVALID,
			"missing argument: use 'lttctl spool' with list, send or remove");
	else if (action == LIST && all)
		err_set(&ctl->err, ERR_INVALID, "--all is for send and remove; list shows all");
	else if (action != LIST && named == !!all)
		err_set(&ctl->err, ERR_INVALID,
			"missing argument: name the spools, or use --all; `lttctl spool list` "
			"shows them");
	return ctl->err.code ? STATUS_UNDEFINED : STATUS_OK;
}

/* --- which there are ------------------------------------------------------------------ */

static void show_time(struct json_object *o, const char *key, uint64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm = { 0 };
	char text[40];

	gmtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_set_str(o, key, text);
}

static struct json_object *spool_verb_describe(const struct ltt_ctl_spool *spool)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "spool", spool->name);
	JSON_COPY(o, spool, path);
	json_set_bool(o, "in_use", spool->in_use);
	JSON_COPY(o, spool, bytes, packets);
	if (spool->since_ns)
		show_time(o, "since", spool->since_ns);
	json_set_bool(o, "sendable", spool->sendable);
	if (spool->sendable) {
		JSON_COPY(o, spool, session, created, relay);
	}
	return o;
}

/* --- sending, removing ----------------------------------------------------------------- */

/* Whether the connection has been lost, which is the error then: it is no longer known whether a
 * session uses a spool. */
static bool spool_verb_is_lost(struct ctl *ctl)
{
	if (ctl->lost.code)
		err_set(&ctl->err, ctl->lost.code, "%s", ctl->lost.text);
	return ctl->lost.code;
}

static enum status remove_one(struct ctl *ctl, const char *name)
{
	if (spool_verb_is_lost(ctl) ||
	    ctl_done(ctl, ltt_ctl_remove_spool(ctl->library, name), &ctl->err) != 0)
		return STATUS_ERROR;
	return STATUS_OK;
}

/* A request sends for some seconds; a relay that stores something gets another one. */
static enum status spool_verb_send_one(struct ctl *ctl, const char *name,
				       const struct ltt_ctl_spool *spool, struct json_object *o)
{
	struct ltt_ctl *lib = ctl->library;
	uint64_t left = spool->bytes, before;
	char size[TEXT_BYTES];

	do {
		before = left;
		if (spool->sendable && !spool->in_use)
			print_verbose(ctl, "sending %" PRIu64 " bytes of %s", left, spool->path);
		print_doing("Sending %s of %s", text_size(size, left), name);
		if (ctl_done(ctl, ltt_ctl_send_spool(lib, name, &left), &ctl->err) != 0)
			return STATUS_ERROR;
	} while (*ltt_ctl_warning(lib) && left < before);
	json_set_num(o, "left", left);
	if (!*ltt_ctl_warning(lib))
		return remove_one(ctl, name);
	err_set(&ctl->err, ERR_OUTPUT, "%s", ltt_ctl_warning(lib));
	return STATUS_ERROR;
}

static enum status spool_verb_change(struct ctl *ctl, const char *name,
				     const struct ltt_ctl_spool *spool, struct json_object *o)
{
	enum status status;

	if (action_of(ctl) == SEND)
		return spool_verb_send_one(ctl, name, spool, o);
	status = remove_one(ctl, name);
	if (status == STATUS_OK)
		json_set_bool(o, "removed", true);
	return status;
}

/* @name: of the spool, or the path that is given. */
static enum status spool_verb_handle(struct ctl *ctl, const char *name,
				     const struct ltt_ctl_spool *spool)
{
	struct json_object *o;

	if (action_of(ctl) != LIST && all && spool->in_use)
		return STATUS_OK;
	o = spool_verb_describe(spool);
	json_append(ctl->record, "spools", o);
	return action_of(ctl) == LIST ? STATUS_OK : spool_verb_change(ctl, name, spool, o);
}

static enum status spool_verb_handle_named(struct ctl *ctl, const char *name)
{
	struct ltt_ctl_spools *list;
	enum status status;

	if (spool_verb_is_lost(ctl))
		return STATUS_ERROR;
	if (ctl_done(ctl, ltt_ctl_list_spools(ctl->library, name, &list), &ctl->err) != 0)
		return STATUS_ERROR;
	status = spool_verb_handle(ctl, name, list->spools[0]);
	ltt_ctl_spools_free(list);
	return status;
}

/* Of several, one that fails does not keep the others from it. */
static void spool_verb_print_last(struct ctl *ctl)
{
	if (!ctl->err.code)
		return;
	print_error(ctl, "%s", ctl->err.text);
	ctl->err = (struct err){ 0 };
}

static enum status handle_all(struct ctl *ctl)
{
	enum status status = STATUS_OK;
	struct ltt_ctl_spools *list;

	if (ctl_done(ctl, ltt_ctl_list_spools(ctl->library, NULL, &list), &ctl->err) != 0)
		return STATUS_ERROR;
	for (size_t i = 0; i < list->nr; i++) {
		const struct ltt_ctl_spool *spool = list->spools[i];

		spool_verb_print_last(ctl);
		status = target_worse(status, *spool->problem ?
						      spool_verb_handle_named(ctl, spool->name) :
						      spool_verb_handle(ctl, spool->name, spool));
	}
	ltt_ctl_spools_free(list);
	return status;
}

static enum status spool_verb_run(struct ctl *ctl)
{
	enum status status = STATUS_OK;

	if (ctl_is_unreached(ctl))
		return STATUS_ERROR;
	if (action_of(ctl) == SEND && !ctl_is_connected(ctl) &&
	    ctl_connect(ctl, DAEMON_STARTED) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "action", operand(ctl, 0));
	json_set(ctl->record, "spools", json_object_new_array());
	if (ctl->nr_operands == 1)
		return handle_all(ctl);
	for (unsigned int i = 1; i < ctl->nr_operands; i++) {
		spool_verb_print_last(ctl);
		status = target_worse(status, spool_verb_handle_named(ctl, operand(ctl, i)));
	}
	return status;
}

/* --- as text -------------------------------------------------------------------------------- */

static void spool_verb_list_text(FILE *out, struct json_object *record)
{
	static const char *const cells[][2] = {
		{ "SPOOL", "{spool}" },
		{ "BYTES", "{bytes:b}" },
		{ "PACKETS", "{packets:n}" },
		{ "SINCE", "[{since?}|-]" },
		{ "SESSION", "[{session?}|?]" },
		{ "RELAY", "[{?sendable}{relay}|not written down]" },
		{ "", "[{?in_use}in use]" },
	};

	if (json_len(record, "spools"))
		table_records(out, "lrrllll", cells, json_get(record, "spools"));
	else
		fputs("there are no spools\n", out);
}

static void spool_verb_text(FILE *out, struct json_object *record)
{
	const char *action = json_str(record, "action");
	char buf[TEXT_BYTES];

	if (strcmp(action, actions[LIST]) == 0) {
		spool_verb_list_text(out, record);
		return;
	}
	for (size_t i = 0; i < json_len(record, "spools"); i++) {
		struct json_object *o = json_at(record, "spools", i);
		const char *size = text_size(buf, json_num(o, "bytes"));

		if (json_flag(o, "removed"))
			fprintf(out, "%s removed, with %s\n", json_str(o, "spool"), size);
		else if (json_get(o, "left") && !json_num(o, "left"))
			fprintf(out, "%s: the relay%s%s has all of it, %s\n",
				json_str(o, "spool"), *json_str(o, "relay") ? " " : "",
				json_str(o, "relay"), size);
	}
}

const struct verb verb_spool = {
	.name = "spool",
	.operands = "(list | send SPOOL... | remove SPOOL...)",
	.help = "What ended sessions could not send to their relay: list, send or remove it",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = MAX_OPERANDS,
	.check = spool_verb_check,
	.run = spool_verb_run,
	.text = spool_verb_text,
};
