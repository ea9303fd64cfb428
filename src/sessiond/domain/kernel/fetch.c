/* SPDX-License-Identifier: GPL-2.0-only */
#include "fetch.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

/** A word that is being read. */
struct reader {
	const char *at;
	struct kernel_fetch *fetch;
	bool failed; /* it is not understood from @at on */
};

static bool kernel_fetch_take(struct reader *r, char c)
{
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static uint64_t kernel_fetch_take_number(struct reader *r)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(r->at, &end, 0);
	if (!isdigit((unsigned char)*r->at) || errno)
		r->failed = true;
	else
		r->at = end;
	return n;
}

/* Letters, digits, underscores. Return: their number, limited by the buffer. */
static size_t kernel_fetch_take_name(struct reader *r, char *ret, size_t room)
{
	size_t len = 0;

	while (isalnum((unsigned char)r->at[len]) || r->at[len] == '_')
		len++;
	if (len == 0 || len >= room) {
		r->failed = true;
		len = 0;
	}
	memcpy(ret, r->at, len);
	ret[len] = '\0';
	r->at += len;
	return len;
}

static void add_step(struct reader *r, enum ltt_kmod_step_op op, uint32_t nr, int64_t offset)
{
	struct ltt_kmod_arg *arg = &r->fetch->arg;

	if (arg->nr_steps < LTT_KMOD_STEPS_MAX)
		arg->steps[arg->nr_steps++] = (struct ltt_kmod_step){ op, nr, offset };
	else
		r->failed = true;
}

/* --- values ------------------------------------------------------------------------ */

/* As DWARF counts them, and as the kernel calls them. */
static const char *const registers[] = {
#if defined(__aarch64__)
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
#else
	"ax", "dx",  "cx",  "bx",  "si",  "di",	 "bp",	"sp", "r8",
	"r9", "r10", "r11", "r12", "r13", "r14", "r15", "ip",
#endif
};

static void kernel_fetch_take_register(struct reader *r, enum ltt_kmod_step_op op, int64_t factor)
{
	char name[16];

	kernel_fetch_take_name(r, name, sizeof(name));
	for (uint32_t i = 0; i < ARRAY_SIZE(registers); i++)
		if (strcmp(name, registers[i]) == 0 ||
		    (name[0] == 'r' && strcmp(name + 1, registers[i]) == 0)) {
			add_step(r, op, i, factor);
			return;
		}
	r->failed = true;
}

/* %ax+8*%cx: an element of an array. Ours; ftrace has none. */
static void take_index(struct reader *r)
{
	int64_t factor;

	if (r->failed || !kernel_fetch_take(r, '+'))
		return;
	factor = (int64_t)kernel_fetch_take_number(r);
	r->failed = r->failed || !kernel_fetch_take(r, '*') || !kernel_fetch_take(r, '%');
	if (!r->failed)
		kernel_fetch_take_register(r, LTT_KMOD_STEP_ADD_REGISTER, factor);
}

/* "arg12" has the prefix "arg", and the number 12. */
static bool has_number(const char *name, const char *prefix, uint32_t *ret)
{
	size_t len = strlen(prefix);
	char *end;

	if (strncmp(name, prefix, len) != 0 || !isdigit((unsigned char)name[len]))
		return false;
	*ret = (uint32_t)MIN(strtoul(name + len, &end, 10), 65535ul);
	return !*end;
}

static void take_variable(struct reader *r)
{
	char name[16];
	uint32_t nr;

	kernel_fetch_take_name(r, name, sizeof(name));
	if (has_number(name, "arg", &nr) && nr > 0) {
		r->fetch->at_entry = true;
		add_step(r, LTT_KMOD_STEP_ARGUMENT, nr - 1, 0);
	} else if (has_number(name, "stack", &nr)) {
		add_step(r, LTT_KMOD_STEP_STACK, nr, 0);
	} else if (strcmp(name, "retval") == 0) {
		r->fetch->at_return = true;
		add_step(r, LTT_KMOD_STEP_RETURNED, 0, 0);
	} else if (strcmp(name, "comm") == 0) {
		add_step(r, LTT_KMOD_STEP_COMM, 0, 0);
	} else {
		r->failed = true;
	}
}

