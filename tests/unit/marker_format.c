/* SPDX-License-Identifier: GPL-2.0-only */
/* Format strings of markers: names, types, and refusals. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tracer_alone.h"
#include "tracer/site/format.h"

static const struct {
	const char *format;
	const char *fields; /* "name:type name:type": i32, u8x, f64, s, ...; or the error */
} table[] = {
	/* the examples of ltt/marker.h */
	{ "count %d name %s", "count:i32 name:s" },
	{ "fd=%d flags: 0x%x [%s]", "fd:i32 flags:u32x arg3:s" },
	{ "from %d to %d to %d", "from:i32 to:i32 to_2:i32" },
	/* names */
	{ "", "" },
	{ "no fields, 100%%", "" },
	{ "%d", "arg1:i32" },
	{ "%d%d", "arg1:i32 arg2:i32" },
	{ "%d/%d of it", "arg1:i32 arg2:i32" },
	{ "the count is %d", "is:i32" },
	{ "count:%d,name='%s'", "count:i32 name:s" },
	{ "count = %d; name = \"%s\"", "count:i32 name:s" },
	{ "level 2 %d", "level:i32" },
	{ "2 3 %d", "arg1:i32" },
	{ "_x%d", "_x:i32" },
	{ "a1b2=%d", "a1b2:i32" },
	{ "100%% of total %d", "total:i32" },
	{ "a %d a %d a %d a_2 %d", "a:i32 a_2:i32 a_3:i32 a_2_2:i32" },
	{ "%d arg1 %d", "arg1:i32 arg1_2:i32" },
	{ "gr\xc3\xb6\xc3\x9f"
	  "e %d",
	  "e:i32" },
	/* integers */
	{ "a %hhd b %hd c %d d %ld e %lld", "a:i8 b:i16 c:i32 d:i64 e:i64" },
	{ "a %hhu b %hu c %u d %lu e %llu", "a:u8 b:u16 c:u32 d:u64 e:u64" },
	{ "a %jd b %zd c %td d %ju e %zu f %tx", "a:i64 b:i64 c:i64 d:u64 e:u64 f:u64x" },
	{ "a %i b %x c %X d %o e %hhx f %lo", "a:i32 b:u32x c:u32x d:u32o e:u8x f:u64o" },
#ifdef __CHAR_UNSIGNED__
	{ "c %c wc %lc", "c:u8 wc:u32" },
#else
	{ "c %c wc %lc", "c:i8 wc:u32" },
#endif
	{ "p %p", "p:u64x" },
	{ "a %-+ #0'8.3d", "a:i32" },
	{ "a %*d b %-*.*ld c %.*x", "a:i32 b:i64 c:u32x" },
	/* floats and strings */
	{ "a %f b %g c %e d %a e %F f %G g %E h %A",
	  "a:f64 b:f64 c:f64 d:f64 e:f64 f:f64 g:f64 h:f64" },
	{ "a %lf b %Lf c %10.3Lg", "a:f64 b:f64 c:f64" },
	{ "a %s b %10s c %.5s d %-*.*s", "a:s b:s c:s d:s" },
	/* refused */
	{ "a %n", "-22" },
	{ "a %m", "-22" },
	{ "a %ls", "-22" },
	{ "a %S", "-22" },
	{ "a %C", "-22" },
	{ "a %hs", "-22" },
	{ "a %lp", "-22" },
	{ "a %hf", "-22" },
	{ "a %hhc", "-22" },
	{ "a %Ld", "-22" },
	{ "a %hhhd", "-22" },
	{ "a %llld", "-22" },
	{ "a %1$d", "-22" },
	{ "a %", "-22" },
	{ "a %5", "-22" },
	{ "a %.", "-22" },
	{ "a %l", "-22" },
	{ "a %*", "-22" },
	{ "a %k", "-22" },
	{ "a %999999999999999999999d", "a:i32" },
};

static char *put_field(char *at, const struct ltt_field *field)
{
	const char *base = field->base == 16 ? "x" : field->base == 8 ? "o" : "";

	switch (field->kind) {
	case LTT_KIND_STRING:
		return at + sprintf(at, "%s:s", field->name);
	case LTT_KIND_FLOAT:
		return at + sprintf(at, "%s:f%u", field->name, field->size_bits);
	default:
		CHECK_IS(field->kind, ==, LTT_KIND_INT);
		return at + sprintf(at, "%s:%c%u%s", field->name,
				    field->flags & LTT_FIELD_SIGNED ? 'i' : 'u', field->size_bits,
				    base);
	}
}

static void describe(const char *text, char *out)
{
	struct format *format = NULL;
	int res = format_parse(text, &format);

	*out = '\0';
	if (res < 0) {
		sprintf(out, "%d", res);
		return;
	}
	for (uint32_t i = 0; i < format->nr_fields; i++) {
		if (i)
			*out++ = ' ';
		out = put_field(out, &format->fields[i]);
	}
	format_free(format);
}

static int test_table(void)
{
	char found[4096];
	int bad = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		describe(table[i].format, found);
		if (strcmp(found, table[i].fields) == 0)
			continue;
		fprintf(stderr, "\"%s\": \"%s\", not \"%s\"\n", table[i].format, found,
			table[i].fields);
		bad++;
	}
	return bad;
}

static void test_limits(void)
{
	char text[8192] = "", *at = text;
	struct format *format = NULL;

	for (unsigned int i = 0; i < FORMAT_MAX_FIELDS; i++)
		at += sprintf(at, "same %%*.*d ");
	CHECK_IS(format_parse(text, &format), ==, 0);
	CHECK(format->nr_fields == FORMAT_MAX_FIELDS && format->nr_ops == 3 * FORMAT_MAX_FIELDS);
	CHECK_IS(strcmp(format->fields[31].name, "same_32"), ==, 0);
	format_free(format);
	sprintf(at, "more %%d");
	CHECK_IS(format_parse(text, &format), ==, -E2BIG);
	/* percent signs are not fields */
	at = text;
	for (int i = 0; i < 100; i++)
		at += sprintf(at, "%%%%");
	sprintf(at, "x %%d");
	CHECK(format_parse(text, &format) == 0 && format->nr_fields == 1);
	format_free(format);
}

int main(void)
{
	test_limits();
	return test_table() ? 1 : 0;
}
