/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt_filter.h - programs that decide whether an event is recorded.
 *
 * The session daemon compiles an expression for the layout of one event: names of fields become
 * offsets. libltt and ltt.ko verify a program when they receive it, and run it before space for a
 * record is reserved. A program consists of the header, the instructions and the bytes of all
 * texts, in this order, aligned to 8 bytes, in the machine's byte order. All jumps go forward, so
 * that a run has at most as many steps as the program has instructions.
 *
 * Values are 64-bit integers, signed in comparisons (bits above 2^63 are negative numbers, as
 * in LTTng), unsigned in bitwise operators, and wrap around; or doubles, never in the kernel.
 * A value that cannot be read or computed (bytes outside of the payload, an index beyond the
 * end, a division by zero, a shift by other than 0 to 63, an absent context) ends the program:
 * the event is rejected.
 *
 * A program may end with instructions that sample: of the events that its tests accept, some are
 * recorded and the others are skipped. Skipped events are counted (not_sampled in ltt_ring.h),
 * rejected ones are not.
 */
#ifndef LTT_ABI_FILTER_H
#define LTT_ABI_FILTER_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define LTT_FILTER_MAGIC 0x544c4946u
#define LTT_FILTER_VERSION 1
#define LTT_FILTER_INSNS_MAX 256
#define LTT_FILTER_TEXT_MAX 4096
#define LTT_FILTER_CONTEXTS_MAX 64
#define LTT_FILTER_REGISTERS 8
#define LTT_FILTER_WORDS 240 /* words of a ring set for LTT_FILTER_RATE and LTT_FILTER_FIRST */
#define LTT_FILTER_SAMPLERS 8

#define LTT_FILTER_INTERVAL_BITS 44
#define LTT_FILTER_FIRST_BITS 40

/** Value of @base for the beginning of the payload, in place of a register. */
#define LTT_FILTER_FIXED 8
/** Value of @jump that rejects the event. */
#define LTT_FILTER_REJECT 0

/**
 * Operations, and the members of struct ltt_filter_insn that each uses. "The place" is the position
 * in the payload that is the sum of @base (a register, or LTT_FILTER_FIXED) and @offset. A test
 * continues with the next instruction if it holds, and jumps otherwise. "The held text" is the text
 * that LTT_FILTER_HOLD selected last.
 */
enum ltt_filter_op {
	LTT_FILTER_RETURN = 1,	       /* @constant: 1 accepts, 0 rejects */
	LTT_FILTER_JUMP = 2,	       /* @jump */
	LTT_FILTER_TEST_FIELD = 3,     /* number @type at the place, relation @a, @constant */
	LTT_FILTER_TEST_REGISTER = 4,  /* register @a, relation @type, @constant */
	LTT_FILTER_TEST_REGISTERS = 5, /* register @a, relation @type, register @base */
	LTT_FILTER_TEST_TEXT = 6,      /* text @type at the place, relation @a, text of @constant */
	LTT_FILTER_TEST_HELD = 7, /* the held text, relation @a, text @type at the place */
	LTT_FILTER_HOLD = 8,	  /* select the text @type at the place as the held text */
	LTT_FILTER_LENGTH = 9,	  /* register @a = bytes of the text @type at the place */
	LTT_FILTER_LOAD = 10,	  /* register @a = number @type at the place */
	LTT_FILTER_CONTEXT = 11,  /* register @a = context @offset; @type: 0 or LTT_FILTER_FLOAT */
	/* Register @a = number @type of the sequence at the place, with the index in bits 0 to 31
	 * of @constant and the number type of the sequence's length in bits 32 to 39. */
	LTT_FILTER_ELEMENT = 12,
	LTT_FILTER_CONSTANT = 13, /* register @a = @constant */
	/* Register @a = register @base, operator @type, register @offset or @constant. */
	LTT_FILTER_COMPUTE = 14,
	LTT_FILTER_COMPUTE_CONSTANT = 15,
	LTT_FILTER_TO_FLOAT = 16,    /* register @a = register @base, which is an integer */
	LTT_FILTER_SKIP_STRING = 17, /* register @a = position behind the string at the place */
	/* The same for a sequence whose length is number @type, and whose elements have
	 * @constant bytes: 1, 2, 4 or 8. */
	LTT_FILTER_SKIP_SEQUENCE = 18,
	/*
	 * The following instructions either continue, or end the program and skip the event.
	 */
	/* Continue for one event of each @constant, at a random position among them; @offset: tag
	 * of the sampler that counts them. */
	LTT_FILTER_SAMPLE = 19,
	/* Continue if the hash of register @a, or of the held text, is at most @constant, so that
	 * the same values are sampled everywhere. */
	LTT_FILTER_SAMPLE_BY = 20,
	LTT_FILTER_SAMPLE_BY_TEXT = 21,
	/* Continue for one event in each interval; the interval in ticks of the clock @a (enum
	 * ltt_clock_kind) is in bits 0 to 43 of @constant, the number of events that may be
	 * accepted at once after a pause in the bits above. @offset: index of the shared word. */
	LTT_FILTER_RATE = 22,
	/* Continue for a number of events, in bits 0 to 39 of @constant. It is counted anew when
	 * the bits above change. @offset: index of the shared word. */
	LTT_FILTER_FIRST = 23,
	LTT_FILTER_NR_OPS
};

