/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_list.c - lists of ltt/control.h: the contexts that there are. */
#include "base/macros.h"
#include "calls.h"
#include "control.h"

/* --- contexts ----------------------------------------------------------------------------- */

static int control_context_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl_contexts *list = priv;
	struct pool *pool = pool_of(list);
	struct ltt_ctl_context *c;
	struct msg_context m;

	if (type != MSG_context)
		return 0; /* a newer daemon sends more */
	if (msg_context_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	c = pool_alloc(pool, sizeof(*c));
	if (!c)
		return 0;
	c->name = pool_str(pool, m.name);
	c->type = pool_str(pool, m.type);
	c->domain = (enum ltt_ctl_domain)m.domain;
	pool_append(pool, (const void *const **)&list->contexts, &list->nr, c);
	return 0;
}

int ltt_ctl_list_contexts(struct ltt_ctl *ctl, enum ltt_ctl_domain domain,
			  struct ltt_ctl_contexts **ret_contexts)
{
	const struct req_context_list req = { .domain = (uint8_t)domain };
	struct ltt_ctl_contexts *list;
	struct rep_context_list rep;
	int code;

	if (control_begin(ctl) != 0)
		return ctl->err.code;
	list = pool_owner_new(sizeof(*list));
	if (!list)
		return err_memory(&ctl->err);
	code = call_context_list(ctl->client, &req, control_context_item, list, &rep, &ctl->err);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	*ret_contexts = list;
	return 0;
}

void ltt_ctl_contexts_free(struct ltt_ctl_contexts *contexts)
{
	pool_owner_free(contexts);
}
