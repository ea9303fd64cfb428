/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * seccomp.c - interprets a seccomp filter, a program of classic BPF as described in linux/filter.h
 * and seccomp(2). Programs are untrusted, as they are interpreted before the kernel verifies them.
 */
#include "seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "alone.h"
#include "proto/app.h"
#include "tracer/agent/agent.h"
#include "tracer/agent/link.h"
#include "tracer/agent/thread.h"
#include "tracer/base/env.h"
#include "tracer/base/numbers.h"
#include "tracer/base/sys.h"
#include "tracer/ring/context.h"
#include "tracer/ring/fallback.h"
#include "tracer/ring/populate.h"
#include "tracer/ring/sys.h"

#define STATUS_BYTES 4096
#define REPORT_MS 1000 /* the helper may have to wait for a CPU */
#define QUITS "a seccomp filter would kill the program for libltt's calls"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

#ifndef SECCOMP_RET_ACTION_FULL
#define SECCOMP_RET_ACTION_FULL 0xffff0000u
#endif
#ifndef SECCOMP_RET_LOG
#define SECCOMP_RET_LOG 0x7ffc0000u
#endif

/* A system call, with harmless arguments that pass all values a filter may check. */
struct call {
	long nr, a, b, c, d;
};

static const struct timespec no_time;
static uint32_t nobodys_word;

/* Calls of threads that record. */
static const struct call recorders[] = {
	{ SYS_futex, (long)&nobodys_word, FUTEX_WAKE, INT_MAX, 0 },
	{ SYS_futex, (long)&nobodys_word, FUTEX_WAKE_PRIVATE, INT_MAX, 0 },
};

/* Of threads that record contexts: without these the values are unknown. Without the last
 * three groups pages are populated by their first record, locks are neither waited for nor taken
 * over, and no thread waits in a full ring. */
static const struct value {
	enum context_calls group;
	struct call call;
} values[] = {
	{ CONTEXT_CALLS_THREAD, { SYS_getcpu, 0, 0, 0, 0 } },
	{ CONTEXT_CALLS_THREAD, { SYS_gettid, 0, 0, 0, 0 } },
	{ CONTEXT_CALLS_THREAD, { SYS_getpid, 0, 0, 0, 0 } },
	{ CONTEXT_CALLS_THREAD, { SYS_prctl, PR_GET_NAME, 0, 0, 0 } },
	{ CONTEXT_CALLS_USERS, { NR_GETRESUID, 0, 0, 0, 0 } },
	{ CONTEXT_CALLS_USERS, { NR_GETRESGID, 0, 0, 0, 0 } },
	{ CONTEXT_CALLS_NAMESPACES, { SYS_readlinkat, AT_FDCWD, (long)"", 0, 0 } },
	{ CONTEXT_CALLS_POPULATE, { SYS_tgkill, -1, -1, 0, 0 } },
	{ CONTEXT_CALLS_POPULATE, { SYS_madvise, 0, 0, POPULATE_ADVICE, 0 } },
	{ CONTEXT_CALLS_FALLBACK, { SYS_sigaltstack, 0, 0, 0, 0 } },
	{ CONTEXT_CALLS_FALLBACK, { SYS_sched_yield, 0, 0, 0, 0 } },
	{ CONTEXT_CALLS_WAIT, { SYS_nanosleep, (long)&no_time, 0, 0, 0 } },
};
#define NR_VALUES (sizeof(values) / sizeof(*values))

/* Calls of a parent that wakes its helper after a fork. */
static const struct call wakers[] = {
	{ SYS_tgkill, -1, -1, 0, 0 },
	{ SYS_sched_yield, 0, 0, 0, 0 },
};

