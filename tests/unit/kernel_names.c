/* SPDX-License-Identifier: GPL-2.0-only */
/* Parameters of the kernel's functions by name: from a small BTF that is made here, and from data
 * that is no BTF. */
#include <fcntl.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "sessiond/domain/kernel/btf.h"
#include "sessiond/domain/kernel/fetch_names.h"

static struct {
	uint32_t words[400];
	uint32_t nr, nr_types;
	char strings[400];
	uint32_t len;
} made = { .len = 1 };

static char path[] = "btf.XXXXXX";

static uint32_t name(const char *text)
{
	uint32_t at = made.len;

	if (!*text)
		return 0;
	CHECK_IS(at + strlen(text) + 1, <, sizeof(made.strings));
	strcpy(made.strings + at, text);
	made.len += (uint32_t)strlen(text) + 1;
	return at;
}

static void word(uint32_t value)
{
	CHECK_IS(made.nr, <, 400);
	made.words[made.nr++] = value;
}

/* Return: its number. */
static uint32_t type(uint32_t kind, const char *called, uint32_t nr, uint32_t size_or_type)
{
	word(name(called));
	word(kind << 24 | nr);
	word(size_or_type);
	return ++made.nr_types;
}

static uint32_t integer(const char *called, uint32_t bytes, uint32_t encoding)
{
	uint32_t number = type(BTF_KIND_INT, called, 0, bytes);

	word(encoding << 24 | bytes * 8);
	return number;
}

static void member(const char *called, uint32_t its_type, uint32_t bit)
{
	word(name(called));
	word(its_type);
	word(bit);
}

static void parameter(const char *called, uint32_t its_type)
{
	word(name(called));
	word(its_type);
}

static uint32_t pointer(uint32_t to)
{
	return type(BTF_KIND_PTR, "", 0, to);
}

static void make(void)
{
	uint32_t sint = integer("int", 4, BTF_INT_SIGNED), ulong = integer("unsigned long", 8, 0);
	uint32_t letter = integer("char", 1, BTF_INT_SIGNED), nr, inner, outer, file, file_at, text,
		 size;

	text = pointer(type(BTF_KIND_CONST, "", 0, letter));
	size = type(BTF_KIND_TYPEDEF, "size_t", 0, ulong);
	nr = type(BTF_KIND_ARRAY, "", 0, 0);
	word(letter), word(sint), word(16);
	inner = type(BTF_KIND_UNION, "", 2, 8);
	member("at", ulong, 0), member("text", text, 0);
	outer = type(BTF_KIND_STRUCT, "path", 2, 16);
	member("", inner, 0), member("depth", sint, 64);
	file = type(BTF_KIND_STRUCT, "file", 4, 48);
	member("flags", sint, 0), member("where", outer, 64), member("comm", nr, 192);
	member("next", made.nr_types + 1, 320); /* the next type */
	file_at = pointer(file);
	type(BTF_KIND_FUNC, "vfs_read", 0, made.nr_types + 2);
	type(BTF_KIND_FUNC_PROTO, "", 4, sint);
	parameter("file", file_at), parameter("buf", text);
	parameter("count", size), parameter("by_value", file);
}

static void keep(size_t cut)
{
	struct btf_header head = { .magic = BTF_MAGIC,
				   .version = 1,
				   .hdr_len = sizeof(head),
				   .type_len = made.nr * 4,
				   .str_off = made.nr * 4,
				   .str_len = made.len };
	char all[4096];
	size_t len = sizeof(head);
	int fd = open(path, O_WRONLY | O_TRUNC);

	memcpy(all, &head, len);
	memcpy(all + len, made.words, made.nr * 4), len += made.nr * 4;
	memcpy(all + len, made.strings, made.len), len += made.len;
	CHECK(fd >= 0 && write(fd, all, len - cut) == (ssize_t)(len - cut));
	close(fd);
}

