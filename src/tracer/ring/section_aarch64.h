/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * section_aarch64.h - the sequences of section.h for aarch64; included by
 * record.c alone.
 *
 * Two sections a function, each with its descriptor and its commit at the very
 * end: 1 to 2 records, 7 to 8 counts a record that was refused. Each record checks `consumed` and
 * the epoch itself; the hints in struct ltt_ring_prod are left alone. The instruction that stores
 * the second descriptor is the last one that the first section covers.
 *
 * Order: `consumed` is loaded before the data is stored because a branch
 * depends on it; all stores of a record come before `pub` because that is a
 * store-release; and a record that enters a sub-buffer is preceded by a barrier,
 * so that written data is never more than a sub-buffer and two records in front of a `pub` that a
 * reader can see (snapshots rely on it).
 *
 * Registers: x0 hook, x1 payload, x2 len, w3 preparation, w4 restarts
 * left, d16 the clock if given, x9 rseq area; a restart needs them. x10 binding, x6
 * set, w11 CPU, x12 producer block (its data area begins one page behind it), x13 old
 * pub, x14 clock, w5 state and RES_*, x16 bytes of the record and then new pub; x7,
 * x8, x15, x17 scratch.
 */
#ifndef TRACER_RING_SECTION_AARCH64_H
#define TRACER_RING_SECTION_AARCH64_H

#define SECTION_SUPPORTED 1
#define SECTION_SIG 0xd428bc00 /* brk #0x45e0 */
#define SECTION_HAS_CYCLES 1

static inline void *section_thread_pointer(void)
{
	return __builtin_thread_pointer();
}

static inline uint64_t section_read_cycles(void)
{
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
}

#ifdef SECTION_FUNCTIONS
/* One instruction a line. */
/* clang-format off */

/* struct rseq_cs: version, flags, start, length, abort handler. */
#define SECTION_DESCRIPTORS \
	"	.pushsection .data.rel.ro.ltt_rseq, \"aw\"\n" \
	"	.balign 32\n" \
	"11:	.word 0, 0\n" \
	"	.quad 1f, 2f - 1f, 4f\n" \
	"13:	.word 0, 0\n" \
	"	.quad 7f, 8f - 7f, 4f\n" \
	"	.popsection\n"

#define SECTION_ROOM \
	"	ldr	x13, [x12, #" N(O_PROD_PUB) "]\n" \
	"	ldr	x15, [x16, #" N(O_CONS_CONSUMED) " + 4096]\n" \
	"	add	x17, x13, x2\n" \
	"	add	x17, x17, #13\n" \
	"	sub	x17, x17, x15\n" \
	"	and	x17, x17, #0x7fffffffff\n" /* a position's 39 bits */ \
	"	ldr	x15, [x6, #" N(O_SET_LIMIT) "]\n" \
	"	cmp	x17, x15\n" \
	"	b.hi	29f\n"

/* Find the ring and see that it is on and has room. */
#define SECTION_FIND(o_nr, preparation) \
	"1:\n" \
	"3:	adrp	x15, 11b\n" \
	"	add	x15, x15, :lo12:11b\n" \
	"	str	x15, [x9, #8]\n" \
	"	ldr	x10, [x0, #" N(O_HOOK_BINDING) "]\n" \
	"	ldr	w11, [x9, #4]\n" \
	"	cbz	x10, 20f\n" \
	"	ldr	w15, [x10, #" N(o_nr) "]\n" \
	"	ldr	x6, [x10, #" N(O_BINDING_SET) "]\n" \
	"	cmp	w11, w15\n" \
	"	b.hs	21f\n" \
	"	ldr	w15, [x10, #" N(O_BINDING_PREPARATION) "]\n" \
	"	cmp	w15, " preparation "\n" \
	"	b.ne	36f\n" \
	"	ldr	x16, [x10, #" N(O_BINDING_STRIDE) "]\n" \
	"	ldr	x17, [x10, #" N(O_BINDING_BASE) "]\n" \
	"	madd	x12, x11, x16, x17\n" \
	"	ldr	x15, [x6, #" N(O_SET_MAX_PAYLOAD) "]\n" \
	"	cmp	x2, x15\n" \
	"	b.hi	23f\n" \
	"	sub	x16, x12, #1, lsl #12\n" \
	"	ldr	w5, [x16, #" N(O_CONS_STATE) " + 4096]\n" \
	"	cmp	w5, #" N(O_CONS_ON) "\n" \
	"	b.ne	24f\n" \
	"25:\n" \
	SECTION_ROOM

#define SECTION_CLOCK_CYCLES "	mrs	x14, cntvct_el0\n"
#define SECTION_CLOCK_GIVEN "	fmov	x14, d16\n"

