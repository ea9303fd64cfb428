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

		if (model_spend(b->m, 1) < 0)
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

int model_give_slot(struct binder *b, enum root root, struct ctf_field *field)
{
	if (root >= ROOT_EVENT_CONTEXT)
		field->slot = b->next_inner++;
	else if (*b->next_outer < OUTER_SLOTS)
		field->slot = (*b->next_outer)++;
	else
		return model_fail(b->m, "more fields than can be are referred to");
	return 0;
}

static void note_root(struct binder *b, enum root root)
{
	if (root == ROOT_EVENT_HEADER && b->root != root)
		b->sc->header_is_referred = true;
}

static int find_written(struct binder *b, const char *path, struct ctf_field **ret_field)
{
	enum root root;
	struct ctf_field *field = find_absolute(b, path, &root);

	if (!field)
		field = find_relative(b, path, &root);
	if (!field)
		return model_fail(b->m, "'%s' is referred to, but is not a field before it", path);
	if (field->type->kind != TYPE_INT && field->type->kind != TYPE_ENUM)
		return model_fail(b->m, "'%s' is neither an integer nor an enumeration", path);
	note_root(b, root);
	*ret_field = field;
	return field->slot == NO_SLOT ? model_give_slot(b, root, field) : 0;
}

/* --- locations of CTF 2 --------------------------------------------------- */

/* The fields that a location stands for: one of each option of a variant. All have one slot.
 * @slot: of those that have one; NO_SLOT: none has. */
struct targets {
	struct binder *b;
	struct ctf_field *first;
	uint32_t slot;
	bool sets;
};

static int no_target(struct binder *b, const char *name)
{
	return model_fail(b->m, "the location of a length or selector leads to '%s', which is not "
				"an integer before it", name);
}

static int take_target(struct targets *t, struct ctf_field *field)
{
	if (t->sets) {
		field->slot = t->slot;
		return 0;
	}
	t->first = t->first ? t->first : field;
	if (field->slot == NO_SLOT)
		return 0;
	if (t->slot != NO_SLOT && t->slot != field->slot)
		return model_fail(t->b->m, "locations of '%s' overlap in a way that can't be read",
				  field->name);
	t->slot = field->slot;
	return 0;
}

static int visit_targets(struct targets *t, struct ctf_field *field, const char *const *path,
			 uint32_t nr)
{
	const struct ctf_type *type = field->type;
	struct ctf_field *next;
	int r = model_spend(t->b->m, 1);

	if (type->kind == TYPE_VARIANT) {
		for (uint32_t i = 0; i < type->nr_fields && !r; i++)
			r = visit_targets(t, &type->fields[i], path, nr);
		return r;
	}
	if (r < 0)
		return r;
	if (!nr && (type->kind == TYPE_INT || type->kind == TYPE_ENUM || type->kind == TYPE_LEB128))
		return take_target(t, field);
	next = nr && type->kind == TYPE_STRUCT ? member(t->b, type, *path, strlen(*path)) : NULL;
	return next ? visit_targets(t, next, path + 1, nr - 1) :
		      no_target(t->b, nr ? *path : field->name);
}

/* From the struct open[level] on, whose last field may be the one that is being bound: it contains
 * the next open struct. */
static int visit_open(struct targets *t, uint32_t level, const char *const *path, uint32_t nr)
{
	struct binder *b = t->b;
	struct ctf_field *next;

	for (;; level++, path++, nr--) {
		const struct ctf_type *type = b->open[level];

		next = member(b, type, *path, strlen(*path));
		if (next)
			return visit_targets(t, next, path + 1, nr - 1);
		if (level + 1 == b->nr_open || nr == 1 ||
		    strcmp(type->fields[type->nr_fields].name, *path) != 0)
			return no_target(b, *path);
	}
}

static int visit_location(struct targets *t, const struct ctf_location *at)
{
	struct binder *b = t->b;
	struct ctf_field *next;

	if (at->root < 0 || at->root == (int)b->root) {
		if (!b->nr_open || at->parents >= b->nr_open)
			return no_target(b, at->path[0]);
		return visit_open(t, at->root < 0 ? b->nr_open - 1 - at->parents : 0, at->path,
				  at->nr);
	}
	next = b->roots[at->root] ?
		       member(b, b->roots[at->root], at->path[0], strlen(at->path[0])) :
		       NULL;
	return next ? visit_targets(t, next, at->path + 1, at->nr - 1) :
		      no_target(b, at->path[0]);
}

static int find_located(struct binder *b, const struct ctf_location *at,
			struct ctf_field **ret_field)
{
	enum root root = at->root < 0 ? b->root : (enum root)at->root;
	struct targets t = { .b = b, .slot = NO_SLOT };
	int r = visit_location(&t, at);

	if (!r && !t.first)
		r = no_target(b, at->path[at->nr - 1]);
	if (!r && t.slot == NO_SLOT) {
		r = model_give_slot(b, root, t.first);
		t.slot = t.first->slot;
	}
	if (r < 0)
		return r;
	note_root(b, root);
	t.sets = true;
	*ret_field = t.first;
	return visit_location(&t, at);
}

static int find_slot(struct binder *b, const struct ctf_type *type, struct ctf_field **ret_field)
{
	return type->location ? find_located(b, type->location, ret_field) :
				find_written(b, type->ref, ret_field);
}

