/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "creation.h"

#include <string.h>

#include "base/macros.h"
#include "base/str.h"
#include "calls.h"
#include "relay_local.h"

#define AUTO_TRIES 100 /* generated names within one second */

void creation_fini(struct creation *creation)
{
	free(TAKE(creation->session));
	outdir_fini(&creation->dir);
}

static int creation_make_output(struct creation *c, const char *stamp, struct err *err)
{
	if (*c->relay.addr && c->asked->spool_size)
		return outdir_spool(c->session, stamp, &c->dir, err);
	if (c->asked->no_output || *c->relay.addr)
		return 0;
	return c->asked->output ? outdir_at(c->asked->output, &c->dir, err) :
				  outdir_default(c->session, stamp, &c->dir, err);
}

/* Options as fields of a request; not those that are derived. */
#define CREATION_SET_derived(req, options, name) ((void)0)
#define CREATION_SET_relay_link CREATION_SET_derived
#define CREATION_SET_text(req, options, name) ((req)->name = (options)->name)
#define CREATION_SET_u32 CREATION_SET_text
#define CREATION_SET_u64 CREATION_SET_text
#define CREATION_SET_flag(req, options, name) ((req)->name = (options)->name != 0)
#define CREATION_SET_trace_format CREATION_SET_sync_mode
#define CREATION_SET_sync_mode(req, options, name) ((req)->name = (uint8_t)(options)->name)

/* With the name in c->session. */
static int creation_try(struct creation *c, struct client *client, const char *stamp,
			struct err *err)
{
	struct req_session_create req = { .name = c->session };
	struct rep_session_create rep;

	if (creation_make_output(c, stamp, err) != 0)
		return err->code;
#define ASKED(type, name, init, doc) CREATION_SET_##type(&req, c->asked, name);
#include "model/session.def"
	req.path = c->dir.path;
	req.outdir = c->dir.fd;
	if (*c->relay.addr) {
		req.path = c->relay.text;
		req.relay = c->relay.addr;
		req.relay_clear =
			(uint8_t)(c->asked->relay_clear ? RELAY_LINK_CLEAR : c->relay.link);
		req.relay_host = c->relay.host;
		req.spool = c->dir.path ? c->dir.path : "";
		req.spool_size = c->dir.path ? c->asked->spool_size : 0;
	}
	if (call_session_create(client, &req, NULL, NULL, &rep, err) != 0) {
		outdir_undo(&c->dir);
		return err->code;
	}
	if (*rep.name && strcmp(rep.name, c->session) != 0) {
		free(c->session);
		c->session = strdup(rep.name);
	}
	return c->session ? 0 : err_memory(err);
}

static int creation_unnamed(struct creation *c, struct client *client, const char *stamp,
			    struct err *err)
{
	const char *prefix = c->asked->prefix;

	if (!prefix || name_check(prefix) || strlen(prefix) >= NAME_MAX_BYTES / 2)
		prefix = "auto";

	for (unsigned int i = 1; i <= AUTO_TRIES; i++) {
		free(c->session);
		c->session = i == 1 ? str_printf("%s-%s", prefix, stamp) :
				      str_printf("%s-%s-%u", prefix, stamp, i);
		if (!c->session)
			return err_memory(err);
		*err = (struct err){ 0 };
		if (creation_try(c, client, stamp, err) != ERR_SESSION_EXISTS)
			break;
	}
	return err->code;
}

int creation_prepare(struct creation *c, const char *relayd, struct err *err)
{
	const char *wrong = c->asked->name ? name_check(c->asked->name) : NULL;

	if (wrong)
		return err_set(err, ERR_INVALID, "the session name '%s' %s", c->asked->name, wrong);
	if (c->asked->url)
		return url_relay(c->asked->url, c->asked->spool_size, &c->relay, err);
	return c->asked->live_us ? relay_local(relayd, &c->relay, err) : 0;
}

int creation_make(struct creation *c, struct client *client, struct err *err)
{
	char stamp[OUTDIR_STAMP_BYTES];

	outdir_stamp(stamp);
	if (!c->asked->name)
		return creation_unnamed(c, client, stamp, err);
	c->session = strdup(c->asked->name);
	return c->session ? creation_try(c, client, stamp, err) : err_memory(err);
}
