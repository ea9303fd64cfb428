/* SPDX-License-Identifier: GPL-2.0-only */
#include "create.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "libctl/calls.h"
#include "libctl/home.h"
#include "libctl/relay_local.h"
#include "print.h"
#include "viewing.h"

#define AUTO_TRIES 100 /* made-up names for one second */

void creation_fini(struct creation *creation)
{
	free(TAKE(creation->session));
	outdir_fini(&creation->dir);
}

static int make_output(struct ctl *ctl, struct creation *c, const char *stamp)
{
	if (*c->relay.addr && c->spool_size)
		return outdir_spool(c->session, stamp, &c->dir, &ctl->err);
	if (c->no_output || *c->relay.addr)
		return 0;
	return c->output ? outdir_at(c->output, &c->dir, &ctl->err) :
			   outdir_default(c->session, stamp, &c->dir, &ctl->err);
}

/* With the name in c->session. */
static int try_create(struct ctl *ctl, struct creation *c, const char *stamp)
{
	struct req_session_create req = {
		.name = c->session,
		.scope = c->scope,
		.keep_free = c->keep_free,
		.max_size = c->max_size,
		.sync = (uint8_t)c->sync,
		.sync_us = c->sync_us,
		.live_us = c->live_us,
		.compress = c->compress,
	};
	struct rep_session_create rep;

	if (make_output(ctl, c, stamp) != 0)
		return ctl->err.code;
	req.path = c->dir.path;
	req.outdir = c->dir.fd;
	if (*c->relay.addr) {
		req.path = c->relay.text;
		req.relay = c->relay.addr;
		req.relay_clear = (uint8_t)(c->clear_text ? RELAY_LINK_CLEAR : c->relay.link);
		req.relay_host = c->relay.host;
		req.spool = c->dir.path ? c->dir.path : "";
		req.spool_size = c->dir.path ? c->spool_size : 0;
	}
	if (call_session_create(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0) {
		outdir_undo(&c->dir);
		return ctl->err.code;
	}
	if (*rep.name) {
		free(c->session);
		c->session = xstrdup(rep.name);
	}
	return 0;
}

static int create_unnamed(struct ctl *ctl, struct creation *c, const char *stamp)
{
	const char *prefix =
		c->prefix && !name_check(c->prefix) && strlen(c->prefix) < NAME_MAX_BYTES / 2 ?
			c->prefix :
			"auto";

	for (unsigned int i = 1; i <= AUTO_TRIES; i++) {
		free(c->session);
		c->session = i == 1 ? xasprintf("%s-%s", prefix, stamp) :
				      xasprintf("%s-%s-%u", prefix, stamp, i);
		ctl->err = (struct err){ 0 };
		if (try_create(ctl, c, stamp) != ERR_SESSION_EXISTS)
			break;
	}
	return ctl->err.code;
}

static int find_relay(struct ctl *ctl, struct creation *c)
{
	if (!c->url)
		return c->live_us ? relay_local(ctl->relayd_path, &c->relay, &ctl->err) : 0;
	if (url_relay(c->url, c->spool_size, &c->relay, &ctl->err) != 0)
		return ctl->err.code;
	if (c->relay.unknown)
		print_warning(ctl,
			      "can't resolve the relay's host '%s' now (%s): recorded data goes to "
			      "the spool",
			      c->relay.host, c->relay.unknown);
	if (c->relay.away)
		print_warning(ctl, "no relay answers at %s now: recorded data goes to the spool",
			      c->relay.text);
	return 0;
}

int create_session(struct ctl *ctl, struct creation *c)
{
	char stamp[OUTDIR_STAMP_BYTES];
	const char *wrong = c->name ? name_check(c->name) : NULL;

	outdir_stamp(stamp);
	if (wrong)
		return err_set(&ctl->err, ERR_INVALID, "the session name '%s' %s", c->name, wrong);
	if (find_relay(ctl, c) != 0)
		return ctl->err.code;
	if (!c->name)
		return create_unnamed(ctl, c, stamp);
	c->session = xstrdup(c->name);
	return try_create(ctl, c, stamp);
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
