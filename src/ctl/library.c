/* SPDX-License-Identifier: GPL-2.0-only */
#include "library.h"

#include "base/mem.h"
#include "libctl/control.h"
#include "libctl/daemon.h"

struct ltt_ctl *library(struct ctl *ctl)
{
	if (!ctl->library) {
		ctl->library = xalloc(sizeof(*ctl->library));
		control_init(ctl->library);
	}
	control_lend(ctl->library, ctl->client);
	return ctl->library;
}

int library_done(struct ctl *ctl, int code, struct err *err)
{
	if (code)
		err_set(err, (enum err_code)code, "%s", ltt_ctl_error(ctl->library));
	return code;
}

int library_connect(struct ctl *ctl, bool start, struct err *err)
{
	const struct daemon_request request = {
		.spawn = start && !ctl->no_sessiond,
		.never_spawn = ctl->no_sessiond,
		.path = ctl->sessiond_path,
		.group = ctl->group,
		.interrupt = ctl->interrupt,
	};

	return daemon_open(&request, &ctl->client, err);
}

void library_disconnect(struct ctl *ctl)
{
	if (ctl->library)
		control_lend(ctl->library, NULL);
	ctl->client = client_free(ctl->client);
}

void library_on_waiting(struct ctl *ctl, void (*fn)(void *priv, unsigned int waited_ms), void *priv)
{
	client_on_waiting(ctl->client, fn, priv);
}

char *library_rundir(void)
{
	return daemon_rundir();
}

const char *library_system_rundir(void)
{
	return daemon_system_rundir;
}

char *library_closed_dir(const char *rundir)
{
	return daemon_closed_dir(rundir);
}

char *library_own_dir(void)
{
	return daemon_own_dir();
}
