/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The places of functions and USDT probes: in this program's own file, compared with those of the
 * dynamic linker; functions that can't be found; the meaning of descriptions of arguments; and
 * files below the root of another process.
 */
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/control.h>

#include "base/mem.h"
#include "check.h"
#include "place/sdt.h"
#include "usdt.h"

__attribute__((section(".probes"), used)) volatile unsigned short sold_semaphore;
static int shelf[8] = { 1, 2, 3 };

__attribute__((noinline, used)) int control_places_sell(int what, long long price)
{
	USDT("shop", "sold", "sold_semaphore",
	     "-4@%[a] 8@%[b] 4f@%%xmm0", [a] "r"(what), [b] "r"(price));
	if (what)
		USDT("shop", "sold", "sold_semaphore",
		     "-8@%[a] 2@$7 4f@%%xmm0", [a] "r"((long)what));
	return what + shelf[what & 7];
}

/* --- where ------------------------------------------------------------------------- */

struct where {
	uintptr_t address;
	uint64_t offset;
};

static int find_part(struct dl_phdr_info *info, size_t size, void *data)
{
	struct where *where = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && where->address >= begin &&
		    where->address - begin < part->p_memsz)
			where->offset = where->address - begin + part->p_offset;
	}
	return 1; /* the program itself comes first */
}

static uint64_t offset_of(const volatile void *address)
{
	struct where where = { .address = (uintptr_t)address };

	dl_iterate_phdr(find_part, &where);
	CHECK(where.offset);
	return where.offset;
}

static struct ltt_ctl *ctl;
static struct ltt_ctl_places *found; /* NULL: none were */

static int find(const char *form, const char *path)
{
	char *location AUTO_FREE = xasprintf(form, path);
	int code;

	ltt_ctl_places_free(found);
	found = NULL;
	code = ltt_ctl_find_places(ctl, location, &found);
	CHECK_IS(!code, ==, found && found->nr && *found->file && *found->text);
	CHECK_IS(!code, ==, !*ltt_ctl_error(ctl));
	return code;
}

static bool is_error(const char *part)
{
	return strstr(ltt_ctl_error(ctl), part) != NULL;
}

static void functions(const char *self)
{
	char *want AUTO_FREE =
		xasprintf(";0x%llx", (unsigned long long)offset_of((void *)control_places_sell));
	const char *forms[] = { "%s:control_places_sell", "elf:%s:control_places_sell",
				"function:%s:control_places_sell",
				"return:%s:control_places_sell" };
	struct stat st;
	unsigned long long inode, size;

	CHECK_IS(stat(self, &st), ==, 0);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		CHECK(find(forms[i], self) == 0 && strcmp(found->file, self) == 0);
		CHECK(strcmp(strchr(found->text, ';'), want) == 0 && !*found->left_out);
		CHECK(found->nr == 1 && !found->places[0]->semaphore);
		CHECK_IS(found->places[0]->offset, ==, offset_of((void *)control_places_sell));
	}
	CHECK(sscanf(found->text, "%*u,%llu,%llu,", &inode, &size) == 2 && inode == st.st_ino &&
	      size == (unsigned long long)st.st_size);
	CHECK(find("%s:no_such_function", self) == LTT_CTL_NO_EVENT &&
	      is_error("has no function 'no_such_function'"));
	CHECK_IS(find("%s:shelf", self), ==, LTT_CTL_NO_EVENT);	 /* is none */
	CHECK_IS(find("%s:malloc", self), ==, LTT_CTL_NO_EVENT); /* elsewhere */
}

/* A process whose root is @dir. Return: its number; 0: this user may not make one. */
static pid_t start_in_root(const char *dir)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot(dir) < 0 || raise(SIGSTOP) != 0)
			_exit(1);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, WUNTRACED) == pid);
	return WIFSTOPPED(status) ? pid : 0;
}

static void copy(const char *from, const char *to)
{
	char *command AUTO_FREE = xasprintf("cp %s %s", from, to);

	CHECK_IS(system(command), ==, 0);
}

