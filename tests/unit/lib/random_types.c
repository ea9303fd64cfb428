/* SPDX-License-Identifier: GPL-2.0-only */
#include "random_types.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "../check.h"

static uint64_t seed = 1;

uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

void say(struct text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	t->len += (size_t)vsnprintf(t->at + t->len, sizeof(t->at) - t->len, fmt, args);
	va_end(args);
	CHECK(t->len < sizeof(t->at));
}

static void say_integer(struct text *t, uint32_t bits, uint32_t align)
{
	static const char *const orders[] = { "", "byte_order = be; ", "byte_order = le; " };
	static const uint32_t bases[] = { 10, 10, 10, 10, 16, 8, 2 };

	say(t, "integer { size = %u; align = %u; signed = %s; base = %u; %s}", bits, align,
	    rnd(2) ? "true" : "false", bases[rnd(ARRAY_SIZE(bases))], orders[rnd(3)]);
}

/* Mostly those of a plan, now and then one that is not. */
static void say_scalar(struct text *t)
{
	static const uint32_t sizes[] = { 8, 16, 32, 64, 8, 32, 64, 24, 40 };
	bool odd = !rnd(60);

	switch (rnd(8)) {
	case 0:
		say(t, rnd(2) ? "floating_point { exp_dig = 8; mant_dig = 24; align = 8; }" :
				"floating_point { exp_dig = 11; mant_dig = 53; align = 8; }");
		break;
	case 1:
		say(t, "enum : ");
		say_integer(t, sizes[rnd(7)], 8);
		say(t, " { a = 0 ... 9, b = 20 }");
		break;
	default:
		say_integer(t, odd ? 1 + rnd(31) : sizes[rnd(ARRAY_SIZE(sizes))],
			    odd	    ? 1u << rnd(7) :
			    rnd(30) ? 8 :
				      1u << rnd(3));
	}
}

static void say_element(struct text *t)
{
	if (rnd(3))
		say_scalar(t);
	else
		say(t, "integer { size = 8; align = 8; signed = false; encoding = UTF8; }");
}

static void say_field(struct text *t, uint32_t i, uint32_t depth)
{
	switch (rnd(9)) {
	case 0:
		say(t, "string s%u; ", i);
		break;
	case 1:
		say(t, "integer { size = %u; align = 8; } n%u; ", 8u << rnd(3), i);
		say_element(t);
		say(t, " q%u[n%u]; ", i, i);
		break;
	case 2:
		say_element(t);
		say(t, " a%u[%u]; ", i, rnd(6));
		break;
	case 3:
		if (depth) {
			say_struct(t, depth - 1);
			say(t, " t%u; ", i);
			break;
		}
		/* fallthrough */
	case 4:
		if (!rnd(15)) {
			say(t, "integer { size = 8; align = 8; } m%u; ", i);
			say(t, "struct { string x; } many%u[m%u]; ", i, i);
			break;
		}
		/* fallthrough */
	default:
		say_scalar(t);
		say(t, " f%u; ", i);
	}
}

void say_struct(struct text *t, uint32_t depth)
{
	uint32_t nr = rnd(7);

	say(t, "struct { ");
	for (uint32_t i = 0; i < nr; i++)
		say_field(t, i, depth);
	say(t, "}");
}

void random_bytes(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = rnd(3) ? (uint8_t)rnd(256) : (uint8_t)rnd(4);
}
