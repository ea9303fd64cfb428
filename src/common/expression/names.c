/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of fields, contexts and labels, and messages about those that do not exist. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tree.h"

/** A list of names with their types, as text. */
struct filter_names {
	char text[256];
	size_t len;
};

int filter_find_field(const struct filter_compiler *c, const char *name)
{
	for (uint32_t i = 0; i < c->layout->nr_fields; i++)
		if (strcmp(c->layout->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void filter_number_name(const struct layout_field *f, bool is_float, char *buf, size_t len)
{
	snprintf(buf, len, "%c%u",
		 is_float		     ? 'f' :
		 f->flags & LTT_FIELD_SIGNED ? 's' :
					       'u',
		 f->size_bits);
}

/* u16, f64, string, enum, u8[4], u8[] */
static void filter_type_name(const struct layout_field *f, char *buf, size_t len)
{
	char element[16];

	if (f->kind == LTT_KIND_STRING || f->flags & LTT_FIELD_TEXT) {
		snprintf(buf, len, "string");
		return;
	}
	filter_number_name(f, f->kind == LTT_KIND_FLOAT || f->flags & LTT_FIELD_FLOAT_ELEM, element,
			   sizeof(element));
	if (f->kind == LTT_KIND_ENUM)
		snprintf(buf, len, "enum");
	else if (f->kind == LTT_KIND_ARRAY)
		snprintf(buf, len, "%s[%u]", element, f->count);
	else
		snprintf(buf, len, "%s%s", element, f->kind == LTT_KIND_SEQUENCE ? "[]" : "");
}

static void filter_names_add(struct filter_names *names, const char *name, const char *type)
{
	size_t room = sizeof(names->text) - names->len;
	int len = snprintf(names->text + names->len, room, "%s%s%s%s%s", names->len ? ", " : "",
			   name, *type ? " (" : "", type, *type ? ")" : "");

	if ((size_t)len < room)
		names->len += (size_t)len;
	else if (names->len + 5 < sizeof(names->text))
		names->len += (size_t)snprintf(names->text + names->len, room, ", ...");
	else
		names->text[names->len] = '\0';
}

static void filter_names_report(struct filter_compiler *c, uint32_t column, const char *what,
				const char *name, const char *const *words,
				const struct filter_names *names)
{
	const char *near = nearest_word(name, words);

	if (near)
		filter_absent(c, column, "no %s '%s'; did you mean '%s'? %ss: %s", what, name, near,
			      what, names->text);
	else
		filter_absent(c, column, "no %s '%s'; %ss: %s", what, name, what,
			      names->len ? names->text : "none");
}

void filter_no_field(struct filter_compiler *c, uint32_t column, const char *name)
{
	uint32_t nr = c->layout->nr_fields;
	const char **words AUTO_FREE = xalloc((nr + 1) * sizeof(*words));
	struct filter_names names = { .len = 0 };
	char type[32];

	for (uint32_t i = 0; i < nr; i++) {
		words[i] = c->layout->fields[i].name;
		filter_type_name(&c->layout->fields[i], type, sizeof(type));
		filter_names_add(&names, words[i], type);
	}
	filter_names_report(c, column, "field", name, words, &names);
}

void filter_no_context(struct filter_compiler *c, uint32_t column, const char *name)
{
	const char **words AUTO_FREE = xalloc((c->nr_contexts + 1) * sizeof(*words));
	struct filter_names names = { .len = 0 };

	for (size_t i = 0; i < c->nr_contexts; i++) {
		words[i] = c->contexts[i].name;
		filter_names_add(&names, words[i], "");
	}
	filter_names_report(c, column, "context", name, words, &names);
}

void filter_no_label(struct filter_compiler *c, uint32_t column, const char *label,
		     const struct layout_field *field)
{
	const char **words AUTO_FREE = xalloc((field->nr_labels + 1) * sizeof(*words));
	struct filter_names names = { .len = 0 };

	for (uint32_t i = 0; i < field->nr_labels; i++) {
		words[i] = field->labels[i].text;
		filter_names_add(&names, words[i], "");
	}
	filter_names_report(c, column, "label", label, words, &names);
}
