/* SPDX-License-Identifier: GPL-2.0-only */
#include "create.h"

#include "libctl/home.h"
#include "print.h"
#include "viewing.h"

int create_session(struct ctl *ctl, struct creation *c)
{
	if (creation_prepare(c, ctl->relayd_path, &ctl->err) != 0)
		return ctl->err.code;
	if (c->relay.unknown)
		print_warning(ctl,
			      "can't resolve the relay's host '%s' now (%s): recorded data goes to "
			      "the spool",
			      c->relay.host, c->relay.unknown);
	if (c->relay.away)
		print_warning(ctl, "no relay answers at %s now: recorded data goes to the spool",
			      c->relay.text);
	return creation_make(c, ctl->client, &ctl->err);
}

void create_remember(struct ctl *ctl, const struct creation *c, bool current)
{
	struct err err = { 0 };

	if (current && home_set(HOME_SESSION, c->session, &err) != 0)
		print_warning(ctl, "the session is not remembered as the current one: %s",
			      err.text);
	else
		viewing_remember(ctl, c->session, *c->relay.addr ? NULL : c->dir.path);
}
