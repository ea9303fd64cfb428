/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * typed_call.h - ltt_typed_call() and typed_stack_bytes(), in assembler, as C can't pass on
 * arguments whose names it does not know. Included by typed.c alone.
 *
 * ltt_typed_call(site, ...) makes each call of a list with the same registers and a copy of the
 * stack's arguments, which a callee may overwrite, and the call's data in the place of the site.
 * They return to typed_returns.
 *
 * typed_stack_bytes(stack): calls ltt_typed_kind.stack; returns the bytes of arguments on the
 * stack, and up to 8 more.
 */
#ifndef TRACER_SITE_TYPED_CALL_H
#define TRACER_SITE_TYPED_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site.h"

struct typed_call {
	void (*function)(void);
	void *data;
};

/** struct typed_state - of one hit, on its stack. The assembler knows the first three members. */
struct typed_state {
	const struct typed_call *at, *end;
	uint64_t stack_bytes; /* a multiple of 16 */
	const void *outer; /* typed_caller of the event around this one */
	uint32_t token;
	int saved_errno;
	bool nested;
};
#ifdef __LP64__
_Static_assert(offsetof(struct typed_state, at) == 0 && offsetof(struct typed_state, end) == 8 &&
		       offsetof(struct typed_state, stack_bytes) == 16 &&
		       sizeof(struct typed_state) <= 48,
	       "as ltt_typed_call() has it");
#endif

#define TYPED_FROM_ASSEMBLER __attribute__((used, visibility("hidden")))
TYPED_FROM_ASSEMBLER void typed_begin(struct ltt_site *site, struct typed_state *state,
				      const void *caller);
TYPED_FROM_ASSEMBLER void typed_end(struct typed_state *state);

#if defined(__x86_64__) && defined(__LP64__)
#define HAVE_TYPED_CALL 1
__attribute__((visibility("hidden"))) size_t typed_stack_bytes(void (*stack)(void));
/* Frame: -16 rbx r12; -64 the registers of arguments; -112 struct typed_state; -240 vectors. */
__asm__(".text\n"
	".p2align 4\n"
	".globl ltt_typed_call\n"
	".type ltt_typed_call, @function\n"
	"ltt_typed_call:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"	push %rbx\n"
	".cfi_offset %rbx, -24\n"
	"	push %r12\n"
	".cfi_offset %r12, -32\n"
	"	sub $224, %rsp\n"
	"	mov %rdi, -24(%rbp)\n"
	"	mov %rsi, -32(%rbp)\n"
	"	mov %rdx, -40(%rbp)\n"
	"	mov %rcx, -48(%rbp)\n"
	"	mov %r8, -56(%rbp)\n"
	"	mov %r9, -64(%rbp)\n"
	"	movaps %xmm0, -128(%rbp)\n"
	"	movaps %xmm1, -144(%rbp)\n"
	"	movaps %xmm2, -160(%rbp)\n"
	"	movaps %xmm3, -176(%rbp)\n"
	"	movaps %xmm4, -192(%rbp)\n"
	"	movaps %xmm5, -208(%rbp)\n"
	"	movaps %xmm6, -224(%rbp)\n"
	"	movaps %xmm7, -240(%rbp)\n"
	"	lea -112(%rbp), %rsi\n"
	"	mov 8(%rbp), %rdx\n"
	"	call typed_begin\n"
	"	mov -112(%rbp), %rbx\n"
	"	mov -96(%rbp), %r12\n"
	"	sub %r12, %rsp\n"
	"1:	cmp -104(%rbp), %rbx\n"
	"	jae 3f\n"
	"	mov %r12, %rcx\n"
	"	shr $3, %rcx\n"
	"	jz 2f\n"
	"	lea 16(%rbp), %rsi\n"
	"	mov %rsp, %rdi\n"
	"	rep movsq\n"
	"2:	mov -32(%rbp), %rsi\n"
	"	mov -40(%rbp), %rdx\n"
	"	mov -48(%rbp), %rcx\n"
	"	mov -56(%rbp), %r8\n"
	"	mov -64(%rbp), %r9\n"
	"	movaps -128(%rbp), %xmm0\n"
	"	movaps -144(%rbp), %xmm1\n"
	"	movaps -160(%rbp), %xmm2\n"
	"	movaps -176(%rbp), %xmm3\n"
	"	movaps -192(%rbp), %xmm4\n"
	"	movaps -208(%rbp), %xmm5\n"
	"	movaps -224(%rbp), %xmm6\n"
	"	movaps -240(%rbp), %xmm7\n"
	"	mov 8(%rbx), %rdi\n"
	"	call *(%rbx)\n"
	".hidden typed_returns\n"
	".globl typed_returns\n"
	"typed_returns:\n"
	"	add $16, %rbx\n"
	"	jmp 1b\n"
	"3:	lea -112(%rbp), %rdi\n"
	"	call typed_end\n"
	"	lea -16(%rbp), %rsp\n"
	"	pop %r12\n"
	".cfi_restore %r12\n"
	"	pop %rbx\n"
	".cfi_restore %rbx\n"
	"	pop %rbp\n"
	".cfi_restore %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size ltt_typed_call, . - ltt_typed_call\n"
	".hidden typed_stack_bytes\n"
	".globl typed_stack_bytes\n"
	".type typed_stack_bytes, @function\n"
	"typed_stack_bytes:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	sub $8, %rsp\n"
	".cfi_def_cfa_offset 16\n"
	"	xor %eax, %eax\n" /* no vectors */
	"	call *%rdi\n"
	"	sub %rsp, %rax\n"
	"	add $8, %rsp\n"
	".cfi_def_cfa_offset 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size typed_stack_bytes, . - typed_stack_bytes\n");

