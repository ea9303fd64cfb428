/* SPDX-License-Identifier: GPL-2.0-only */
#include "fetch_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "btf.h"

#if defined(__aarch64__)
#define REGISTERS 8u /* that arguments are passed in */
#else
#define REGISTERS 6u
#endif

#define NAME_MAX_BYTES 128u

struct resolver {
	const char *function;
	struct btf *btf;
	uint32_t proto;
	struct err *err;
};

/** A value that is being resolved: @text is its expression as in fetch.h; with @in_memory, the
 *  value is in memory, @offset bytes after the address that @text yields. */
struct value {
	char *text; /* allocated */
	bool in_memory;
	uint32_t offset;
	struct btf_type_info type;
	char name[NAME_MAX_BYTES]; /* of the last member */
};

static bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static size_t name_len(const char *at)
{
	size_t len = 0;

	while (begins_name(at[len]) || (len && isdigit((unsigned char)at[len])))
		len++;
	return len;
}

static const char *kernel_names_take_name(const char *at, char ret[NAME_MAX_BYTES])
{
	size_t len = name_len(at);

	snprintf(ret, NAME_MAX_BYTES, "%.*s", (int)len, at);
	return at + len;
}

/* --- words -------------------------------------------------------------------------------- */

/* Skip an optional `NAME=`. Return: the rest. */
static const char *behind_equals(const char *word)
{
	size_t len = name_len(word);

	return len && word[len] == '=' ? word + len + 1 : word;
}

/* Skip any number of prefixes like `+OFFSET(` and `-uOFFSET(`. Return: the rest. */
static const char *behind_reads(const char *at)
{
	while (*at == '+' || *at == '-') {
		size_t len = strcspn(at, " (");

		if (at[len] != '(')
			return at;
		at += len + 1;
	}
	return at;
}

static bool kernel_names_has_name(const char *word)
{
	return begins_name(*behind_reads(behind_equals(word)));
}

bool kernel_names_any(const char *fetch)
{
	bool any = false;

	for (; *fetch; fetch += strcspn(fetch, " ")) {
		fetch += strspn(fetch, " ");
		any |= kernel_names_has_name(fetch);
	}
	return any;
}

/* --- values ------------------------------------------------------------------------------- */

static int no_parameter(struct resolver *r, const char *name)
{
	char all[256] = "";
	const char *own;
	uint32_t type;

	for (uint32_t i = 0; (own = btf_parameter(r->btf, r->proto, i, &type)); i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "", own);
	return err_set(r->err, ERR_INVALID, "'%.100s' has no parameter '%.100s'; it has %s",
		       r->function, name, *all ? all : "none");
}

/* A parameter larger than a register makes the location of later ones unknown. */
static int find_parameter(struct resolver *r, const char *name, struct value *v)
{
	bool known = true;
	const char *own;
	uint32_t type;

	for (uint32_t i = 0; (own = btf_parameter(r->btf, r->proto, i, &type)); i++) {
		v->type = btf_type(r->btf, type);
		known &= v->type.kind == BTF_INTEGER || v->type.kind == BTF_POINTER;
		if (strcmp(own, name) != 0)
			continue;
		if (!known || i >= REGISTERS)
			return err_set(r->err, ERR_INVALID,
				       "'%.100s': this parameter of '%.100s' is not in a register",
				       name, r->function);
		v->text = xasprintf("$arg%u", i + 1);
		return 0;
	}
	return no_parameter(r, name);
}

/* If the value is in memory, make @v->text an expression that reads it. */
static void kernel_names_load(struct value *v)
{
	char *text;

	if (!v->in_memory)
		return;
	text = xasprintf("+%u(%s)", v->offset, v->text);
	free(v->text);
	v->text = text;
	v->in_memory = false;
	v->offset = 0;
}

static int kernel_names_step(struct resolver *r, struct value *v, bool through, const char *name)
{
	struct btf_place member;

	if (through) {
		if (v->type.kind == BTF_POINTER) {
			kernel_names_load(v);
			v->type = btf_type(r->btf, v->type.target);
			v->in_memory = true;
			v->offset = 0;
		} else {
			v->type.kind = BTF_OTHER;
		}
	}
	if (v->type.kind != BTF_STRUCT || !v->in_memory)
		return err_set(r->err, ERR_INVALID,
			       "'%.100s' is not a %sstructure: it has no '%.100s'", v->name,
			       through ? "pointer to a " : "", name);
	if (!btf_find_member(r->btf, v->type.target, name, &member))
		return err_set(r->err, ERR_INVALID, "'%.100s' has no member '%.100s'", v->name,
			       name);
	if (member.is_bitfield || member.bit % 8)
		return err_set(r->err, ERR_INVALID,
			       "'%.100s' is a bit-field, which can't be recorded by name", name);
	v->offset += member.bit / 8;
	v->type = btf_type(r->btf, member.type);
	return 0;
}

