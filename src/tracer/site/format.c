// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * One conversion, between '%' and its letter: flags, width, precision, length.
 * @length: 'H' stands for "hh", 'q' for "ll".
 */
struct conversion {
	char length;
	char letter;
	int32_t precision;
};

/* The format under construction. */
struct builder {
	struct format *format;
	uint32_t cap; /* fields that there is room for */
	char *name;   /* where the next name goes */
	const char *words; /* since the last conversion */
};

static bool format_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool format_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* --- names ---------------------------------------------------------------------- */

/* The last word in [begin, end) that does not begin with a digit. */
static size_t last_word(const char *begin, const char *end, const char **ret_word)
{
	while (end > begin) {
		const char *stop;

		while (end > begin && !format_is_word(end[-1]))
			end--;
		stop = end;
		while (end > begin && format_is_word(end[-1]))
			end--;
		if (stop > end && !format_is_digit(*end)) {
			*ret_word = end;
			return (size_t)(stop - end);
		}
	}
	return 0;
}

static bool format_is_taken(const struct format *format, const char *name)
{
	for (uint32_t i = 0; i < format->nr_fields; i++)
		if (strcmp(format->fields[i].name, name) == 0)
			return true;
	return false;
}

/* A decimal number behind @at, terminated. Return: behind it. */
static char *format_put_number(char *at, uint32_t number)
{
	char digits[10];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n)
		*at++ = digits[--n];
	*at = '\0';
	return at;
}

static char *format_put_text(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	at[len] = '\0';
	return at + len;
}

/* The words before @percent name the field: see ltt/marker.h. */
static const char *format_make_name(struct builder *b, const char *percent)
{
	const char *word = NULL;
	size_t len = last_word(b->words, percent, &word);
	char *name = b->name, *end;

	if (len)
		end = format_put_text(name, word, len);
	else
		end = format_put_number(format_put_text(name, "arg", 3), b->format->nr_fields + 1);
	for (uint32_t again = 2; format_is_taken(b->format, name); again++) {
		*end = '_';
		format_put_number(end + 1, again);
	}
	b->name = name + strlen(name) + 1;
	return name;
}

/* --- conversions ------------------------------------------------------------------ */

static const char *skip_number(const char *at, int32_t *ret_number)
{
	int32_t number = 0;

	for (; format_is_digit(*at); at++)
		number = number > INT_MAX / 16 ? number : number * 10 + (*at - '0');
	*ret_number = number;
	return at;
}

static const char *read_length(const char *at, char *ret_length)
{
	*ret_length = 0;
	if (*at && strchr("hljztL", *at)) {
		*ret_length = *at++;
		if (*at == at[-1] && (*at == 'h' || *at == 'l'))
			*ret_length = *at++ == 'h' ? 'H' : 'q';
	}
	return at;
}

static void add_op(struct format *format, enum format_arg arg, uint8_t bytes, int32_t precision)
{
	format->ops[format->nr_ops++] =
		(struct format_op){ .arg = arg, .bytes = bytes, .precision = precision };
}

static const char *read_star_or_number(struct format *format, const char *at, enum format_arg star,
				       int32_t *ret_number)
{
	if (*at != '*')
		return skip_number(at, ret_number);
	add_op(format, star, 0, 0);
	*ret_number = FORMAT_STAR_PRECISION;
	return at + 1;
}

/* From behind '%' to behind the letter. */
static const char *read_conversion(struct format *format, const char *at, struct conversion *ret)
{
	int32_t width;

	at += strspn(at, "-+ #0'I");
	at = read_star_or_number(format, at, ARG_WIDTH, &width);
	ret->precision = FORMAT_NO_PRECISION;
	if (*at == '.')
		at = read_star_or_number(format, at + 1, ARG_PRECISION, &ret->precision);
	at = read_length(at, &ret->length);
	ret->letter = *at;
	return *at ? at + 1 : at;
}

static const struct {
	char length;
	uint8_t bytes;
} integers[] = {
	{ 0, sizeof(int) },
	{ 'H', sizeof(char) },
	{ 'h', sizeof(short) },
	{ 'l', sizeof(long) },
	{ 'q', sizeof(long long) },
	{ 'j', sizeof(intmax_t) },
	{ 'z', sizeof(size_t) },
	{ 't', sizeof(ptrdiff_t) },
};

static enum format_arg arg_of(uint8_t bytes)
{
	if (bytes <= sizeof(int))
		return ARG_INT;
	return bytes == sizeof(long) ? ARG_LONG : ARG_LLONG;
}

static void set_integer(struct ltt_field *field, uint8_t bytes, uint8_t base, uint32_t flags)
{
	field->kind = LTT_KIND_INT;
	field->size_bits = (uint8_t)(bytes * 8);
	field->base = base;
	field->flags = flags;
}

