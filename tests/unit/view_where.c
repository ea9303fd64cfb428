/* SPDX-License-Identifier: GPL-2.0-only */
/* Selection of events by an expression, over fields and contexts of any type that CTF has. */
#include <string.h>

#include "base/macros.h"
#include "lib/filter_event.h"
#include "lib/view_make.h"

static const char metadata[] = MAKE_HEAD
	"event { id = 1; stream_id = 0; name = \"a:all\";\n"
	"  context := struct { uint32_t _vtid;\n"
	"    integer { size = 8; align = 8; encoding = UTF8; } _procname[8]; };\n"
	"  fields := struct { integer { size = 16; align = 8; signed = true; byte_order = be; } _n;\n"
	"    integer { size = 4; align = 1; signed = false; } _low;\n"
	"    integer { size = 4; align = 1; signed = true; } _high;\n"
	"    string _s; enum : uint8_t { idle = 0, busy = 1 ... 3 } _state;\n"
	"    struct { uint32_t _x; struct { string _t; } _deep; } _in;\n"
	"    uint16_t _list_length; uint16_t _list[ _list_length ]; uint8_t _pair[2];\n"
	"    floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _f;\n"
	"    struct { uint8_t _q; } _many[2]; uint64_t _last; }; };\n"
	"event { id = 2; stream_id = 0; name = \"a:text\"; fields := struct { string _n; }; };\n"
	"event { id = 3; stream_id = 0; name = \"a:none\"; };\n";

static void put_all(struct maker *m, uint64_t ns, int n, const char *s, uint32_t x)
{
	struct bytes *b = event(m, 1, ns);
	char name[8] = "worker";

	put(b, 40 + ns, 4);
	put_raw(b, name, sizeof(name));
	put(b, (uint16_t)n >> 8, 1);
	put(b, (uint16_t)n & 255, 1);
	put(b, 0xf5, 1); /* 5, and -1 */
	put_str(b, s);
	put(b, ns % 4, 1);
	put(b, x, 4);
	put_str(b, "deep");
	put(b, 3, 2);
	for (unsigned int i = 0; i < 3; i++)
		put(b, 100 * x + i, 2);
	put(b, 7, 1);
	put(b, 8, 1);
	put_float(b, 0.5 * (double)n, 4);
	put(b, 1, 1);
	put(b, 2, 1);
	put(b, UINT64_MAX - ns, 8);
}

static void make_trace(const char *dir)
{
	struct maker m = { .cpu = 2 };

	packet_open(&m, 0);
	put_all(&m, 1, -300, "/etc/passwd", 6);
	put_all(&m, 2, 2, "/tmp/\xc3\xa4", 7);
	put_str(event(&m, 2, 3), "text");
	event(&m, 3, 4);
	put_all(&m, 5, 500, "", 8);
	put_str(event(&m, 2, 6), "text");
	packet_close(&m, 6);
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
}

static const struct {
	const char *expression;
	const char *numbers; /* times of the events for which it holds */
	const char *never;   /* part of the reason why it can't hold for any */
} cases[] = {
	{ "n < 0", "1", NULL }, /* of a:text, n is text: no number is less */
	{ "n == -300", "1", NULL },
	{ "n >= 2", "25", NULL },
	{ "n == \"te*\"", "36", NULL },
	{ "low == 5 && high == -1", "125", NULL },
	{ "s == \"/etc/*\" || s == \"\"", "15", NULL },
	{ "s == \"/tmp/\xc3\xa4\"", "2", NULL },
	{ "state == busy", "125", NULL },
	{ "state == 2", "2", NULL },
	{ "in.x > 6", "25", NULL },
	{ "in.deep.t == \"deep\"", "125", NULL },
	{ "list[0] == 700 && list[2] == 702 && len(list) == 3", "2", NULL },
	{ "list_length == 3", "125", NULL },
	{ "pair[1] == 8", "125", NULL },
	{ "f > 0.9", "25", NULL },
	{ "last < 0 && last == -3", "2", NULL }, /* as in filters: 64 bits with a sign */
	{ "$ctx.vtid == 41", "1", NULL },
	{ "$ctx.procname == \"work*\" && !(n < 0)", "25", NULL },
	{ "$ctx.cpu_id == 2", "123456", NULL },
	{ "1 == 1", "123456", NULL },
	{ "$ctx.cpu_id == 2 && n == \"te*\"", "36", NULL },
	{ "$ctx.cpu_id != 2 && n == \"te*\"", "", NULL },
	{ "1 == 2", "", "never holds" },
	{ "many == 1", "", "no field 'many'" },
	{ "stat == busy", "", "did you mean 'state'" },
	{ "$ctx.vpid == 1", "", "ctx.vtid" },
};

