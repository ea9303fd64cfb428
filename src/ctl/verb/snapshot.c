/* SPDX-License-Identifier: GPL-2.0-only */
/* snapshot.c - lttctl snapshot record: write the events that a session's buffers have now. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/destination.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "ctl/session/target.h"

static struct {
	char *session, *name, *max_size, *ctrl_url, *data_url, *last;
} opt;

static struct ltt_ctl_snapshot_options wanted;

static const struct poptOption options[] = {
	OPTION_SESSION(&opt.session),
	OPTION_TEXT("name", 'n', &opt.name, "beginning of the name of the new directory", "NAME"),
	OPTION_TEXT(
		"max-size", 'm', &opt.max_size,
		"only the newest events, in stream files of this size together; suffixes: k, M, "
		"G, T",
		"SIZE"),
	OPTION_TEXT("last", 0, &opt.last,
		    "only sub-buffers that ended in this time before now, such as 10s",
		    "PERIOD"),
	OPTION_TEXT("ctrl-url", 'C', &opt.ctrl_url, "the relay that receives it, net://RELAY or "
		    "tcp://RELAY", "URL"),
	OPTION_TEXT("data-url", 'D', &opt.data_url, "for compatibility: the same relay, tcp://RELAY",
		    "URL"),
	POPT_TABLEEND,
};

enum snapshot_action { RECORD, ADD_OUTPUT, DEL_OUTPUT, LIST_OUTPUT, NR_ACTIONS };

static const char *const snapshot_actions[] = {
	[RECORD] = "record",
	[ADD_OUTPUT] = "add-output",
	[DEL_OUTPUT] = "del-output",
	[LIST_OUTPUT] = "list-output",
};

static enum snapshot_action snapshot_action(const struct ctl *ctl)
{
	enum snapshot_action i = RECORD;

	while (i < NR_ACTIONS && strcmp(snapshot_actions[i], operand(ctl, 0)) != 0)
		i++;
	return i;
}

static enum status snapshot_check_action(struct ctl *ctl)
{
	enum snapshot_action action;

	if (!operand(ctl, 0)) {
		err_set(&ctl->err, ERR_INVALID, "missing argument: use lttctl snapshot record");
		return STATUS_ERROR;
	}
	action = snapshot_action(ctl);
	if (action == NR_ACTIONS)
		err_set(&ctl->err, ERR_INVALID,
			"can't do '%s' with a snapshot: use lttctl snapshot record, or add-output, "
			"del-output, list-output",
			operand(ctl, 0));
	else if ((action == DEL_OUTPUT || action == LIST_OUTPUT) &&
		 (opt.name || opt.max_size || opt.ctrl_url || opt.data_url))
		err_set(&ctl->err, ERR_INVALID,
			"--name, --max-size, --ctrl-url and --data-url are for record and "
			"add-output");
	else if (action != RECORD && opt.last)
		err_set(&ctl->err, ERR_INVALID, "--last is for record");
	else if (opt.data_url && !opt.ctrl_url)
		err_set(&ctl->err, ERR_INVALID, "--data-url goes with --ctrl-url");
	else if (opt.ctrl_url && operand(ctl, 1))
		err_set(&ctl->err, ERR_INVALID, "'%s': --ctrl-url is the output; omit one of both",
			operand(ctl, 1));
	else if (action == LIST_OUTPUT && operand(ctl, 1))
		err_set(&ctl->err, ERR_INVALID, "'%s': list-output has no argument",
			operand(ctl, 1));
	else if (action == ADD_OUTPUT && !operand(ctl, 1) && !opt.ctrl_url)
		err_set(&ctl->err, ERR_INVALID,
			"missing argument: use lttctl snapshot add-output PATH");
	else if (action == DEL_OUTPUT && !operand(ctl, 1))
		err_set(&ctl->err, ERR_INVALID,
			"missing argument: use lttctl snapshot del-output 1, or its name");
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status snapshot_take_output(struct ctl *ctl, const char *output)
{
	bool is_url = output && strstr(output, ":/");
	const struct destination given = { .path = is_url ? NULL : output,
					   .url = is_url ? output : NULL };

	wanted.data_url = opt.data_url;
	return destination_take(&given, &wanted.output, &ctl->err) ? STATUS_ERROR : STATUS_OK;
}

static enum status snapshot_check(struct ctl *ctl)
{
	ltt_ctl_snapshot_options_init(&wanted);
	if (opt.max_size && (parse_size(opt.max_size, &wanted.max_size) != 0 || !wanted.max_size)) {
		err_set(&ctl->err, ERR_INVALID,
			"--max-size=%s: this is not a size, such as 67108864, 64M or 1G",
			opt.max_size);
		return STATUS_ERROR;
	}
	if (opt.last && (parse_period(opt.last, &wanted.last_us) != 0 || !wanted.last_us)) {
		err_set(&ctl->err, ERR_INVALID,
			"--last=%s: this is not a period, such as 10s or 500ms", opt.last);
		return STATUS_ERROR;
	}
	if (snapshot_check_action(ctl) != STATUS_OK)
		return STATUS_ERROR;
	if (snapshot_action(ctl) == DEL_OUTPUT)
		return STATUS_OK;
	return snapshot_take_output(ctl, opt.ctrl_url ? opt.ctrl_url : operand(ctl, 1));
}

static enum status snapshot_warn(struct ctl *ctl, const struct ltt_ctl_snapshot *snapshot)
{
	char buf[TEXT_BYTES];

	if (snapshot->lost)
		print_warning(ctl,
			      "%s event%s lost before the snapshot was taken, and may be missing "
			      "in it; 'lttctl status' shows the causes",
			      text_count(buf, snapshot->lost),
			      snapshot->lost == 1 ? " was" : "s were");
	if (*snapshot->problem)
		print_warning(ctl, "%s", snapshot->problem);
	return snapshot->lost || *snapshot->problem ? STATUS_WARNING : STATUS_OK;
}

static enum status snapshot_failed(struct ctl *ctl, const char *session)
{
	target_suggest(ctl, session, NULL, NULL);
	return STATUS_ERROR;
}

/* Where no directory is named, that of the session. @info: of it. */
static void snapshot_use_output(struct json_object *info)
{
	const char *path = json_str(info, "snapshot_path"),
		   *name = json_str(info, "snapshot_name");

	if (wanted.output || !*path)
		return;
	wanted.output = path;
	if (!wanted.name && *name)
		wanted.name = name;
	if (!wanted.max_size)
		wanted.max_size = json_num(info, "snapshot_max_size");
}

