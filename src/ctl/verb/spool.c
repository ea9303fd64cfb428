/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool.c - lttctl spool list, send, remove: what sessions at a relay that are over have left on
 * this host. The session daemon's consumer sends it, as it has the machine's keys.
 */
#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/dir.h"
#include "base/mem.h"
#include "ctl/options.h"
#include "ctl/record.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "ctl/target.h"
#include "ctl/text.h"
#include "libctl/calls.h"
#include "libctl/spools.h"

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

static int spool_verb_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

/* A session that has not begun, or whose consumer is just being replaced, has it as well. */
static bool is_of_session(struct json_object *sessions, const char *path)
{
	for (size_t i = 0; sessions && i < json_object_array_length(sessions); i++)
		if (strcmp(record_str(json_object_array_get_idx(sessions, i), "spool"), path) == 0)
			return true;
	return false;
}

static void show_time(struct json_object *o, const char *key, uint64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm = { 0 };
	char text[40];

	gmtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	record_set_str(o, key, text);
}

static struct json_object *spool_verb_describe(const struct spool_info *spool, bool in_use)
{
	struct json_object *o = json_object_new_object();
	const char *slash = strrchr(spool->path, '/');

	record_set_str(o, "spool", slash ? slash + 1 : spool->path);
	record_set_str(o, "path", spool->path);
	record_set_bool(o, "in_use", in_use);
	record_set_num(o, "bytes", spool->bytes);
	record_set_num(o, "packets", spool->packets);
	if (spool->since_ns)
		show_time(o, "since", spool->since_ns);
	record_set_bool(o, "sendable", spool->known);
	if (spool->known) {
		record_set_str(o, "session", spool->facts.name);
		record_set_str(o, "created", spool->facts.stamp);
		record_set_str(o, "relay", spool->facts.url);
	}
	return o;
}

/* --- sending, removing ----------------------------------------------------------------- */

static int request_send(struct ctl *ctl, const struct spool_info *spool, struct rep_spool_send *rep)
{
	const struct spoolfacts *facts = &spool->facts;
	struct req_spool_send req = {
		.dir = spool->fd,
		.name = facts->name,
		.stamp = facts->stamp,
		.id = { facts->id, sizeof(facts->id) },
		.url = *facts->chosen ? facts->chosen : facts->url,
		.relay_clear = facts->link,
		.sync = facts->sync,
		.sync_us = facts->sync_us,
		.live_us = facts->live_us,
		.compress = facts->compress,
	};

	return call_spool_send(ctl->client, &req, NULL, NULL, rep, &ctl->err);
}

/* Each question sends for some seconds; a relay that takes something is asked again. */
static enum status spool_verb_send_all(struct ctl *ctl, const struct spool_info *spool,
				       struct json_object *o)
{
	uint64_t left = spool->bytes, before;
	struct rep_spool_send rep;

	do {
		struct spool_info now;

		before = left;
		print_verbose(ctl, "sending %" PRIu64 " bytes of %s", left, spool->path);
		if (request_send(ctl, spool, &rep) != 0)
			return STATUS_ERROR;
		if (spools_open(spool->path, &now, &ctl->err) != 0)
			return STATUS_ERROR;
		left = now.bytes;
		spools_fini(&now);
	} while (*rep.problem && left < before);
	record_set_num(o, "left", left);
	if (!*rep.problem && !left)
		return STATUS_OK;
	err_set(&ctl->err, ERR_OUTPUT, "%s: %s", spool->path,
		*rep.problem ? rep.problem : "the remaining files belong to no trace");
	return STATUS_ERROR;
}

static enum status spool_verb_send_one(struct ctl *ctl, struct spool_info *spool,
				       struct json_object *o)
{
	enum status status;

	if (!spool->known) {
		err_set(&ctl->err, ERR_OUTPUT,
			"%s does not name its session and relay, as an earlier version created it; "
			"read it (lttctl view), or remove it",
			spool->path);
		return STATUS_ERROR;
	}
	status = spool_verb_send_all(ctl, spool, o);
	return status == STATUS_OK && spools_remove(spool, &ctl->err) != 0 ? STATUS_ERROR : status;
}

static enum status remove_one(struct ctl *ctl, struct spool_info *spool, struct json_object *o)
{
	if (spools_remove(spool, &ctl->err) != 0)
		return STATUS_ERROR;
	record_set_bool(o, "removed", true);
	return STATUS_OK;
}

static enum status spool_verb_change(struct ctl *ctl, struct spool_info *spool,
				     struct json_object *o)
{
	if (record_bool(o, "in_use")) {
		err_set(&ctl->err, ERR_STATE,
			"%s is in use: a session has it until it is destroyed, or it is being sent",
			spool->path);
		return STATUS_ERROR;
	}
	return action_of(ctl) == SEND ? spool_verb_send_one(ctl, spool, o) :
					remove_one(ctl, spool, o);
}