static void check_case(const char *dir, size_t i)
{
	struct view_select select = { .where = cases[i].expression };
	struct seen seen;
	char got[16] = "", why[400];
	uint64_t nr = 0;

	CHECK_IS(view_check_where(select.where, why, sizeof(why)), ==, 0);
	CHECK_IS(see_style(&seen, dir, &select, NULL), ==, 0);
	for (const char *at = seen.text; (at = strstr(at, "] (")); at++)
		strncat(got, at - 1, 1);
	if (strcmp(got, cases[i].numbers) != 0)
		fprintf(stderr, "%s\n", select.where);
	check_same("selected", got, cases[i].numbers);
	CHECK_IS(seen.problems, ==, 0);
	if (!cases[i].never != !seen.sum->where_never)
		fprintf(stderr, "%s: %s\n", select.where, seen.sum->where_never);
	CHECK(!cases[i].never == !seen.sum->where_never);
	CHECK(!cases[i].never || strstr(seen.sum->where_never, cases[i].never));
	seen_fini(&seen);
	/* the same of those with a name, and counted */
	select.names = "a:a*";
	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK(view_scan(seen.view, &select) == 0 && view_summary(seen.view, &seen.sum) == 0);
	for (const char *at = got; *at; at++)
		nr += strchr("125", *at) != NULL;
	CHECK_IS(seen.sum->events, ==, nr);
	seen_fini(&seen);
}

static void wrong(void)
{
	static const char *const expressions[] = { "", "n ==", "(n", "n = 1", "\"x", "n == 1 1" };
	char why[400];

	for (size_t i = 0; i < ARRAY_SIZE(expressions); i++) {
		memset(why, 0, sizeof(why));
		CHECK_IS(view_check_where(expressions[i], why, sizeof(why)), <, 0);
		CHECK(strstr(why, "column"));
	}
}

/* --- the cases of filters, on the same event in a trace ---------------------- */

#define PROVIDED                                                                            \
	"struct { enum : uint8_t { none = 0, integer = 1, float = 2, string = 3 } _kind;\n" \
	"      integer { size = 64; align = 8; signed = true; } _integer;\n"                \
	"      floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _float;\n"        \
	"      string _string; } "

static const char filter_metadata[] = MAKE_HEAD
	"event { id = 1; stream_id = 0; name = \"f:event\";\n"
	"  context := struct { integer { size = 32; align = 8; signed = true; } _vpid;\n"
	"    string _procname; floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _load;\n"
	"    " PROVIDED "__app_shop_user; " PROVIDED "_app_shop_absent; };\n"
	"  fields := struct { uint8_t _a; integer { size = 16; align = 8; signed = true; } _b;\n"
	"    uint64_t _big; uint64_t _dur;\n"
	"    integer { size = 16; align = 8; signed = false; byte_order = be; } _port;\n"
	"    floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _f;\n"
	"    floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _d;\n"
	"    enum : uint8_t { IDLE = 0, RUNNING = 1 ... 3, DEAD = 4 } _state; uint16_t _arr[3];\n"
	"    integer { size = 8; align = 8; encoding = UTF8; } _dev[6]; string _host;\n"
	"    uint8_t _seq_length;\n"
	"    integer { size = 32; align = 8; signed = true; } _seq[ _seq_length ];\n"
	"    uint16_t _req_length;\n"
	"    integer { size = 8; align = 8; encoding = UTF8; } _req[ _req_length ];\n"
	"    integer { size = 32; align = 8; signed = true; } _after; string _star; string _empty;\n"
	"    uint16_t _fseq_length;\n"
	"    floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _fseq[ _fseq_length ];\n"
	"    uint8_t _in;\n"
	"    enum ltt_set_3_flags : integer { size = 32; align = 8; signed = false; base = 16; } {\n"
	"      RDONLY = 0, WRONLY = 1, RDWR = 2, SYNC = 0x101000, CREAT = 0x40, CLOEXEC = 0x80000,\n"
	"      \"WRONLY|CREAT\" = 0x41 } _flags;\n"
	"    string _peer; uint16_t _last; }; };\n";

