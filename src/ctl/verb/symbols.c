/* SPDX-License-Identifier: GPL-2.0-only */
/* symbols.c - lttctl symbols --embed [SESSION | DIR]: write the names of a trace's addresses beside
 * it. */
#include "base/mem.h"
#include "ctl/embed.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/viewing.h"
#include "show/show.h"

static int embed;
static struct show_options chosen;

static const struct poptOption options[] = {
	OPTION_FLAG("embed", 0, &embed, "write the names beside the trace"),
	OPTIONS_PLACES(chosen),
	POPT_TABLEEND,
};

static enum status symbols_verb_check(struct ctl *ctl)
{
	if (embed)
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID,
		"missing option: use 'lttctl symbols --embed' to write the names beside a trace, and "
		"'lttctl view --symbols' to read them");
	return STATUS_ERROR;
}

static enum status symbols_verb_run(struct ctl *ctl)
{
	char *path AUTO_FREE = viewing_path(ctl, operand(ctl, 0));
	struct embedded done;

	chosen.mangled = 1;
	if (!path || embed_symbols(path, &chosen, 0, &done, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "path", path);
	json_set_num(ctl->record, "addresses", done.names);
	json_set_num(ctl->record, "left_out", done.left_out);
	return STATUS_OK;
}

static void symbols_verb_text(FILE *out, struct json_object *record)
{
	char nr[TEXT_BYTES];

	fprintf(out, "%s has the names of %s address%s now", json_str(record, "path"),
		text_count(nr, json_num(record, "addresses")),
		json_num(record, "addresses") == 1 ? "" : "es");
	if (json_num(record, "left_out"))
		fprintf(out, "; there was no room for %s others",
			text_count(nr, json_num(record, "left_out")));
	fputc('\n', out);
}

const struct verb verb_symbols = {
	.name = "symbols",
	.operands = "[SESSION | DIR]",
	.help = "Write the names of a trace's functions and lines beside it",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = 1,
	.check = symbols_verb_check,
	.run = symbols_verb_run,
	.text = symbols_verb_text,
};