static int add_integer(struct format *format, struct ltt_field *field, const struct conversion *c)
{
	uint8_t base = c->letter == 'x' || c->letter == 'X' ? 16 : c->letter == 'o' ? 8 : 10;
	uint32_t flags = c->letter == 'd' || c->letter == 'i' ? LTT_FIELD_SIGNED : 0;

	for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
		uint8_t bytes = integers[i].bytes;

		if (integers[i].length != c->length)
			continue;
		set_integer(field, bytes, base, flags);
		add_op(format, arg_of(bytes), bytes, 0);
		return 0;
	}
	return -EINVAL;
}

static int add_char(struct format *format, struct ltt_field *field, const struct conversion *c)
{
	if (c->length && c->length != 'l')
		return -EINVAL;
	if (c->length) {
		set_integer(field, sizeof(int), 10, 0); /* wint_t */
		add_op(format, ARG_INT, sizeof(int), 0);
	} else {
		set_integer(field, 1, 10, (char)-1 < 0 ? LTT_FIELD_SIGNED : 0);
		add_op(format, ARG_INT, 1, 0);
	}
	return 0;
}

static int add_float(struct format *format, struct ltt_field *field, const struct conversion *c)
{
	if (c->length && c->length != 'l' && c->length != 'L')
		return -EINVAL;
	field->kind = LTT_KIND_FLOAT;
	field->size_bits = 64;
	field->base = 10;
	field->flags = LTT_FIELD_SIGNED;
	add_op(format, c->length == 'L' ? ARG_LDOUBLE : ARG_DOUBLE, sizeof(double), 0);
	return 0;
}

static int add_string(struct format *format, struct ltt_field *field, const struct conversion *c)
{
	if (c->length)
		return -EINVAL;
	field->kind = LTT_KIND_STRING;
	field->size_bits = 8;
	field->base = 10;
	add_op(format, ARG_STRING, 0, c->precision);
	return 0;
}

static int add_pointer(struct format *format, struct ltt_field *field, const struct conversion *c)
{
	if (c->length)
		return -EINVAL;
	set_integer(field, sizeof(void *), 16, 0);
	add_op(format, arg_of(sizeof(void *)), sizeof(void *), 0);
	return 0;
}

static int add_argument(struct format *format, struct ltt_field *field, const struct conversion *c)
{
	switch (c->letter) {
	case 'd': case 'i': case 'u': case 'x': case 'X': case 'o':
		return add_integer(format, field, c);
	case 'c':
		return add_char(format, field, c);
	case 'f': case 'F': case 'g': case 'G': case 'e': case 'E': case 'a': case 'A':
		return add_float(format, field, c);
	case 's':
		return add_string(format, field, c);
	case 'p':
		return add_pointer(format, field, c);
	default:
		return -EINVAL;
	}
}

/* @percent: a '%' that is not "%%". Return: 0 or a negative errno. */
static int add_conversion(struct builder *b, const char *percent, const char **ret_next)
{
	struct format *format = b->format;
	struct ltt_field field = { 0 };
	struct conversion c;
	int res;

	if (format->nr_fields == b->cap)
		return -E2BIG;
	field.name = format_make_name(b, percent);
	*ret_next = b->words = read_conversion(format, percent + 1, &c);
	res = add_argument(format, &field, &c);
	if (res == 0)
		format->fields[format->nr_fields++] = field;
	return res;
}

static int format_parse_all(struct builder *b, const char *at)
{
	int res = 0;

	b->words = at;
	while (res == 0 && (at = strchr(at, '%')) != NULL) {
		if (at[1] == '%')
			at += 2;
		else
			res = add_conversion(b, at, &at);
	}
	return res;
}

static uint32_t count_percents(const char *text)
{
	uint32_t nr = 0;

	for (; *text; text++)
		nr += *text == '%';
	return nr;
}

/* Room for @cap fields, each with a width and a precision of its own. */
static struct format *new_format(const char *text, uint32_t cap)
{
	size_t fields = cap * sizeof(struct ltt_field), ops = cap * 3 * sizeof(struct format_op);
	size_t names = strlen(text) + 1 + cap * sizeof("arg4294967295_4294967295");
	struct format *format = calloc(1, sizeof(*format) + fields + ops + names);

	if (!format)
		return NULL;
	format->fields = (struct ltt_field *)(format + 1);
	format->ops = (struct format_op *)(format->fields + cap);
	format->names = (char *)(format->ops + cap * 3);
	return format;
}

int format_parse(const char *text, struct format **ret_format)
{
	uint32_t percents = count_percents(text);
	struct builder b = { .cap = percents < FORMAT_MAX_FIELDS ? percents : FORMAT_MAX_FIELDS };
	int res;

	b.format = new_format(text, b.cap);
	if (!b.format)
		return -ENOMEM;
	b.name = b.format->names;
	res = format_parse_all(&b, text);
	if (res < 0) {
		format_free(b.format);
		return res;
	}
	*ret_format = b.format;
	return 0;
}

void format_free(struct format *format)
{
	free(format);
}
