/* SPDX-License-Identifier: GPL-2.0-only */
#include "create.h"

#include <string.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/print/print.h"
#include "ctl/own.h"
#include "ctl/trace/viewing.h"
#include "ctl/words.h"

/* A warning each. */
static void create_print_warnings(struct ctl *ctl, const char *lines)
{
	char *text AUTO_FREE = xstrdup(lines), *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		print_warning(ctl, "%s", line);
}

int create_session(struct ctl *ctl, struct ltt_ctl_create_options *o, struct created *ret)
{
	char *relayd AUTO_FREE = ctl->relayd_path ? NULL : own_program("ltt-relayd");
	struct ltt_ctl *lib = ctl->library;
	int code;

	o->relayd_path = ctl->relayd_path ? ctl->relayd_path : relayd;
	code = ltt_ctl_create(lib, o, &ret->session, &ret->output);
	create_print_warnings(ctl, ltt_ctl_warning(lib));
	return ctl_done(ctl, code, &ctl->err);
}

void create_remember(struct ctl *ctl, const struct created *created)
{
	struct err err = { 0 };

	if (viewing_remember_current(created->session, created->output, created->session,
				     &err) != 0)
		print_warning(ctl, "the session is not remembered as the current one: %s",
			      err.text);
}

void created_fini(struct created *created)
{
	free(created->session);
	free(created->output);
}

int create_take_format(struct ctl *ctl, const char *text, struct ltt_ctl_create_options *ret)
{
	int number = text ? words_number(&words_trace_format, text) : LTT_CTL_TRACE_FORMAT_DEFAULT;

	if (number < 0)
		return err_set(&ctl->err, ERR_INVALID,
			       "--trace-format=%s: unknown trace format; use ctf-1.8, ctf-2 or default",
			       text);
	ret->trace_format = (enum ltt_ctl_trace_format)number;
	return 0;
}
