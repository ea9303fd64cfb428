/* SPDX-License-Identifier: GPL-2.0-only */
/* symbols.c - lttctl symbols --embed [SESSION | DIR]: write the names of a trace's addresses beside
 * it. */
#include "base/mem.h"
#include "ctl/symbol/embed.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/trace/viewing.h"
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

const struct verb verb_symbols = {
	.name = "symbols",
	.operands = "[SESSION | DIR]",
	.help = "Write the names of a trace's functions and lines beside it",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = 1,
	.check = symbols_verb_check,
	.run = symbols_verb_run,
	.form = "{path} has the names of {addresses:n} address[{addresses=1}|es] now"
		"[; there was no room for {left_out:n?} others]\n",
};
