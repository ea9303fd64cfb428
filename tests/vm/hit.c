/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hit COUNT [UID [FILE]] - prints its own contexts, a line "CONTEXT VALUE" for each that ltt.ko
 * has ("?" where user space has no other source), and makes the system call getpriority(9, 9)
 * COUNT times; or unlink(FILE), which mustn't exist. With UID it has different real, effective and
 * saved users and groups, and a name of the machine and mounts of its own. Before each call it
 * touches a new page, and it does both on one CPU: the counter of page faults that is recorded with
 * a call is that CPU's. The value of callstack-user is the chain of its functions, the innermost
 * first.
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
	static const char *const namespaces[] = { "cgroup", "ipc", "mnt", "net", "pid", "time",
						  "user", "uts" };
	static const char *const names[] = { "uid", "euid", "suid", "gid", "egid", "sgid" };
	char host[65] = "";
	unsigned int ids[6];
	int nice = own_nice();

	gethostname(host, sizeof(host) - 1);
	printf("pid %d\ntid %d\nppid %d\nvpid %d\nvtid %d\nvppid %d\n", getpid(), getpid(),
	       getppid(), getpid(), getpid(), getppid());
	printf("procname %s\nnice %d\nprio %d\n", program_invocation_short_name, nice, nice + 20);
	printf("hostname %s\ncpu_id %d\n", host, sched_getcpu());
	if (getresuid(&ids[0], &ids[1], &ids[2]) || getresgid(&ids[3], &ids[4], &ids[5]))
		err(1, "ids");
	for (size_t i = 0; i < 6; i++)
		printf("%1$s %2$u\nv%1$s %2$u\n", names[i], ids[i]);
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		say_namespace(namespaces[i]);
	printf("interruptible 1\npreemptible 1\nmigratable 1\nneed_reschedule ?\ncgroup_id ?\ncallstack-kernel ?\n");
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

static void be_another(unsigned int uid)
{
	char host[32];
	int len = snprintf(host, sizeof(host), "hit-%u", uid);

	if (unshare(CLONE_NEWUTS | CLONE_NEWNS) || sethostname(host, (size_t)len) ||
	    setresgid(uid + 1, uid + 3, uid + 5) || setresuid(uid, uid + 2, uid + 4))
		err(1, "uid %u", uid);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	unsigned int uid = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;

	if (uid)
		be_another(uid);
	stay_on_cpu();
	say();
	call_often(count, argc > 3 ? argv[3] : NULL);
	return 0;
}
