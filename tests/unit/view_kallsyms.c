/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of a kernel that a trace carries: found by address; damage is noticed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/symbol/kallsyms.h"
#include "check.h"
#include "read/host.h"

#define GOOD                                                 \
	KALLSYMS_MAGIC "ffffffff81000000 T first\n"          \
		       "ffffffff81000000 t alias\n"          \
		       "ffffffff81000040 t second\n"         \
		       "ffffffff81000100 d data\n"           \
		       "ffffffffc0001000 t open_it\t[mod]\n" \
		       "ffffffffc0001080 b data\t[mod]\n"    \
		       "ffffffffc0001080 W weak.part.0\t[mod]\n"

#define HIDDEN KALLSYMS_MAGIC KALLSYMS_HIDDEN

static int parse(const char *text, size_t len, struct kallsyms **ret)
{
	char *exact = malloc(len ? len : 1); /* so that ASan detects reads behind it */

	memcpy(exact, text, len);
	*ret = NULL;
	return kallsyms_parse(exact, len, ret);
}

static void is(const struct kallsyms *table, uint64_t address, const char *function,
	       const char *module, uint64_t offset)
{
	struct symbol symbol = { .function = "none" };

	CHECK(kallsyms_find(table, address, &symbol) == !!function);
	if (!function)
		return;
	CHECK(strcmp(symbol.function, function) == 0 && symbol.offset == offset);
	CHECK(!symbol.module == !module && (!module || strcmp(symbol.module, module) == 0));
	CHECK(!symbol.file && !symbol.line && !symbol.nr_inlined);
}

static void found(void)
{
	struct kallsyms *table;

	CHECK(parse(GOOD, strlen(GOOD), &table) == 0 && !kallsyms_are_hidden(table));
	is(table, 0xffffffff80ffffff, NULL, NULL, 0);
	is(table, 0xffffffff81000000, "first", NULL, 0);
	is(table, 0xffffffff8100003f, "first", NULL, 0x3f);
	is(table, 0xffffffff81000040, "second", NULL, 0);
	is(table, 0xffffffff81000100, NULL, NULL, 0);
	is(table, 0xffffffffc0000fff, NULL, NULL, 0);
	is(table, 0xffffffffc000107f, "open_it", "mod", 0x7f);
	is(table, 0xffffffffc0001080, "weak.part.0", "mod", 0);
	is(table, 0xffffffffc0101080, NULL, NULL, 0); /* too far behind the last one */
	is(table, 0, NULL, NULL, 0);
	is(table, UINT64_MAX, NULL, NULL, 0);
	kallsyms_free(table);
	CHECK(parse(KALLSYMS_MAGIC, strlen(KALLSYMS_MAGIC), &table) == 0);
	is(table, 0xffffffff81000000, NULL, NULL, 0);
	kallsyms_free(table);
	CHECK(parse(HIDDEN, strlen(HIDDEN), &table) == 0);
	CHECK(kallsyms_are_hidden(table));
	is(table, 0xffffffff81000000, NULL, NULL, 0);
	kallsyms_free(table);
}

static void damaged(void)
{
	static const char *const all[] = {
		"81 T\n",
		"81 T \n",
		"81  T a\n",
		"g1 T a\n",
		" 81 T a\n",
		"81 TT a\n",
		"81 1 a\n",
		"81 T a",
		"\n",
		"81 T a b\n",
		"81 T a\t\n",
		"81 T a\tb\n",
		"81 T a\t[b\n",
		"00000000000000081 T a\n",
		"81 T a\n80 T b\n",
		"-1 T a\n",
		"81 T a\x1b[m\n",
		KALLSYMS_HIDDEN "81 T a\n",
	};
	char text[256];
	struct kallsyms *table;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		snprintf(text, sizeof(text), "%s%s", KALLSYMS_MAGIC, all[i]);
		CHECK_IS(parse(text, strlen(text), &table), ==, -EPROTO);
	}
	for (size_t len = 0; len < strlen(GOOD); len++) {
		bool whole = len >= strlen(KALLSYMS_MAGIC) && GOOD[len - 1] == '\n';

		CHECK(parse(GOOD, len, &table) == (whole ? 0 : -EPROTO));
		kallsyms_free(table);
	}
	for (size_t at = 0; at < strlen(GOOD); at++)
		for (int byte = 0; byte < 256; byte++) {
			char bad[] = GOOD;
			struct symbol symbol;

			bad[at] = (char)byte;
			if (parse(bad, strlen(GOOD), &table) != 0)
				continue;
			(void)kallsyms_find(table, 0xffffffff81000041, &symbol);
			kallsyms_free(table);
		}
}

static void too_large(void)
{
	size_t len = KALLSYMS_BYTES_MOST + 1, lines = KALLSYMS_LINES_MOST + 1;
	char *text = calloc(1, len);
	struct kallsyms *table;

	CHECK_IS(kallsyms_parse(text, len, &table), ==, -EFBIG);
	text = malloc(lines);
	memset(text, '\n', lines);
	CHECK_IS(kallsyms_parse(text, lines, &table), ==, -EFBIG);
}

int main(void)
{
	found();
	damaged();
	too_large();
	return 0;
}