static void becomes(const char *fetch, const char *want)
{
	struct err err = { 0 };
	char *ret = NULL;
	int code = kernel_names_resolve(path, "vfs_read", fetch, &ret, &err);

	if (code || strcmp(ret, want) != 0)
		fprintf(stderr, "%s: %s, not %s\n", fetch, code ? err.text : ret, want);
	CHECK(code == 0 && strcmp(ret, want) == 0);
	free(ret);
}

static void refused(const char *function, const char *fetch, const char *why)
{
	struct err err = { 0 };
	char *ret = NULL;

	CHECK(kernel_names_resolve(path, function, fetch, &ret, &err) == ERR_INVALID && !ret);
	if (!strstr(err.text, why))
		fprintf(stderr, "%s: %s\n", fetch, err.text);
	CHECK(strstr(err.text, why));
}

static void words(void)
{
	CHECK(kernel_names_any("count") && kernel_names_any("$comm x=file->flags"));
	CHECK(kernel_names_any("+8(file)") && kernel_names_any("x=+0(-u8(file))"));
	CHECK(!kernel_names_any("") && !kernel_names_any("$arg1 a=$arg2:s32 +0(+8($arg1)):string"));
	CHECK(!kernel_names_any("+ $(a")); /* a word ends where it ends */
	becomes("count", "count=$arg3:u64");
	becomes("n=count:x32  $comm file", "n=$arg3:x32 $comm file=$arg1:x64");
	becomes("file->flags", "flags=+0($arg1):s32");
	becomes("file->where.depth", "depth=+16($arg1):s32");
	becomes("file->where.at", "at=+8($arg1):u64");
	becomes("file->where.text:string", "text=+0(+8($arg1)):string");
	becomes("buf:ustring", "buf=+0($arg2):ustring");
	becomes("file->comm:string", "comm=+24($arg1):string");
	becomes("file->next->flags", "flags=+0(+40($arg1)):s32");
	becomes("x=+8(file):u16", "x=+8($arg1):u16");
	becomes("x=+4(+8(file->next)):u16", "x=+4(+8(+40($arg1))):u16");
}

static void mistakes(void)
{
	refused("vfs_write", "count", "does not know the function 'vfs_write'");
	refused("vfs_read", "cont", "has no parameter 'cont'; it has file, buf, count, by_value");
	refused("vfs_read", "by_value", "not in a register");
	refused("vfs_read", "file->nothing", "has no member 'nothing'");
	refused("vfs_read", "count->x", "'count' is not a pointer to a structure");
	refused("vfs_read", "file.flags", "'file' is not a structure");
	refused("vfs_read", "file->where->depth", "'where' is not a pointer");
	refused("vfs_read", "file->where", "no number");
	refused("vfs_read", "file->comm", "no number");
	refused("vfs_read", "count:string", "no pointer");
	refused("vfs_read", "$comm +8(count)", "no pointer");
}

static void damaged(void)
{
	for (size_t cut = 1; cut < made.nr * 4 + made.len + sizeof(struct btf_header); cut += 7) {
		keep(cut);
		refused("vfs_read", "count", "this kernel has no BTF");
	}
	for (uint32_t i = 0; i < made.nr; i++) {
		struct err err = { 0 };
		uint32_t was = made.words[i];
		char *ret = NULL;

		for (int times = 0; times < 3; times++) {
			made.words[i] = times ? times == 1 ? 0xffffffff : was ^ 1u : i + 1;
			keep(0);
			if (kernel_names_resolve(path, "vfs_read",
						 "count file->where.text:string file->next->flags",
						 &ret, &err) == 0)
				free(ret);
		}
		made.words[i] = was;
	}
}

int main(void)
{
	int fd = mkstemp(path);

	CHECK_IS(fd, >=, 0);
	close(fd);
	make();
	keep(0);
	words();
	mistakes();
	damaged();
	unlink(path);
	refused("vfs_read", "count", "this kernel has no BTF");
	return 0;
}
