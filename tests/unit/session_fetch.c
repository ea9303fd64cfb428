/* SPDX-License-Identifier: GPL-2.0-only */
/* The values to record at a place in the kernel: the language, and text that is not part of it. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "sessiond/domain/kernel/fetch.h"

static struct kernel_fetch all[LTT_KMOD_ARGS_MAX];

/* "NAME KIND BYTES: OP NR OFFSET; ..." of the only one */
static const char *parsed(const char *text)
{
	static char said[400];
	struct err err = { 0 };
	int nr = kernel_fetch_parse(text, all, &err), len;

	if (nr < 0) {
		CHECK(err.code == ERR_INVALID && nr == -ERR_INVALID && err.text[0]);
		return "";
	}
	CHECK(nr == 1 && !err.code);
	len = snprintf(said, sizeof(said), "%s %u %u %c%u:", all[0].name, all[0].arg.kind,
		       all[0].arg.bytes, all[0].is_signed ? 's' : 'u', all[0].base);
	for (unsigned int i = 0; i < all[0].arg.nr_steps; i++) {
		const struct ltt_kmod_step *step = &all[0].arg.steps[i];

		len += snprintf(said + len, sizeof(said) - (size_t)len, " %u %u %lld;", step->op,
				step->nr, (long long)step->offset);
	}
	return said;
}

#define IS(text, want) CHECK(strcmp(parsed(text), want) == 0)

static void values(void)
{
	IS("$arg1", "arg1 0 8 u16: 2 0 0;");
	IS("fd=$arg2:s32", "fd 0 4 s10: 2 1 0;");
	IS("x=$stack3:u16", "x 0 2 u10: 3 3 0;");
	IS("$retval:s64", "arg1 0 8 s10: 4 0 0;");
	CHECK(all[0].at_return && !all[0].at_entry);
	IS("n=\\0x10:u8", "n 0 1 u10: 0 0 16;");
	IS("at=@0x1000:x32", "at 0 4 u16: 0 0 4096; 17 4 0;");
#if defined(__x86_64__)
	IS("%si", "arg1 0 8 u16: 1 4 0;");
	IS("a=%rax:u64", "a 0 8 u10: 1 0 0;");
	IS("a=%r15:u64", "a 0 8 u10: 1 15 0;");
	IS("%eax", "");
#endif
	IS("deep=-8(+0x10($arg1)):u32", "deep 0 4 u10: 2 0 0; 17 8 16; 17 4 -8;");
	CHECK(all[0].at_entry && !all[0].at_return);
	IS("u=+u4($arg1):u8", "u 0 1 u10: 2 0 0; 18 1 4;");
}

static void texts(void)
{
	IS("$comm", "arg1 1 256 u10: 5 0 0;");
	IS("task=$comm:string", "task 1 256 u10: 5 0 0;");
	IS("name=+8($arg1):string", "name 1 256 u10: 2 0 0; 16 0 8;");
	IS("path=+0($arg2):ustring", "path 2 256 u10: 2 1 0; 16 0 0;");
	IS("path=+u0(+112($arg1)):string", "path 2 256 u10: 2 0 0; 17 8 112; 16 0 0;");
	IS("$arg1:string", "");
	IS("$comm:u32", "");
	IS("$comm:ustring", "");
}

static void several(void)
{
	struct err err = { 0 };
	struct layout *layout = layout_new(LTT_KMOD_ARGS_MAX, 0, 4096);
	int nr = kernel_fetch_parse("  a=$arg1:s32   $arg2  c=+0($arg3):string", all, &err);

	CHECK(nr == 3 && strcmp(all[1].name, "arg2") == 0 && strcmp(all[2].name, "c") == 0);
	for (int i = 0; i < nr; i++)
		CHECK(kernel_fetch_describe(&all[i], layout));
	CHECK(!layout_check(layout) && layout->nr_fields == 3);
	CHECK(layout->fields[0].kind == LTT_KIND_INT &&
	      layout->fields[0].flags == LTT_FIELD_SIGNED);
	CHECK(layout->fields[0].size_bits == 32 && layout->fields[2].kind == LTT_KIND_STRING);
	layout_free(layout);
	CHECK(kernel_fetch_parse("", all, &err) == 0 && kernel_fetch_parse("   ", all, &err) == 0);
}

static void wrong(void)
{
	static const char *const words[] = {
		"x",
		"=$arg1",
		"x=",
		"$arg0",
		"$arg",
		"$nosuch",
		"%nosuch",
		"%",
		"$arg1:",
		"$arg1:u7",
		"$arg1:u128",
		"$arg1:int",
		"$arg1)",
		"+0($arg1",
		"+($arg1)",
		"+0$arg1",
		"+x($arg1)",
		"@",
		"@symbol",
		"\\",
		"\\x",
		"$arg1:u32x",
		"a b=$arg1",
		"ip=$arg1",
		"ret=$retval",
		"a=$arg1 a=$arg2",
		"$arg1 arg1=$arg2",
		"+1(+1(+1(+1(+1(+1(+1(+1(+1($arg1)))))))))",
		"+1(+1(+1(+1(+1(+1(+1(+1($arg1))))))))",
	};
	char many[200] = "", longest[200];
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		CHECK_IS(kernel_fetch_parse(words[i], all, &err), <, 0);
	for (unsigned int i = 0; i <= LTT_KMOD_ARGS_MAX; i++)
		strcat(many, "$arg1:u8 ");
	CHECK_IS(kernel_fetch_parse(many, all, &err), <, 0);
	memset(longest, 'x', sizeof(longest));
	longest[199] = '\0';
	CHECK_IS(kernel_fetch_parse(longest, all, &err), <, 0);
	longest[70] = '='; /* a name that is too long */
	CHECK_IS(kernel_fetch_parse(longest, all, &err), <, 0);
}

int main(void)
{
	values();
	texts();
	several();
	wrong();
	return 0;
}
