/* SPDX-License-Identifier: GPL-2.0-only */
#include "connect.h"

#include <string.h>

#include "base/mem.h"
#include "ctl/print/print.h"
#include "own.h"

bool ctl_is_connected(const struct ctl *ctl)
{
	return ltt_ctl_daemon(ctl->library) != NULL;
}

int ctl_done(struct ctl *ctl, int code, struct err *err)
{
	if (code == 0)
		return 0;
	if (code == LTT_CTL_NO_DAEMON && ctl->lost.code)
		return err_set(err, ctl->lost.code, "%s", ctl->lost.text);
	err_set(err, (enum err_code)code, "%s", ltt_ctl_error(ctl->library));
	if (!ctl_is_connected(ctl) &&
	    (code == LTT_CTL_NO_DAEMON || code == LTT_CTL_NO_ANSWER || code == LTT_CTL_INTERRUPTED))
		err_set(&ctl->lost, (enum err_code)code, "%s", ltt_ctl_error(ctl->library));
	return code;
}

/* The daemon to start, unless the option names it. Allocated. */
static char *ctl_find_sessiond(void)
{
	const char *env = getenv("LTT_SESSIOND_PATH");

	return env && *env ? xstrdup(env) : own_program("ltt-sessiond");
}

int ctl_open(struct ctl *ctl, bool start, struct err *err)
{
	char *sessiond AUTO_FREE = ctl->sessiond_path ? NULL : ctl_find_sessiond();
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

bool ctl_is_unreached(struct ctl *ctl)
{
	if (ctl->unreached.code != ERR_NO_ANSWER)
		return false;
	ctl->err = ctl->unreached;
	return true;
}

int ctl_connect(struct ctl *ctl, enum verb_daemon how)
{
	const struct ltt_ctl_daemon_info *daemon;
	struct err *err = how == DAEMON_WELCOME ? &ctl->unreached : &ctl->err;

	if (how == DAEMON_UNUSED)
		return 0;
	if (ctl_open(ctl, how == DAEMON_STARTED, err) != 0) {
		if (err->code == ERR_NO_DAEMON && how == DAEMON_NEEDED) {
			size_t len = strlen(err->text);

			snprintf(err->text + len, sizeof(err->text) - len,
				 "; 'lttctl create' starts one, or 'ltt-sessiond --daemonize'");
		}
		return how == DAEMON_WELCOME ? 0 : err->code;
	}
	print_waiting(ctl);
	daemon = ltt_ctl_daemon(ctl->library);
	print_verbose(ctl, "session daemon %s, pid %u, in %s", daemon->version, daemon->pid,
		      daemon->rundir);
	return 0;
}