/* Never behind last_ts; extended where the epoch has changed, or may have. */
#define SECTION_HEADER \
	"26:	ldr	x15, [x12, #" N(O_PROD_LAST_TS) "]\n" \
	"	cmp	x14, x15\n" \
	"	csel	x14, x15, x14, lo\n" \
	"	str	x14, [x12, #" N(O_PROD_LAST_TS) "]\n" \
	"	sub	x16, x14, x15\n" \
	"	lsr	x16, x16, #" N(SECTION_ALIAS_BITS) "\n" \
	"	eor	x17, x13, x14, lsl #13\n" /* epoch from bit 27 to bit 40 */ \
	"	orr	x16, x16, x17, lsr #40\n" \
	"	ldr	w7, [x10, #" N(O_BINDING_ID) "]\n" \
	"	ldr	x8, [x10, #" N(O_BINDING_DATA_MASK) "]\n" \
	"	and	x8, x13, x8\n" \
	"	add	x8, x8, x12\n" \
	"	add	x8, x8, #1, lsl #12\n" \
	"	cbnz	x16, 32f\n" \
	"	lsr	w15, w7, #16\n" \
	"	cbnz	w15, 32f\n" \
	"	lsl	w15, w14, #5\n" \
	"	cmp	w7, #29\n" \
	"	b.hi	33f\n" \
	"	orr	w15, w15, w7\n" /* compact */ \
	"	str	w15, [x8]\n" \
	"	mov	x16, #4\n" \
	"	b	34f\n" \
	"33:	orr	w15, w15, #30\n" /* wide */ \
	"	str	w15, [x8]\n" \
	"	strh	w7, [x8, #4]\n" \
	"	mov	x16, #6\n" \
	"	b	34f\n" \
	"32:	mov	w15, #31\n" /* extended */ \
	"	strb	w15, [x8]\n" \
	"	stur	w7, [x8, #1]\n" \
	"	stur	x14, [x8, #5]\n" \
	"	mov	x16, #13\n" \
	"	b	34f\n"

/* Inside the first section, but entered by jumps only. 24: not plainly on; the counter may have
 * gone back. */
#define SECTION_REFUSE(clock) \
	"24:	mov	w15, w5\n" \
	"	tst	w5, #" N(O_CONS_ON) "\n" \
	"	b.eq	20f\n" \
	"	and	w5, w5, #" N(O_CONS_RESULT) "\n" \
	"	tbz	w15, #2, 25b\n" \
	SECTION_ROOM \
	clock \
	"	ldr	x17, [x16, #" N(O_CONS_CLOCK_ADD) " + 4096]\n" \
	"	add	x14, x14, x17\n" \
	"	b	26b\n" \
	"21:	ldr	w5, [x6, #" N(O_SET_ELSEWHERE) "]\n" \
	"	b	19f\n" \
	"29:	ldr	w15, [x6, #" N(O_SET_BLOCKING) "]\n" \
	"	cbnz	w15, 40f\n" \
	"	adrp	x15, 13b\n" \
	"	add	x15, x15, :lo12:13b\n" \
	"	str	x15, [x9, #8]\n" \
	"7:	ldr	x15, [x12, #" N(O_PROD_LOST_FULL) "]\n" \
	"	add	x15, x15, #1\n" \
	"	str	x15, [x12, #" N(O_PROD_LOST_FULL) "]\n" \
	"8:	mov	w5, #" N(RES_REFUSED) "\n" \
	"	b	19f\n" \
	"40:	mov	w5, #" N(RES_FULL) "\n" \
	"	b	19f\n"

