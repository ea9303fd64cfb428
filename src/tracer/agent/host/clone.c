// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Runs in the thread that calls vfork() or clone(), and in the child. vfork() may be
 * called in a signal handler.
 */
#include "clone.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/types.h>

#include "spawn.h"
#include "tracer/base/sys.h"
#include "tracer/ring/context.h"
#include "tracer/ring/rseq.h"
#include "tracer/ring/section.h"
#include "tracer/ring/sys.h"
#include "tracer/site/site.h"

#define EXPORT __attribute__((visibility("default")))

#define AGAIN (-2l) /* vfork() below compares it */

#if SECTION_SUPPORTED

/* The state to restore in the parent. Its own copy is in registers while the child runs. */
struct lent {
	uint64_t mask; /* of signals */
	uint64_t area; /* ring_rseq_lend()'s */
};

static void set_mask(const uint64_t *mask, uint64_t *ret_old)
{
	ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask, (long)ret_old, AGENT_NSIG_BYTES);
}

/* No handler may run while the area has no owner. */
static void lend(struct lent *lent)
{
	const uint64_t all = UINT64_MAX;

	set_mask(&all, &lent->mask);
	lent->area = ring_rseq_lend();
}

static void agent_clone_reclaim(const struct lent *lent)
{
	ring_rseq_take_back(lent->area);
	context_forget();
	set_mask(&lent->mask, NULL);
}

/* --- vfork() ---------------------------------------------------------------------- */

void agent_vfork_begin(struct lent *lent) __attribute__((used));
long agent_vfork_end(const struct lent *lent, long pid) __attribute__((used));

void agent_vfork_begin(struct lent *lent)
{
	lend(lent);
}

/* In the child, then in the parent. @pid: the kernel's result. Return: AGAIN: to be called anew. */
long agent_vfork_end(const struct lent *lent, long pid)
{
	if (pid == 0) {
		context_forget();
		set_mask(&lent->mask, NULL);
		return 0;
	}
	agent_clone_reclaim(lent);
	if (pid > 0)
		return pid;
	if (agent_spawn_again((int)-pid))
		return AGAIN;
	errno = (int)-pid;
	return -1;
}

/*
 * The child returns to the caller on the parent's stack and overwrites the stack below: values that
 * the parent needs afterwards, including the return address, are in registers while the child runs,
 * and both processes store them again after the call.
 */
/* clang-format off */
#if defined(__x86_64__)
__asm__("	.pushsection .text.vfork, \"ax\", @progbits\n"
	"	.globl vfork, agent_vfork\n"
	"	.hidden agent_vfork\n"
	"	.type vfork, @function\n"
	"agent_vfork:\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	subq	$24, %rsp\n"
	"	.cfi_adjust_cfa_offset 24\n"
	"	movq	%rsp, %rdi\n"
	"	call	agent_vfork_begin\n"
	"	movq	(%rsp), %rsi\n"
	"	movq	8(%rsp), %rdx\n"
	"	addq	$24, %rsp\n"
	"	.cfi_adjust_cfa_offset -24\n"
	"	popq	%rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdi\n"
	"	movl	$58, %eax\n"
	"	syscall\n"
	"	pushq	%rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rip, 0\n"
	"	subq	$24, %rsp\n"
	"	.cfi_adjust_cfa_offset 24\n"
	"	movq	%rsi, (%rsp)\n"
	"	movq	%rdx, 8(%rsp)\n"
	"	movq	%rsp, %rdi\n"
	"	movq	%rax, %rsi\n"
	"	call	agent_vfork_end\n"
	"	addq	$24, %rsp\n"
	"	.cfi_adjust_cfa_offset -24\n"
	"	cmpq	$-2, %rax\n"
	"	je	agent_vfork\n"
	/* The shadow stack's entry is not compared: the child's calls overwrite it. */
	"	xorl	%ecx, %ecx\n"
	"	rdsspq	%rcx\n"
	"	testq	%rcx, %rcx\n"
	"	jz	1f\n"
	"	movl	$1, %ecx\n"
	"	incsspq	%rcx\n"
	"	popq	%rcx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rcx\n"
	"	jmp	*%rcx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rip, 0\n"
	"1:	ret\n"
	"	.cfi_endproc\n"
	"	.size vfork, . - vfork\n"
	"	.popsection\n");
