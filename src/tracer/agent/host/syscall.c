/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscall(), which libltt defines in place of libc's. It detects a thread that ends, or may be
 * ended, without libc's knowledge (leave.h), handles unshare(), setns() and calls that change a
 * thread's rights like the functions of these names (namespaces.h, rights.h), as it does calls that
 * count threads (census.h), and makes contexts be read again after changes of users and groups. All
 * other calls are passed to the kernel unchanged.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "census.h"
#include "leave.h"
#include "namespaces.h"
#include "rights.h"
#include "spawn.h"
#include "tracer/base/sys.h"
#include "tracer/ring/context.h"
#include "tracer/ring/section.h"
#include "tracer/ring/sys.h"

#if SECTION_SUPPORTED && !AGENT_UNDER_TSAN

long agent_syscall_failed(long err) __attribute__((used));
long agent_syscall_known(long nr, long a, long b, long c, long d, long e) __attribute__((used));

/* @err: the kernel's result. */
long agent_syscall_failed(long err)
{
	errno = (int)-err;
	return -1;
}

static bool changes_users(long nr)
{
	return nr == SYS_setuid || nr == SYS_setgid || nr == SYS_setreuid || nr == SYS_setregid ||
	       nr == SYS_setresuid || nr == SYS_setresgid;
}

/* SYS_clone is passed only where the child has memory and thread-local data of its own. */
static bool is_fork(long nr)
{
#ifdef SYS_fork
	return nr == SYS_fork || nr == SYS_clone;
#else
	return nr == SYS_clone;
#endif
}

/* Whether the program has counted its threads by a call that succeeded, so that it is repeated. */
static bool counted_threads(long nr, long b, long c, long e)
{
	switch (nr) {
	case SYS_newfstatat:
		return agent_census_stat((const struct stat *)c);
	case SYS_fstat:
		return agent_census_stat((const struct stat *)b);
	case SYS_statx:
		return agent_census_statx((const struct statx *)e);
	default:
		return false;
	}
}

/* The calls that syscall() handles specially, and some with numbers between theirs. */
long agent_syscall_known(long nr, long a, long b, long c, long d, long e)
{
	long err;

	switch (nr) {
	case SYS_unshare:
		return agent_unshare((int)a);
	case SYS_setns:
		return agent_setns((int)a, (int)b);
	case SYS_exit:
		agent_leave_by_exit((int)a);
		break;
	case SYS_prctl:
		return agent_prctl((int)a, b, c, d, e);
	case SYS_getdents64:
		agent_census_list((int)a);
		break;
	}
	err = agent_rights_call(nr, a, b, c, d, e);
	if (err == 0 && counted_threads(nr, b, c, e))
		err = ring_syscall5(nr, a, b, c, d, e);
	if (is_fork(nr) && err == -EAGAIN && agent_spawn_again(EAGAIN))
		err = ring_syscall5(nr, a, b, c, d, e);
	if (is_fork(nr) && err == 0)
		context_after_fork_child(false);
	if (changes_users(nr))
		context_users_changed();
	return err < 0 && err >= -4095 ? agent_syscall_failed(err) : err;
}

/* As in libc, with nothing on the stack: a child that shares it may return from here. */
/* clang-format off */
#if defined(__x86_64__)
_Static_assert(SYS_clone == 56 && SYS_fork == 57 && (CLONE_VM | CLONE_SETTLS) == 0x80100 &&
		       SYS_exit == 60 && SYS_unshare == 272 && SYS_setns == 308 &&
		       SYS_seccomp == 317 && SYS_setuid == 105 && SYS_setresgid == 119,
	       "the numbers below");
_Static_assert(SYS_fstat == 5 && SYS_getdents64 == 217 && SYS_newfstatat == 262 && SYS_statx == 332,
	       "the numbers below");
_Static_assert(SYS_setfsuid == 122 && SYS_setfsgid == 123 && SYS_capset == 126 &&
		       SYS_personality == 135 && SYS_prctl == 157 && SYS_iopl == 172 &&
		       SYS_ioperm == 173 && SYS_keyctl == 250,
	       "the numbers below, and 446, landlock_restrict_self");
