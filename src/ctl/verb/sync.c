/* SPDX-License-Identifier: GPL-2.0-only */
/* sync.c - lttctl sync [SESSION | DIR]: sync a trace to the disk, so that it survives a power
 * failure. */
#include "base/mem.h"
#include "ctl/durable.h"
#include "ctl/record.h"
#include "ctl/text.h"
#include "ctl/viewing.h"

static enum status sync_verb_run(struct ctl *ctl)
{
	char *path AUTO_FREE = viewing_path(ctl, operand(ctl, 0));
	struct durable done;

	if (!path || durable_make(path, &done, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	record_set_str(ctl->record, "path", path);
	record_set_num(ctl->record, "files", done.files);
	record_set_num(ctl->record, "bytes", done.bytes);
	return STATUS_OK;
}

static void sync_verb_print_text(FILE *out, struct json_object *record)
{
	char files[TEXT_BYTES], size[TEXT_BYTES];

	fprintf(out, "%s is on the disk: %s in %s file%s\n", record_str(record, "path"),
		text_size(size, record_num(record, "bytes")),
		text_count(files, record_num(record, "files")),
		text_plural(record_num(record, "files")));
}

const struct verb verb_sync = {
	.name = "sync",
	.operands = "[SESSION | DIR]",
	.help = "Make the written part of a trace survive a loss of power",
	.daemon = DAEMON_WELCOME,
	.max_operands = 1,
	.run = sync_verb_run,
	.text = sync_verb_print_text,
};