/* Links below /proc/PID/root lead to files below it; and that process may end. */
static void in_another_root(const char *self)
{
	static const char *const good[] = { "prog", "absolute", "bin/prog", "bin/../../../prog", "/prog" };
	static const char *const bad[] = { "outside", "none", "proc", "bin" };
	char dir[] = "/tmp/places.XXXXXX", link[64], *inside AUTO_FREE = NULL;
	struct stat st;
	pid_t pid;

	CHECK(mkdtemp(dir));
	inside = xasprintf("%s/prog", dir);
	copy(self, inside);
	CHECK_IS(stat(inside, &st), ==, 0);
	CHECK(chdir(dir) == 0 && mkdir("bin", 0755) == 0);
	CHECK(symlink("/prog", "absolute") == 0 && symlink("../../../prog", "bin/prog") == 0);
	CHECK(symlink(self, "outside") == 0 && symlink("/proc/self/exe", "proc") == 0);
	pid = start_in_root(dir);
	for (size_t i = 0; pid && i < ARRAY_SIZE(good); i++) {
		char *path AUTO_FREE = xasprintf("/proc/%d/root/%s", pid, good[i]);
		unsigned long long inode = 0;

		CHECK_IS(find("%s:control_places_sell", path), ==, 0);
		CHECK(strcmp(found->file, path) == 0);
		CHECK(sscanf(found->text, "%*u,%llu,", &inode) == 1 && inode == st.st_ino);
	}
	for (size_t i = 0; pid && i < ARRAY_SIZE(bad); i++) {
		char *path AUTO_FREE = xasprintf("/proc/%d/root/%s", pid, bad[i]);

		CHECK(find("%s:control_places_sell", path) != 0);
	}
	if (pid) {
		kill(pid, SIGKILL);
		CHECK_IS(waitpid(pid, NULL, 0), ==, pid);
		snprintf(link, sizeof(link), "/proc/%d/root/prog", pid);
		CHECK_IS(find("%s:control_places_sell", link), ==, LTT_CTL_NO_EVENT);
	}
	CHECK(unlink("prog") == 0 && unlink("absolute") == 0 && unlink("bin/prog") == 0 &&
	      unlink("outside") == 0 && unlink("proc") == 0 && rmdir("bin") == 0 &&
	      chdir("/") == 0 && rmdir(dir) == 0);
}

/* Two places, whose first arguments have different widths; a third that is no integer. */
static void usdt(const char *self)
{
	char *semaphore AUTO_FREE =
		xasprintf("@0x%llx ", (unsigned long long)offset_of(&sold_semaphore));
	const char *second;

	CHECK(find("sdt:%s:shop:sold", self) == 0 && *found->left_out &&
	      strcmp(found->left_out, "arg3") == 0);
	second = strchr(strchr(found->text, ';') + 1, ';');
	CHECK(second && !strchr(second + 1, ';'));
	CHECK(strstr(found->text, semaphore) < second && strstr(second, semaphore));
	CHECK(strstr(found->text, ":s32>s64 arg2=") && strstr(found->text, ":s64 arg2="));
	CHECK(strstr(found->text, "=\\7:u16>u64") && !strstr(found->text, "arg3"));
	CHECK(found->nr == 2 && found->places[0]->offset < found->places[1]->offset);
	for (size_t i = 0; i < found->nr; i++)
		CHECK_IS(found->places[i]->semaphore, ==, offset_of(&sold_semaphore));
	CHECK_IS(find("sdt:%s:shop:bought", self), ==, LTT_CTL_NO_EVENT);
	CHECK_IS(find("sdt:%s:market:sold", self), ==, LTT_CTL_NO_EVENT);
}

