/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types as they are written: structs, variants, names, declarators. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parser.h"
#include "trace/metadata.h"

#define MAX_DIMENSIONS 8
#define MAX_TYPE_NAME 256

static int specifier(struct tsdl *p, bool declarator_follows, struct ctf_type **ret_type);

/* --- declarators: NAME and NAME[3][len] ----------------------------------- */

struct dimension {
	const char *ref; /* NULL: @length */
	uint64_t length;
};

static int dimension(struct tsdl *p, struct dimension *ret)
{
	int r = 0;

	tsdl_advance(p);
	*ret = (struct dimension){ NULL, p->tok.number };
	if (p->tok.kind == TOKEN_NUMBER)
		tsdl_advance(p);
	else
		r = tsdl_path(p, &ret->ref);
	return r ? r : tsdl_expect(p, ']');
}

static struct ctf_type *array_of(struct tsdl *p, struct ctf_type *elem, const struct dimension *d)
{
	struct ctf_type *type = model_new_type(&p->model, d->ref ? TYPE_SEQUENCE : TYPE_ARRAY);

	type->ref = d->ref;
	type->length = d->length;
	type->elem = elem;
	type->text =
		elem->kind == TYPE_INT && elem->size_bits == 8 && elem->align <= 8 && elem->text;
	return type;
}

static int declarator(struct tsdl *p, struct ctf_type *type, const char **ret_name,
		      struct ctf_type **ret_type)
{
	struct dimension dims[MAX_DIMENSIONS];
	uint32_t nr = 0;
	int r;

	if (p->tok.kind != TOKEN_WORD)
		return tsdl_fail(p, "a field's name is expected");
	*ret_name = tsdl_string(p);
	while (tsdl_at(p, '[')) {
		if (nr == MAX_DIMENSIONS)
			return tsdl_fail(p, "an array has too many dimensions");
		r = dimension(p, &dims[nr++]);
		if (r < 0)
			return r;
	}
	while (nr)
		type = array_of(p, type, &dims[--nr]);
	*ret_type = type;
	return 0;
}

/* --- typealias, typedef --------------------------------------------------- */

/* The words of a name like `unsigned long`, joined by single spaces. Where a
 * declarator follows, the last word is its and stays. */
static int type_name(struct tsdl *p, bool declarator_follows, const char **ret_name)
{
	char name[MAX_TYPE_NAME];
	size_t len = 0;

	while (p->tok.kind == TOKEN_WORD) {
		struct lex ahead = p->lex;
		struct token next;

		lex_next(&ahead, &next);
		if (declarator_follows && len && next.kind != TOKEN_WORD)
			break;
		if (!token_is(&p->tok, "const") && !token_is(&p->tok, "volatile")) {
			if (len + p->tok.len + 1 > sizeof(name))
				return tsdl_fail(p, "a type's name is too long");
			if (len)
				name[len++] = ' ';
			memcpy(name + len, p->tok.text, p->tok.len);
			len += p->tok.len;
		}
		tsdl_advance(p);
	}
	if (!len)
		return tsdl_fail(p, "a type is expected");
	*ret_name = arena_strndup(p->model.arena, name, len);
	return 0;
}

static int typealias(struct tsdl *p)
{
	struct ctf_type *type;
	const char *name;
	int r = tsdl_type(p, &type);

	if (r < 0)
		return r;
	if (p->tok.kind != TOKEN_ASSIGN_TYPE)
		return tsdl_fail(p, "typealias lacks its :=");
	tsdl_advance(p);
	r = type_name(p, false, &name);
	if (r < 0)
		return r;
	tsdl_scope_add(p, NS_ALIAS, name, type);
	return 0;
}

static int type_def(struct tsdl *p)
{
	struct ctf_type *base, *type;
	const char *name;
	int r = specifier(p, true, &base);

	while (!r) {
		r = declarator(p, base, &name, &type);
		if (r < 0)
			return r;
		tsdl_scope_add(p, NS_ALIAS, name, type);
		if (!tsdl_accept(p, ','))
			break;
	}
	return r;
}

