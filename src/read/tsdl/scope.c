/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of types, by lexical scope. Scopes are numbered and never reused, so a
 * name is found by hash whatever the number of scopes and names. */
#include <string.h>

#include "parser.h"

static struct tsdl_name **bucket(struct tsdl *p, uint32_t scope, int ns, const char *name)
{
	uint32_t h = 2166136261u ^ scope * 16777619u ^ (uint32_t)ns;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return &p->names[(h ^ h >> 13) % ARRAY_SIZE(p->names)];
}

int tsdl_scope_push(struct tsdl *p)
{
	if (p->nr_scopes == ARRAY_SIZE(p->scopes))
		return tsdl_fail(p, "scopes are nested too deep");
	p->scopes[p->nr_scopes++] = ++p->last_scope;
	return 0;
}

void tsdl_scope_pop(struct tsdl *p)
{
	p->nr_scopes--;
}

void tsdl_scope_add(struct tsdl *p, enum tsdl_namespace ns, const char *name, struct ctf_type *type)
{
	uint32_t scope = p->scopes[p->nr_scopes - 1];
	struct tsdl_name **head = bucket(p, scope, ns, name);
	struct tsdl_name *entry = arena_alloc(p->model.arena, sizeof(*entry));

	*entry = (struct tsdl_name){ *head, name, scope, ns, type };
	*head = entry;
}

static struct ctf_type *find_in(struct tsdl *p, uint32_t scope, enum tsdl_namespace ns,
				const char *name)
{
	for (struct tsdl_name *n = *bucket(p, scope, ns, name); n && p->model.budget; n = n->next) {
		p->model.budget--;
		if (n->scope == scope && n->ns == ns && !strcmp(n->name, name))
			return n->type;
	}
	return NULL;
}

struct ctf_type *tsdl_scope_find(struct tsdl *p, enum tsdl_namespace ns, const char *name)
{
	for (uint32_t i = p->nr_scopes; i-- > 0;) {
		struct ctf_type *type = find_in(p, p->scopes[i], ns, name);

		if (type)
			return type;
	}
	return NULL;
}
