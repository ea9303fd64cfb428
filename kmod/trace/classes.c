// SPDX-License-Identifier: GPL-2.0-only
#include "classes.h"

#include <linux/slab.h>
#include <linux/string.h>

#include "event.h"
#include "fields.h"
#include "request.h"

#define FLAG_SIGNED 1 /* LTT_FIELD_SIGNED of ltt/site.h, which can't be included */

/** struct class_copy - a description by itself. @texts: its name and those of its fields. */
struct class_copy {
	struct event event;
	char name[LTT_KMOD_NAME_MAX];
	char (*texts)[LTT_KMOD_TEXT_MAX];
	struct field fields[];
};

static void class_copy_free(struct class_copy *copy)
{
	kvfree(copy->texts);
	kfree(copy);
}

void classes_init(struct classes *classes)
{
	xa_init(&classes->by_id);
	xa_init(&classes->nr_contexts);
	INIT_HLIST_HEAD(&classes->copies);
}

void classes_fini(struct classes *classes)
{
	struct hlist_node *next;
	struct class_copy *copy;

	xa_destroy(&classes->by_id);
	xa_destroy(&classes->nr_contexts);
	hlist_for_each_entry_safe(copy, next, &classes->copies, event.same_hash)
		class_copy_free(copy);
}

static bool class_copy_is(const struct event *a, const struct event *b)
{
	u32 i;

	if (a->nr_fields != b->nr_fields || strcmp(a->name, b->name))
		return false;
	for (i = 0; i < a->nr_fields; i++) {
		const struct field *x = &a->fields[i], *y = &b->fields[i];

		if (strcmp(x->name, y->name) || strcmp(x->type, y->type) || x->form != y->form ||
		    x->elem_bytes != y->elem_bytes || x->is_signed != y->is_signed ||
		    x->base != y->base)
			return false;
	}
	return true;
}

/* An event that is enabled again, by the same id, needs no further memory. */
static int classes_add_copy(struct classes *classes, u32 id, struct event *event)
{
	const struct event *before = xa_load(&classes->by_id, id);
	struct class_copy *copy = container_of(event->copy, struct class_copy, event);
	int ret;

	if (before && class_copy_is(before, event->copy)) {
		class_copy_free(copy);
		event->copy = NULL;
		return 0;
	}
	ret = xa_err(xa_store(&classes->by_id, id, &copy->event, GFP_KERNEL_ACCOUNT));
	if (ret)
		return ret;
	hlist_add_head(&copy->event.same_hash, &classes->copies);
	event->copy = NULL;
	return 0;
}

u32 classes_nr_contexts(const struct classes *classes, u32 id)
{
	const void *nr = xa_load((struct xarray *)&classes->nr_contexts, id);

	return nr ? xa_to_value(nr) : 0;
}

static int classes_add_nr_contexts(struct classes *classes, u32 id, u32 nr)
{
	if (classes_find(classes, id) && classes_nr_contexts(classes, id) != nr)
		return -EBUSY;
	if (!nr)
		return 0;
	return xa_err(xa_store(&classes->nr_contexts, id, xa_mk_value(nr), GFP_KERNEL_ACCOUNT));
}

int classes_add(struct classes *classes, u32 id, struct event *event, u32 nr_contexts)
{
	int ret = classes_add_nr_contexts(classes, id, nr_contexts);

	if (ret)
		return ret;
	if (event->copy)
		return classes_add_copy(classes, id, event);
	return xa_err(xa_store(&classes->by_id, id, event, GFP_KERNEL_ACCOUNT));
}

const struct event *classes_find(const struct classes *classes, u32 id)
{
	return xa_load((struct xarray *)&classes->by_id, id);
}

/* --- copies ----------------------------------------------------------------------- */

static int class_copy_describe_field(struct class_copy *copy, u32 nth,
				     const struct ltt_kmod_field *request)
{
	struct field *field = &copy->fields[nth];
	bool is_text = field->form == FORM_STRING;

	if (!request_text_ends(request->name, sizeof(request->name)) || !request->name[0] ||
	    request->kind != (is_text ? FIELD_STRING : FIELD_INTEGER) ||
	    (!is_text && (request->size_bits != 8 * field->elem_bytes ||
			  (request->base != 10 && request->base != 16))))
		return -EINVAL;
	strscpy(copy->texts[nth], request->name, LTT_KMOD_TEXT_MAX);
	field->base = request->base;
	field->is_signed = request->flags & FLAG_SIGNED;
	return 0;
}

static int class_copy_describe(struct class_copy *copy, u64 at)
{
	struct ltt_kmod_description request;
	struct ltt_kmod_field field;
	int ret = request_get(&request, sizeof(request), u64_to_user_ptr(at));
	u32 i;

	if (!ret && (request.nr_fields != copy->event.nr_fields ||
		     !request_text_ends(request.name, sizeof(request.name)) || !request.name[0]))
		ret = -EINVAL;
	for (i = 0, at = request.fields; !ret && i < request.nr_fields; i++, at += field.size) {
		ret = request_get(&field, sizeof(field), u64_to_user_ptr(at));
		if (!ret)
			ret = class_copy_describe_field(copy, i, &field);
	}
	if (!ret)
		strscpy(copy->name, request.name, sizeof(copy->name));
	return ret;
}

int classes_copy(struct event *event, u64 description)
{
	struct class_copy *copy =
		kzalloc(struct_size(copy, fields, event->nr_fields), GFP_KERNEL_ACCOUNT);
	int ret;
	u32 i;

	if (copy)
		copy->texts = kvcalloc(event->nr_fields, sizeof(*copy->texts), GFP_KERNEL_ACCOUNT);
	if (!copy || !copy->texts) {
		kfree(copy);
		return -ENOMEM;
	}
	strscpy(copy->name, event->name, sizeof(copy->name));
	copy->event.name = copy->name;
	copy->event.fields = copy->fields;
	copy->event.nr_fields = event->nr_fields;
	for (i = 0; i < event->nr_fields; i++) {
		copy->fields[i] = event->fields[i];
		copy->fields[i].name = copy->texts[i];
		strscpy(copy->texts[i], event->fields[i].name, sizeof(*copy->texts));
	}
	ret = description ? class_copy_describe(copy, description) : 0;
	if (ret)
		class_copy_free(copy);
	else
		event->copy = &copy->event;
	return ret;
}

void classes_uncopy(struct event *event)
{
	if (event->copy)
		class_copy_free(container_of(event->copy, struct class_copy, event));
	event->copy = NULL;
}
