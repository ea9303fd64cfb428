/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls - makes system calls whose records are known beforehand, and prints them: a line
 * with the name of each event and its fields, in the order of the calls, as `kmodcheck
 * calls` prints the recorded ones. Some of them fail; they are recorded all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Names that no other process in the guest uses. */
#define PLACE "/nowhere/ltt-calls"

static long result(long ret)
{
	return ret < 0 ? -errno : ret;
}

static void texts(void)
{
	static char long_path[6001];
	long ret = result(syscall(SYS_renameat2, 77, PLACE "/a", -5, PLACE "/b", 3));

	printf("syscall_entry_renameat2 olddfd=77 newdfd=-5 flags=3 oldname=" PLACE "/a newname="
	       PLACE "/b\n");
	printf("syscall_exit_renameat2 ret=%ld\n", ret);

	memset(long_path, 'x', sizeof(long_path) - 1);
	memcpy(long_path, PLACE, strlen(PLACE));
	ret = result(syscall(SYS_renameat2, 78, long_path, -5, "", 0));
	printf("syscall_entry_renameat2 olddfd=78 newdfd=-5 flags=0 oldname=%.4095s newname=\n",
	       long_path);
	printf("syscall_exit_renameat2 ret=%ld\n", ret);

	ret = result(syscall(SYS_renameat2, 79, NULL, -5, (char *)8, 0));
	printf("syscall_entry_renameat2 olddfd=79 newdfd=-5 flags=0 oldname=(null) newname=(fault)\n");
	printf("syscall_exit_renameat2 ret=%ld\n", ret);
}

/* A text whose NUL is the last byte before a page that isn't there. */
static void edge(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *text = page + 4096 - sizeof(PLACE);
	long ret;

	munmap(page + 4096, 4096);
	memcpy(text, PLACE, sizeof(PLACE));
	ret = result(syscall(SYS_renameat2, 80, text, -5, text + 1, 0));
	printf("syscall_entry_renameat2 olddfd=80 newdfd=-5 flags=0 oldname=%s newname=%s\n", text,
	       text + 1);
	printf("syscall_exit_renameat2 ret=%ld\n", ret);
}

static void numbers(void)
{
	long ret = result(syscall(SYS_getpriority, 0x1234567880000001ul, -3));

	printf("syscall_entry_getpriority which=-2147483647 who=-3\n");
	printf("syscall_exit_getpriority ret=%ld\n", ret);
	ret = result(syscall(SYS_lseek, -7, -123456789012ll, 0xdeadbeefu));
	printf("syscall_entry_lseek fd=%u offset=-123456789012 whence=%u\n", -7u, 0xdeadbeefu);
	printf("syscall_exit_lseek ret=%ld\n", ret);
	ret = result(syscall(SYS_mq_unlink, NULL));
	printf("syscall_entry_mq_unlink u_name=(null)\n");
	printf("syscall_exit_mq_unlink ret=%ld\n", ret);
	ret = result(syscall(4711, 1, 2, 3, 4, 5, -1));
	printf("syscall_entry_unknown id=4711 arg0=1 arg1=2 arg2=3 arg3=4 arg4=5 arg5=%lu\n", -1ul);
	printf("syscall_exit_unknown id=4711 ret=%ld\n", ret);
}

#ifdef __x86_64__
static long call32(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

static void of_32_bits(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long ret;

	strcpy(low, PLACE);
	ret = call32(96, -1, -9, 0); /* getpriority */
	printf("compat_syscall_entry_getpriority which=-1 who=-9\n");
	printf("compat_syscall_exit_getpriority ret=%ld\n", ret);
	ret = call32(38, (long)low, (long)low + 1, 0); /* rename */
	printf("compat_syscall_entry_rename oldname=%s newname=%s\n", low, low + 1);
	printf("compat_syscall_exit_rename ret=%ld\n", ret);
	ret = call32(19, -7, -2, 5); /* lseek */
	printf("compat_syscall_entry_lseek fd=%u offset=-2 whence=5\n", -7u);
	printf("compat_syscall_exit_lseek ret=%ld\n", ret);
}
#else
static void of_32_bits(void)
{
}
#endif

int main(void)
{
	static char out[1 << 16];

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	texts();
	edge();
	numbers();
	of_32_bits();
	return fflush(stdout) ? 1 : 0;
}