/* Calls of a thread that starts the helper, or suspends it, and of libc in a thread that begins. */
static const struct call starters[] = {
	{ SYS_readlinkat, AT_FDCWD, (long)"", 0, 0 },
	{ SYS_rt_sigprocmask, SIG_BLOCK, 0, 0, AGENT_NSIG_BYTES },
	{ SYS_sigaltstack, 0, 0, 0, 0 },
	{ SYS_tgkill, -1, -1, 0, 0 },
	{ SYS_getpid, 0, 0, 0, 0 },
	{ SYS_bind, -1, 0, 2, 0 },
	{ SYS_getsockname, -1, 0, 0, 0 },
	{ SYS_setsockopt, -1, SOL_SOCKET, SO_PASSCRED, 0 },
	{ SYS_fcntl, -1, F_DUPFD_CLOEXEC, 3, 0 },
	{ SYS_close, -1, 0, 0, 0 },
	{ SYS_futex, (long)&nobodys_word, FUTEX_WAIT_PRIVATE, 1, 0 },
	{ SYS_waitid, -1, 0, 0, 0 },
	{ SYS_sched_yield, 0, 0, 0, 0 },
	{ NR_MMAP, 0, 0, 3, 0x22 },
	{ SYS_mprotect, 0, 0, 3, 0 },
	{ SYS_clone3, 0, 0, 0, 0 },
	{ SYS_clone, 0x3d0f00, 0, 0, 0 }, /* glibc's flags of a thread */
	{ SYS_set_robust_list, 0, 0, 0, 0 },
};

#ifdef SYS_rseq
/* libc ends the program if a thread fails to register, where the first one has not. */
static const struct call registers[] = {
	{ SYS_rseq, 0, 0, 0, 0 },
};
#else
static const struct call registers[] = {
	{ SYS_getpid, 0, 0, 0, 0 },
};
#endif

/* Calls of the helper: without these it can do nothing, and would not notice the end of the
 * program. */
static const struct call vital[] = {
	{ SYS_openat, AT_FDCWD, (long)"", O_RDONLY | O_CLOEXEC, 0 },
	{ SYS_close, -1, 0, 0, 0 },
	{ SYS_read, -1, 0, 0, 0 },
	{ SYS_getdents64, -1, 0, 0, 0 },
	{ SYS_sendto, -1, 0, 0, MSG_NOSIGNAL | MSG_DONTWAIT },
	{ SYS_recvmsg, -1, 0, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, 0 },
	{ SYS_ppoll, 0, 0, (long)&no_time, 0 },
	{ SYS_tgkill, -1, -1, 0, 0 },
	{ NR_MMAP, 0, 0, 3, 1 },
	{ SYS_munmap, 0, 0, 0, 0 },
	{ SYS_rt_sigprocmask, SIG_BLOCK, 0, 0, AGENT_NSIG_BYTES }, /* or a wake-up ends it */
	{ SYS_gettid, 0, 0, 0, 0 },
};

/* With these a helper that can't work reports to daemons that it can't. */
static const struct call farewells[] = {
	{ SYS_close, -1, 0, 0, 0 },
	{ SYS_sendto, -1, 0, 0, MSG_NOSIGNAL | MSG_DONTWAIT },
	{ SYS_socket, AF_UNIX, -1, 0, 0 },
	{ SYS_connect, -1, 0, 0, 0 },
	{ SYS_getsockopt, -1, SOL_SOCKET, SO_PEERCRED, 0 },
	{ SYS_gettid, 0, 0, 0, 0 },
	{ SYS_getpid, 0, 0, 0, 0 },
	{ SYS_read, -1, 0, 0, 0 },
	{ SYS_openat, AT_FDCWD, (long)"", O_RDONLY | O_CLOEXEC, 0 },
	{ NR_GETRESUID, 0, 0, 0, 0 },
	{ NR_GETRESGID, 0, 0, 0, 0 },
	{ SYS_exit, 0, 0, 0, 0 }, /* the last: it is one */
};

/* These may fail, but libc and deeper functions make them unasked. */
static const struct call unasked[] = {
	{ NR_FSTAT, -1, 0, 0, 0 },
	{ SYS_mprotect, 0, 0, 3, 0 },
	{ SYS_madvise, 0, 0, 4, 0 },
	{ SYS_membarrier, 0, 0, 0, 0 },
	{ SYS_sched_getaffinity, 0, 0, 0, 0 },
	{ SYS_sched_yield, 0, 0, 0, 0 },
	{ SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0 },
	{ SYS_prctl, PR_GET_NAME, 0, 0, 0 },
	{ SYS_getpid, 0, 0, 0, 0 },
	{ SYS_getcpu, 0, 0, 0, 0 },
	{ SYS_exit, 0, 0, 0, 0 }, /* the last: it is one */
};

/* Each is left out where it is forbidden (sys_call()), which costs one feature: symbols of
 * libraries, the move of connections to the next helper, its early wake-up ... */
