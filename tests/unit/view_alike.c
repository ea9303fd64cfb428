/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces whose metadata differ in their UUID and environment alone share their classes: the text is
 * the same as without that, and any other difference keeps them apart. */
#include "lib/view_make.h"
#include "read/view_priv.h"

typedef int open_fn(const char *dir, view_report_fn report, void *priv, struct view **ret_view);

struct variant {
	const char *env, *event, *end;
	bool is_shared;
};

/* @is_shared: it may share classes with the others of which that is true. */
static const struct variant variants[] = {
	{ "vpid = 1; procname = \"a\";", "", "/* crc32c 01234567 */\n", true },
	{ "vpid = 22; procname = \"b\\\"\";", "", "/* crc32c 89abcdef */\n", true },
	{ "/* { */ vpid = 10;", "", "", true },
	{ "procname = \"x\n};\n\";", "", "", true },
	{ "vpid = 3; } ;\nenv { vpid = 4;", "", "", false },
	{ "vpid = 5; sequence = (;", "", "", false },
	{ "vpid = 6;\n};\nevent { id = 9; stream_id = 0; name = \"more\";", "", "", false },
	{ "vpid = 7;", "loglevel = 3; ", "", false },
	{ "vpid = 8;", "", "/* crc32c 0123456g */\n", false },
	{ "vpid = 9;", "", "event { id = 1; stream_id = 0; name = \"c\"; };\n", false },
};

static void make_one(const char *dir, unsigned number, const struct variant *v)
{
	struct maker m = { .cpu = number };
	uint8_t uuid[] = MAKE_UUID;
	struct bytes text = { 0 };
	char *head = strdup(MAKE_HEAD), *at = head ? strstr(head, MAKE_UUID_TEXT) : NULL;
	char digits[3];

	CHECK(at);
	uuid[15] = (uint8_t)number;
	snprintf(digits, sizeof(digits), "%02x", number);
	memcpy(at + 34, digits, 2);
	at = strstr(at, "env {");
	put_raw(&text, head, (size_t)(at - head));
	put_raw(&text, "env { ", 6);
	put_raw(&text, v->env, strlen(v->env));
	put_raw(&text, "\n};\n", 4);
	at = strchr(at, '\n') + 1;
	put_raw(&text, at, strlen(at));
	put_raw(&text, "event { id = 0; stream_id = 0; name = \"e\"; ", 43);
	put_raw(&text, v->event, strlen(v->event));
	put_raw(&text, "fields := struct { uint32_t _n; }; };\n", 38);
	put_raw(&text, v->end, strlen(v->end));
	make_file(dir, "metadata", (char *)text.at, text.len);
	packet_open(&m, 100 * number);
	memcpy(m.out.at + 4, uuid, 16);
	for (unsigned i = 0; i < 5; i++)
		put(event(&m, 0, 100 * number + 37 * i), i, 4);
	packet_close(&m, 100 * number + 1000);
	make_file(dir, "s_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
	bytes_fini(&text);
	free(head);
}

static void show_all(open_fn *open_view, const char *dir, struct seen *seen, char **ret_text)
{
	size_t len;

	FILE *out = open_memstream(ret_text, &len);

	CHECK(out);
	*seen = (struct seen){ .problems = 0 };
	for (int format = VIEW_TEXT; format <= VIEW_JSON; format++)
		for (unsigned threads = 1; threads < 3; threads++) {
			const struct view_style style = { .format = format, .threads = threads };
			struct view *view;

			CHECK_IS(open_view(dir, note_problem, seen, &view), ==, 0);
			CHECK_IS(view_print(view, NULL, &style, out), ==, 0);
			CHECK_IS(view_summary(view, &seen->sum), ==, 0);
			CHECK_IS(view_summary_print(seen->sum, &style, out), ==, 0);
			view_free(view);
		}
	fclose(out);
}

static void check_shared(const char *dir)
{
	struct seen seen = { 0 };
	unsigned shared = 0;

	CHECK_IS(view_open_to_print(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(seen.view->nr_sources, ==, ARRAY_SIZE(variants));
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		const struct source *source = seen.view->sources[i];

		if (!source->tc->is_shared)
			continue;
		CHECK(variants[atoi(source->label)].is_shared);
		shared++;
	}
	CHECK_IS(shared, >=, 2);
	seen_fini(&seen);
}

int main(void)
{
	struct seen apart, shared;
	char root[128], dir[256], *x, *y;

	make_path(root, sizeof(root), make_tmp(), "alike");
	for (unsigned i = 0; i < ARRAY_SIZE(variants); i++) {
		snprintf(dir, sizeof(dir), "%s/%u", root, i);
		make_one(dir, i, &variants[i]);
	}
	show_all(view_open, root, &apart, &x);
	show_all(view_open_to_print, root, &shared, &y);
	check_same("problems", shared.said, apart.said);
	check_same("text", y, x);
	check_shared(root);
	free(x);
	free(y);
	return 0;
}