/* Up to 8 bytes of payload too many; count; region; pub. */
#define SECTION_PUBLISH \
	"34:	add	x8, x8, x16\n" \
	"	add	x16, x16, x2\n" \
	"	mov	x15, #0\n" \
	"30:	ldr	x17, [x1, x15]\n" \
	"	str	x17, [x8, x15]\n" \
	"	add	x15, x15, #8\n" \
	"	cmp	x15, x2\n" \
	"	b.lo	30b\n" \
	"	add	x16, x13, x16\n" \
	"	and	x16, x16, #0x7fffffffff\n" \
	"	lsr	x15, x14, #27\n" \
	"	orr	x16, x16, x15, lsl #40\n" \
	"	mvn	x15, x13\n" \
	"	and	x15, x15, #0x8000000000\n" \
	"	orr	x16, x16, x15\n" \
	"	ubfx	x15, x13, #39, #1\n" \
	"	add	x17, x12, #" N(O_PROD_COUNT) "\n" \
	"	ldr	x7, [x17, x15, lsl #3]\n" \
	"	add	x7, x7, #1\n" \
	"	eor	x15, x15, #1\n" \
	"	str	x7, [x17, x15, lsl #3]\n" \
	"	eor	x15, x16, x13\n" \
	"	and	x15, x15, #0x7fffffffff\n" \
	"	ldr	x17, [x6, #" N(O_SET_STEP_MASK) "]\n" \
	"	tst	x15, x17\n" \
	"	b.eq	35f\n" \
	"	orr	w5, w5, #" N(RES_STEPPED) "\n" \
	"	orr	w5, w5, w11, lsl #" N(RES_RING_SHIFT) "\n" \
	"	ldr	x17, [x6, #" N(O_SET_SUBBUF_MASK) "]\n" \
	"	tst	x15, x17\n" \
	"	b.eq	35f\n" \
	"	ldr	x17, [x10, #" N(O_BINDING_DATA_MASK) "]\n" \
	"	and	x17, x16, x17\n" \
	"	ldr	w15, [x6, #" N(O_SET_SUBBUF_SHIFT) "]\n" \
	"	lsr	x17, x17, x15\n" \
	"	add	x17, x12, x17, lsl #4\n" \
	"	ldr	x15, [x6, #" N(O_SET_REGION_BACK) "]\n" \
	"	sub	x17, x17, x15\n" \
	"	str	x16, [x17, #" N(O_PROD_REGION) "]\n" \
	"	str	x7, [x17, #" N(O_PROD_REGION) " + 8]\n" \
	"	orr	w5, w5, #" N(RES_CROSSED) "\n" \
	"	dmb	ish\n" \
	"35:	stlr	x16, [x12]\n" \
	"2:\n"

/* 19: the result is in w5. 4: the kernel has cleared rseq_cs. */
#define SECTION_LEAVE(answer) \
	"19:	str	xzr, [x9, #8]\n" \
	"18:\n" \
	answer \
	"20:	str	xzr, [x9, #8]\n" \
	"17:	mov	w0, #0\n" \
	"	ret\n" \
	"23:	mov	w5, #" N(RES_TOO_LONG) "\n" \
	"	b	19b\n" \
	"36:	mov	w5, #" N(RES_PREPARE) "\n" \
	"	b	19b\n" \
	"	.inst	" N(SECTION_SIG) "\n" \
	"4:	subs	w4, w4, #1\n" \
	"	b.ne	3b\n" \
	"	mov	w5, #" N(RES_RESTARTS) "\n" \
	"	b	18b\n"

/* The binding is loaded with acquire first: a thread that sees one sees ring_rseq_area. */
#define SECTION_FUNCTION(name, o_nr, before, preparation, clock, answer) \
	__asm__("	.pushsection .text." #name ", \"ax\", %progbits\n" \
		"	.balign 32\n" \
		SECTION_DESCRIPTORS \
		"	.globl " #name "\n" \
		"	.hidden " #name "\n" \
		"	.type " #name ", %function\n" \
		#name ":\n" \
		"	.cfi_startproc\n" \
		"	ldar	x15, [x0]\n" \
		"	cbz	x15, 17f\n" \
		"	adrp	x9, ring_rseq_area\n" \
		"	ldr	x9, [x9, :lo12:ring_rseq_area]\n" \
		"	mrs	x15, tpidr_el0\n" \
		"	cbz	x9, 17f\n" \
		"	add	x9, x9, x15\n" \
		before \
		"	mov	w4, #" N(SECTION_RESTARTS) "\n" \
		SECTION_FIND(o_nr, preparation) \
		clock \
		SECTION_HEADER \
		SECTION_REFUSE(clock) \
		SECTION_PUBLISH \
		SECTION_LEAVE(answer) \
		"	.cfi_endproc\n" \
		"	.size " #name ", . - " #name "\n" \
		"	.popsection\n")

#define SECTION_ANSWER \
	"	mov	w0, w5\n" \
	"	ret\n"

/* Published and nothing else to do: return. */
#define SECTION_TELL_RECORD_UNUSUAL \
	"	cmp	w5, #" N(O_CONS_ON) "\n" \
	"	b.eq	17f\n" \
	"	mov	w3, w5\n" \
	"	b	record_unusual\n"

SECTION_FUNCTION(ring_record, O_BINDING_NR_CYCLES, "", "wzr", SECTION_CLOCK_CYCLES,
		 SECTION_TELL_RECORD_UNUSUAL);
SECTION_FUNCTION(section_cycles, O_BINDING_NR_CYCLES, "", "w3", SECTION_CLOCK_CYCLES,
		 SECTION_ANSWER);
/* A vector register holds the clock: the others are in use. */
SECTION_FUNCTION(section_given, O_BINDING_NR_GIVEN, "	fmov	d16, x4\n", "w3",
		 SECTION_CLOCK_GIVEN, SECTION_ANSWER);
/* clang-format on */

#endif
#endif