/** Number types: LTT_FILTER_SIZE masks log2 of the number of bytes; the others are flags. */
#define LTT_FILTER_SIZE 0x03
#define LTT_FILTER_SIGNED 0x04
#define LTT_FILTER_BIG_ENDIAN 0x08
#define LTT_FILTER_FLOAT 0x10 /* of numbers, relations and operators; 4 or 8 bytes */

/** Text types. A text ends before its first NUL, and at the end of the payload. */
enum ltt_filter_text_type {
	LTT_FILTER_STRING = 0x20,	 /* NUL-terminated */
	LTT_FILTER_TEXT_ARRAY = 0x40,	 /* length in bytes: bits 32 to 63 of @constant */
	LTT_FILTER_TEXT_SEQUENCE = 0x60, /* after its length, a number of the type's size */
	LTT_FILTER_TEXT_CONTEXT = 0x80	 /* context @offset */
};

/**
 * Relations; LTT_FILTER_NOT inverts the result, LTT_FILTER_FLOAT compares doubles. Relations after
 * LTT_FILTER_GE apply to texts only, and the right text is a constant: bits 0 to 15 of @constant
 * are its offset in the program's texts, bits 16 to 31 its length in bytes. In a pattern a NUL
 * matches any run of bytes.
 */
enum ltt_filter_relation {
	LTT_FILTER_EQ = 0,
	LTT_FILTER_LT = 1,
	LTT_FILTER_LE = 2,
	LTT_FILTER_GT = 3,
	LTT_FILTER_GE = 4,
	LTT_FILTER_CONTAINS = 5, /* also allowed in LTT_FILTER_TEST_HELD */
	LTT_FILTER_PREFIX = 6,
	LTT_FILTER_PATTERN = 7,
	LTT_FILTER_NR_RELATIONS
};
#define LTT_FILTER_NOT 0x20

enum ltt_filter_operator {
	LTT_FILTER_ADD = 0,
	LTT_FILTER_SUB = 1,
	LTT_FILTER_MUL = 2,
	LTT_FILTER_DIV = 3,
	LTT_FILTER_MOD = 4, /* this and those below: integers only */
	LTT_FILTER_AND = 5,
	LTT_FILTER_OR = 6,
	LTT_FILTER_XOR = 7,
	LTT_FILTER_SHL = 8,
	LTT_FILTER_SHR = 9, /* fills with zeros */
	LTT_FILTER_NR_OPERATORS
};

struct ltt_filter_insn {
	uint8_t op; /* enum ltt_filter_op */
	uint8_t type;
	uint8_t a;
	uint8_t base;
	uint16_t jump; /* number of a later instruction, or LTT_FILTER_REJECT */
	uint16_t offset;
	uint64_t
		constant; /* bits of a double where the relation or operator has LTT_FILTER_FLOAT */
};

struct ltt_filter_head {
	uint32_t magic;
	uint16_t version;
	uint16_t nr_insns;
	uint16_t text_bytes;  /* bytes of the texts after the instructions */
	uint16_t nr_contexts; /* numbers of contexts in the program are below this */
	uint32_t reserved;    /* 0 */
};

struct ltt_filter {
	struct ltt_filter_head head;
	struct ltt_filter_insn insns[];
};

/* The same in programs of 32 bits. */
_Static_assert(sizeof(struct ltt_filter_head) == 16 && sizeof(struct ltt_filter_insn) == 16,
	       "the layout of 64 bits");

#endif
