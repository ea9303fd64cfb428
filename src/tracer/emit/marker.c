// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ltt_emit_format() - serialises a marker's arguments: usually in one pass, onto the stack. Where
 * they don't fit, all of them are fetched and measured first. Runs in the traced thread.
 */
#include <stdarg.h>
#include <string.h>

#include <ltt/payload.h>

#include "emit.h"
#include "tracer/site/format.h"
#include "tracer/site/registry.h"

/** One fetched argument: a number's bits, or a string and its length. */
struct value {
	uint64_t bits;
	const char *text;
	size_t len;
};

static uint64_t bits_of(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* At most as many bytes as the precision may be read: the string may have no other end. */
static void fetch_text(struct value *value, const char *text, int32_t precision)
{
	value->text = ltt__text(text);
	if (text && precision >= 0)
		value->len = strnlen(text, (size_t)precision);
	else
		value->len = strlen(value->text);
}

/* @args: a pointer, as the caller would not see the effect of va_arg() on a parameter. */
static void emit_marker_fetch(const struct format_op *op, va_list *args, int32_t star,
			      struct value *value)
{
	switch (op->arg) {
	case ARG_LONG:
		value->bits = (uint64_t)va_arg(*args, long);
		return;
	case ARG_LLONG:
		value->bits = (uint64_t)va_arg(*args, long long);
		return;
	case ARG_DOUBLE:
		value->bits = bits_of(va_arg(*args, double));
		return;
	case ARG_LDOUBLE:
		value->bits = bits_of((double)va_arg(*args, long double));
		return;
	case ARG_STRING:
		fetch_text(value, va_arg(*args, const char *),
			   op->precision == FORMAT_STAR_PRECISION ? star : op->precision);
		return;
	default:
		value->bits = (uint64_t)va_arg(*args, int);
	}
}

/* A number is stored with all of its 8 bytes: the next argument overwrites the rest. */
static unsigned char *emit_marker_put_value(unsigned char *at, const struct format_op *op,
					    const struct value *value)
{
	if (op->arg == ARG_STRING)
		return ltt__put_string(at, value->text, value->len);
	memcpy(at, &value->bits, sizeof(value->bits));
	return at + op->bytes;
}

static size_t emit_marker_size_of(const struct format_op *op, const struct value *value)
{
	return op->arg == ARG_STRING ? value->len + 1 : op->bytes;
}

/* Return: behind the payload, or NULL where @begin has no room for it. */
static unsigned char *write_at_once(const struct format *format, va_list *args,
				    unsigned char *begin)
{
	const unsigned char *end = begin + LTT__STACK_PAYLOAD;
	int32_t star = FORMAT_NO_PRECISION;
	unsigned char *at = begin;

	for (uint32_t i = 0; i < format->nr_ops; i++) {
		const struct format_op *op = &format->ops[i];
		struct value value = { 0 };

		emit_marker_fetch(op, args, star, &value);
		if (op->arg == ARG_PRECISION)
			star = (int32_t)value.bits;
		if (op->arg == ARG_WIDTH || op->arg == ARG_PRECISION)
			continue;
		if (emit_marker_size_of(op, &value) > (size_t)(end - at))
			return NULL;
		at = emit_marker_put_value(at, op, &value);
	}
	return at;
}

/* Return: how large the payload can become. */
static size_t fetch_all(const struct format *format, va_list *args, struct value *values)
{
	int32_t star = FORMAT_NO_PRECISION;
	uint32_t n = 0;
	size_t size = 0;

	for (uint32_t i = 0; i < format->nr_ops; i++) {
		const struct format_op *op = &format->ops[i];

		emit_marker_fetch(op, args, star, &values[n]);
		if (op->arg == ARG_PRECISION)
			star = (int32_t)values[n].bits;
		if (op->arg == ARG_WIDTH || op->arg == ARG_PRECISION)
			continue;
		size += emit_marker_size_of(op, &values[n++]);
	}
	return size;
}

static unsigned char *emit_marker_write_all(const struct format *format, const struct value *values,
					    unsigned char *at)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < format->nr_ops; i++) {
		const struct format_op *op = &format->ops[i];

		if (op->arg != ARG_WIDTH && op->arg != ARG_PRECISION)
			at = emit_marker_put_value(at, op, &values[n++]);
	}
	return at;
}

static __attribute__((noinline)) void emit_long(struct ltt_site *site, const struct format *format,
						va_list *args, const void *ip)
{
	struct value values[FORMAT_MAX_FIELDS + 1]; /* and a width behind the last */
	unsigned char *begin = ltt_stage(site, fetch_all(format, args, values));

	if (!begin)
		return;
	emit_from(site, begin, (size_t)(emit_marker_write_all(format, values, begin) - begin), ip);
	ltt_unstage(begin);
}

void ltt_emit_format(struct ltt_site *site, const char *text, ...)
{
	const struct site_state *state = __atomic_load_n(&site->owner, __ATOMIC_ACQUIRE);
	unsigned char stack[LTT__STACK_PAYLOAD + LTT_PAYLOAD_SLACK], *end;
	va_list args;

	if (!state || !state->format || emit_is_muted())
		return;
	__asm__("" : "=m"(stack)); /* the slack may be read; its content does not matter */
	va_start(args, text);
	end = write_at_once(state->format, &args, stack);
	va_end(args);
	if (end) {
		emit_from(site, stack, (size_t)(end - stack), __builtin_return_address(0));
		return;
	}
	va_start(args, text);
	emit_long(site, state->format, &args, __builtin_return_address(0));
	va_end(args);
}