static void no_programs(void)
{
	char folder[] = "/tmp/ltt-program.XXXXXX";
	char *path AUTO_FREE = NULL, *link AUTO_FREE = NULL;
	FILE *file;

	CHECK(mkdtemp(folder));
	path = xasprintf("%s/a:b", folder);
	link = xasprintf("%s/a\\:b", folder);
	CHECK((file = fopen(path, "w")) && fputs("\177ELF and nothing", file) > 0 &&
	      fclose(file) == 0);
	CHECK(find("%s:main", path) == LTT_CTL_INVALID && is_error("is not a program"));
	CHECK(find("%s:main", link) == LTT_CTL_INVALID && is_error("is not a program"));
	CHECK(find("%s:main", folder) == LTT_CTL_INVALID && is_error("is not a regular file"));
	CHECK_IS(find("%s/none:main", folder), ==, LTT_CTL_NO_EVENT);
	CHECK(find("%s", "/bin/sh") == LTT_CTL_INVALID &&
	      find("%s:", "/bin/sh") == LTT_CTL_INVALID &&
	      find("sdt:%s:x", "/bin/sh") == LTT_CTL_INVALID &&
	      find(":%s", "x") == LTT_CTL_INVALID);
	CHECK(find("%s:x", "no-such-program") == LTT_CTL_NO_EVENT && is_error("$PATH"));
	CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

/* Cut off anywhere, or with bytes changed: found or not, but nothing happens. */
static void damaged(const char *self)
{
	char path[] = "/tmp/ltt-damaged.XXXXXX";
	int from = open(self, O_RDONLY), to = mkstemp(path);
	struct stat st;
	uint8_t *bytes;
	unsigned int seed = 1;

	CHECK(from >= 0 && to >= 0 && fstat(from, &st) == 0);
	bytes = malloc((size_t)st.st_size);
	CHECK_IS(read(from, bytes, (size_t)st.st_size), ==, st.st_size);
	for (int i = 0; i < 60; i++) {
		size_t len = i % 2 ? (size_t)st.st_size :
				     (size_t)st.st_size * (size_t)(rand_r(&seed) % 100) / 100;

		for (int n = 0; n < 40 * (i % 2); n++)
			bytes[(size_t)rand_r(&seed) % (n % 2 ? 4096 : (size_t)st.st_size)] =
				(uint8_t)rand_r(&seed);
		bytes[0] = 0x7f; /* or it is never read */
		CHECK(ftruncate(to, 0) == 0 && pwrite(to, bytes, len, 0) == (ssize_t)len);
		(void)!find("%s:control_places_sell", path);
		(void)!find("sdt:%s:shop:sold", path);
	}
	free(bytes);
	close(from);
	close(to);
	CHECK_IS(unlink(path), ==, 0);
}

/* --- arguments --------------------------------------------------------------------- */

static bool resolve(void *data, const char *symbol, uint64_t *ret)
{
	(void)data;
	*ret = 0x4000;
	return strcmp(symbol, "known") == 0;
}

static void means(const char *text, const char *value, int bytes)
{
	struct sdt_arg args[SDT_MAX_ARGS];

	CHECK_IS(sdt_args_parse(text, 0x1000, resolve, NULL, args), ==, 1);
	if (strcmp(args[0].value, value) != 0)
		fprintf(stderr, "%s: %s, not %s\n", text, args[0].value, value);
	CHECK_IS(strcmp(args[0].value, value), ==, 0);
	CHECK(!*value || args[0].bytes == (bytes < 0 ? -bytes : bytes));
	CHECK(!*value || args[0].is_signed == (bytes < 0));
}

static void arguments(void)
{
	struct sdt_arg args[SDT_MAX_ARGS];

#if defined(__x86_64__)
	means("-4@%eax", "%ax", -4);
	means("8@%rdi", "%di", 8);
	means("1@%sil", "%si", 1);
	means("2@%r10w", "%r10", 2);
	means("%r8", "%r8", 8);
	means("-1@$-5", "\\18446744073709551611", -1);
	means("8@-16(%rbp)", "-u16(%bp)", 8);
	means("4@(%rax)", "+u0(%ax)", 4);
	means("4@0x20(%r9,%rcx,8)", "+u32(%r9+8*%cx)", 4);
	means("4@8(%rax,%rdx)", "+u8(%ax+1*%dx)", 4);
	means("4@known(%rip)", "+u12288(%ip)", 4);
	means("4@known+4(%rip)", "+u12292(%ip)", 4);
	means("4@8+known(%rip)", "+u12296(%ip)", 4);
	means("4@known-4(%rip)", "+u12284(%ip)", 4);
	means("4@unknown(%rip)", "", 0);
	means("4@%ah", "", 0);
	means("4f@%xmm0", "", 0);
	means("4@%fs:8(%rax)", "", 0);
	means("4@8(%rip)", "", 0);
	means("3@%eax", "", 0);
	means("4@(%rax,%rcx,9)", "", 0);
	means("4@$", "", 0);
	CHECK_IS(sdt_args_parse(" 4@%eax  8@%rbx ", 0, resolve, NULL, args), ==, 2);
	CHECK_IS(strcmp(args[1].value, "%bx"), ==, 0);
#elif defined(__aarch64__)
	means("4@w3", "%x3", 4);
	means("-8@[sp, 16]", "+u16(%sp)", -8);
	means("8@[x0]", "+u0(%x0)", 8);
	means("4@5", "\\5", 4);
#endif
	CHECK_IS(sdt_args_parse("", 0, resolve, NULL, args), ==, 0);
	CHECK_IS(sdt_args_parse("a b c d e f g h i j k l m n o p q r", 0, resolve, NULL, args), ==,
		 SDT_MAX_ARGS);
}

int main(void)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK(len > 0 && control_places_sell(0, 1) == 1);
	self[len] = '\0';
	ctl = ltt_ctl_new();
	CHECK(ctl);
	CHECK(ltt_ctl_find_places(ctl, NULL, &found) == LTT_CTL_INVALID &&
	      is_error("the location is missing"));
	functions(self);
	usdt(self);
	no_programs();
	damaged(self);
	arguments();
	in_another_root(self);
	ltt_ctl_places_free(found);
	ltt_ctl_free(ctl);
	return 0;
}
