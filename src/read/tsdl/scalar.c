/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* integer, floating_point and string with their attributes. */
#include <errno.h>
#include <string.h>

#include "parser.h"

static bool one_of(const char *word, const char *list)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, " ");

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

static int set_order(struct tsdl *p, struct ctf_type *type, const char *word)
{
	if (one_of(word, "le"))
		type->order = ORDER_LITTLE;
	else if (one_of(word, "be network"))
		type->order = ORDER_BIG;
	else if (one_of(word, "native"))
		type->order = ORDER_NATIVE;
	else
		return tsdl_fail(p, "unknown byte order '%s'", word);
	return 0;
}

static int set_base(struct tsdl *p, struct ctf_type *type, const struct tsdl_value *v)
{
	uint64_t base = v->kind == VALUE_NUMBER ? v->number : 0;

	if (v->kind != VALUE_NUMBER)
		base = one_of(v->text, "decimal dec d i u")	? 10 :
		       one_of(v->text, "hexadecimal hex x X p") ? 16 :
		       one_of(v->text, "octal oct o")		? 8 :
		       one_of(v->text, "binary bin b")		? 2 :
								  0;
	if (base != 2 && base != 8 && base != 10 && base != 16)
		return tsdl_fail(p, "unknown integer base");
	type->base = base;
	return 0;
}

static int set_signed(struct tsdl *p, struct ctf_type *type, const struct tsdl_value *v)
{
	if (v->kind == VALUE_NUMBER)
		type->is_signed = v->number;
	else if (one_of(v->text, "true TRUE"))
		type->is_signed = true;
	else if (!one_of(v->text, "false FALSE"))
		return tsdl_fail(p, "signed is neither true nor false");
	return 0;
}

/* Sizes of a floating_point while its attributes are read. */
struct float_digits {
	uint64_t exp, mant;
};

static int set_size(struct tsdl *p, struct ctf_type *type, uint64_t size)
{
	if (!size || size > 64)
		return tsdl_fail(p, "an integer of %llu bits can't be read",
				 (unsigned long long)size);
	type->size_bits = size;
	return 0;
}

static int set_encoding(struct ctf_type *type, const char *word)
{
	type->text = one_of(word, "UTF8 utf8 UTF ASCII ascii");
	return 0;
}

static int attribute(struct tsdl *p, struct ctf_type *type, struct float_digits *digits,
		     const char *key, const struct tsdl_value *v)
{
	bool number = v->kind == VALUE_NUMBER;

	if (!strcmp(key, "signed"))
		return set_signed(p, type, v);
	if (!strcmp(key, "base"))
		return set_base(p, type, v);
	if (!strcmp(key, "align")) {
		type->align = number ? MIN(v->number, UINT32_MAX) : 0;
		return model_check_align(&p->model, type->align);
	}
	if (!strcmp(key, "size") && number)
		return set_size(p, type, v->number);
	if (!strcmp(key, "exp_dig") && number)
		return digits->exp = v->number, 0;
	if (!strcmp(key, "mant_dig") && number)
		return digits->mant = v->number, 0;
	if (!strcmp(key, "byte_order") && !number)
		return set_order(p, type, v->text);
	if (!strcmp(key, "encoding") && !number)
		return set_encoding(type, v->text);
	if (!strcmp(key, "map") && !number)
		type->ref = v->text;
	return 0;
}

static int attributes(struct tsdl *p, struct ctf_type *type, struct float_digits *digits)
{
	int r = tsdl_expect(p, '{');

	while (!r && !tsdl_at(p, '}')) {
		struct tsdl_value value;
		const char *key;

		r = tsdl_path(p, &key);
		r = r ? r : tsdl_expect(p, '=');
		r = r ? r : tsdl_value(p, &value);
		r = r ? r : attribute(p, type, digits, key, &value);
		r = r ? r : tsdl_expect(p, ';');
	}
	return r ? r : tsdl_expect(p, '}');
}

/* Its alignment follows from its size, unless it is given. */
static struct ctf_type *new_scalar(struct tsdl *p, enum type_kind kind)
{
	struct ctf_type *type = model_new_type(&p->model, kind);

	type->align = 0;
	return type;
}

void tsdl_pend(struct tsdl *p, struct ctf_type *type)
{
	struct model_pending *pending = arena_alloc(p->model.arena, sizeof(*pending));

	*pending = (struct model_pending){ type, p->model.pending };
	p->model.pending = pending;
}

static void scalar_finish(struct tsdl *p, struct ctf_type *type)
{
	if (!type->align)
		type->align = type->size_bits % 8 ? 1 : 8;
	type->fixed_bits = type->size_bits;
	tsdl_pend(p, type);
}

int tsdl_integer(struct tsdl *p, struct ctf_type **ret_type)
{
	struct ctf_type *type = new_scalar(p, TYPE_INT);
	struct float_digits unused = { 0, 0 };
	int r = attributes(p, type, &unused);

	if (r < 0)
		return r;
	if (!type->size_bits)
		return tsdl_fail(p, "an integer has no size");
	scalar_finish(p, type);
	*ret_type = type;
	return 0;
}

int tsdl_float(struct tsdl *p, struct ctf_type **ret_type)
{
	struct ctf_type *type = new_scalar(p, TYPE_FLOAT);
	struct float_digits digits = { 0, 0 };
	int r = attributes(p, type, &digits);

	if (r < 0)
		return r;
	if (digits.exp == 8 && digits.mant == 24)
		type->size_bits = 32;
	else if (digits.exp == 11 && digits.mant == 53)
		type->size_bits = 64;
	else
		return tsdl_fail(p, "a floating point number that is neither float nor double "
				    "can't be read");
	scalar_finish(p, type);
	*ret_type = type;
	return 0;
}

int tsdl_string_type(struct tsdl *p, struct ctf_type **ret_type)
{
	struct ctf_type *type = new_scalar(p, TYPE_STRING);
	struct float_digits unused = { 0, 0 };
	int r = tsdl_at(p, '{') ? attributes(p, type, &unused) : 0;

	if (r < 0)
		return r;
	type->align = 8;
	type->fixed_bits = SIZE_VARIES;
	*ret_type = type;
	return 0;
}