/* +8(VALUE), -u8(+0(VALUE)): a value in memory. The last offset is the first to be read,
 * so they are kept until the innermost value is there. */
static void kernel_fetch_take_value(struct reader *r)
{
	struct ltt_kmod_step reads[LTT_KMOD_STEPS_MAX];
	uint32_t nr = 0;

	while ((*r->at == '+' || *r->at == '-') && nr < ARRAY_SIZE(reads) && !r->failed) {
		bool minus = *r->at++ == '-', user = kernel_fetch_take(r, 'u');
		int64_t offset = (int64_t)kernel_fetch_take_number(r);

		reads[nr++] = (struct ltt_kmod_step){
			user ? LTT_KMOD_STEP_READ_USER : LTT_KMOD_STEP_READ,
			8,
			minus ? (int64_t)(0 - (uint64_t)offset) : offset,
		};
		r->failed = r->failed || !kernel_fetch_take(r, '(');
	}
	if (kernel_fetch_take(r, '%')) {
		kernel_fetch_take_register(r, LTT_KMOD_STEP_REGISTER, 0);
		take_index(r);
	} else if (kernel_fetch_take(r, '$')) {
		take_variable(r);
	} else if (kernel_fetch_take(r, '\\')) {
		add_step(r, LTT_KMOD_STEP_NUMBER, 0, (int64_t)kernel_fetch_take_number(r));
	} else if (kernel_fetch_take(r, '@')) {
		add_step(r, LTT_KMOD_STEP_NUMBER, 0, (int64_t)kernel_fetch_take_number(r));
		add_step(r, LTT_KMOD_STEP_READ, 8, 0);
	} else {
		r->failed = true;
	}
	while (nr-- && !r->failed) {
		add_step(r, (enum ltt_kmod_step_op)reads[nr].op, reads[nr].nr, reads[nr].offset);
		r->failed = r->failed || !kernel_fetch_take(r, ')');
	}
}

/* --- types ------------------------------------------------------------------------- */

static bool is_read(const struct ltt_kmod_step *step)
{
	return step->op == LTT_KMOD_STEP_READ || step->op == LTT_KMOD_STEP_READ_USER;
}

/* The text stands where the last step would have read a number. */
static bool make_text(struct kernel_fetch *fetch, bool of_user)
{
	struct ltt_kmod_arg *arg = &fetch->arg;
	struct ltt_kmod_step *last = &arg->steps[arg->nr_steps - 1];

	arg->kind = of_user || last->op == LTT_KMOD_STEP_READ_USER ? LTT_KMOD_ARG_TEXT_USER :
								     LTT_KMOD_ARG_TEXT;
	arg->bytes = FETCH_TEXT_BYTES;
	if (last->op == LTT_KMOD_STEP_COMM)
		return !of_user;
	if (!is_read(last))
		return false;
	*last = (struct ltt_kmod_step){ LTT_KMOD_STEP_ADD, 0, last->offset };
	return true;
}

static bool make_number(struct kernel_fetch *fetch, char sign, uint32_t bits)
{
	struct ltt_kmod_arg *arg = &fetch->arg;
	struct ltt_kmod_step *last = &arg->steps[arg->nr_steps - 1];

	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return false;
	arg->kind = LTT_KMOD_ARG_NUMBER;
	arg->bytes = (uint16_t)(bits / 8);
	fetch->is_signed = sign == 's';
	fetch->base = sign == 'x' ? 16 : 10;
	if (is_read(last))
		last->nr = arg->bytes;
	return last->op != LTT_KMOD_STEP_COMM;
}

static bool make_type(struct kernel_fetch *fetch, const char *type)
{
	char sign[2] = { *type, '\0' };
	uint32_t bits;

	if (strcmp(type, "string") == 0 || strcmp(type, "ustring") == 0)
		return make_text(fetch, *type == 'u');
	return *sign && strchr("usx", *sign) && has_number(type, sign, &bits) &&
	       make_number(fetch, *sign, bits);
}