#elif defined(__aarch64__)
/* clone(CLONE_VM | CLONE_VFORK | SIGCHLD, 0) */
__asm__("	.pushsection .text.vfork, \"ax\", %progbits\n"
	"	.globl vfork, agent_vfork\n"
	"	.hidden agent_vfork\n"
	"	.type vfork, %function\n"
	"agent_vfork:\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	hint	#34\n" /* bti c */
	"	sub	sp, sp, #32\n"
	"	.cfi_adjust_cfa_offset 32\n"
	"	str	x30, [sp, #16]\n"
	"	.cfi_rel_offset x30, 16\n"
	"	mov	x0, sp\n"
	"	bl	agent_vfork_begin\n"
	"	ldp	x9, x10, [sp]\n"
	"	ldr	x11, [sp, #16]\n"
	"	.cfi_register x30, x11\n"
	"	mov	x0, #0x4111\n"
	"	mov	x1, #0\n"
	"	mov	x2, #0\n"
	"	mov	x3, #0\n"
	"	mov	x4, #0\n"
	"	mov	x8, #220\n"
	"	svc	#0\n"
	"	stp	x9, x10, [sp]\n"
	"	str	x11, [sp, #16]\n"
	"	.cfi_rel_offset x30, 16\n"
	"	mov	x1, x0\n"
	"	mov	x0, sp\n"
	"	bl	agent_vfork_end\n"
	"	ldr	x30, [sp, #16]\n"
	"	.cfi_restore x30\n"
	"	add	sp, sp, #32\n"
	"	.cfi_adjust_cfa_offset -32\n"
	"	cmn	x0, #2\n"
	"	b.eq	agent_vfork\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size vfork, . - vfork\n"
	"	.popsection\n");
#endif
/* clang-format on */

/* --- clone() ------------------------------------------------------------------------ */

struct child {
	int (*fn)(void *arg);
	void *arg;
	struct lent lent;
};

static int child_begin(void *data)
{
	const struct child *child = data;

	context_forget();
	set_mask(&child->lent.mask, NULL);
	return child->fn(child->arg);
}

/* The parent waits: the child has its area. */
static int clone_suspended(struct child *child, void *stack, int flags, pid_t *parent_tid,
			   void *tls, pid_t *child_tid)
{
	int pid;

	lend(&child->lent);
	pid = __clone(child_begin, stack, flags, child, parent_tid, tls, child_tid);
	agent_clone_reclaim(&child->lent);
	return pid;
}

/* With memory of its own, as after a fork. */
static int child_begin_apart(void *data)
{
	const struct child *child = data;

	context_after_fork_child(false);
	return child->fn(child->arg);
}

static int clone_once(struct child *child, void *stack, int flags, pid_t *parent_tid, void *tls,
		      pid_t *child_tid)
{
	if ((flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) == (CLONE_VM | CLONE_VFORK))
		return clone_suspended(child, stack, flags, parent_tid, tls, child_tid);
	if (!(flags & CLONE_VM) && child->fn)
		return __clone(child_begin_apart, stack, flags, child, parent_tid, tls, child_tid);
	/* The contents of thread-local data that the program provides are not known either. */
	if (flags & CLONE_VM)
		site_stop_sequences();
	return __clone(child->fn, stack, flags, child->arg, parent_tid, tls, child_tid);
}

/* As in libc: arguments that the flags do not use are read all the same. */
EXPORT int clone(int (*fn)(void *arg), void *stack, int flags, void *arg, ...)
{
	struct child child = { .fn = fn, .arg = arg };
	pid_t *parent_tid, *child_tid;
	va_list more;
	void *tls;
	int pid;

	va_start(more, arg);
	parent_tid = va_arg(more, pid_t *);
	tls = va_arg(more, void *);
	child_tid = va_arg(more, pid_t *);
	va_end(more);
	pid = clone_once(&child, stack, flags, parent_tid, tls, child_tid);
	if (pid < 0 && agent_spawn_again(errno))
		pid = clone_once(&child, stack, flags, parent_tid, tls, child_tid);
	return pid;
}

#endif