static enum status snapshot_record_one(struct ctl *ctl, const char *session)
{
	struct json_object *info AUTO_RECORD = NULL;
	struct ltt_ctl_snapshot *snapshot = NULL;
	enum status status;

	if (target_find_session(ctl, session, &info, &ctl->err) != 0)
		return STATUS_ERROR;
	snapshot_use_output(info);
	if (ctl_done(ctl, ltt_ctl_snapshot_record(ctl->library, &wanted, &snapshot),
			 &ctl->err) != 0)
		return snapshot_failed(ctl, session);
	ctl->record = json_snapshot(session, snapshot);
	status = snapshot_warn(ctl, snapshot);
	ltt_ctl_snapshot_free(snapshot);
	return status;
}

/* --- the output of a session ------------------------------------------------------ */

static const char *snapshot_name(struct json_object *info)
{
	const char *name = json_str(info, "snapshot_name");

	return *name ? name : "snapshot-1";
}

/* The session's own directory is one until another is added, or it is removed itself. "": none. */
static const char *snapshot_path(struct json_object *info)
{
	const char *path = json_str(info, "snapshot_path"), *own = json_str(info, "output");

	return *path || json_flag(info, "snapshot_elsewhere") || *own != '/' ? path : own;
}

static enum status snapshot_list_output(struct ctl *ctl, const char *session)
{
	struct json_object *info AUTO_RECORD = NULL, *output;
	const char *path;

	if (target_find_session(ctl, session, &info, &ctl->err) != 0)
		return STATUS_ERROR;
	if (!info) {
		err_set(&ctl->err, ERR_NO_SESSION, "there is no session '%s'", session);
		return snapshot_failed(ctl, session);
	}
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
	json_set(ctl->record, "outputs", json_object_new_array());
	path = snapshot_path(info);
	if (!*path)
		return STATUS_OK;
	output = json_object_new_object();
	json_set_num(output, "id", 1);
	json_set_str(output, "name", snapshot_name(info));
	json_set_str(output, "path", path);
	json_set_num(output, "max_size", json_num(info, "snapshot_max_size"));
	json_append(ctl->record, "outputs", output);
	return STATUS_OK;
}