bool tsdl_at_declaration(const struct tsdl *p)
{
	static const char *const words[] = { "typealias", "typedef", "struct", "variant", "enum" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (token_is(&p->tok, words[i]))
			return true;
	return false;
}

int tsdl_declaration(struct tsdl *p)
{
	struct ctf_type *type;
	int r;

	if (token_is(&p->tok, "typealias")) {
		tsdl_advance(p);
		r = typealias(p);
	} else if (token_is(&p->tok, "typedef")) {
		tsdl_advance(p);
		r = type_def(p);
	} else {
		r = tsdl_type(p, &type);
	}
	return r ? r : tsdl_expect(p, ';');
}

/* --- struct, variant, enum ------------------------------------------------ */

/* TYPE NAME[..], NAME; */
static int fields_of_one_type(struct tsdl *p, struct ctf_type *owner)
{
	struct ctf_type *base, *type;
	const char *name;
	int r = specifier(p, true, &base);

	while (!r) {
		r = declarator(p, base, &name, &type);
		r = r ? r : model_add_field(&p->model, owner, name, name + (name[0] == '_'), type);
		if (r || !tsdl_accept(p, ','))
			break;
	}
	return r ? r : tsdl_expect(p, ';');
}

static int fields(struct tsdl *p, struct ctf_type *owner)
{
	int r = tsdl_scope_push(p);

	if (r < 0)
		return r;
	r = tsdl_expect(p, '{');
	while (!r && !tsdl_at(p, '}')) {
		if (token_is(&p->tok, "typealias") || token_is(&p->tok, "typedef"))
			r = tsdl_declaration(p);
		else
			r = fields_of_one_type(p, owner);
	}
	tsdl_scope_pop(p);
	return r ? r : tsdl_expect(p, '}');
}

static int struct_align(struct tsdl *p, struct ctf_type *type)
{
	int r;

	if (!token_is(&p->tok, "align"))
		return 0;
	tsdl_advance(p);
	r = tsdl_expect(p, '(');
	if (r < 0)
		return r;
	r = model_check_align(&p->model, p->tok.number);
	if (r < 0)
		return r;
	type->align = p->tok.number;
	tsdl_advance(p);
	return tsdl_expect(p, ')');
}

static const char *optional_tag(struct tsdl *p)
{
	bool named = p->tok.kind == TOKEN_WORD && !token_is(&p->tok, "align");

	return named ? tsdl_string(p) : NULL;
}

static int by_tag(struct tsdl *p, enum tsdl_namespace ns, const char *name,
		  struct ctf_type **ret_type)
{
	if (!name)
		return tsdl_fail(p, "a name or '{' is expected");
	*ret_type = tsdl_scope_find(p, ns, name);
	return *ret_type ? 0 : tsdl_fail(p, "'%s' has not been declared", name);
}

static int struct_type(struct tsdl *p, struct ctf_type **ret_type)
{
	const char *name = optional_tag(p);
	struct ctf_type *type;
	int r;

	if (!tsdl_at(p, '{'))
		return by_tag(p, NS_STRUCT, name, ret_type);
	type = model_new_type(&p->model, TYPE_STRUCT);
	r = fields(p, type);
	r = r ? r : struct_align(p, type);
	if (r < 0)
		return r;
	if (name)
		tsdl_scope_add(p, NS_STRUCT, name, type);
	*ret_type = type;
	return 0;
}

static int variant_tag(struct tsdl *p, const char **ret_ref)
{
	int r;

	*ret_ref = NULL;
	if (!tsdl_accept(p, '<'))
		return 0;
	r = tsdl_path(p, ret_ref);
	return r ? r : tsdl_expect(p, '>');
}

/* variant [NAME] [<TAG>] [{ options }]: a named one may get its tag when used. */
static int variant_type(struct tsdl *p, struct ctf_type **ret_type)
{
	const char *name = optional_tag(p), *ref;
	struct ctf_type *type, *known = NULL;
	int r = variant_tag(p, &ref);

	if (!r && !tsdl_at(p, '{'))
		r = by_tag(p, NS_VARIANT, name, &known);
	if (r < 0)
		return r;
	type = model_new_type(&p->model, TYPE_VARIANT);
	if (known) {
		*type = *known;
		type->ref = ref ? ref : known->ref;
	} else {
		type->ref = ref;
		r = fields(p, type);
		if (!r && name)
			tsdl_scope_add(p, NS_VARIANT, name, type);
	}
	*ret_type = type;
	return r;
}

/* The name of a set has its mask: METADATA_SET. */
static void take_set(struct ctf_type *type, const char *name)
{
	size_t len = strlen(METADATA_SET);
	char *end;

	if (!name || strncmp(name, METADATA_SET, len) != 0)
		return;
	type->mask = strtoull(name + len, &end, 16);
	type->is_set = *end == '_';
}

/* enum [NAME] [: CONTAINER] { labels } */
static int enum_type(struct tsdl *p, struct ctf_type **ret_type)
{
	const char *name = optional_tag(p);
	struct ctf_type *type, *container = NULL;
	int r = 0;

	if (tsdl_accept(p, ':'))
		r = specifier(p, false, &container);
	else if (tsdl_at(p, '{'))
		container = tsdl_scope_find(p, NS_ALIAS, "int");
	else
		return by_tag(p, NS_ENUM, name, ret_type);
	if (r < 0)
		return r;
	if (!container || container->kind != TYPE_INT)
		return tsdl_fail(p, "an enumeration's container is not an integer");
	type = model_new_type(&p->model, TYPE_ENUM);
	*type = *container;
	type->kind = TYPE_ENUM;
	type->elem = container;
	take_set(type, name);
	if (name && strcmp(name, METADATA_RESULTS) == 0)
		p->model.tc->results = type;
	tsdl_pend(p, type);
	r = tsdl_enum_body(p, type);
	if (!r && name)
		tsdl_scope_add(p, NS_ENUM, name, type);
	*ret_type = type;
	return r;
}

/* --- any type ------------------------------------------------------------- */

static int alias(struct tsdl *p, bool declarator_follows, struct ctf_type **ret_type)
{
	const char *name;
	int r = type_name(p, declarator_follows, &name);

	if (r < 0)
		return r;
	*ret_type = tsdl_scope_find(p, NS_ALIAS, name);
	return *ret_type ? 0 : tsdl_fail(p, "type '%s' has not been declared", name);
}

static int keyword_type(struct tsdl *p, bool declarator_follows, struct ctf_type **ret_type)
{
	static const struct {
		const char *word;
		int (*parse)(struct tsdl *p, struct ctf_type **ret_type);
	} kinds[] = {
		{ "integer", tsdl_integer },	{ "floating_point", tsdl_float },
		{ "string", tsdl_string_type }, { "struct", struct_type },
		{ "variant", variant_type },	{ "enum", enum_type },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (token_is(&p->tok, kinds[i].word)) {
			tsdl_advance(p);
			return kinds[i].parse(p, ret_type);
		}
	}
	return alias(p, declarator_follows, ret_type);
}

static int specifier(struct tsdl *p, bool declarator_follows, struct ctf_type **ret_type)
{
	int r;

	if (p->nesting == MODEL_MAX_NESTING)
		return tsdl_fail(p, "types are nested too deep");
	while (token_is(&p->tok, "const") || token_is(&p->tok, "volatile"))
		tsdl_advance(p);
	p->nesting++;
	r = keyword_type(p, declarator_follows, ret_type);
	p->nesting--;
	return r;
}

int tsdl_type(struct tsdl *p, struct ctf_type **ret_type)
{
	return specifier(p, false, ret_type);
}
