/* SPDX-License-Identifier: GPL-2.0-only */
#include "tailing.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"

#define REST_MS 200
#define AWAY_MOST 150u /* rests without a daemon; a service manager has started it by then */

static bool tailing_is_same_dir(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool tailing_is_state(struct json_object *session, const char *state)
{
	return strcmp(json_str(session, "state"), state) == 0;
}

int tailing_begin(struct ctl *ctl, const char *path, struct tailing *ret)
{
	struct json_object *sessions AUTO_RECORD = NULL;

	*ret = (struct tailing){ .ctl = ctl };
	if (!ctl_is_connected(ctl))
		return 0;
	if (target_sessions(ctl, &sessions, &ctl->err) != 0)
		return ctl->err.code;
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		if (!tailing_is_same_dir(json_str(session, "output"), path))
			continue;
		if (json_num(session, "snapshots"))
			return err_set(&ctl->err, ERR_UNSUPPORTED,
				       "--follow: session '%s' writes only snapshots",
				       json_str(session, "name"));
		ret->session = xstrdup(json_str(session, "name"));
		ret->output = xstrdup(json_str(session, "output"));
		return 0;
	}
	return 0;
}

void tailing_end(struct tailing *tailing)
{
	free(TAKE(tailing->session));
	free(TAKE(tailing->output));
}

/* The session of that name may be another one by now. */
static bool tailing_has_ended(struct tailing *t, struct err *err)
{
	struct json_object *found AUTO_RECORD = NULL;

	if (target_find_session(t->ctl, t->session, &found, err) != 0)
		return false;
	return !found || strcmp(json_str(found, "output"), t->output) != 0 ||
	       tailing_is_state(found, "stopped") || tailing_is_state(found, "destroying");
}

/* A daemon that was killed takes its sessions over when it is started again. */
static enum tail_cut tailing_failed(struct tailing *t, const struct err *err)
{
	struct err ignored = { 0 };

	if (err->code == ERR_NO_SESSION)
		return TAIL_ENDED;
	if (!t->reported)
		print_warning(t->ctl, "%s; later events are shown when it can write them",
			      err->text);
	t->reported = true;
	if (!ctl_is_connected(t->ctl) && ++t->away < AWAY_MOST)
		(void)!ctl_open(t->ctl, false, &ignored);
	return t->away < AWAY_MOST ? TAIL_UNCHANGED : TAIL_ENDED;
}

enum tail_cut tailing_cut(void *priv)
{
	struct tailing *t = priv;
	struct err err = { 0 };
	uint64_t spooled;
	bool ended;

	poll(NULL, 0, REST_MS);
	ended = tailing_has_ended(t, &err);
	if (err.code || ended)
		return err.code ? tailing_failed(t, &err) : TAIL_ENDED;
	if (ctl_done(t->ctl, ltt_ctl_flush(t->ctl->library, t->session, &spooled), &err) != 0)
		return tailing_failed(t, &err);
	t->reported = false;
	t->away = 0;
	return TAIL_WRITTEN;
}
