/* SPDX-License-Identifier: GPL-2.0-only */
#include "orphaned.h"

#include <string.h>

#include "base/mem.h"

struct orphaned {
	struct list_node node;
	uid_t uid;
	char *name, *path, *why;
};

void orphaned_add(struct list_node *list, uid_t uid, const char *name, const char *path,
		  const char *why)
{
	struct orphaned *u = xalloc(sizeof(*u));

	u->uid = uid;
	u->name = xstrdup(name);
	u->path = xstrdup(path);
	u->why = xstrdup(why);
	list_append(list, &u->node);
}

void orphaned_fini(struct list_node *list)
{
	struct orphaned *u, *next;

	list_for_each_safe(u, next, list, node) {
		list_remove(&u->node);
		free(u->name);
		free(u->path);
		free(u->why);
		free(u);
	}
}

static const struct orphaned *orphaned_find(const struct list_node *list,
					    const struct caller *caller, const char *name)
{
	const struct orphaned *u;

	list_for_each(u, list, node)
		if ((caller->uid == 0 || caller->uid == u->uid) && strcmp(u->name, name) == 0)
			return u;
	return NULL;
}

void orphaned_explain(const struct list_node *list, const struct caller *caller, const char *name,
		      struct err *err)
{
	const struct orphaned *u = orphaned_find(list, caller, name);

	if (!u)
		return;
	*err = (struct err){ 0 };
	if (u->path[0])
		err_set(err, ERR_NO_SESSION,
			"session '%s' could not be taken over: %s; `lttctl verify %s` shows what "
			"was written of it",
			name, u->why, u->path);
	else
		err_set(err, ERR_NO_SESSION, "session '%s' could not be taken over: %s", name,
			u->why);
}