/* By its number or its name. */
static enum status snapshot_check_output(struct ctl *ctl, const char *session)
{
	struct json_object *output;
	bool found;

	if (snapshot_list_output(ctl, session) != STATUS_OK)
		return STATUS_ERROR;
	output = json_at(ctl->record, "outputs", 0);
	found = output && (strcmp(operand(ctl, 1), "1") == 0 ||
			   strcmp(operand(ctl, 1), json_str(output, "name")) == 0);
	ctl->record = (json_object_put(ctl->record), NULL);
	if (found)
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID,
		"session '%s' has no output '%s' for snapshots: see lttctl snapshot list-output",
		session, operand(ctl, 1));
	return STATUS_ERROR;
}

static enum status snapshot_set_output(struct ctl *ctl, const char *session)
{
	if (snapshot_action(ctl) == DEL_OUTPUT && snapshot_check_output(ctl, session) != STATUS_OK)
		return STATUS_ERROR;
	if (ctl_done(ctl, ltt_ctl_set_snapshot_output(ctl->library, &wanted), &ctl->err) != 0)
		return snapshot_failed(ctl, session);
	return snapshot_list_output(ctl, session);
}

static enum status snapshot_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session);
	enum status status;

	if (!session)
		return STATUS_ERROR;
	wanted.session = session;
	wanted.name = opt.name;
	switch (snapshot_action(ctl)) {
	case ADD_OUTPUT:
	case DEL_OUTPUT:
		status = snapshot_set_output(ctl, session);
		break;
	case LIST_OUTPUT:
		status = snapshot_list_output(ctl, session);
		break;
	default:
		status = snapshot_record_one(ctl, session);
	}
	return status;
}

static void snapshot_text_outputs(FILE *out, struct json_object *record)
{
	struct json_object *output = json_at(record, "outputs", 0);
	uint64_t most = json_num(output, "max_size");
	char buf[TEXT_BYTES];

	fprintf(out, "Snapshot outputs of session %s:\n", json_str(record, "session"));
	if (!output)
		fputs("  none: add one with 'lttctl snapshot add-output PATH'\n", out);
	else
		fprintf(out, "  [1] %s: %s (%s%s)\n", json_str(output, "name"),
			json_str(output, "path"), most ? "at most " : "of any size",
			most ? text_size(buf, most) : "");
}

static void snapshot_text_span(FILE *out, struct json_object *o, const char *what)
{
	int64_t ns = json_object_get_int64(json_get(o, "end_ns")) -
		     json_object_get_int64(json_get(o, "begin_ns"));
	char buf[TEXT_BYTES];

	if (ns > 0)
		fprintf(out, "%s: the last %s\n", what, text_duration(buf, (uint64_t)ns));
	else
		fprintf(out, "%s: no time of which all buffers have all events\n", what);
}

static void snapshot_text(FILE *out, struct json_object *record)
{
	char name[64];

	if (json_get(record, "outputs")) {
		snapshot_text_outputs(out, record);
		return;
	}
	text_form(out, record,
		  "Snapshot recorded for session {session}: {recorded:n} event{recorded:s} in "
		  "{directory}\nEarlier events, which the buffers no longer had: {overwritten:n}\n");
	if (json_num(record, "remembered"))
		text_form(out, record,
			  "Besides, remembered by other sessions: {remembered:n} event{remembered:s}\n");
	snapshot_text_span(out, record, "In common");
	for (size_t i = 0; i < json_len(record, "buffers"); i++) {
		struct json_object *o = json_at(record, "buffers", i);

		if (!json_num(o, "recorded"))
			continue;
		snprintf(name, sizeof(name), "  %.40s, CPU %" PRIu64, json_str(o, "channel"),
			 json_num(o, "cpu"));
		snapshot_text_span(out, o, name);
	}
}

const struct verb verb_snapshot = {
	.name = "snapshot",
	.operands = "(record [PATH | URL] | add-output (PATH | URL) | "
		    "del-output (1 | NAME) | list-output)",
	.help = "Write the events that the buffers have now",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 2,
	.check = snapshot_check,
	.run = snapshot_run,
	.text = snapshot_text,
};
