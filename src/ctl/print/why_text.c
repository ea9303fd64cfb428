/* SPDX-License-Identifier: GPL-2.0-only */
#include "why_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "json.h"
#include "table.h"
#include "text.h"

#define CAUSES_SHOWN 8u

#define CALL_FORM "[ in {call?}]"
#define AWAITED_FORM "[{?is_awaited}, awaited[ in {waited_in?}]]"

static const struct {
	const char *kind;
	const char *form;
} why_causes[] = {
	{ "running", " ran" CALL_FORM },
	{ "runnable", " waited for a CPU" },
	{ "asleep", " slept" CALL_FORM " until an interrupt, of a timer or device" },
	{ "unknown", " was blocked" CALL_FORM "; the end is not in the trace" },
};

/* NAME[TID] */
static void why_thread(FILE *out, const char *name, uint64_t tid)
{
	fprintf(out, "%.40s[%" PRIu64 "]", *name ? name : "?", tid);
}

static void why_cause(FILE *out, struct json_object *cause)
{
	struct json_object *thread = json_get(cause, "in_thread"),
			   *other = json_get(cause, "cpu_had");

	why_thread(out, json_str(thread, "name"), json_num(thread, "tid"));
	for (size_t i = 0; i < ARRAY_SIZE(why_causes); i++)
		if (strcmp(json_str(cause, "kind"), why_causes[i].kind) == 0)
			text_form(out, cause, why_causes[i].form);
	if (other) {
		fputs(" that ", out);
		why_thread(out, json_str(other, "name"), json_num(other, "tid"));
		fputs(" had", out);
	}
	text_form(out, cause, AWAITED_FORM);
}

static void why_row(struct table *table, struct json_object *cause, uint64_t of_ns)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	why_cause(out, cause);
	fclose(out);
	table_cell(table, "%.1f %%",
		   (double)json_num(cause, "cause_ns") * 100 / (double)MAX(of_ns, UINT64_C(1)));
	table_form(table, cause, "{cause_ns:T}");
	table_cell(table, "%s", text);
	free(text);
}

static void why_span(FILE *out, struct json_object *span, uint64_t origin_ns)
{
	struct table table = { .columns = "rrl" };
	uint64_t from_ns = json_num(span, "from_ns") - origin_ns, shown_ns = 0;
	size_t nr = json_len(span, "causes");

	text_form(out, span, "\n[{?lossy}~]{duration_ns:T}  {name}");
	fprintf(out, " at +%" PRIu64 ".%09" PRIu64, from_ns / 1000000000, from_ns % 1000000000);
	if (json_get(span, "tid")) {
		fputs(" in ", out);
		why_thread(out, json_str(span, "thread"), json_num(span, "tid"));
	}
	fputc('\n', out);
	for (size_t i = 0; i < MIN(nr, (size_t)CAUSES_SHOWN); i++) {
		struct json_object *cause = json_at(span, "causes", i);

		why_row(&table, cause, json_num(span, "duration_ns"));
		shown_ns += json_num(cause, "cause_ns");
	}
	table_print(out, &table);
	if (nr > CAUSES_SHOWN)
		fprintf(out, "  and %zu causes of %.1f %% in all; --json has them\n",
			nr - CAUSES_SHOWN,
			(double)(json_num(span, "explained_ns") - shown_ns) * 100 /
				(double)MAX(json_num(span, "duration_ns"), UINT64_C(1)));
	if (!nr)
		fputs("  no event of the scheduler shows this thread meanwhile: it ran\n", out);
	text_form(out, span,
		  "[{?is_cut}  the rest has too many events to be explained\n]  {view_command}\n");
}

void why_text(FILE *out, struct json_object *record)
{
	text_form(out, record, "{spans:n} span{spans:s}; the slowest:\n");
	for (size_t i = 0; i < json_len(record, "slowest"); i++)
		why_span(out, json_at(record, "slowest", i), json_num(record, "origin_ns"));
}