/* PARAMETER, then ->MEMBER and .MEMBER. Return: the text after it; NULL: r->err is set. */
static const char *kernel_names_take_value(struct resolver *r, const char *at, struct value *v)
{
	char name[NAME_MAX_BYTES];

	at = kernel_names_take_name(at, v->name);
	if (find_parameter(r, v->name, v))
		return NULL;
	while (*at == '.' || (at[0] == '-' && at[1] == '>')) {
		bool through = *at == '-';

		at = kernel_names_take_name(at + 1 + through, name);
		if (kernel_names_step(r, v, through, name))
			return NULL;
		memcpy(v->name, name, sizeof(name));
	}
	return at;
}

/* --- types -------------------------------------------------------------------------------- */

static bool kernel_names_is_text(const char *type)
{
	return strcmp(type, "string") == 0 || strcmp(type, "ustring") == 0;
}

/* Complete the value: a text is the memory that a pointer points to, or an array. Return: 0 or the
 * code set in r->err. */
static int kernel_names_finish(struct resolver *r, struct value *v, const char *type, bool is_read)
{
	if (is_read && v->type.kind == BTF_POINTER) {
		kernel_names_load(v);
		return 0;
	}
	if (kernel_names_is_text(type) &&
	    (v->type.kind == BTF_POINTER || v->type.kind == BTF_ARRAY)) {
		if (v->type.kind == BTF_POINTER)
			kernel_names_load(v);
		v->in_memory = true;
		kernel_names_load(v);
		return 0;
	}
	if (is_read || kernel_names_is_text(type) ||
	    (v->type.kind != BTF_POINTER && v->type.kind != BTF_INTEGER))
		return err_set(r->err, ERR_INVALID, "'%.100s' is %s", v->name,
			       is_read || kernel_names_is_text(type) ?
				       "no pointer" :
				       "no number: record a member of it (.MEMBER), or a text "
				       "(:string)");
	kernel_names_load(v);
	return 0;
}

static void type_of(const struct value *v, char ret[8])
{
	snprintf(ret, 8, "%c%u",
		 v->type.kind == BTF_POINTER ? 'x' :
		 v->type.is_signed	     ? 's' :
					       'u',
		 8 * v->type.bytes);
}

/* The word with the resolved value: prefixes and suffix are kept, a missing NAME= or :TYPE is
 * added. */
static char *rewrite(const char *word, const char *inner, const char *rest, const struct value *v)
{
	bool named = behind_equals(word) != word,
	     read = behind_reads(behind_equals(word)) != behind_equals(word);
	char type[8] = "";

	if (!read && *rest != ':')
		type_of(v, type);
	return xasprintf("%s%s%.*s%s%s%s%s", named ? "" : v->name, named ? "" : "=",
			 (int)(inner - word), word, v->text, rest, *type ? ":" : "", type);
}

/* Return: the word in the syntax of fetch.h; NULL: r->err is set. */
static char *kernel_names_resolve_word(struct resolver *r, const char *word)
{
	const char *value = behind_equals(word), *inner = behind_reads(value), *rest, *type;
	struct value v = { 0 };
	char *ret = NULL;

	if (!begins_name(*inner))
		return xstrdup(word);
	rest = kernel_names_take_value(r, inner, &v);
	type = rest ? rest + strspn(rest, ")") : "";
	if (rest && kernel_names_finish(r, &v, *type == ':' ? type + 1 : "", inner != value) == 0)
		ret = rewrite(word, inner, rest, &v);
	free(v.text);
	return ret;
}

static int resolve_all(struct resolver *r, const char *fetch, char **ret)
{
	char *all = xstrdup("");

	for (;;) {
		fetch += strspn(fetch, " ");
		size_t len = strcspn(fetch, " ");
		AUTO_FREE char *word = strndup(fetch, len);
		AUTO_FREE char *resolved = word && len ? kernel_names_resolve_word(r, word) : NULL;
		char *longer;

		if (len == 0 || !resolved)
			break;
		longer = xasprintf("%s%s%s", all, *all ? " " : "", resolved);
		free(all);
		all = longer;
		fetch += len;
	}
	if (*fetch) {
		free(all);
		return r->err->code;
	}
	*ret = all;
	return 0;
}

int kernel_names_resolve(const char *path, const char *function, const char *fetch, char **ret,
			 struct err *err)
{
	struct btf *btf AUTO_BTF = NULL;
	struct resolver r = { function, NULL, 0, err };
	int status = btf_open(path, &btf);

	if (status < 0)
		return err_errno(err, ERR_INVALID, -status,
				 "parameters have no names here, as this kernel has no BTF (%s): "
				 "use $arg1, $arg2, ...",
				 path);
	r.btf = btf;
	r.proto = btf_function(btf, function);
	if (!r.proto)
		return err_set(err, ERR_INVALID,
			       "the kernel's BTF does not know the function '%.100s', nor the "
			       "names of its parameters: use $arg1, $arg2, ...",
			       function);
	return resolve_all(&r, fetch, ret);
}
