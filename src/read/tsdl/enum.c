/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The labels of an enumeration. */
#include <errno.h>

#include "parser.h"

static int number(struct tsdl *p, uint64_t *ret)
{
	struct tsdl_value value;
	int r = tsdl_value(p, &value);

	if (r < 0)
		return r;
	if (value.kind != VALUE_NUMBER)
		return tsdl_fail(p, "a label's value is not a number");
	*ret = value.number;
	return 0;
}

static int label(struct tsdl *p, const char **ret_label)
{
	if (p->tok.kind != TOKEN_STRING && p->tok.kind != TOKEN_WORD)
		return tsdl_fail(p, "a label is expected");
	*ret_label = tsdl_string(p);
	return 0;
}

/* LABEL [= FIRST [... LAST]]; without a value it is the one behind the last. */
static int mapping(struct tsdl *p, struct ctf_type *type, uint64_t *next)
{
	struct ctf_mapping m = { .first = *next };
	int r = label(p, &m.label);

	if (!r && tsdl_accept(p, '='))
		r = number(p, &m.first);
	m.last = m.first;
	if (!r && p->tok.kind == TOKEN_ELLIPSIS) {
		tsdl_advance(p);
		r = number(p, &m.last);
	}
	if (r < 0)
		return r;
	*model_add_mapping(&p->model, type) = m;
	*next = m.last + 1;
	return 0;
}

int tsdl_enum_body(struct tsdl *p, struct ctf_type *type)
{
	uint64_t next = 0;
	int r = tsdl_expect(p, '{');

	while (!r && !tsdl_at(p, '}')) {
		r = mapping(p, type, &next);
		if (!r && !tsdl_accept(p, ',') && !tsdl_at(p, '}'))
			r = tsdl_fail(p, "a comma is expected between labels");
	}
	return r ? r : tsdl_expect(p, '}');
}
