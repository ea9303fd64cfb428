/* SPDX-License-Identifier: GPL-2.0-only */
/* The names that a trace carries: rows are found by build id and address, damage is noticed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/symbol/symtable.h"
#include "check.h"
#include "show/show.h"

#define GOOD                                     \
	SYMTABLE_MAGIC "file 0a0b\n"             \
		       "10 0 c\tmain\tapp.c\n"   \
		       "1f f 0\t_Z3runv\t\n"     \
		       "+a\tinner\tin.h\n"      \
		       "+b\touter\t\n"          \
		       "file 0a0c0d\n"           \
		       "10 ffffffffffffffff ffffffff\tother\t/src/x y.c\n"

static int parse(const char *text, size_t len, struct symtable **ret)
{
	char *exact = malloc(len); /* so that ASan detects reads behind it */
	int r;

	memcpy(exact, text, len);
	*ret = NULL;
	r = symtable_parse(exact, len, ret);
	free(exact);
	return r;
}

static void found(void)
{
	static const uint8_t one[] = { 0x0a, 0x0b }, two[] = { 0x0a, 0x0c, 0x0d };
	struct symtable *table;
	struct symbol symbol = { 0 };

	CHECK(parse(GOOD, strlen(GOOD), &table) == 0);
	CHECK(symtable_find(table, one, 2, 0x10, &symbol));
	CHECK(strcmp(symbol.function, "main") == 0 && strcmp(symbol.file, "app.c") == 0);
	CHECK(symbol.line == 12 && symbol.offset == 0);
	CHECK(symtable_find(table, one, 2, 0x1f, &symbol));
	CHECK(strcmp(symbol.function, "_Z3runv") == 0 && !symbol.file && symbol.offset == 15);
	CHECK(symbol.nr_inlined == 2 && strcmp(symbol.inlined[0].function, "inner") == 0);
	CHECK(strcmp(symbol.inlined[0].file, "in.h") == 0 && symbol.inlined[0].line == 10);
	CHECK(strcmp(symbol.inlined[1].function, "outer") == 0 && !symbol.inlined[1].file);
	CHECK(symtable_find(table, two, 3, 0x10, &symbol));
	CHECK(strcmp(symbol.function, "other") == 0 && symbol.line == UINT32_MAX);
	CHECK(!symtable_find(table, one, 2, 0x11, &symbol));
	CHECK(!symtable_find(table, one, 0, 0x10, &symbol));
	CHECK(!symtable_find(table, two, 2, 0x10, &symbol));
	CHECK(!symtable_find(table, one, 999, 0x10, &symbol));
	CHECK(strcmp(symbol.function, "other") == 0);
	symtable_free(table);
	CHECK(parse(SYMTABLE_MAGIC, strlen(SYMTABLE_MAGIC), &table) == 0);
	symtable_free(table);
}

static void refused(const char *rows)
{
	char text[512];
	struct symtable *table;
	int len = snprintf(text, sizeof(text), "%s%s", SYMTABLE_MAGIC, rows);

	CHECK(parse(text, (size_t)len, &table) == -EPROTO);
}

static void damaged(void)
{
	static const char *const all[] = {
		"file \n", "file 0\n", "file 0g\n", "file 0A\n", "10 0 0\ta\tb\n",
		"file 00\n10 0 0\ta\n", "file 00\n10 0 0\t\tb\n", "file 00\n10 0 0\ta\tb\tc\n",
		"file 00\n10 0 0 a\tb\n", "file 00\n10 0\ta\tb\n", "file 00\n 0 0\ta\tb\n",
		"file 00\n-1 0 0\ta\tb\n", "file 00\n10 0 100000000\ta\tb\n",
		"file 00\n00000000000000001 0 0\ta\tb\n", "file 00\n10 0 0\ta\tb", "file 00", "\n", "fi\n",
		"file 00\n+0\ta\tb\n", "file 00\n10 0 0\ta\tb\n+a\tb\n",
	};
	char many[2 * 65 + 7];
	struct symtable *table;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		refused(all[i]);
	snprintf(many, sizeof(many), "file %0130d\n", 0);
	refused(many);
	for (size_t len = 0; len < strlen(GOOD); len++) {
		bool whole = len >= strlen(SYMTABLE_MAGIC) && GOOD[len - 1] == '\n';

		CHECK(parse(GOOD, len, &table) == (whole ? 0 : -EPROTO));
		symtable_free(table);
	}
	for (size_t at = 0; at < strlen(GOOD); at++)
		for (int byte = 0; byte < 256; byte++) {
			char text[] = GOOD;

			text[at] = (char)byte;
			if (parse(text, strlen(GOOD), &table) == 0)
				symtable_free(table);
		}
}

static void files(void)
{
	char dir[] = "symtable.XXXXXX", path[64];
	struct symtable *table;
	int fd;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/" SYMTABLE_FILE, dir);
	CHECK(symtable_read(dir, &table) == 0 && !table);
	CHECK(symtable_read("/nowhere", &table) == 0 && !table);
	CHECK(mkfifo(path, 0600) == 0 && symtable_read(dir, &table) == -EPROTO);
	CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
	CHECK(symtable_read(dir, &table) == -ELOOP && unlink(path) == 0);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, GOOD, strlen(GOOD)) == (ssize_t)strlen(GOOD));
	CHECK(symtable_read(dir, &table) == 0 && table);
	symtable_free(table);
	CHECK(ftruncate(fd, SYMTABLE_BYTES_MOST + 1) == 0 && symtable_read(dir, &table) == -EFBIG);
	close(fd);
	CHECK(unlink(path) == 0 && rmdir(dir) == 0);
}

int main(void)
{
	found();
	damaged();
	files();
	return 0;
}
