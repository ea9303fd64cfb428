/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_spool.c - calls of ltt/control.h for spools. The session daemon's consumer sends spools,
 * as it can read the host's keys; the other calls work in the caller's process. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "calls.h"
#include "control.h"
#include "spools.h"

/* A session that has not begun, or whose consumer is just being replaced, has it as well. */
static bool control_is_of_session(const struct ltt_ctl_sessions *sessions, const char *path)
{
	for (size_t i = 0; sessions && i < sessions->nr; i++)
		if (strcmp(sessions->sessions[i]->spool, path) == 0)
			return true;
	return false;
}

/* Begins a call that needs no connection. @ret: NULL: there is none. */
static int control_users(struct ltt_ctl *ctl, struct ltt_ctl_sessions **ret)
{
	control_forget(ctl);
	return ctl->client ? control_list(ctl, false, "", ret) : 0;
}

static void control_cleanup_users(struct ltt_ctl_sessions **sessions)
{
	ltt_ctl_sessions_free(*sessions);
}

/* --- list --------------------------------------------------------------------------------- */

static void control_append_spool(struct ltt_ctl_spools *list, const struct ltt_ctl_spool *spool)
{
	struct pool *pool = pool_of(list);
	struct ltt_ctl_spool *s = pool_alloc(pool, sizeof(*s));

	if (!s)
		return;
	*s = *spool;
	s->name = pool_str(pool, s->name);
	s->path = pool_str(pool, s->path);
	s->session = pool_str(pool, s->session);
	s->created = pool_str(pool, s->created);
	s->relay = pool_str(pool, s->relay);
	s->problem = pool_str(pool, s->problem);
	pool_append(pool, (const void *const **)&list->spools, &list->nr, s);
}

/* Return: 0 or the code in ctl->err. */
static int control_take_spool(struct ltt_ctl *ctl, struct ltt_ctl_spools *list,
			      const struct ltt_ctl_sessions *users, const char *name)
{
	struct spool_info info CLEANUP(spools_fini) = { .fd = -1 };
	struct ltt_ctl_spool s;
	const char *slash;

	if (spools_open(name, &info, &ctl->err) != 0)
		return ctl->err.code;
	slash = strrchr(info.path, '/');
	s = (struct ltt_ctl_spool){
		.name = slash ? slash + 1 : info.path,
		.path = info.path,
		.session = info.known ? info.facts.name : "",
		.created = info.known ? info.facts.stamp : "",
		.relay = info.known ? info.facts.url : "",
		.problem = "",
		.bytes = info.bytes,
		.packets = info.packets,
		.since_ns = info.since_ns,
		.in_use = info.locked || control_is_of_session(users, info.path),
		.sendable = info.known,
	};
	control_append_spool(list, &s);
	return 0;
}

