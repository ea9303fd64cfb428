/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Expressions of event filters and their results, in data/filter.cases, which view_where.c has,
 * too: the result, a tab, and the expression for the event of filter_event.h. Results: yes, no,
 * never (lenient mode; an error in the strict mode), COLUMN TEXT (an error, with a part of its
 * message).
 */
#include "lib/filter_event.h"

static struct filter_event event;
static uint32_t nr_failed;

static void complain(const char *expected, const char *expression, const struct filter_result *r)
{
	char text[FILTER_MAX_BYTES];

	filter_explain(expression, r, text, sizeof(text));
	fprintf(stderr, "expected %s: status %d, %s\n", expected, r->status, text);
	nr_failed++;
}

static void try_error(const char *expected, const char *expression, enum filter_mode mode)
{
	struct filter_result r;
	char *reason;
	unsigned long column = strtoul(expected, &reason, 10);

	if (filter_event_compile(&event, expression, mode, &r) != FILTER_INVALID ||
	    r.column != column || !strstr(r.text, reason + 1) || r.program)
		complain(expected, expression, &r);
	filter_result_fini(&r);
}

static void try_never(const char *expression)
{
	struct filter_result r;

	if (filter_event_compile(&event, expression, FILTER_LENIENT, &r) != FILTER_NEVER)
		complain("never", expression, &r);
	filter_result_fini(&r);
	if (filter_event_compile(&event, expression, FILTER_STRICT, &r) != FILTER_INVALID)
		complain("an error", expression, &r);
	filter_result_fini(&r);
}

/* A shorter payload is rejected or accepted; a sanitizer sees whether more of it is read. */
static void try_result(const char *expected, const char *expression)
{
	struct filter_result r;
	bool accepted = false;

	if (filter_event_compile(&event, expression, FILTER_LENIENT, &r) == FILTER_COMPILED) {
		accepted = filter_event_run(&r, event.bytes, event.length);
		for (size_t length = 0; length < event.length; length++)
			filter_event_run(&r, event.bytes, length);
	}
	if (r.status != FILTER_COMPILED || accepted != (strcmp(expected, "yes") == 0))
		complain(expected, expression, &r);
	filter_result_fini(&r);
}

static void try_case(const char *expected, const char *expression)
{
	if (strcmp(expected, "yes") == 0 || strcmp(expected, "no") == 0)
		try_result(expected, expression);
	else if (strcmp(expected, "never") == 0)
		try_never(expression);
	else
		try_error(expected, expression, FILTER_STRICT);
}

static void test_explanation(void)
{
	struct filter_result r;
	char text[1000];

	CHECK_IS(filter_event_compile(&event, "a && prt", FILTER_STRICT, &r), ==, FILTER_INVALID);
	filter_explain("a && prt", &r, text, sizeof(text));
	CHECK(strstr(text,
		     "column 6: no field 'prt'; did you mean 'port'? fields: a (u8), b (s16)"));
	CHECK(strstr(text, "\na && prt\n     ^"));
	CHECK(filter_event_compile(&event, "", FILTER_STRICT, &r) == FILTER_INVALID &&
	      r.column == 1);
	CHECK_IS(filter_compile("anything == 1", NULL, NULL, 0, FILTER_STRICT, &r), ==,
		 FILTER_COMPILED);
	CHECK(!r.program);
}

/* Terms of a conjunction are an instruction each; bounds of a program are errors. */
static void test_size(void)
{
	struct filter_result r;
	char many[FILTER_MAX_BYTES + 2] = "a == 5";

	CHECK_IS(filter_event_compile(&event, "a > 4 && b == -3", FILTER_STRICT, &r), ==, 0);
	CHECK_IS(r.program->head.nr_insns, ==, 3);
	filter_result_fini(&r);
	while (strlen(many) < 2600)
		strcat(many, "||a==5");
	CHECK_IS(filter_event_compile(&event, many, FILTER_STRICT, &r), ==, FILTER_INVALID);
	CHECK(strstr(r.text, "too large"));
	memset(many, ' ', sizeof(many) - 1);
	CHECK_IS(filter_event_compile(&event, many, FILTER_STRICT, &r), ==, FILTER_INVALID);
	CHECK(strstr(r.text, "longer than"));
}

int main(void)
{
	filter_event_make(&event);
	CHECK_IS(filter_event_cases(try_case), >=, 300);
	test_explanation();
	test_size();
	layout_free(event.layout);
	CHECK_IS(nr_failed, ==, 0);
	return 0;
}
