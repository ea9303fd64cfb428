/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bind.h"

#include <string.h>

static const char *const root_names[NR_ROOTS] = {
	"trace.packet.header.",	 "stream.packet.context.", "stream.event.header.",
	"stream.event.context.", "event.context.",	   "event.fields.",
};

static int bind(struct binder *b, const struct ctf_type *type, const struct ctf_type **ret_type);

/* --- references ----------------------------------------------------------- */

/* The last field of @type before now whose name is the first word of @path. */
static struct ctf_field *member(struct binder *b, const struct ctf_type *type, const char *path,
				size_t len)
{
	for (uint32_t i = type->nr_fields; i-- > 0;) {
		struct ctf_field *field = &type->fields[i];

		if (tsdl_spend(b->p, 1) < 0)
			return NULL;
		if (!strncmp(field->name, path, len) && !field->name[len])
			return field;
	}
	return NULL;
}

/* Follow @path from @type down through structs to a field, or NULL. */
static struct ctf_field *bind_follow(struct binder *b, const struct ctf_type *type,
				     const char *path)
{
	while (type && type->kind == TYPE_STRUCT) {
		size_t len = strcspn(path, ".");
		struct ctf_field *field = member(b, type, path, len);

		if (!field || !path[len])
			return field;
		type = field->type;
		path += len + 1;
	}
	return NULL;
}

static struct ctf_field *find_absolute(struct binder *b, const char *path, enum root *ret_root)
{
	for (int root = 0; root < NR_ROOTS; root++) {
		size_t len = strlen(root_names[root]);
		const struct ctf_type *type = b->roots[root];

		if (strncmp(path, root_names[root], len) != 0)
			continue;
		*ret_root = root;
		if (b->root == (enum root)root && b->nr_open)
			type = b->open[0];
		return bind_follow(b, type, path + len);
	}
	return NULL;
}

/* Innermost struct first, then the scopes that were read before this one. */
static struct ctf_field *find_relative(struct binder *b, const char *path, enum root *ret_root)
{
	struct ctf_field *field = NULL;

	*ret_root = b->root;
	for (uint32_t i = b->nr_open; i-- > 0 && !field;)
		field = bind_follow(b, b->open[i], path);
	for (int root = NR_ROOTS; root-- > 0 && !field;) {
		field = bind_follow(b, b->roots[root], path);
		*ret_root = field ? (enum root)root : *ret_root;
	}
	return field;
}

int tsdl_give_slot(struct binder *b, enum root root, struct ctf_field *field)
{
	if (root >= ROOT_EVENT_CONTEXT)
		field->slot = b->next_inner++;
	else if (*b->next_outer < OUTER_SLOTS)
		field->slot = (*b->next_outer)++;
	else
		return tsdl_fail(b->p, "more fields than can be are referred to");
	return 0;
}

static int find_slot(struct binder *b, const char *path, struct ctf_field **ret_field)
{
	enum root root;
	struct ctf_field *field = find_absolute(b, path, &root);

	if (!field)
		field = find_relative(b, path, &root);
	if (!field)
		return tsdl_fail(b->p, "'%s' is referred to, but is not a field before it", path);
	if (field->type->kind != TYPE_INT && field->type->kind != TYPE_ENUM)
		return tsdl_fail(b->p, "'%s' is neither an integer nor an enumeration", path);
	if (root == ROOT_EVENT_HEADER && b->root != root)
		b->sc->header_is_referred = true;
	*ret_field = field;
	return field->slot == NO_SLOT ? tsdl_give_slot(b, root, field) : 0;
}

/* --- copies --------------------------------------------------------------- */

static struct ctf_type *copy_type(struct binder *b, const struct ctf_type *type)
{
	struct ctf_type *copy = arena_alloc(b->p->arena, sizeof(*copy));

	*copy = *type;
	return copy;
}

static int bind_fields(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	copy->nr_fields = 0;
	copy->fields = arena_alloc(b->p->arena, (type->nr_fields + 1) * sizeof(*copy->fields));
	for (uint32_t i = 0; i < type->nr_fields; i++) {
		struct ctf_field *field = &copy->fields[i];
		int r;

		*field = type->fields[i];
		r = bind(b, type->fields[i].type, &field->type);
		if (r < 0)
			return r;
		copy->nr_fields++;
	}
	return 0;
}

