/* SPDX-License-Identifier: GPL-2.0-only */
#include "library.h"

#include "base/mem.h"
#include "own.h"

struct ltt_ctl *library(struct ctl *ctl)
{
	return ctl->library;
}

bool library_is_connected(const struct ctl *ctl)
{
	return ltt_ctl_daemon(ctl->library) != NULL;
}

int library_done(struct ctl *ctl, int code, struct err *err)
{
	if (code == 0)
		return 0;
	if (code == LTT_CTL_NO_DAEMON && ctl->lost.code)
		return err_set(err, ctl->lost.code, "%s", ctl->lost.text);
	err_set(err, (enum err_code)code, "%s", ltt_ctl_error(ctl->library));
	if (!library_is_connected(ctl) &&
	    (code == LTT_CTL_NO_DAEMON || code == LTT_CTL_NO_ANSWER || code == LTT_CTL_INTERRUPTED))
		err_set(&ctl->lost, (enum err_code)code, "%s", ltt_ctl_error(ctl->library));
	return code;
}

/* The daemon to start, unless the option names it. Allocated. */
static char *library_find_sessiond(void)
{
	const char *env = getenv("LTT_SESSIOND_PATH");

	return env && *env ? xstrdup(env) : own_program("ltt-sessiond");
}

int library_connect(struct ctl *ctl, bool start, struct err *err)
{
	char *sessiond AUTO_FREE = ctl->sessiond_path ? NULL : library_find_sessiond();
	struct ltt_ctl_connect_options o;
	int code;

	ctl->lost = (struct err){ 0 };
	ltt_ctl_connect_options_init(&o);
	o.start_daemon = start && !ctl->no_sessiond;
	o.never_start = ctl->no_sessiond;
	o.daemon_path = ctl->sessiond_path ? ctl->sessiond_path : sessiond;
	o.group = ctl->group;
	if (ctl->interrupt)
		o.cancel_fd = *ctl->interrupt;
	code = ltt_ctl_connect(ctl->library, &o);
	return code ? err_set(err, (enum err_code)code, "%s", ltt_ctl_error(ctl->library)) : 0;
}
