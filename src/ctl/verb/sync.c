/* SPDX-License-Identifier: GPL-2.0-only */
/* sync.c - lttctl sync [SESSION | DIR]...: sync traces to the disk, so that it survives a power
 * failure. */
#include "base/mem.h"
#include "ctl/trace/durable.h"
#include "ctl/print/json.h"
#include "ctl/session/target.h"
#include "ctl/trace/viewing.h"

static enum status sync_verb_sync(struct ctl *ctl, const char *word, struct json_object **ret)
{
	char *path AUTO_FREE = viewing_path(ctl, word);
	struct durable done;

	if (!path || durable_make(path, &done, &ctl->err) != 0)
		return STATUS_ERROR;
	*ret = json_object_new_object();
	json_set_str(*ret, "path", path);
	JSON_COPY(*ret, &done, files, bytes);
	return STATUS_OK;
}

static enum status sync_verb_each(struct ctl *ctl, const char *word)
{
	struct json_object *o = NULL;
	enum status status = sync_verb_sync(ctl, word, &o);

	if (o)
		json_append(ctl->record, "sessions", o);
	return status;
}

static enum status sync_verb_run(struct ctl *ctl)
{
	return ctl->nr_operands > 1 ? target_each(ctl, sync_verb_each) :
				      sync_verb_sync(ctl, operand(ctl, 0), &ctl->record);
}

const struct verb verb_sync = {
	.name = "sync",
	.operands = "[SESSION | DIR]...",
	.help = "Make the written part of a trace survive a loss of power",
	.daemon = DAEMON_WELCOME,
	.max_operands = TARGET_MOST,
	.run = sync_verb_run,
	.form = "{path} is on the disk: {bytes:b} in {files:n} file{files:s}\n",
};
