/* SPDX-License-Identifier: GPL-2.0-only */
/* lttng.c - reads the sessions of a file that `lttng save` has written. */
#include "read.h"

void saved_read_lttng(const struct element *root, struct json_object *sessions,
		      struct problems *problems)
{
	(void)sessions;
	problems_unsupported(problems, root->line, root->name, "not yet");
}
