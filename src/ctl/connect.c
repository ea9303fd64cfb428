/* SPDX-License-Identifier: GPL-2.0-only */
#include "connect.h"

#include <string.h>

#include "library.h"
#include "print.h"

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
	if (library_connect(ctl, how == DAEMON_STARTED, err) != 0) {
		if (err->code == ERR_NO_DAEMON && how == DAEMON_NEEDED) {
			size_t len = strlen(err->text);

			snprintf(err->text + len, sizeof(err->text) - len,
				 "; 'lttctl create' starts one, or 'ltt-sessiond --daemonize'");
		}
		return how == DAEMON_WELCOME ? 0 : err->code;
	}
	print_waiting(ctl);
	daemon = ltt_ctl_daemon(library(ctl));
	print_verbose(ctl, "session daemon %s, pid %u, in %s", daemon->version, daemon->pid,
		      daemon->rundir);
	return 0;
}
