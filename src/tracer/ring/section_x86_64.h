/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * section_x86_64.h - the sequences of section.h for x86-64; included by
 * record.c, by emit.c for the short way of a word, by counter.c and by admit.c.
 *
 * Whole functions, so that the usual way runs straight down, through the
 * commit, to the return. rdtsc begins only when every instruction before it has
 * ended, and hides next to nothing: each instruction, and each link of the chain
 * of loads that leads to it, is paid for. Hence the copies in struct binding,
 * the hints in struct ltt_ring_prod, and the clock in the middle.
 *
 * Three sections a function, each with its descriptor and its commit at the very
 * end; unusual cases leave the first for the others:
 *
 *   1 to 2   the usual way, and all in front of the entry that it jumps back to,
 *            the other two among it; commits pub
 *   5 to 6   thorough: any header, a new step or sub-buffer, an odd clock, the hints
 *            made anew; commits pub
 *   7 to 8   full; commits lost_full, its only instruction
 *
 * The instruction that stores another descriptor lies in the old section, and the
 * next one is the first of the new: nowhere on the way to a commit is the thread
 * without a descriptor that covers it. (Where it is, the kernel takes the descriptor
 * away instead of restarting, and the rest would run with another CPU's ring.) Hence
 * the second inside the first, the third inside the second. The first store is inside
 * the section that it announces.
 *
 * x86-64 keeps stores in order and moves none before an earlier load, so
 * nothing here needs a barrier.
 *
 * Registers: rdi hook, rsi payload, r10 len, r9 rseq area; never changed, since
 * a restart needs them. rcx binding, r8 producer block (its data area begins
 * one page behind it), r11 old pub, rax clock, rdx scratch. Below the stack: -4
 * restarts left, -16 the clock if given, -24 set, -32 state and RES_*,
 * -40 clock, -56 preparation, -64 key and -72 address of the image of the contexts, -80 the
 * call site.
 */
#ifndef TRACER_RING_SECTION_X86_64_H
#define TRACER_RING_SECTION_X86_64_H

#define SECTION_SUPPORTED 1
#define SECTION_SIG 0x53053053
#define SECTION_HAS_CYCLES 1
#define SECTION_HAS_WORD
#define SECTION_HAS_ADD
#define SECTION_HAS_SKIP
#define SECTION_HAS_IMAGE
#define SECTION_HAS_GIVEN

static inline void *section_thread_pointer(void)
{
	void *pointer;

	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline uint64_t section_read_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

#if defined(SECTION_FUNCTIONS) || defined(SECTION_WORD) || defined(SECTION_ADD) || \
	defined(SECTION_SKIP)
/* One instruction a line. */
/* clang-format off */

/* struct rseq_cs: version, flags, start, length, abort handler. */
#define SECTION_DESCRIPTORS \
	"	.pushsection .data.rel.ro.ltt_rseq, \"aw\"\n" \
	"	.balign 32\n" \
	"11:	.long 0, 0\n" \
	"	.quad 1f, 2f - 1f, 4f\n" \
	"12:	.long 0, 0\n" \
	"	.quad 5f, 6f - 5f, 4f\n" \
	"13:	.long 0, 0\n" \
	"	.quad 7f, 8f - 7f, 4f\n" \
	"	.popsection\n"

/* In front of the entry. 21: no ring for this thread. 24: not plainly on.
 * 22: too long, another preparation, or an id that needs the wide header. */
#define SECTION_BLOCKS(clock, check) \
	"21:	movq	" N(O_BINDING_SET) "(%rcx), %rcx\n" \
	"	movl	" N(O_SET_ELSEWHERE) "(%rcx), %ecx\n" \
	"	jmp	19f\n" \
	"24:	movl	" N(O_CONS_STATE) "(%r8), %edx\n" \
	"	testl	$" N(O_CONS_ON) ", %edx\n" \
	"	jz	20f\n" \
	"	andl	$" N(O_CONS_RESULT) ", %edx\n" \
	"	movl	%edx, -32(%rsp)\n" \
	"	jmp	27b\n" \
	"22:\n" \
	check \
	"	movq	" N(O_BINDING_SET) "(%rcx), %rdx\n" \
	"	cmpq	" N(O_SET_MAX_PAYLOAD) "(%rdx), %r10\n" \
	"	ja	23f\n" \
	"	cmpl	$" N(O_CONS_ON) ", " N(O_CONS_STATE) "(%r8)\n" \
	"	jne	24b\n" \
	"	cmpl	$65535, " N(O_BINDING_ID) "(%rcx)\n" \
	"	ja	25b\n" \
	clock \
	"	movq	" N(O_PROD_PUB) "(%r8), %r11\n" \
	"	movl	" N(O_PROD_HINT_END) "(%r8), %edx\n" \
	"	subl	$2, %edx\n" \
	SECTION_TRUST_HINTS \
	"	shll	$5, %eax\n" \
	"	orl	$30, %eax\n" \
	"	movl	" N(O_BINDING_ID) "(%rcx), %ecx\n" \
	"	movl	%eax, 4096(%r8, %rdx)\n" \
	"	movw	%cx, 4100(%r8, %rdx)\n" \
	"	addq	$2, %rdx\n" \
	"	leaq	6(%r11, %r10), %rcx\n" \
	"	jmp	28f\n"

/* The bound of a payload. A binding with a preparation, or with an id that needs the wide header,
 * has the bound 0. */
#define SECTION_BOUND_PLAIN \
	"	cmpq	" N(O_BINDING_PAYLOAD_END) "(%rcx), %r10\n" \
	"	jae	22b\n"
#define SECTION_CHECK_PLAIN \
	"	cmpl	$0, " N(O_BINDING_PREPARATION) "(%rcx)\n" \
	"	jne	36f\n"

/* The same where the preparation at -56(%rsp) was made. */
#define SECTION_BOUND_ANY \
	"	movl	-56(%rsp), %edx\n" \
	"	cmpl	%edx, " N(O_BINDING_PREPARATION) "(%rcx)\n" \
	"	jne	36f\n" \
	"	movq	" N(O_BINDING_SET) "(%rcx), %rdx\n" \
	"	cmpq	" N(O_SET_MAX_PAYLOAD) "(%rdx), %r10\n" \
	"	ja	23f\n" \
	"	cmpl	$29, " N(O_BINDING_ID) "(%rcx)\n" \
	"	ja	22b\n"

/* The same where the image at -72(%rsp) has the key at -64(%rsp). */
#define SECTION_BOUND_IMAGE \
	"	movq	-72(%rsp), %rax\n" \
	"	movq	-64(%rsp), %rdx\n" \
	"	cmpq	%rdx, " N(O_IMAGE_KEY) "(%rax)\n" \
	"	jne	38f\n" \
	SECTION_BOUND_ANY

/* Find the ring and see that it is on. */
#define SECTION_FIND(o_nr, bound) \
	"3:	leaq	11b(%rip), %rax\n" \
	"	movq	%rax, %fs:8(%r9)\n" \
	"	movq	" N(O_HOOK_BINDING) "(%rdi), %rcx\n" \
	"	movl	%fs:4(%r9), %r8d\n" \
	"	testq	%rcx, %rcx\n" \
	"	jz	20f\n" \
	"	cmpl	" N(o_nr) "(%rcx), %r8d\n" \
	"	jae	21b\n" \
	"	imulq	" N(O_BINDING_STRIDE) "(%rcx), %r8\n" \
	"	addq	" N(O_BINDING_BASE) "(%rcx), %r8\n" \
	bound

#define SECTION_CLOCK_CYCLES \
	"	rdtsc\n" \
	"	shlq	$32, %rdx\n" \
	"	orq	%rdx, %rax\n"

#define SECTION_CLOCK_GIVEN \
	"	movq	-16(%rsp), %rax\n"

/* From rax on; up to 16 bytes too many are read and written. */
#define SECTION_COPY_REST \
	"30:	movups	(%rsi, %rax), %xmm0\n" \
	"	movups	%xmm0, (%rdx, %rax)\n" \
	"	addq	$16, %rax\n" \
	"	cmpq	%r10, %rax\n" \
	"	jb	30b\n" \
	"31:\n"

/* To 4100 + r8 + rdx. */
#define SECTION_PAYLOAD \
	"	movq	(%rsi), %rax\n" \
	"	movq	%rax, 4100(%r8, %rdx)\n" \
	"	cmpq	$8, %r10\n" \
	"	jbe	31f\n" \
	"	leaq	4100(%r8, %rdx), %rdx\n" \
	"	movl	$8, %eax\n" \
	SECTION_COPY_REST

/* The same with the image of the contexts in front; rsi is the payload's address less its size. The
 * CPU and the call site, if they are not among the contexts, are written where the payload will be.
 */
#define SECTION_PAYLOAD_IMAGE \
	"	leaq	4100(%r8, %rdx), %rdx\n" \
	"	movq	-72(%rsp), %rax\n" \
	"	movups	" N(O_IMAGE_BYTES) "(%rax), %xmm0\n" \
	"	movups	%xmm0, (%rdx)\n" \
	"	cmpl	$16, " N(O_IMAGE_SIZE) "(%rax)\n" \
	"	jbe	39f\n" \
	"	movups	" N(O_IMAGE_BYTES) " + 16(%rax), %xmm0\n" \
	"	movups	%xmm0, 16(%rdx)\n" \
	"	cmpl	$32, " N(O_IMAGE_SIZE) "(%rax)\n" \
	"	jbe	39f\n" \
	"	movups	" N(O_IMAGE_BYTES) " + 32(%rax), %xmm0\n" \
	"	movups	%xmm0, 32(%rdx)\n" \
	"	cmpl	$48, " N(O_IMAGE_SIZE) "(%rax)\n" \
	"	jbe	39f\n" \
	"	movups	" N(O_IMAGE_BYTES) " + 48(%rax), %xmm0\n" \
	"	movups	%xmm0, 48(%rdx)\n" \
	"39:	cmpl	$0, " N(O_IMAGE_HAS_LATE) "(%rax)\n" \
	"	je	37f\n" \
	"	movd	%fs:4(%r9), %xmm0\n" \
	"	movl	" N(O_IMAGE_CPU_AT) "(%rax), %eax\n" \
	"	movd	%xmm0, (%rdx, %rax)\n" \
	"	movq	-72(%rsp), %rax\n" \
	"	movl	" N(O_IMAGE_IP_AT) "(%rax), %eax\n" \
	"	movq	-80(%rsp), %xmm0\n" \
	"	movq	%xmm0, (%rdx, %rax)\n" \
	"	movq	-72(%rsp), %rax\n" \
	"37:	movl	" N(O_IMAGE_SIZE) "(%rax), %eax\n" \
	"	movq	(%rsi, %rax), %xmm0\n" \
	"	movq	%xmm0, (%rdx, %rax)\n" \
	"	addq	$8, %rax\n" \
	"	cmpq	%r10, %rax\n" \
	"	jae	31f\n" \
	SECTION_COPY_REST

/* count[!parity] = count[parity] + 1, which is left in rax. Carry: parity. */
#define SECTION_COUNT \
	"	movq	%r11, %rdx\n" \
	"	shrq	$36, %rdx\n" \
	"	andl	$8, %edx\n" \
	"	movq	" N(O_PROD_COUNT) "(%r8, %rdx), %rax\n" \
	"	xorl	$8, %edx\n" \
	"	incq	%rax\n" \
	"	movq	%rax, " N(O_PROD_COUNT) "(%r8, %rdx)\n"

/* edx = hint_end, less the bytes by which the header is longer than a compact one. The hints
 * mean: this sub-buffer, room, this epoch; and the clock is not behind. */
#define SECTION_TRUST_HINTS \
	"	subl	%r11d, %edx\n" \
	"	cmpl	%edx, %r10d\n" \
	"	jge	25b\n" \
	"	cmpq	" N(O_PROD_HINT_EPOCH) "(%r8), %rax\n" \
	"	jae	25b\n" \
	"	cmpq	" N(O_PROD_LAST_TS) "(%r8), %rax\n" \
	"	jb	25b\n" \
	"	movq	%rax, " N(O_PROD_LAST_TS) "(%r8)\n" \
	"	movq	%r11, %rdx\n" \
	"	andq	" N(O_BINDING_DATA_MASK) "(%rcx), %rdx\n"

#define SECTION_USUAL(payload) \
	"	movq	" N(O_PROD_PUB) "(%r8), %r11\n" \
	"	cmpl	$" N(O_CONS_ON) ", " N(O_CONS_STATE) "(%r8)\n" \
	"	jne	24b\n" \
	"	movl	" N(O_PROD_HINT_END) "(%r8), %edx\n" \
	SECTION_TRUST_HINTS \
	"	shll	$5, %eax\n" \
	"	orl	" N(O_BINDING_ID) "(%rcx), %eax\n" \
	"	movl	%eax, 4096(%r8, %rdx)\n" \
	"	leaq	4(%r11, %r10), %rcx\n" \
	"28:\n" \
	payload \
	"	btcq	$39, %rcx\n" \
	SECTION_COUNT \
	"	movq	%rcx, " N(O_PROD_PUB) "(%r8)\n" \
	"2:	movq	$0, %fs:8(%r9)\n"

/* The actual free room, and its part inside this sub-buffer. The first section covers the code that
 * leads to it. */
#define SECTION_ROOM \
	"1:\n" \
	"25:	movl	$" N(O_CONS_ON) ", -32(%rsp)\n" \
	"27:	leaq	12b(%rip), %rax\n" \
	"	movq	%rax, %fs:8(%r9)\n" \
	"5:	movq	" N(O_PROD_PUB) "(%r8), %r11\n" \
	"	leaq	13(%r11, %r10), %rdx\n" \
	"	subq	" N(O_CONS_CONSUMED) "(%r8), %rdx\n" \
	"	shlq	$25, %rdx\n" /* a position's 39 bits */ \
	"	shrq	$25, %rdx\n" \
	"	movq	" N(O_BINDING_SET) "(%rcx), %rax\n" \
	"	movq	%rax, -24(%rsp)\n" \
	"	movq	" N(O_SET_LIMIT) "(%rax), %rax\n" \
	"	subq	%rdx, %rax\n" \
	"	jb	29f\n" \
	"	movq	-24(%rsp), %rdx\n" \
	"	movq	" N(O_SET_STEP_MASK) "(%rdx), %rdx\n" \
	"	orq	%r11, %rdx\n" \
	"	negq	%rdx\n" /* bytes left in the step */ \
	"	cmpq	%rdx, %rax\n" \
	"	cmovaq	%rdx, %rax\n" \
	"	movl	$" N(SECTION_HINT_REACH) ", %edx\n" \
	"	cmpq	%rdx, %rax\n" \
	"	cmovaq	%rdx, %rax\n" \
	"	leal	-4(%r11, %rax), %eax\n" \
	"	movl	%eax, " N(O_PROD_HINT_END) "(%r8)\n"

/* Shifted, if the counter went back; never behind last_ts; extended where the epoch has changed, or
 * may have. */
#define SECTION_HEADER \
	"	addq	" N(O_CONS_CLOCK_ADD) "(%r8), %rax\n" \
	"	movq	" N(O_PROD_LAST_TS) "(%r8), %rdx\n" \
	"	cmpq	%rdx, %rax\n" \
	"	cmovbq	%rdx, %rax\n" \
	"	movq	%rax, " N(O_PROD_LAST_TS) "(%r8)\n" \
	"	movq	%rax, -40(%rsp)\n" \
	"	subq	%rax, %rdx\n" \
	"	negq	%rdx\n" \
	"	shrq	$" N(SECTION_ALIAS_BITS) ", %rdx\n" \
	"	jnz	32f\n" \
	"	movq	%rax, %rdx\n" \
	"	shlq	$13, %rdx\n" /* epoch from bit 27 to bit 40 */ \
	"	xorq	%r11, %rdx\n" \
	"	shrq	$40, %rdx\n" \
	"	jnz	32f\n" \
	"	movq	%rax, %rdx\n" \
	"	shrq	$27, %rdx\n" \
	"	incq	%rdx\n" \
	"	shlq	$27, %rdx\n" \
	"	movq	%rdx, " N(O_PROD_HINT_EPOCH) "(%r8)\n" \
	"	cmpl	$65535, " N(O_BINDING_ID) "(%rcx)\n" \
	"	ja	32f\n" \
	"	movq	%r11, %rdx\n" \
	"	andq	" N(O_BINDING_DATA_MASK) "(%rcx), %rdx\n" \
	"	shll	$5, %eax\n" \
	"	movl	" N(O_BINDING_ID) "(%rcx), %ecx\n" \
	"	cmpl	$29, %ecx\n" \
	"	ja	33f\n" \
	"	orl	%ecx, %eax\n" /* compact */ \
	"	movl	%eax, 4096(%r8, %rdx)\n" \
	"	leaq	4(%r11, %r10), %rcx\n" \
	"	jmp	34f\n" \
	"33:	orl	$30, %eax\n" /* wide */ \
	"	movl	%eax, 4096(%r8, %rdx)\n" \
	"	movw	%cx, 4100(%r8, %rdx)\n" \
	"	addq	$2, %rdx\n" \
	"	leaq	6(%r11, %r10), %rcx\n" \
	"	jmp	34f\n" \
	"32:	movq	%r11, %rdx\n" /* extended */ \
	"	andq	" N(O_BINDING_DATA_MASK) "(%rcx), %rdx\n" \
	"	movl	" N(O_BINDING_ID) "(%rcx), %ecx\n" \
	"	movb	$31, 4096(%r8, %rdx)\n" \
	"	movl	%ecx, 4097(%r8, %rdx)\n" \
	"	movq	%rax, 4101(%r8, %rdx)\n" \
	"	addq	$9, %rdx\n" \
	"	leaq	13(%r11, %r10), %rcx\n" \
	"	jmp	34f\n"

/* Inside the thorough section, but entered by a jump only. */
#define SECTION_FULL \
	"29:	movq	-24(%rsp), %rdx\n" \
	"	cmpl	$0, " N(O_SET_BLOCKING) "(%rdx)\n" \
	"	jne	40f\n" \
	"	leaq	13b(%rip), %rax\n" \
	"	movq	%rax, %fs:8(%r9)\n" \
	"7:	incq	" N(O_PROD_LOST_FULL) "(%r8)\n" \
	"8:	movl	$" N(RES_REFUSED) ", %ecx\n" \
	"	jmp	19f\n" \
	"40:	movl	$" N(RES_FULL) ", %ecx\n" \
	"	jmp	19f\n"

/* rcx: new position in, new pub out. */
#define SECTION_PUBLISH(payload) \
	"34:	shlq	$25, %rcx\n" \
	"	shrq	$25, %rcx\n" \
	"	movq	-40(%rsp), %rax\n" \
	"	shrq	$27, %rax\n" \
	"	shlq	$40, %rax\n" \
	"	orq	%rax, %rcx\n" \
	"	movq	%r11, %rax\n" \
	"	notq	%rax\n" \
	"	shrq	$39, %rax\n" \
	"	andl	$1, %eax\n" \
	"	shlq	$39, %rax\n" \
	"	orq	%rax, %rcx\n" \
	payload \
	"	btq	$39, %r11\n" \
	SECTION_COUNT \
	"	xorq	%rcx, %r11\n" \
	"	shlq	$25, %r11\n" \
	"	shrq	$25, %r11\n" \
	"	movq	-24(%rsp), %rdx\n" \
	"	testq	%r11, " N(O_SET_STEP_MASK) "(%rdx)\n" \
	"	jz	35f\n" \
	"	orl	$" N(RES_STEPPED) ", -32(%rsp)\n" \
	"	testq	%r11, " N(O_SET_SUBBUF_MASK) "(%rdx)\n" \
	"	jz	37f\n" \
	"	orl	$" N(RES_CROSSED) ", -32(%rsp)\n" \
	"	movq	%rcx, -48(%rsp)\n" /* the region of the new sub-buffer */ \
	"	movq	%rcx, %r11\n" \
	"	andq	" N(O_SET_DATA_MASK) "(%rdx), %r11\n" \
	"	movl	" N(O_SET_SUBBUF_SHIFT) "(%rdx), %ecx\n" \
	"	shrq	%cl, %r11\n" \
	"	shlq	$4, %r11\n" \
	"	addq	%r8, %r11\n" \
	"	subq	" N(O_SET_REGION_BACK) "(%rdx), %r11\n" \
	"	movq	-48(%rsp), %rcx\n" \
	"	movq	%rcx, " N(O_PROD_REGION) "(%r11)\n" \
	"	movq	%rax, " N(O_PROD_REGION) " + 8(%r11)\n" \
	"37:	movl	%fs:4(%r9), %eax\n" \
	"	shll	$" N(RES_RING_SHIFT) ", %eax\n" \
	"	orl	%eax, -32(%rsp)\n" \
	"35:	movq	%rcx, " N(O_PROD_PUB) "(%r8)\n" \
	"6:	movl	-32(%rsp), %ecx\n" \
	"	jmp	19f\n"

/* 19: the result is in ecx. 4: the kernel has cleared rseq_cs. */
#define SECTION_LEAVE(answer) \
	"19:	movq	$0, %fs:8(%r9)\n" \
	"18:	movq	%r10, %rdx\n" \
	answer \
	"20:	movq	$0, %fs:8(%r9)\n" \
	"17:	xorl	%eax, %eax\n" \
	"	ret\n" \
	"23:	movl	$" N(RES_TOO_LONG) ", %ecx\n" \
	"	jmp	19b\n" \
	"36:	movl	$" N(RES_PREPARE) ", %ecx\n" \
	"	jmp	19b\n" \
	"38:	movl	$" N(RES_ELSEWHERE) ", %ecx\n" \
	"	jmp	19b\n" \
	"	.byte	0x0f, 0xb9, 0x3d\n" /* ud1, with the signature */ \
	"	.long	" N(SECTION_SIG) "\n" \
	"4:	decl	-4(%rsp)\n" \
	"	jnz	3b\n" \
	"	movl	$" N(RES_RESTARTS) ", %ecx\n" \
	"	jmp	18b\n"

#define SECTION_FUNCTION(name, o_nr, before, bound, check, clock, payload, done, answer) \
	__asm__("	.pushsection .text." #name ", \"ax\", @progbits\n" \
		"	.balign 32\n" \
		"	.cfi_startproc\n" \
		SECTION_DESCRIPTORS \
		SECTION_ROOM \
		clock \
		SECTION_HEADER \
		SECTION_FULL \
		SECTION_PUBLISH(payload) \
		SECTION_BLOCKS(clock, check) \
		"	.balign 32\n" \
		"	.globl " #name "\n" \
		"	.hidden " #name "\n" \
		"	.type " #name ", @function\n" \
		#name ":\n" \
		before \
		"	movq	ring_rseq_area(%rip), %r9\n" \
		"	movq	%rdx, %r10\n" \
		"	movl	$" N(SECTION_RESTARTS) ", -4(%rsp)\n" \
		"	testq	%r9, %r9\n" \
		"	jz	17f\n" \
		SECTION_FIND(o_nr, bound) \
		clock \
		SECTION_USUAL(payload) \
		done \
		"	ret\n" \
		SECTION_LEAVE(answer) \
		"	.cfi_endproc\n" \
		"	.size " #name ", . - " #name "\n" \
		"	.popsection\n")

#define SECTION_ANSWER \
	"	movl	%ecx, %eax\n" \
	"	ret\n"

/* Published and nothing else to do, or there is no listener: return. */
#define SECTION_TELL_RECORD_UNUSUAL \
	"	cmpl	$" N(O_CONS_ON) ", %ecx\n" \
	"	je	17f\n" \
	"	jmp	record_unusual\n"

#define SECTION_TELL_IMAGE_UNUSUAL \
	"	cmpl	$" N(O_CONS_ON) ", %ecx\n" \
	"	je	17f\n" \
	"	movl	-56(%rsp), %r8d\n" \
	"	jmp	record_image_unusual\n"

#ifdef SECTION_FUNCTIONS
#define SECTION_ON "	movl	$" N(O_CONS_ON) ", %eax\n"
#define SECTION_KEEP_IMAGE \
	"	movl	%ecx, -56(%rsp)\n" \
	"	movq	%r8, -72(%rsp)\n" \
	"	movq	%r9, -64(%rsp)\n"
#define SECTION_KEEP_IP \
	"	movq	8(%rsp), %rax\n" \
	"	movq	%rax, -80(%rsp)\n"

SECTION_FUNCTION(ring_record, O_BINDING_NR_CYCLES, "", SECTION_BOUND_PLAIN, SECTION_CHECK_PLAIN,
		 SECTION_CLOCK_CYCLES, SECTION_PAYLOAD, "", SECTION_TELL_RECORD_UNUSUAL);
SECTION_FUNCTION(section_cycles, O_BINDING_NR_CYCLES, "	movl	%ecx, -56(%rsp)\n",
		 SECTION_BOUND_ANY, "", SECTION_CLOCK_CYCLES, SECTION_PAYLOAD, SECTION_ON,
		 SECTION_ANSWER);
SECTION_FUNCTION(section_given, O_BINDING_NR_GIVEN,
		 "	movl	%ecx, -56(%rsp)\n	movq	%r8, -16(%rsp)\n",
		 SECTION_BOUND_ANY, "", SECTION_CLOCK_GIVEN, SECTION_PAYLOAD, SECTION_ON,
		 SECTION_ANSWER);
SECTION_FUNCTION(section_record_given, O_BINDING_NR_GIVEN, "	movq	%rcx, -16(%rsp)\n",
		 SECTION_BOUND_PLAIN, SECTION_CHECK_PLAIN, SECTION_CLOCK_GIVEN, SECTION_PAYLOAD, "",
		 SECTION_TELL_RECORD_UNUSUAL);
SECTION_FUNCTION(section_admitted, O_BINDING_NR_CYCLES, "	movl	%ecx, -56(%rsp)\n",
		 SECTION_BOUND_ANY, "", SECTION_CLOCK_CYCLES, SECTION_PAYLOAD, "",
		 SECTION_TELL_IMAGE_UNUSUAL);
SECTION_FUNCTION(section_image, O_BINDING_NR_CYCLES, SECTION_KEEP_IMAGE, SECTION_BOUND_IMAGE, "",
		 SECTION_CLOCK_CYCLES, SECTION_PAYLOAD_IMAGE, "", SECTION_TELL_IMAGE_UNUSUAL);
SECTION_FUNCTION(section_image_cycles, O_BINDING_NR_CYCLES, SECTION_KEEP_IMAGE SECTION_KEEP_IP,
		 SECTION_BOUND_IMAGE, "", SECTION_CLOCK_CYCLES, SECTION_PAYLOAD_IMAGE, SECTION_ON,
		 SECTION_ANSWER);
SECTION_FUNCTION(section_image_given, O_BINDING_NR_GIVEN,
		 SECTION_KEEP_IMAGE SECTION_KEEP_IP
		 "	movq	16(%rsp), %rax\n	movq	%rax, -16(%rsp)\n",
		 SECTION_BOUND_IMAGE, "", SECTION_CLOCK_GIVEN, SECTION_PAYLOAD_IMAGE, SECTION_ON,
		 SECTION_ANSWER);
#endif

#ifdef SECTION_WORD
/*
 * ltt_emit_word(): from the site to the commit in one function, for a payload in a register
 * (rsi) and one listening session. Only the fast path is here; all other cases, interruptions
 * included, go to emit_word_slow().
 *
 * The descriptor is not cleared: the section begins where all values that its abort handler needs
 * are in place, so that a stale one does no harm there, and elsewhere the kernel takes it away.
 * The addresses of the thread's area and of the CPU's ring delay the reading of the clock: each
 * load in their chains counts.
 */
__asm__("	.pushsection .text.ltt_emit_word, \"ax\", @progbits\n"
	"	.balign 32\n"
	"	.cfi_startproc\n"
	"	.pushsection .data.rel.ro.ltt_rseq, \"aw\"\n"
	"	.balign 32\n"
	"11:	.long 0, 0\n"
	"	.quad 1f, 2f - 1f, 4f\n"
	"	.popsection\n"
	"20:	movq	$0, %fs:8(%r9)\n"
	"	jmp	4f\n"
	"	.byte	0x0f, 0xb9, 0x3d\n" /* ud1, with the signature */
	"	.long	" N(SECTION_SIG) "\n"
	"4:	movq	%r10, %rdx\n"
	"19:	jmp	emit_word_slow\n"
	"	.balign 64\n"
	"	.globl ltt_emit_word\n"
	"	.type ltt_emit_word, @function\n"
	"ltt_emit_word:\n"
	"	movq	emit_fast_path_valid@gottpoff(%rip), %rax\n"
	"	movq	ring_rseq_area(%rip), %r9\n"
	"	cmpb	$0, %fs:(%rax)\n"
	"	je	19b\n"
	"	movq	%rdx, %r10\n"
	"1:	leaq	11b(%rip), %rax\n"
	"	movq	%rax, %fs:8(%r9)\n"
	"	movq	" N(O_SITE_ONLY) "(%rdi), %rcx\n"
	"	movl	%fs:4(%r9), %r8d\n"
	"	testq	%rcx, %rcx\n"
	"	jz	20b\n"
	"	cmpl	" N(O_BINDING_NR_WORDS) "(%rcx), %r8d\n"
	"	jae	20b\n"
	"	imulq	" N(O_BINDING_STRIDE) "(%rcx), %r8\n"
	"	addq	" N(O_BINDING_BASE) "(%rcx), %r8\n"
	SECTION_CLOCK_CYCLES
	"	movq	" N(O_PROD_PUB) "(%r8), %r11\n"
	"	cmpl	$" N(O_CONS_ON) ", " N(O_CONS_STATE) "(%r8)\n"
	"	jne	20b\n"
	"	movl	" N(O_PROD_HINT_END) "(%r8), %edx\n"
	"	subl	%r11d, %edx\n"
	"	cmpl	%edx, %r10d\n"
	"	jge	20b\n"
	"	cmpq	" N(O_PROD_HINT_EPOCH) "(%r8), %rax\n"
	"	jae	20b\n"
	"	cmpq	" N(O_PROD_LAST_TS) "(%r8), %rax\n"
	"	jb	20b\n"
	"	movq	%rax, " N(O_PROD_LAST_TS) "(%r8)\n"
	"	movq	%r11, %rdx\n"
	"	andq	" N(O_BINDING_DATA_MASK) "(%rcx), %rdx\n"
	"	shll	$5, %eax\n"
	"	orl	" N(O_BINDING_ID) "(%rcx), %eax\n"
	"	movl	%eax, 4096(%r8, %rdx)\n"
	"	movq	%rsi, 4100(%r8, %rdx)\n"
	"	leaq	4(%r11, %r10), %rcx\n"
	"	btcq	$39, %rcx\n"
	SECTION_COUNT
	"	movq	%rcx, " N(O_PROD_PUB) "(%r8)\n"
	"2:	ret\n"
	"	.cfi_endproc\n"
	"	.size ltt_emit_word, . - ltt_emit_word\n"
	"	.popsection\n");
#endif

#ifdef SECTION_ADD
/*
 * section_add(): rdi hook, rsi word, rdx value, ecx field; one addition, which is the
 * commit. No lock: on its CPU no other thread is in a sequence, and a thread in none adds
 * to another part. r10 restarts left, r9 rseq area.
 */
__asm__("	.pushsection .text.section_add, \"ax\", @progbits\n"
	"	.balign 32\n"
	"	.cfi_startproc\n"
	"	.pushsection .data.rel.ro.ltt_rseq, \"aw\"\n"
	"	.balign 32\n"
	"11:	.long 0, 0\n"
	"	.quad 1f, 2f - 1f, 4f\n"
	"	.popsection\n"
	"	.globl section_add\n"
	"	.hidden section_add\n"
	"	.type section_add, @function\n"
	"section_add:\n"
	"	movq	ring_rseq_area(%rip), %r9\n"
	"	movl	$" N(SECTION_RESTARTS) ", %r10d\n"
	"	testq	%r9, %r9\n"
	"	jz	19f\n"
	"1:	leaq	11b(%rip), %rax\n"
	"	movq	%rax, %fs:8(%r9)\n"
	"	movq	" N(O_HOOK_COUNTER) "(%rdi), %rax\n"
	"	movl	%fs:4(%r9), %r8d\n"
	"	testq	%rax, %rax\n"
	"	jz	2f\n"
	"	cmpl	%ecx, " N(O_COUNTER_FIELD) "(%rax)\n"
	"	jne	2f\n"
	"	cmpl	" N(O_COUNTER_NR_CPUS) "(%rax), %r8d\n"
	"	jae	18f\n"
	"	imulq	" N(O_COUNTER_STRIDE) "(%rax), %r8\n"
	"	addq	" N(O_COUNTER_WORDS) "(%rax), %r8\n"
	"	addq	%rdx, (%r8, %rsi, 8)\n"
	"2:	movq	$0, %fs:8(%r9)\n"
	"	xorl	%eax, %eax\n"
	"	ret\n"
	"18:	movq	$0, %fs:8(%r9)\n"
	"19:	movl	$1, %eax\n"
	"	ret\n"
	"	.byte	0x0f, 0xb9, 0x3d\n" /* ud1, with the signature */
	"	.long	" N(SECTION_SIG) "\n"
	"4:	decl	%r10d\n"
	"	jnz	1b\n"
	"	jmp	19b\n"
	"	.cfi_endproc\n"
	"	.size section_add, . - section_add\n"
	"	.popsection\n");
#endif

#ifdef SECTION_SKIP
/*
 * section_skip(): rdi hook; one addition to not_sampled, which is the commit. Of the two numbers of
 * rings in a binding one is 0. r10 restarts left, r9 rseq area.
 */
__asm__("	.pushsection .text.section_skip, \"ax\", @progbits\n"
	"	.balign 32\n"
	"	.cfi_startproc\n"
	"	.pushsection .data.rel.ro.ltt_rseq, \"aw\"\n"
	"	.balign 32\n"
	"11:	.long 0, 0\n"
	"	.quad 1f, 2f - 1f, 4f\n"
	"	.popsection\n"
	"	.globl section_skip\n"
	"	.hidden section_skip\n"
	"	.type section_skip, @function\n"
	"section_skip:\n"
	"	movq	ring_rseq_area(%rip), %r9\n"
	"	movl	$" N(SECTION_RESTARTS) ", %r10d\n"
	"	testq	%r9, %r9\n"
	"	jz	19f\n"
	"1:	leaq	11b(%rip), %rax\n"
	"	movq	%rax, %fs:8(%r9)\n"
	"	movq	" N(O_HOOK_BINDING) "(%rdi), %rcx\n"
	"	movl	%fs:4(%r9), %r8d\n"
	"	testq	%rcx, %rcx\n"
	"	jz	2f\n"
	"	movl	" N(O_BINDING_NR_CYCLES) "(%rcx), %eax\n"
	"	orl	" N(O_BINDING_NR_GIVEN) "(%rcx), %eax\n"
	"	cmpl	%eax, %r8d\n"
	"	jae	18f\n"
	"	imulq	" N(O_BINDING_STRIDE) "(%rcx), %r8\n"
	"	addq	" N(O_BINDING_BASE) "(%rcx), %r8\n"
	"	testl	$" N(O_CONS_ON) ", " N(O_CONS_STATE) "(%r8)\n"
	"	jz	2f\n"
	"	incq	" N(O_PROD_NOT_SAMPLED) "(%r8)\n"
	"2:	movq	$0, %fs:8(%r9)\n"
	"	xorl	%eax, %eax\n"
	"	ret\n"
	"18:	movq	$0, %fs:8(%r9)\n"
	"19:	movl	$1, %eax\n"
	"	ret\n"
	"	.byte	0x0f, 0xb9, 0x3d\n" /* ud1, with the signature */
	"	.long	" N(SECTION_SIG) "\n"
	"4:	decl	%r10d\n"
	"	jnz	1b\n"
	"	jmp	19b\n"
	"	.cfi_endproc\n"
	"	.size section_skip, . - section_skip\n"
	"	.popsection\n");
#endif
/* clang-format on */

#endif
#endif