static const struct call optional[] = {
	{ SYS_pread64, -1, 0, 0, 0 },
	{ SYS_fcntl, -1, F_DUPFD_CLOEXEC, 3, 0 },
	{ SYS_faccessat, AT_FDCWD, (long)"", 0, 0 },
	{ SYS_readlinkat, AT_FDCWD, (long)"", 0, 0 },
	{ SYS_socket, AF_UNIX, -1, 0, 0 },
	{ SYS_connect, -1, 0, 0, 0 },
	{ SYS_sendmsg, -1, 0, MSG_NOSIGNAL | MSG_DONTWAIT, 0 },
	{ SYS_getsockopt, -1, SOL_SOCKET, SO_PEERCRED, 0 },
	{ SYS_setsockopt, -1, SOL_SOCKET, SO_SNDBUF, 0 },
	{ SYS_shutdown, -1, SHUT_RDWR, 0, 0 },
	{ SYS_signalfd4, -1, 0, 0, 0 },
	{ SYS_close_range, UINT32_MAX, UINT32_MAX, 0, 0 },
	{ SYS_unshare, 0, 0, 0, 0 },
	{ SYS_pidfd_open, -1, 0, 0, 0 },
	{ SYS_pselect6, -1, 0, 0, 0 }, /* it would wait */
	{ SYS_ppoll, 0, 0, (long)&no_time, 0 },
#ifdef NR_FSTATAT
	{ NR_FSTATAT, AT_FDCWD, (long)"", 0, 0 },
#endif
};
#define NR_OPTIONAL (sizeof(optional) / sizeof(*optional))

static bool fatal;	     /* to a helper that begins */
static bool silences_forked; /* and daemons do not know yet that children will have none */

bool agent_filter_is_fatal(void)
{
	return __atomic_load_n(&fatal, __ATOMIC_ACQUIRE);
}

/* --- known filters ------------------------------------------------------------------ */

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t calculate(uint16_t code, uint32_t a, uint32_t by)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
		return a + by;
	case BPF_SUB:
		return a - by;
	case BPF_MUL:
		return a * by;
	case BPF_DIV:
		return by ? a / by : 0;
	case BPF_MOD:
		return by ? a % by : 0;
	case BPF_OR:
		return a | by;
	case BPF_AND:
		return a & by;
	case BPF_XOR:
		return a ^ by;
	case BPF_LSH:
		return by < 32 ? a << by : 0;
	case BPF_RSH:
		return by < 32 ? a >> by : 0;
	default:
		return -a;
	}
}

static bool agent_filter_compare(uint16_t code, uint32_t a, uint32_t with)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == with;
	case BPF_JGT:
		return a > with;
	case BPF_JGE:
		return a >= with;
	default:
		return a & with;
	}
}

static uint32_t agent_filter_load(const struct machine *m, const struct sock_filter *f,
				  const struct seccomp_data *data)
{
	uint32_t word = 0;

	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		if (f->k <= sizeof(*data) - sizeof(word))
			memcpy(&word, (const char *)data + f->k, sizeof(word));
		return word;
	case BPF_LEN:
		return sizeof(*data);
	case BPF_MEM:
		return m->memory[f->k % BPF_MEMWORDS];
	default:
		return f->k;
	}
}

/* Return: the action of the filter; SECCOMP_RET_ALLOW if it ends without one. */
static uint32_t run_filter(const struct sock_fprog *program, const struct seccomp_data *data)
{
	struct machine m = { 0 };

	for (uint64_t pc = 0; pc < program->len; pc++) {
		const struct sock_filter *f = &program->filter[pc];
		uint32_t with = BPF_SRC(f->code) == BPF_X ? m.x : f->k;

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			m.a = agent_filter_load(&m, f, data);
			break;
		case BPF_LDX:
			m.x = agent_filter_load(&m, f, data);
			break;
		case BPF_ST:
			m.memory[f->k % BPF_MEMWORDS] = m.a;
			break;
		case BPF_STX:
			m.memory[f->k % BPF_MEMWORDS] = m.x;
			break;
		case BPF_ALU:
			m.a = calculate(f->code, m.a, with);
			break;
		case BPF_JMP:
			pc += BPF_OP(f->code) == BPF_JA		       ? f->k :
			      agent_filter_compare(f->code, m.a, with) ? f->jt :
									 f->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(f->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
		}
	}
	return SECCOMP_RET_ALLOW;
}