/* Of several, one that fails does not keep the others from it. */
static enum status spool_verb_handle(struct ctl *ctl, const char *name,
				     struct json_object *sessions)
{
	enum status status = STATUS_OK;
	struct spool_info spool;
	struct json_object *o;
	bool in_use;

	if (spools_open(name, &spool, &ctl->err) != 0)
		return STATUS_ERROR;
	in_use = spool.locked || is_of_session(sessions, spool.path);
	if (action_of(ctl) == LIST || !all || !in_use) {
		o = spool_verb_describe(&spool, in_use);
		record_append(ctl->record, "spools", o);
		if (action_of(ctl) != LIST)
			status = spool_verb_change(ctl, &spool, o);
	}
	spools_fini(&spool);
	return status;
}

static enum status handle_next(struct ctl *ctl, const char *name, struct json_object *sessions,
			       enum status status)
{
	if (ctl->err.code) { /* of the one before */
		print_error(ctl, "%s", ctl->err.text);
		ctl->err = (struct err){ 0 };
	}
	return target_worse(status, spool_verb_handle(ctl, name, sessions));
}

static enum status handle_all(struct ctl *ctl, struct json_object *sessions)
{
	AUTO_FREE char *dir = spools_dir();
	struct dirent **names = NULL;
	enum status status = STATUS_OK;
	int nr = dir ? scandir(dir, &names, is_shown, spool_verb_by_name) : 0;

	for (int i = 0; i < nr; i++) {
		status = handle_next(ctl, names[i]->d_name, sessions, status);
		free(names[i]);
	}
	free(names);
	return status;
}

static enum status spool_verb_run(struct ctl *ctl)
{
	struct json_object *sessions AUTO_RECORD = NULL;
	enum status status = STATUS_OK;

	if (action_of(ctl) == SEND && !ctl->client && ctl_connect(ctl, DAEMON_STARTED) != 0)
		return STATUS_ERROR;
	if (ctl->client && target_sessions(ctl, &sessions, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	record_set_str(ctl->record, "action", operand(ctl, 0));
	record_set(ctl->record, "spools", json_object_new_array());
	if (ctl->nr_operands == 1)
		return handle_all(ctl, sessions);
	for (unsigned int i = 1; i < ctl->nr_operands; i++)
		status = handle_next(ctl, operand(ctl, i), sessions, status);
	return status;
}

/* --- as text -------------------------------------------------------------------------------- */

static void spool_verb_add_row(struct table *table, struct json_object *o)
{
	char buf[TEXT_BYTES];

	table_cell(table, "%s", record_str(o, "spool"));
	table_cell(table, "%s", text_size(buf, record_num(o, "bytes")));
	table_cell(table, "%s", text_count(buf, record_num(o, "packets")));
	table_cell(table, "%s", *record_str(o, "since") ? record_str(o, "since") : "-");
	table_cell(table, "%s", *record_str(o, "session") ? record_str(o, "session") : "?");
	table_cell(table, "%s",
		   record_bool(o, "sendable") ? record_str(o, "relay") : "not written down");
	table_cell(table, "%s", record_bool(o, "in_use") ? "in use" : "");
}

static void spool_verb_list_text(FILE *out, struct json_object *record)
{
	static const char *const heads[] = { "SPOOL",	"BYTES", "PACKETS", "SINCE",
					     "SESSION", "RELAY", "" };
	struct table table = { .columns = "lrrllll" };

	if (!record_len(record, "spools")) {
		fputs("there are no spools\n", out);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	for (size_t i = 0; i < record_len(record, "spools"); i++)
		spool_verb_add_row(&table, record_at(record, "spools", i));
	table_print(out, &table);
}

static void spool_verb_text(FILE *out, struct json_object *record)
{
	const char *action = record_str(record, "action");
	char buf[TEXT_BYTES];

	if (strcmp(action, actions[LIST]) == 0) {
		spool_verb_list_text(out, record);
		return;
	}
	for (size_t i = 0; i < record_len(record, "spools"); i++) {
		struct json_object *o = record_at(record, "spools", i);
		const char *size = text_size(buf, record_num(o, "bytes"));

		if (record_bool(o, "removed"))
			fprintf(out, "%s removed, with %s\n", record_str(o, "spool"), size);
		else if (record_get(o, "left") && !record_num(o, "left"))
			fprintf(out, "%s: the relay %s has all of it, %s\n", record_str(o, "spool"),
				record_str(o, "relay"), size);
	}
}

const struct verb verb_spool = {
	.name = "spool",
	.operands = "list | send SPOOL... | remove SPOOL...",
	.help = "What ended sessions could not send to their relay: list, send or remove it",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = MAX_OPERANDS,
	.check = spool_verb_check,
	.run = spool_verb_run,
	.text = spool_verb_text,
};