/* --- copies --------------------------------------------------------------- */

static struct ctf_type *copy_type(struct binder *b, const struct ctf_type *type)
{
	struct ctf_type *copy = arena_alloc(b->m->arena, sizeof(*copy));

	*copy = *type;
	return copy;
}

static int bind_fields(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	copy->nr_fields = 0;
	copy->fields = arena_alloc(b->m->arena, (type->nr_fields + 1) * sizeof(*copy->fields));
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
		return model_fail(b->m, "structs are nested too deep");
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

/* Ranges of a signed selector end at the largest number that it can be. */
static void clip_ranges(struct binder *b, struct ctf_type *tag)
{
	struct ctf_mapping *clipped =
		arena_alloc(b->m->arena, (tag->nr_mappings + 1) * sizeof(*clipped));

	for (uint32_t i = 0; i < tag->nr_mappings; i++) {
		clipped[i] = tag->mappings[i];
		clipped[i].first = MIN(clipped[i].first, (uint64_t)INT64_MAX);
		clipped[i].last = MIN(clipped[i].last, (uint64_t)INT64_MAX);
	}
	tag->mappings = clipped;
}

/* The options have ranges of their own: @type->tag. Without any, a set bit selects. */
static int bind_selector(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	const struct ctf_type *selector;
	struct ctf_field *field;
	struct ctf_type *tag;
	int r = find_slot(b, type, &field);

	if (r < 0)
		return r;
	selector = field->type->kind == TYPE_LEB128 ? field->type->elem : field->type;
	if (!type->tag->nr_mappings && selector->look != LOOK_BOOL)
		return model_fail(b->m, "an optional field has no ranges of '%s'", field->name);
	tag = copy_type(b, type->tag);
	if (!tag->nr_mappings)
		*model_add_mapping(b->m, tag) = (struct ctf_mapping){ "", 1, UINT64_MAX };
	if (tag->is_signed && !selector->is_signed)
		return model_fail(b->m, "ranges of '%s', which is unsigned, are negative",
				  field->name);
	if (selector->is_signed && !tag->is_signed)
		clip_ranges(b, tag);
	tag->is_signed = selector->is_signed;
	copy->slot = field->slot;
	copy->tag = tag;
	copy->fixed_bits = SIZE_VARIES;
	return bind_fields(b, copy, type);
}

static int bind_variant(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	struct ctf_field *tag;
	int r;

	if (type->location)
		return bind_selector(b, copy, type);
	if (!type->ref)
		return model_fail(b->m, "a variant has no tag");
	r = find_slot(b, type, &tag);
	if (r < 0)
		return r;
	if (tag->type->kind != TYPE_ENUM)
		return model_fail(b->m, "a variant's tag '%s' is not an enumeration", type->ref);
	copy->slot = tag->slot;
	copy->tag = tag->type;
	r = model_spend(b->m, (uint64_t)copy->tag->nr_mappings * (type->nr_fields + 1));
	if (r < 0)
		return r;
	copy->option_of =
		arena_alloc(b->m->arena, (copy->tag->nr_mappings + 1) * sizeof(*copy->option_of));
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

	type->align = MAX(type->align, elem->align);
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
		r = find_slot(b, type, &length);
		if (r < 0)
			return r;
		copy->slot = length->slot;
	}
	r = bind(b, type->elem, &copy->elem);
	array_measure(copy);
	return r;
}

static int bind_wide(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	struct ctf_field *length;
	int r = find_slot(b, type, &length);

	if (!r)
		copy->slot = length->slot;
	return r;
}

static int bind_copy(struct binder *b, struct ctf_type *copy, const struct ctf_type *type)
{
	switch (type->kind) {
	case TYPE_STRUCT:
		return bind_struct(b, copy, type);
	case TYPE_VARIANT:
		return bind_variant(b, copy, type);
	case TYPE_WIDE_STRING:
		return bind_wide(b, copy, type);
	default:
		return bind_array(b, copy, type);
	}
}

static int bind(struct binder *b, const struct ctf_type *type, const struct ctf_type **ret_type)
{
	int r = model_spend(b->m, 16 + type->nr_fields);

	if (r < 0)
		return r;
	*ret_type = type;
	if (type_is_scalar(type) || type->kind == TYPE_STRING || type->kind == TYPE_LEB128 ||
	    (type->kind == TYPE_WIDE_STRING && !type->location))
		return 0;
	if (b->depth == MODEL_MAX_DEPTH)
		return model_fail(b->m, "types are nested too deep");
	b->depth++;
	*ret_type = copy_type(b, type);
	r = bind_copy(b, (struct ctf_type *)*ret_type, type);
	b->depth--;
	return r;
}

int model_bind_root(struct binder *b, enum root root, const struct ctf_type **type)
{
	int r;

	b->nr_open = 0;
	b->root = root;
	b->roots[root] = NULL;
	if (!*type)
		return 0;
	if ((*type)->kind != TYPE_STRUCT)
		return model_fail(b->m, "%.*s is not a struct", (int)strlen(root_names[root]) - 1,
				 root_names[root]);
	r = bind(b, *type, type);
	if (!r)
		b->roots[root] = *type;
	return r;
}