/* Other actions end the thread or the program, run a signal handler of the program in the helper,
 * or make it wait for a supervisor. */
static bool lets(const struct sock_fprog *program, const struct call *call, bool errors)
{
	const struct seccomp_data data = {
		.nr = (int)call->nr,
		.arch = ARCH,
		.args = { (uint64_t)call->a, (uint64_t)call->b, (uint64_t)call->c,
			  (uint64_t)call->d },
	};
	uint32_t action = run_filter(program, &data) & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
	       (action == SECCOMP_RET_ERRNO && errors);
}

static bool lets_all(const struct sock_fprog *program, const struct call *calls, size_t nr,
		     bool errors)
{
	for (size_t i = 0; i < nr; i++)
		if (!lets(program, &calls[i], errors))
			return false;
	return true;
}

/* @errors: the filter may return an error. */
#define LETS_ALL(program, calls, errors) \
	lets_all(program, calls, sizeof(calls) / sizeof(*(calls)), errors)

/* Return: bits of enum context_calls. */
static uint32_t calls_forbidden_by(const struct sock_fprog *program)
{
	uint32_t calls = 0;

	for (size_t i = 0; i < NR_VALUES; i++)
		if (!lets(program, &values[i].call, true))
			calls |= values[i].group;
	return calls;
}

/* The program may fork, and end, at once. After a fork no other call is sure to be allowed. */
static void report_children(void)
{
	int64_t end = agent_now_ms() + REPORT_MS;

	if (agent_links_silence().silence == APP_SILENCE_CHILDREN)
		return; /* an earlier filter may forbid these calls */
	agent_links_set_silence(APP_SILENCE_CHILDREN, APP_REASON_FILTER);
	agent_wake();
	while (agent_thread_id() && !agent_links_have_sent_silence() && agent_now_ms() < end)
		ring_syscall(SYS_sched_yield, 0, 0, 0, 0);
}

/* Return: bits of sys_optional(). */
static uint32_t optional_forbidden_by(const struct sock_fprog *program)
{
	uint32_t forbids = 0;

	for (size_t i = 0; i < NR_OPTIONAL; i++)
		if (!lets(program, &optional[i], true))
			forbids |= sys_optional(optional[i].nr);
	return forbids;
}

/* Whether a helper for which the filter forbids this can have a table of its own, and daemons. */
static bool works_without(uint32_t forbids)
{
	const uint32_t connects = sys_optional(SYS_connect) | sys_optional(SYS_getsockopt);
	const uint32_t leaves_table = sys_optional(SYS_close_range) | sys_optional(SYS_unshare);

	return (forbids & leaves_table) != leaves_table && !(forbids & sys_optional(SYS_socket)) &&
	       (!(forbids & connects) || !(forbids & sys_optional(SYS_sendmsg)));
}

void agent_filter_forbid(uint32_t forbids)
{
	__atomic_or_fetch(&sys_forbidden, forbids, __ATOMIC_RELEASE);
}

/* Children can't start a helper. */
static void silence_children(bool may_wake)
{
	if (may_wake)
		__atomic_store_n(&silences_forked, true, __ATOMIC_RELEASE);
	else /* a parent that forks could not report it */
		report_children();
}

/* Some programs pass no filter to check whether the kernel supports them. */
struct agent_filter agent_filter_expect(unsigned int mode, unsigned int flags, const void *program)
{
	static const struct call forks = { SYS_clone, SIGCHLD, 0, 0, 0 };
	const struct sock_fprog *p = program;
	const bool strict = mode == SECCOMP_MODE_STRICT;
	const bool everywhere = flags & SECCOMP_FILTER_FLAG_TSYNC;
	struct agent_filter filter = { 0 };
	bool stays, begins;
	uint32_t calls;

