/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hit COUNT [UID [FILE]] - prints its own contexts, a line "CONTEXT VALUE" for each that ltt.ko
 * has ("?" where user space has no other source), and makes the system call getpriority(9, 9)
 * COUNT times; or unlink(FILE), which mustn't exist. Before each it touches a new page, and it does
 * both on one CPU: the counter of page faults that is recorded with a call is that CPU's. The value
 * of callstack-user is the chain of its functions, the innermost first.
 */
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

/* By hand, as the library's functions have no frames of their own. Nor has this one: its
 * caller is not in the stack, but the caller's caller is. */
static long NOINLINE call(long nr, const void *one, long two)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(one), "S"(two)
			 : "rcx", "r11", "memory");
	return ret;
}

/* One fault for each call: the page was not touched before. */
static void NOINLINE call_with_page(const char *path)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		err(1, "mmap");
	*(volatile char *)page = 1;
	munmap(page, bytes);
	if (path)
		call(SYS_unlink, path, 77);
	else
		call(SYS_getpriority, (void *)9, 9);
	__asm__ volatile("" ::: "memory"); /* something to come back to */
}

static void NOINLINE call_often(unsigned long count, const char *path);
int main(int argc, char **argv);

static void say_namespace(const char *name)
{
	char path[64], target[64] = "";
	unsigned int inode = 0;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (readlink(path, target, sizeof(target) - 1) < 0 || !strchr(target, '[') ||
	    sscanf(strchr(target, '['), "[%u", &inode) != 1)
		err(1, "%s", path);
	printf("%s_ns %u\n", name, inode);
}

/* Not by getpriority, which is the counted call. */
static int own_nice(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t rest[4];
	} attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0))
		err(1, "sched_getattr");
	return attr.nice;
}

static void say(void)
{
	static const char *const namespaces[] = { "cgroup", "ipc", "net", "pid", "time", "user",
						  "uts" };
	int nice = own_nice();

	printf("pid %d\ntid %d\nppid %d\nvpid %d\nvtid %d\nvppid %d\n", getpid(), getpid(),
	       getppid(), getpid(), getpid(), getppid());
	printf("procname %s\nnice %d\nprio %d\n", program_invocation_short_name, nice, nice + 20);
	printf("uid %u\neuid %u\nvuid %u\ngid %u\negid %u\nvgid %u\n", getuid(), geteuid(),
	       getuid(), getgid(), getegid(), getgid());
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		say_namespace(namespaces[i]);
	printf("interruptible 1\nneed_reschedule ?\ncgroup_id ?\ncallstack-kernel ?\n");
	printf("callstack-user %lu,%lu,%lu\n", (unsigned long)call, (unsigned long)call_often,
	       (unsigned long)main);
	fflush(stdout);
}

static void stay_on_cpu(void)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET((size_t)sched_getcpu(), &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		err(1, "sched_setaffinity");
}

static void NOINLINE call_often(unsigned long count, const char *path)
{
	while (count--)
		call_with_page(path);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	unsigned int uid = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;

	if (uid && (setgid(uid + 1) || setuid(uid)))
		err(1, "uid %u", uid);
	say();
	stay_on_cpu();
	call_often(count, argc > 3 ? argv[3] : NULL);
	return 0;
}