static int control_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int control_is_shown(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

/* Return: 0 or the code in ctl->err: no memory. */
static int control_take_entry(struct ltt_ctl *ctl, struct ltt_ctl_spools *list,
			      const struct ltt_ctl_sessions *users, const char *name)
{
	struct ltt_ctl_spool s = { .path = "", .session = "", .created = "", .relay = "" };

	if (control_take_spool(ctl, list, users, name) == 0)
		return 0;
	if (ctl->err.code == ERR_NO_MEMORY)
		return ctl->err.code;
	s.name = name;
	s.problem = ctl->err.text;
	control_append_spool(list, &s);
	ctl->err = (struct err){ 0 };
	return 0;
}

/* Return: 0 or the code in ctl->err. */
static int control_take_spools(struct ltt_ctl *ctl, struct ltt_ctl_spools *list,
			       const struct ltt_ctl_sessions *users)
{
	char *dir AUTO_FREE = NULL;
	struct dirent **names = NULL;
	int nr, code = spools_dir(&dir, &ctl->err);

	if (code == ERR_INVALID) { /* no home has no spools */
		ctl->err = (struct err){ 0 };
		return 0;
	}
	if (code)
		return code;
	nr = scandir(dir, &names, control_is_shown, control_by_name);
	if (nr < 0 && errno == ENOMEM)
		return err_memory(&ctl->err);
	for (int i = 0; i < nr; i++) {
		if (code == 0)
			code = control_take_entry(ctl, list, users, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return code;
}

int ltt_ctl_list_spools(struct ltt_ctl *ctl, const char *spool, struct ltt_ctl_spools **ret_spools)
{
	struct ltt_ctl_sessions *users CLEANUP(control_cleanup_users) = NULL;
	struct ltt_ctl_spools *list;
	int code;

	if (control_users(ctl, &users) != 0)
		return ctl->err.code;
	list = pool_owner_new(sizeof(*list));
	if (!list)
		return err_memory(&ctl->err);
	code = spool ? control_take_spool(ctl, list, users, spool) :
		       control_take_spools(ctl, list, users);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	*ret_spools = list;
	return 0;
}

void ltt_ctl_spools_free(struct ltt_ctl_spools *spools)
{
	pool_owner_free(spools);
}

/* --- send, remove --------------------------------------------------------------------------- */

/* Open a spool that is to be changed. Return: 0 or the code in ctl->err. */
static int control_open_spool(struct ltt_ctl *ctl, const char *name, struct spool_info *ret)
{
	struct ltt_ctl_sessions *users CLEANUP(control_cleanup_users) = NULL;

	if (control_users(ctl, &users) != 0 || control_check_given(ctl, name, "the spool") != 0 ||
	    spools_open(name, ret, &ctl->err) != 0)
		return ctl->err.code;
	if (ret->locked || control_is_of_session(users, ret->path))
		return err_set(&ctl->err, ERR_STATE,
			       "%s is in use by a session, or is being sent; destroy the session, "
			       "or try again later",
			       ret->path);
	return 0;
}

/* The answer is valid until the next request. */
static int control_request_send(struct ltt_ctl *ctl, const struct spool_info *spool,
				struct rep_spool_send *rep)
{
	const struct spoolfacts *facts = &spool->facts;
	const struct req_spool_send req = {
		.dir = spool->fd,
		.name = facts->name,
		.stamp = facts->stamp,
		.id = { facts->id, sizeof(facts->id) },
		.url = *facts->chosen ? facts->chosen : facts->url,
		.relay_clear = facts->link,
		.sync = facts->sync,
		.sync_us = facts->sync_us,
		.live_us = facts->live_us,
		.compress = facts->compress,
	};

	return call_spool_send(ctl->client, &req, NULL, NULL, rep, &ctl->err);
}

int ltt_ctl_send_spool(struct ltt_ctl *ctl, const char *spool, uint64_t *ret_left)
{
	struct spool_info before CLEANUP(spools_fini) = { .fd = -1 };
	struct spool_info after CLEANUP(spools_fini) = { .fd = -1 };
	struct rep_spool_send rep;

	if (control_begin(ctl) != 0 || control_open_spool(ctl, spool, &before) != 0)
		return ctl->err.code;
	if (!before.known && spools_is_sent(&before)) {
		if (ret_left)
			*ret_left = 0;
		return 0;
	}
	if (!before.known)
		return err_set(&ctl->err, ERR_OUTPUT,
			       "%s does not name its session and relay; read it (lttctl view), "
			       "or remove it",
			       before.path);
	if (control_request_send(ctl, &before, &rep) != 0)
		return control_failed(ctl);
	if (spools_open(before.path, &after, &ctl->err) != 0)
		return ctl->err.code;
	if (*rep.problem || after.bytes)
		control_warn(ctl, "%s: %s", before.path,
			     *rep.problem ? rep.problem : "the remaining files belong to no trace");
	if (ret_left)
		*ret_left = after.bytes;
	return 0;
}

int ltt_ctl_remove_spool(struct ltt_ctl *ctl, const char *spool)
{
	struct spool_info info CLEANUP(spools_fini) = { .fd = -1 };

	if (control_open_spool(ctl, spool, &info) != 0)
		return ctl->err.code;
	return spools_remove(&info, &ctl->err);
}
