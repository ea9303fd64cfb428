/* SPDX-License-Identifier: GPL-2.0-only */
#include "library.h"

#include "base/mem.h"
#include "libctl/control.h"

struct ltt_ctl *library(struct ctl *ctl)
{
	if (!ctl->library)
		ctl->library = xalloc(sizeof(*ctl->library));
	control_lend(ctl->library, ctl->client);
	return ctl->library;
}

int library_done(struct ctl *ctl, int code, struct err *err)
{
	if (code)
		err_set(err, (enum err_code)code, "%s", ltt_ctl_error(ctl->library));
	return code;
}