#elif defined(__aarch64__)
#define HAVE_TYPED_CALL 1
__attribute__((visibility("hidden"))) size_t typed_stack_bytes(void (*stack)(void));
/* Frame: 0 x29 x30; 16 x19 x20; 32 x0 to x7; 96 x8; 112 struct typed_state; 160 vectors. */
__asm__(".text\n"
	".p2align 4\n"
	".globl ltt_typed_call\n"
	".type ltt_typed_call, %function\n"
	"ltt_typed_call:\n"
	".cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-288]!\n"
	".cfi_def_cfa_offset 288\n"
	".cfi_offset 29, -288\n"
	".cfi_offset 30, -280\n"
	"	mov x29, sp\n"
	".cfi_def_cfa_register 29\n"
	"	stp x19, x20, [x29, #16]\n"
	".cfi_offset 19, -272\n"
	".cfi_offset 20, -264\n"
	"	stp x0, x1, [x29, #32]\n"
	"	stp x2, x3, [x29, #48]\n"
	"	stp x4, x5, [x29, #64]\n"
	"	stp x6, x7, [x29, #80]\n"
	"	str x8, [x29, #96]\n"
	"	stp q0, q1, [x29, #160]\n"
	"	stp q2, q3, [x29, #192]\n"
	"	stp q4, q5, [x29, #224]\n"
	"	stp q6, q7, [x29, #256]\n"
	"	add x1, x29, #112\n"
	"	mov x2, x30\n"
	"	bl typed_begin\n"
	"	ldr x19, [x29, #112]\n"
	"	ldr x20, [x29, #128]\n"
	"	sub sp, sp, x20\n"
	"1:	ldr x9, [x29, #120]\n"
	"	cmp x19, x9\n"
	"	b.hs 4f\n"
	"	cbz x20, 3f\n"
	"	add x10, x29, #288\n"
	"	mov x11, sp\n"
	"	add x12, x11, x20\n"
	"2:	ldp x13, x14, [x10], #16\n"
	"	stp x13, x14, [x11], #16\n"
	"	cmp x11, x12\n"
	"	b.lo 2b\n"
	"3:	ldr x1, [x29, #40]\n"
	"	ldp x2, x3, [x29, #48]\n"
	"	ldp x4, x5, [x29, #64]\n"
	"	ldp x6, x7, [x29, #80]\n"
	"	ldr x8, [x29, #96]\n"
	"	ldp q0, q1, [x29, #160]\n"
	"	ldp q2, q3, [x29, #192]\n"
	"	ldp q4, q5, [x29, #224]\n"
	"	ldp q6, q7, [x29, #256]\n"
	"	ldp x16, x0, [x19], #16\n"
	"	blr x16\n"
	".hidden typed_returns\n"
	".globl typed_returns\n"
	"typed_returns:\n"
	"	b 1b\n"
	"4:	add x0, x29, #112\n"
	"	bl typed_end\n"
	"	mov sp, x29\n"
	"	ldp x19, x20, [x29, #16]\n"
	".cfi_restore 19\n"
	".cfi_restore 20\n"
	".cfi_def_cfa_register 31\n"
	"	ldp x29, x30, [sp], #288\n"
	".cfi_restore 29\n"
	".cfi_restore 30\n"
	".cfi_def_cfa_offset 0\n"
	"	ret\n"
	".cfi_endproc\n"
	".size ltt_typed_call, . - ltt_typed_call\n"
	".hidden typed_stack_bytes\n"
	".globl typed_stack_bytes\n"
	".type typed_stack_bytes, %function\n"
	"typed_stack_bytes:\n"
	".cfi_startproc\n"
	"	hint #34\n"
	"	stp x29, x30, [sp, #-16]!\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 29, -16\n"
	".cfi_offset 30, -8\n"
	"	mov x29, sp\n"
	"	blr x0\n"
	"	mov x1, sp\n"
	"	sub x0, x0, x1\n"
	"	ldp x29, x30, [sp], #16\n"
	".cfi_restore 29\n"
	".cfi_restore 30\n"
	".cfi_def_cfa_offset 0\n"
	"	ret\n"
	".cfi_endproc\n"
	".size typed_stack_bytes, . - typed_stack_bytes\n");

#else
#define HAVE_TYPED_CALL 0
const char typed_returns[1];

static size_t typed_stack_bytes(void (*stack)(void))
{
	(void)stack;
	return 0;
}

void ltt_typed_call(void)
{
}
#endif

#endif