static char filter_dir[200];

static void put_provided(struct bytes *b, enum ltt_filter_kind kind, const char *text)
{
	put(b, kind == LTT_FILTER_TEXT ? 3 : 0, 1);
	put(b, 0, 8);
	put(b, 0, 8);
	put_str(b, text);
}

static void put_filtered(struct maker *m, uint64_t ns, const struct filter_event *filtered)
{
	struct bytes *b = event(m, 1, ns);

	put(b, (uint64_t)filter_event_values[0].integer, 4);
	put_str(b, filter_event_values[1].text);
	put_float(b, filter_event_values[2].number, 8);
	put_provided(b, filter_event_values[3].kind, filter_event_values[3].text);
	put_provided(b, filter_event_values[4].kind, "");
	put_raw(b, filtered->bytes, filtered->length);
}

/* The values of filter_event.c, twice: of the second event only the named values are decoded. */
static void make_filter_trace(const char *dir)
{
	struct maker m = { .cpu = 0 };
	struct filter_event filtered;

	filter_event_make(&filtered);
	packet_open(&m, 0);
	put_filtered(&m, 1, &filtered);
	put_filtered(&m, 2, &filtered);
	packet_close(&m, 2);
	layout_free(filtered.layout);
	make_path(filter_dir, sizeof(filter_dir), dir, "filters");
	CHECK_IS(mkdir(filter_dir, 0700), ==, 0);
	make_file(filter_dir, "metadata", filter_metadata, sizeof(filter_metadata) - 1);
	make_file(filter_dir, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
}

/* An expression that is wrong at COLUMN, for any event or for this one. The names of integers'
 * types are others in a trace: lists of fields are not compared. */
static void check_refusal(const char *expected, const char *expression, const struct seen *seen)
{
	char wanted[300], why[400] = "", *fields;

	if (view_check_where(expression, why, sizeof(why)) == 0)
		snprintf(why, sizeof(why), "%s",
			 seen->sum->where_never ? seen->sum->where_never : "none");
	snprintf(wanted, sizeof(wanted), "column %lu: ", strtoul(expected, &fields, 10));
	if (strncmp(why, wanted, strlen(wanted)) != 0)
		fprintf(stderr, "%s\n%s\n%s\n", expression, expected, why);
	CHECK(strncmp(why, wanted, strlen(wanted)) == 0);
	snprintf(wanted, sizeof(wanted), "%s", fields + 1);
	if ((fields = strstr(wanted, " fields:")))
		*fields = '\0';
	CHECK(strstr(why, wanted));
}

static void check_filter_case(const char *expected, const char *expression)
{
	struct view_select select = { .where = expression };
	bool holds = strcmp(expected, "yes") == 0;
	bool is_never = strcmp(expected, "never") == 0;
	bool computes = strstr(expected, "no result"); /* an error of the strict mode only */
	bool is_error = *expected >= '0' && *expected <= '9' && !computes;
	struct seen seen;

	CHECK_IS(see_style(&seen, filter_dir, &select, NULL), ==, 0);
	if (count_text(seen.text, "f:event") != (holds ? 2 : 0) ||
	    (is_never || is_error) != !!seen.sum->where_never)
		fprintf(stderr, "%s: not %s: %s %s\n", expression, expected, seen.text,
			seen.sum->where_never);
	CHECK_IS(count_text(seen.text, "f:event"), ==, holds ? 2 : 0);
	CHECK_IS(seen.problems, ==, 0);
	CHECK((is_never || is_error) == !!seen.sum->where_never);
	if (is_error)
		check_refusal(expected, expression, &seen);
	seen_fini(&seen);
}

/* A set whose value has no label of its own, and one bit without any. */
static void check_set(void)
{
	static const struct {
		struct view_style style;
		const char *flags;
	} forms[] = {
		{ { .format = VIEW_TEXT }, ", flags = ( \"RDWR\" | \"CLOEXEC\" | 0x400000 : container = 0x480002 ), " },
		{ { .tasks = true, .brief = true }, " flags=RDWR|CLOEXEC|0x400000 " },
		{ { .format = VIEW_JSON }, ",\"flags\":{\"labels\":[\"RDWR\",\"CLOEXEC\"],\"value\":4718594}," },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct seen seen;

		CHECK_IS(see_style(&seen, filter_dir, NULL, &forms[i].style), ==, 0);
		if (!strstr(seen.text, forms[i].flags))
			fprintf(stderr, "not in %s: %s\n", seen.text, forms[i].flags);
		CHECK(strstr(seen.text, forms[i].flags));
		seen_fini(&seen);
	}
}

static const char exit_metadata[] = MAKE_HEAD
	"enum ltt_errno : integer { size = 64; align = 8; signed = true; } { EPERM = -1, ENOENT = -2 };\n"
	"event { id = 1; stream_id = 0; name = \"syscall_exit_openat\";\n"
	"  fields := struct { integer { size = 64; align = 8; signed = true; } _ret; }; };\n"
	"event { id = 2; stream_id = 0; name = \"mine\";\n"
	"  fields := struct { integer { size = 64; align = 8; signed = true; } _ret; }; };\n";

/* Results of system calls are numbers; the negative ones have names. */
static void check_results(const char *parent)
{
	struct view_style brief = { .tasks = true, .brief = true }, json = { .format = VIEW_JSON };
	struct view_select failed = { .where = "ret == ENOENT" };
	struct maker m = { .cpu = 0 };
	struct seen seen;
	char dir[200];

	packet_open(&m, 0);
	put(event(&m, 1, 1), (uint64_t)-2, 8);
	put(event(&m, 1, 2), 3, 8);
	put(event(&m, 2, 3), (uint64_t)-2, 8);
	packet_close(&m, 3);
	make_path(dir, sizeof(dir), parent, "exits");
	CHECK_IS(mkdir(dir, 0700), ==, 0);
	make_file(dir, "metadata", exit_metadata, sizeof(exit_metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
	CHECK_IS(see_style(&seen, dir, NULL, &brief), ==, 0);
	CHECK_IS(count_text(seen.text, "syscall_exit_openat ret=-2 (ENOENT) |"), ==, 1);
	CHECK_IS(count_text(seen.text, "syscall_exit_openat ret=3 |"), ==, 1);
	CHECK_IS(count_text(seen.text, "mine ret=-2 |"), ==, 1);
	seen_fini(&seen);
	CHECK_IS(see_style(&seen, dir, &failed, &json), ==, 0);
	CHECK_IS(count_text(seen.text, "\n"), ==, 1);
	CHECK_IS(count_text(seen.text, "\"ret\":-2},\"error_name\":\"ENOENT\"}"), ==, 1);
	seen_fini(&seen);
	CHECK_IS(see_style(&seen, dir, NULL, &json), ==, 0);
	CHECK_IS(count_text(seen.text, "\n"), ==, 3);
	CHECK_IS(count_text(seen.text, "\"error_name\":"), ==, 1);
	seen_fini(&seen);
}

int main(void)
{
	const char *dir = make_tmp();

	make_trace(dir);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(dir, i);
	wrong();
	make_filter_trace(dir);
	check_set();
	check_results(dir);
	CHECK_IS(filter_event_cases(check_filter_case), >=, 300);
	return 0;
}