	if (!strict && (!p || !p->filter || !p->len || p->len > BPF_MAXINSNS))
		return filter;
	if (sys_may_call(SYS_readlinkat))
		ring_clock_find_namespace();
	calls = strict ? CONTEXT_CALLS_ALL : calls_forbidden_by(p);
	if (calls)
		context_remember();
	if (!agent_alone_is_ours()) /* a child of vfork() would forbid them to its parent */
		return filter;
	context_forbid_calls(calls);
	if (strict || !LETS_ALL(p, recorders, true)) {
		__atomic_store_n(&fatal, true, __ATOMIC_RELEASE);
		agent_alone_quit(QUITS);
		return filter;
	}
	filter.forbids = optional_forbidden_by(p);
	stays = LETS_ALL(p, vital, false) && LETS_ALL(p, unasked, true) &&
		works_without(filter.forbids | sys_forbidden);
	begins = stays && LETS_ALL(p, starters, true) && LETS_ALL(p, registers, false);
	filter.suspends = begins && !everywhere;
	if (everywhere && stays) {
		agent_filter_forbid(filter.forbids); /* the helper is beneath it at once */
	} else if (everywhere) {
		if (!agent_alone_depart_for(APP_REASON_FILTER) && !agent_alone_has_departed())
			agent_alone_quit(QUITS);
	} else if (!begins) {
		agent_alone_forgo(APP_REASON_FILTER);
	}
	if (begins)
		return filter;
	__atomic_store_n(&fatal, true, __ATOMIC_RELEASE); /* to a child's helper */
	/* Children of a program whose helper has departed have none either. */
	if (!agent_alone_has_departed() && lets(p, &forks, false))
		silence_children(LETS_ALL(p, wakers, true));
	return filter;
}

void agent_filter_after_fork_parent(void)
{
	if (__atomic_exchange_n(&silences_forked, false, __ATOMIC_ACQ_REL))
		report_children();
}

/* --- unknown filters -------------------------------------------------------------------- */

static bool is_filtered(void)
{
	int fd = sys_open("/proc/thread-self/status", O_RDONLY);
	char text[STATUS_BYTES];
	ssize_t n = sys_read(fd, text, sizeof(text) - 1);
	const char *line;

	sys_close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nSeccomp:\t");
	return line && line[10] == '2';
}

/* None of the calls fails so by its arguments. */
static bool is_error_of_filter(long result)
{
	return result == -EPERM || result == -EACCES || result == -ENOSYS;
}

/* Whether a child that makes the calls is not ended. Its parent receives no signal. @errors: the
 * filter may return an error. */
static bool survives(const struct call *calls, size_t nr, bool errors)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	long pid = ring_syscall(SYS_clone, 0, 0, 0, 0);
	int status = -1;

	if (pid == 0) {
		ring_syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0); /* there is no core */
		ring_syscall(SYS_rt_sigaction, SIGSYS, (long)&action, 0, AGENT_NSIG_BYTES);
		for (size_t i = 0; i < nr; i++) {
			long result = ring_syscall(calls[i].nr, calls[i].a, calls[i].b, calls[i].c,
						   calls[i].d);

			if (!errors && is_error_of_filter(result))
				ring_syscall(SYS_exit, 1, 0, 0, 0);
		}
		ring_syscall(SYS_exit, 0, 0, 0, 0);
	}
	while (pid > 0 && ring_syscall(SYS_wait4, pid, (long)&status, __WALL, 0) == -EINTR)
		;
	return pid > 0 && status == 0;
}

#define SURVIVES_ALL(calls, errors) survives(calls, sizeof(calls) / sizeof(*(calls)), errors)

static void try_optional(void)
{
	if (SURVIVES_ALL(optional, true))
		return;
	for (size_t i = 0; i < NR_OPTIONAL; i++)
		if (!survives(&optional[i], 1, true))
			agent_filter_forbid(sys_optional(optional[i].nr));
}

static void try_values(void)
{
	for (size_t i = 0; i < NR_VALUES; i++)
		if (!survives(&values[i].call, 1, true))
			context_forbid_calls(values[i].group);
}

/* Children need not try again: filters that were installed since then have been checked. */
bool agent_filter_allows_helper(void)
{
	static bool allowed;

	if (allowed || !is_filtered())
		return allowed = true;
	allowed = SURVIVES_ALL(recorders, true) && SURVIVES_ALL(vital, false) &&
		  SURVIVES_ALL(unasked, true);
	if (allowed) {
		try_optional();
		try_values();
		allowed = works_without(sys_forbidden);
	}
	if (!allowed)
		__atomic_store_n(&fatal, true, __ATOMIC_RELEASE);
	return allowed;
}

bool agent_filter_allows_farewell(void)
{
	if (!SURVIVES_ALL(farewells, true))
		return false;
	try_optional();
	return true;
}