/* u8>32, u8>s32: 8 bits there, 32 in the record. Ours, as places of one event may differ. */
static void widen(struct reader *r)
{
	struct kernel_fetch *fetch = r->fetch;
	uint32_t from = fetch->arg.bytes;
	bool was_signed = fetch->is_signed;
	uint64_t bits;

	if (kernel_fetch_take(r, 's'))
		fetch->is_signed = true;
	else if (kernel_fetch_take(r, 'u'))
		fetch->is_signed = false;
	bits = kernel_fetch_take_number(r);
	if (fetch->arg.kind != LTT_KMOD_ARG_NUMBER || bits / 8 <= from ||
	    (bits != 16 && bits != 32 && bits != 64)) {
		r->failed = true;
		return;
	}
	add_step(r, LTT_KMOD_STEP_EXTEND, from, was_signed);
	fetch->arg.bytes = (uint16_t)(bits / 8);
}

/* --- words -------------------------------------------------------------------------- */

static const char *default_type(const struct kernel_fetch *fetch)
{
	return fetch->arg.nr_steps && fetch->arg.steps[0].op == LTT_KMOD_STEP_COMM ? "string" :
										     "x64";
}

/* Return: false: it is not understood. @nr: which of them it is. */
static bool parse_word(const char *word, uint32_t nr, struct kernel_fetch *ret)
{
	struct reader r = { .at = word, .fetch = ret };
	char type[16];

	*ret = (struct kernel_fetch){ .base = 10 };
	snprintf(ret->name, sizeof(ret->name), "arg%u", nr + 1);
	if (isalpha((unsigned char)*word) || *word == '_') {
		kernel_fetch_take_name(&r, ret->name, sizeof(ret->name));
		r.failed = r.failed || !kernel_fetch_take(&r, '=');
	}
	if (!r.failed)
		kernel_fetch_take_value(&r);
	if (r.failed)
		return false;
	if (!kernel_fetch_take(&r, ':'))
		return !*r.at && make_type(ret, default_type(ret));
	kernel_fetch_take_name(&r, type, sizeof(type));
	if (r.failed || !make_type(ret, type))
		return false;
	if (kernel_fetch_take(&r, '>'))
		widen(&r);
	return !r.failed && !*r.at;
}

static bool kernel_fetch_is_taken(const struct kernel_fetch *all, int nr)
{
	static const char *const own[] = { "ip", "parent_ip", "ret" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(all[nr].name, own[i]) == 0)
			return true;
	for (int i = 0; i < nr; i++)
		if (strcmp(all[nr].name, all[i].name) == 0)
			return true;
	return false;
}

int kernel_fetch_parse(const char *text, struct kernel_fetch *ret, struct err *err)
{
	int nr = 0;

	for (;;) {
		char word[128];
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (len == 0)
			return nr;
		if (nr == (int)LTT_KMOD_ARGS_MAX)
			return -err_set(err, ERR_INVALID, "a probe records at most %u values",
					LTT_KMOD_ARGS_MAX);
		snprintf(word, sizeof(word), "%.*s", (int)MIN(len, sizeof(word) - 1), text);
		if (len >= sizeof(word) || !parse_word(word, (uint32_t)nr, &ret[nr]))
			return -err_set(
				err, ERR_INVALID,
				"'%s' is not [NAME=]VALUE[:TYPE] as ftrace's probes have it: "
				"$arg1, $retval, $comm, $stack0, %%REGISTER, +OFFSET(VALUE); u8 "
				"to u64, s8, x8, string, ustring; see lttctl-enable-event(1)",
				word);
		if (kernel_fetch_is_taken(ret, nr))
			return -err_set(err, ERR_INVALID, "two fields are called '%s'",
					ret[nr].name);
		nr++;
		text += len;
	}
}

bool kernel_fetch_describe(const struct kernel_fetch *fetch, struct layout *layout)
{
	const struct layout_field field = {
		.name = fetch->name,
		.kind = fetch->arg.kind == LTT_KMOD_ARG_NUMBER ? LTT_KIND_INT : LTT_KIND_STRING,
		.size_bits = fetch->arg.kind == LTT_KMOD_ARG_NUMBER ?
				     (uint8_t)(8 * fetch->arg.bytes) :
				     0,
		.base = fetch->base,
		.flags = fetch->is_signed ? LTT_FIELD_SIGNED : 0,
	};

	return layout_add_field(layout, &field);
}
