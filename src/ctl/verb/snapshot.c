/* SPDX-License-Identifier: GPL-2.0-only */
/* snapshot.c - lttctl snapshot record: write the events that a session's buffers have now. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print.h"
#include "ctl/record.h"
#include "ctl/target.h"
#include "ctl/text.h"

#define NO_RELAY \
	"snapshots can't be sent to a relay; record one into a directory, and copy it from there"

static struct {
	char *session, *name, *max_size;
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
	OPTION_NOT_YET("ctrl-url", 'C', POPT_ARG_STRING, 2, NO_RELAY),
	OPTION_NOT_YET("data-url", 'D', POPT_ARG_STRING, 3, NO_RELAY),
	POPT_TABLEEND,
};

static enum status snapshot_refuse(struct ctl *ctl, const char *object, const char *why)
{
	err_set(&ctl->err, ERR_UNSUPPORTED, "%s: %s", object, why);
	return STATUS_UNSUPPORTED;
}

/* LTTng's other actions are about outputs. */
static enum status check_action(struct ctl *ctl, const char *action)
{
	static const char *const later[] = { "add-output", "del-output", "list-output" };

	for (size_t i = 0; i < ARRAY_SIZE(later); i++)
		if (strcmp(action, later[i]) == 0)
			return snapshot_refuse(ctl, action,
					       "snapshots have no other output yet than the "
					       "directory of their session");
	if (strcmp(action, "record") == 0)
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID, "can't do '%s' with a snapshot: use lttctl snapshot record",
		action);
	return STATUS_ERROR;
}

/* A path, or file:///PATH. */
static enum status snapshot_take_output(struct ctl *ctl, const char *output)
{
	wanted.output = output;
	if (!output || !strstr(output, ":/"))
		return STATUS_OK;
	if (strncmp(output, "file:", 5) != 0)
		return snapshot_refuse(ctl, output, NO_RELAY);
	wanted.output = output + strlen("file://");
	if (strncmp(output, "file:///", 8) == 0)
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID,
		"'%s': a file URL needs an absolute path, as in file:///tmp/snapshots", output);
	return STATUS_ERROR;
}

static enum status snapshot_check(struct ctl *ctl)
{
	const char *action = operand(ctl, 0);

	ltt_ctl_snapshot_options_init(&wanted);
	if (opt.max_size && (parse_size(opt.max_size, &wanted.max_size) != 0 || !wanted.max_size)) {
		err_set(&ctl->err, ERR_INVALID,
			"--max-size=%s: this is not a size, such as 67108864, 64M or 1G",
			opt.max_size);
		return STATUS_ERROR;
	}
	if (!action) {
		err_set(&ctl->err, ERR_INVALID, "missing argument: use lttctl snapshot record");
		return STATUS_ERROR;
	}
	if (check_action(ctl, action) != STATUS_OK)
		return ctl->err.code == ERR_UNSUPPORTED ? STATUS_UNSUPPORTED : STATUS_ERROR;
	return snapshot_take_output(ctl, operand(ctl, 1));
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
	return snapshot->lost ? STATUS_WARNING : STATUS_OK;
}

static enum status snapshot_failed(struct ctl *ctl, const char *session)
{
	target_suggest(ctl, session, NULL, NULL);
	return STATUS_ERROR;
}

static enum status snapshot_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session);
	struct ltt_ctl_snapshot *snapshot = NULL;
	struct ltt_ctl *lib = ctl->library;
	enum status status;
	int code;

	if (!session)
		return STATUS_ERROR;
	wanted.session = session;
	wanted.name = opt.name;
	code = ltt_ctl_snapshot_record(lib, &wanted, &snapshot);
	if (ctl_done(ctl, code, &ctl->err) != 0)
		return snapshot_failed(ctl, session);
	ctl->record = record_snapshot(session, snapshot);
	status = snapshot_warn(ctl, snapshot);
	ltt_ctl_snapshot_free(snapshot);
	return status;
}

static void snapshot_text_span(FILE *out, struct json_object *o, const char *what)
{
	int64_t ns = json_object_get_int64(record_get(o, "end_ns")) -
		     json_object_get_int64(record_get(o, "begin_ns"));
	char buf[TEXT_BYTES];

	if (ns > 0)
		fprintf(out, "%s: the last %s\n", what, text_duration(buf, (uint64_t)ns));
	else
		fprintf(out, "%s: no time of which all buffers have all events\n", what);
}

static void snapshot_text(FILE *out, struct json_object *record)
{
	uint64_t recorded = record_num(record, "recorded");
	char buf[TEXT_BYTES], name[64];

	fprintf(out, "Snapshot recorded for session %s: %s event%s in %s\n",
		record_str(record, "session"), text_count(buf, recorded), text_plural(recorded),
		record_str(record, "directory"));
	fprintf(out, "Earlier events, which the buffers no longer had: %s\n",
		text_count(buf, record_num(record, "overwritten")));
	snapshot_text_span(out, record, "In common");
	for (size_t i = 0; i < record_len(record, "buffers"); i++) {
		struct json_object *o = record_at(record, "buffers", i);

		if (!record_num(o, "recorded"))
			continue;
		snprintf(name, sizeof(name), "  %.40s, CPU %" PRIu64, record_str(o, "channel"),
			 record_num(o, "cpu"));
		snapshot_text_span(out, o, name);
	}
}

const struct verb verb_snapshot = {
	.name = "snapshot",
	.operands = "record [PATH | file:///PATH]",
	.help = "Write the events that the buffers have now",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 2,
	.check = snapshot_check,
	.run = snapshot_run,
	.text = snapshot_text,
};