__asm__("	.pushsection .text.syscall, \"ax\", @progbits\n"
	"	.globl syscall, agent_syscall\n"
	"	.hidden agent_syscall\n"
	"	.type syscall, @function\n"
	"agent_syscall:\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	cmpq	$56, %rdi\n"
	"	je	3f\n"
	"	cmpq	$57, %rdi\n"
	"	je	1f\n"
	"	cmpq	$60, %rdi\n"
	"	je	1f\n"
	"	cmpq	$5, %rdi\n"
	"	je	1f\n"
	"	cmpq	$217, %rdi\n"
	"	je	1f\n"
	"	cmpq	$262, %rdi\n"
	"	je	1f\n"
	"	cmpq	$332, %rdi\n"
	"	je	1f\n"
	"	cmpq	$272, %rdi\n"
	"	je	1f\n"
	"	cmpq	$308, %rdi\n"
	"	je	1f\n"
	"	cmpq	$317, %rdi\n"
	"	je	1f\n"
	"	cmpq	$135, %rdi\n"
	"	je	1f\n"
	"	cmpq	$157, %rdi\n"
	"	je	1f\n"
	"	cmpq	$172, %rdi\n"
	"	je	1f\n"
	"	cmpq	$173, %rdi\n"
	"	je	1f\n"
	"	cmpq	$250, %rdi\n"
	"	je	1f\n"
	"	cmpq	$446, %rdi\n"
	"	je	1f\n"
	"	leaq	-105(%rdi), %rax\n"
	"	cmpq	$21, %rax\n"
	"	jbe	1f\n"
	"0:	movq	%rdi, %rax\n"
	"	movq	%rsi, %rdi\n"
	"	movq	%rdx, %rsi\n"
	"	movq	%rcx, %rdx\n"
	"	movq	%r8, %r10\n"
	"	movq	%r9, %r8\n"
	"	movq	8(%rsp), %r9\n"
	"	syscall\n"
	"	cmpq	$-4095, %rax\n"
	"	jae	2f\n"
	"	ret\n"
	"1:	jmp	agent_syscall_known\n"
	"2:	movq	%rax, %rdi\n"
	"	jmp	agent_syscall_failed\n"
	"3:	testl	$0x80100, %esi\n"
	"	jnz	0b\n"
	"	testq	%rdx, %rdx\n" /* another stack: it may not have ours */
	"	jz	1b\n"
	"	jmp	0b\n"
	"	.cfi_endproc\n"
	"	.size syscall, . - syscall\n"
	"	.popsection\n");
#elif defined(__aarch64__)
_Static_assert(SYS_exit == 93 && SYS_unshare == 97 && SYS_setns == 268 && SYS_seccomp == 277 &&
		       SYS_setregid == 143 && SYS_setresgid == 149,
	       "the numbers below");
_Static_assert(SYS_getdents64 == 61 && SYS_newfstatat == 79 && SYS_fstat == 80 && SYS_statx == 291,
	       "the numbers below");
_Static_assert(SYS_capset == 91 && SYS_personality == 92 && SYS_setfsgid == 152 &&
		       SYS_setgroups == 159 && SYS_prctl == 167 && SYS_keyctl == 219,
	       "the numbers below, and 446, landlock_restrict_self");
__asm__("	.pushsection .text.syscall, \"ax\", %progbits\n"
	"	.globl syscall, agent_syscall\n"
	"	.hidden agent_syscall\n"
	"	.type syscall, %function\n"
	"agent_syscall:\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	hint	#34\n" /* bti c */
	"	sub	x9, x0, #91\n"
	"	cmp	x9, #2\n"
	"	b.ls	1f\n"
	"	cmp	x0, #159\n"
	"	b.eq	1f\n"
	"	cmp	x0, #167\n"
	"	b.eq	1f\n"
	"	cmp	x0, #219\n"
	"	b.eq	1f\n"
	"	cmp	x0, #446\n"
	"	b.eq	1f\n"
	"	cmp	x0, #61\n"
	"	b.eq	1f\n"
	"	cmp	x0, #79\n"
	"	b.eq	1f\n"
	"	cmp	x0, #80\n"
	"	b.eq	1f\n"
	"	cmp	x0, #291\n"
	"	b.eq	1f\n"
	"	cmp	x0, #97\n"
	"	b.eq	1f\n"
	"	cmp	x0, #268\n"
	"	b.eq	1f\n"
	"	cmp	x0, #277\n"
	"	b.eq	1f\n"
	"	sub	x9, x0, #143\n"
	"	cmp	x9, #9\n"
	"	b.ls	1f\n"
	"	mov	x8, x0\n"
	"	mov	x0, x1\n"
	"	mov	x1, x2\n"
	"	mov	x2, x3\n"
	"	mov	x3, x4\n"
	"	mov	x4, x5\n"
	"	mov	x5, x6\n"
	"	svc	#0\n"
	"	cmn	x0, #4095\n"
	"	b.cs	2f\n"
	"	ret\n"
	"1:	b	agent_syscall_known\n"
	"2:	b	agent_syscall_failed\n"
	"	.cfi_endproc\n"
	"	.size syscall, . - syscall\n"
	"	.popsection\n");
#endif
/* clang-format on */

#endif