static void struct_measure(struct ctf_type *type)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < type->nr_fields; i++) {
		const struct ctf_type *member_type = type->fields[i].type;

		type->align = MAX(type->align, member_type->align);
		if (size == SIZE_VARIES || member_type->fixed_bits == SIZE_VARIES)
			size = SIZE_VARIES;
		else
			size = align_up(size, member_type->align) + member_type->fixed_bits;
		if (size > 1ull << 60)
			size = SIZE_VARIES;
	}
	type->fixed_bits = size;
}

static int bind_struct(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	int r;

	if (b->nr_open == ARRAY_SIZE(b->open))
		return tsdl_fail(b->p, "structs are nested too deep");
	b->open[b->nr_open++] = copy;
	r = bind_fields(b, copy, type);
	b->nr_open--;
	struct_measure(copy);
	return r;
}

static bool same_label(const char *label, const struct ctf_field *option)
{
	return !strcmp(label, option->name) || !strcmp(label, option->shown);
}

static int bind_variant(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	struct ctf_field *tag;
	int r;

	if (!type->ref)
		return tsdl_fail(b->p, "a variant has no tag");
	r = find_slot(b, type->ref, &tag);
	if (r < 0)
		return r;
	if (tag->type->kind != TYPE_ENUM)
		return tsdl_fail(b->p, "a variant's tag '%s' is not an enumeration", type->ref);
	copy->slot = tag->slot;
	copy->tag = tag->type;
	r = tsdl_spend(b->p, (uint64_t)copy->tag->nr_mappings * (type->nr_fields + 1));
	if (r < 0)
		return r;
	copy->option_of =
		arena_alloc(b->p->arena, (copy->tag->nr_mappings + 1) * sizeof(*copy->option_of));
	for (uint32_t m = 0; m < copy->tag->nr_mappings; m++) {
		copy->option_of[m] = -1;
		for (uint32_t i = 0; i < type->nr_fields && copy->option_of[m] < 0; i++)
			if (same_label(copy->tag->mappings[m].label, &type->fields[i]))
				copy->option_of[m] = i;
	}
	copy->fixed_bits = SIZE_VARIES;
	return bind_fields(b, copy, type);
}

static void array_measure(struct ctf_type *type)
{
	const struct ctf_type *elem = type->elem;
	uint64_t stride, size;

	type->align = elem->align;
	type->fixed_bits = SIZE_VARIES;
	if (type->kind != TYPE_ARRAY || elem->fixed_bits == SIZE_VARIES)
		return;
	stride = align_up(elem->fixed_bits, elem->align);
	if (!type->length)
		type->fixed_bits = 0;
	else if (!__builtin_mul_overflow(stride, type->length - 1, &size) && size < 1ull << 60)
		type->fixed_bits = size + elem->fixed_bits;
}

static int bind_array(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	struct ctf_field *length;
	int r;

	if (type->kind == TYPE_SEQUENCE) {
		r = find_slot(b, type->ref, &length);
		if (r < 0)
			return r;
		copy->slot = length->slot;
	}
	r = bind(b, type->elem, &copy->elem);
	array_measure(copy);
	return r;
}

static int bind(struct binder *b, const struct ctf_type *type, const struct ctf_type **ret_type)
{
	struct ctf_type *copy;
	int r = tsdl_spend(b->p, 16 + type->nr_fields);

	if (r < 0)
		return r;
	*ret_type = type;
	if (type_is_scalar(type) || type->kind == TYPE_STRING)
		return 0;
	copy = copy_type(b, type);
	*ret_type = copy;
	if (type->kind == TYPE_STRUCT)
		return bind_struct(b, copy, type);
	if (type->kind == TYPE_VARIANT)
		return bind_variant(b, copy, type);
	return bind_array(b, copy, type);
}

int tsdl_bind_root(struct binder *b, enum root root, const struct ctf_type **type)
{
	int r;

	b->nr_open = 0;
	b->root = root;
	b->roots[root] = NULL;
	if (!*type)
		return 0;
	if ((*type)->kind != TYPE_STRUCT)
		return tsdl_fail(b->p, "%.*s is not a struct", (int)strlen(root_names[root]) - 1,
				 root_names[root]);
	r = bind(b, *type, type);
	if (!r)
		b->roots[root] = *type;
	return r;
}
