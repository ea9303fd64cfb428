/* SPDX-License-Identifier: MIT */
/*
 * ltt/sdt.h - SDT notes ("USDT probes", known from sys/sdt.h) of tracepoints and markers, so that
 * tools which know nothing about libltt find them in the program's file: perf, bpftrace, gdb,
 * systemtap. Included by ltt/tracepoint.h and ltt/marker.h, on x86-64 and arm64.
 *
 *	perf buildid-cache --add ./prog; perf list sdt
 *	bpftrace -e 'usdt:./prog:web:request { printf("%d %s\n", arg0, str(arg1)); }'
 *
 * A note is data of the file that is not loaded. The event's provider and name are the note's; of a
 * marker "subsystem_event" these are "subsystem" and "event". The note's semaphore is the lower
 * half of ltt_site.armed, the word that is tested anyway; so a point is off until there is a
 * listener or a tool, and costs no more than without a note. A tool gets the events also if no
 * session records them, and does not change those that a session records.
 *
 * Arguments. The first 12 of: the fields of a tracepoint, in the order of their declaration, those
 * under ltt_nowrite() too; the values of a marker. Integers are as they are recorded (ltt_net: in
 * network byte order); float and double are the bits of the number, as an unsigned integer; strings
 * and arrays are their address; a sequence is two arguments, its address and the number of its
 * elements.
 *
 * The hit of a tracepoint is a function, which the one that records calls. It and the note are in a
 * group of sections that the linker merges, so one program or library has one note of a tracepoint
 * that it uses. Each marker has a note, as has each copy of it that the compiler makes.
 *
 * Define LTT_NO_SDT before including any header of libltt, in all files of a program, to leave the
 * notes out. Log lines (ltt/log.h) and DEFINE_MARKER_TP() have none.
 */
#ifndef LTT_SDT_H
#define LTT_SDT_H

#include <ltt/foreach.h>
#include <ltt/object.h>

#ifdef __cplusplus
extern "C++" { /* if a program includes this between the braces of extern "C" */
#include <type_traits>
}
#endif

#if !defined(LTT_NO_SDT) && defined(__LP64__) && !defined(__code_model_large__) && \
	(defined(__x86_64__) || defined(__aarch64__))
#define LTT__SDT_NOTES
#endif

#ifdef LTT__SDT_NOTES

/* Without `inline` the compiler estimates the size of code by the lines of an assembler text. */
#if defined(__clang__) ? __clang_major__ >= 11 : __GNUC__ >= 9
#define LTT__SDT_ASM __asm__ __volatile__ __inline__
#else
#define LTT__SDT_ASM __asm__ __volatile__
#endif

/* Unwind tables. Before version 18 clang refuses a function inside another, in any section. */
#if defined(__clang__) && __clang_major__ < 18
#define LTT__SDT_FRAME(directive)
#else
#define LTT__SDT_FRAME(directive) directive
#endif

/* Of a machine: constraint of a symbol; a relocation that only refers to one; the first instruction
 * of a function that is called by its address; where such a function has its arguments behind the
 * first one, as it begins. */
#ifdef __x86_64__
#define LTT__SDT_SYMBOL "i"
#define LTT__SDT_REFERENCE "R_X86_64_NONE"
#define LTT__SDT_ENTRY "endbr64\n"
#define LTT__SDT_ARGUMENTS \
	LTT__SDT_ARGUMENT(0, "", "%%rsi") LTT__SDT_ARGUMENT(1, " ", "%%rdx") \
	LTT__SDT_ARGUMENT(2, " ", "%%rcx") LTT__SDT_ARGUMENT(3, " ", "%%r8") \
	LTT__SDT_ARGUMENT(4, " ", "%%r9") LTT__SDT_ARGUMENT(5, " ", "8(%%rsp)") \
	LTT__SDT_ARGUMENT(6, " ", "16(%%rsp)") LTT__SDT_ARGUMENT(7, " ", "24(%%rsp)") \
	LTT__SDT_ARGUMENT(8, " ", "32(%%rsp)") LTT__SDT_ARGUMENT(9, " ", "40(%%rsp)") \
	LTT__SDT_ARGUMENT(10, " ", "48(%%rsp)") LTT__SDT_ARGUMENT(11, " ", "56(%%rsp)")
#else
#define LTT__SDT_SYMBOL "S"
#define LTT__SDT_REFERENCE "R_AARCH64_NONE"
#define LTT__SDT_ENTRY "hint 34\n" /* bti c */
#define LTT__SDT_ARGUMENTS \
	LTT__SDT_ARGUMENT(0, "", "x1") LTT__SDT_ARGUMENT(1, " ", "x2") \
	LTT__SDT_ARGUMENT(2, " ", "x3") LTT__SDT_ARGUMENT(3, " ", "x4") \
	LTT__SDT_ARGUMENT(4, " ", "x5") LTT__SDT_ARGUMENT(5, " ", "x6") \
	LTT__SDT_ARGUMENT(6, " ", "x7") LTT__SDT_ARGUMENT(7, " ", "[sp]") \
	LTT__SDT_ARGUMENT(8, " ", "[sp, 8]") LTT__SDT_ARGUMENT(9, " ", "[sp, 16]") \
	LTT__SDT_ARGUMENT(10, " ", "[sp, 24]") LTT__SDT_ARGUMENT(11, " ", "[sp, 32]")
#endif

/* Operand ltt__<n> is the size of argument n, negative if it is signed; 0: there is none. */
#define LTT__SDT_ARGUMENT(n, before, place) \
	".if %c[ltt__" #n "]\n" \
	".ascii \"" before "%c[ltt__" #n "]@" place "\"\n" \
	".endif\n"

/*
 * The note of the instruction at 9, with operand ltt__site as its semaphore. @section: arguments of
 * the directive. @texts: assembler text of provider, name and arguments. Tools compare the address
 * of .stapsdt.base with the one in the note, to find out by how much the file has been moved since.
 * perf expects semaphores in a section .probes, and where one is in the file it finds by the place
 * of that section; so there is one, in the same segment as .data, which has the sites. The
 * instruction refers to both sections, as linkers that collect unused sections do not heed a note.
 */
#define LTT__SDT_NOTE(section, texts) \
	".reloc 9b, " LTT__SDT_REFERENCE ", _.stapsdt.base\n" \
	".reloc 9b, " LTT__SDT_REFERENCE ", ltt_sdt_probes\n" \
	".pushsection .note.stapsdt," section "\n" \
	".balign 4\n" \
	".4byte 2f - 1f, 4f - 3f, 3\n" \
	"1: .asciz \"stapsdt\"\n" \
	"2: .balign 4\n" \
	"3: .8byte 9b\n" \
	".8byte _.stapsdt.base\n" \
	".8byte %c[ltt__site]\n" \
	texts \
	"4: .balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n" \
	".hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n" \
	".size _.stapsdt.base, 1\n" \
	".popsection\n" \
	".endif\n" \
	".ifndef ltt_sdt_probes\n" \
	".pushsection .probes,\"awG\",\"progbits\",ltt_sdt_probes,comdat\n" \
	".balign 8\n" \
	".weak ltt_sdt_probes\n" \
	".hidden ltt_sdt_probes\n" \
	"ltt_sdt_probes: .space 8\n" \
	".size ltt_sdt_probes, 8\n" \
	".popsection\n" \
	".endif\n"

/*
 * Tracepoints. The layout of an event class: 4 bits for each argument, those of the first one
 * lowest: 0 where there is none; 1 to 4 for 1, 2, 4 and 8 bytes; 8 is added if it is signed. It is
 * two enumerators, which are constants that an operand may be, without optimisation too.
 */
#define LTT__SDT_CODE(type) \
	(1u + (sizeof(type) > 1) + (sizeof(type) > 2) + (sizeof(type) > 4))
#define LTT__SDT_AT(place, codes) \
	((place) < 12 ? (uint64_t)(codes) << ((place) * 4 & 63) : (uint64_t)0)
#define LTT__SDT_CLASS(id, members, layout) \
	struct ltt_sdt_places_##id { members char ltt__end; }; \
	enum { \
		ltt_sdt_class_low_##id = (int)((uint64_t)(layout) & 0xffffff), \
		ltt_sdt_class_high_##id = (int)((uint64_t)(layout) >> 24 & 0xffffff) \
	};
#define LTT__SDT_EVENT(cls, id) \
	enum { \
		ltt_sdt_low_##id = ltt_sdt_class_low_##cls, \
		ltt_sdt_high_##id = ltt_sdt_class_high_##cls \
	}; \
	LTT__C_BEGIN extern void ltt_sdt_##id(const struct ltt_site *, ...) LTT__MERGED; LTT__C_END
#define LTT__SDT_FUNCTION(id) ltt_sdt_##id
#define LTT__SDT_SIZE(n, code) \
	[ltt__##n] "i"((1 << ((code) & 7)) / 2 * ((code) & 8 ? -1 : 1))

/* In the path that is taken while a point is on. It has no instructions: its text makes the
 * function and the note of the tracepoint, once in each file of the assembler. */
#define LTT__SDT_POINT(id, provider, name) \
	LTT__SDT_ASM( \
		".ifndef ltt_sdt_" #id "\n" \
		".pushsection .text.ltt_sdt_" #id ",\"axG\",\"progbits\",ltt_sdt_" #id ",comdat\n" \
		".balign 4\n" \
		".weak ltt_sdt_" #id "\n" \
		".hidden ltt_sdt_" #id "\n" \
		".type ltt_sdt_" #id ", %%function\n" \
		"ltt_sdt_" #id ":\n" \
		LTT__SDT_FRAME(".cfi_startproc\n") \
		LTT__SDT_ENTRY \
		"9: nop\n" \
		"ret\n" \
		LTT__SDT_FRAME(".cfi_endproc\n") \
		".size ltt_sdt_" #id ", . - ltt_sdt_" #id "\n" \
		LTT__SDT_NOTE("\"G\",\"note\",ltt_sdt_" #id ",comdat", \
			      ".asciz \"" provider "\"\n" \
			      ".asciz \"" name "\"\n" \
			      LTT__SDT_ARGUMENTS \
			      ".byte 0\n") \
		".popsection\n" \
		".endif\n" \
		: \
		: [ltt__site] LTT__SDT_SYMBOL(&ltt_site_##id), \
		  LTT__SDT_SIZE(0, ltt_sdt_low_##id), \
		  LTT__SDT_SIZE(1, ltt_sdt_low_##id >> 4), \
		  LTT__SDT_SIZE(2, ltt_sdt_low_##id >> 8), \
		  LTT__SDT_SIZE(3, ltt_sdt_low_##id >> 12), \
		  LTT__SDT_SIZE(4, ltt_sdt_low_##id >> 16), \
		  LTT__SDT_SIZE(5, ltt_sdt_low_##id >> 20), \
		  LTT__SDT_SIZE(6, ltt_sdt_high_##id), \
		  LTT__SDT_SIZE(7, ltt_sdt_high_##id >> 4), \
		  LTT__SDT_SIZE(8, ltt_sdt_high_##id >> 8), \
		  LTT__SDT_SIZE(9, ltt_sdt_high_##id >> 12), \
		  LTT__SDT_SIZE(10, ltt_sdt_high_##id >> 16), \
		  LTT__SDT_SIZE(11, ltt_sdt_high_##id >> 20))

/* The site may be one of a program that was built against older headers (ltt/typed.h). */
typedef void ltt__sdt_function(const struct ltt_site *, ...);
LTT__OURS static inline ltt__sdt_function *ltt__sdt_of(const struct ltt_site *site)
{
	const size_t least = offsetof(struct ltt_event, sdt) + sizeof(site->event->sdt);

	return site->event->size >= least ? site->event->sdt : 0;
}

/* In the function that records: the values of all arguments, behind the site. */
#define LTT__SDT_HIT(...) \
	do { \
		if (ltt_unlikely(__atomic_load_n(&ltt__site->armed, __ATOMIC_RELAXED) & \
				 LTT_SITE_TOOLS) && ltt__sdt_of(ltt__site)) \
			ltt__sdt_of(ltt__site)(__VA_ARGS__); \
	} while (0)

/*
 * Markers: the values are in variables of their own types, as they must be evaluated once, and in
 * words for the assembler, which takes those of any type. Integers are at least an int, as those of
 * printf(), which bit-fields become too. Elements are numbered from the last one, which is 1.
 */
#ifndef __cplusplus
#define LTT__SDT_AUTO __extension__ __auto_type
#define LTT__SDT_PROMOTED(value) __typeof__(1 ? (value) : 0)
#define LTT__SDT_BYTES(value) sizeof(LTT__SDT_PROMOTED(value))
#define LTT__SDT_SIGN(value) \
	__extension__ _Generic(1 ? (value) : 0, int: 1, long: 1, long long: 1, default: 0)
#define LTT__SDT_BITS(value) \
	ltt__sdt_word(&(const LTT__SDT_PROMOTED(value)){ value }, LTT__SDT_BYTES(value))
#else
#define LTT__SDT_AUTO auto
#define LTT__SDT_BYTES(value) ltt__sdt_type<decltype(value)>::ltt__bytes
#define LTT__SDT_SIGN(value) ltt__sdt_type<decltype(value)>::ltt__is_signed
#define LTT__SDT_BITS(value) ltt__sdt_type<decltype(value)>::ltt__bits(value)
extern "C++" {
template <class T, bool ltt__is_integer = std::is_integral<T>::value> struct ltt__sdt_type {
	enum { ltt__bytes = sizeof(T), ltt__is_signed = 0 };
	LTT__OURS static uint64_t ltt__bits(const T &value);
};
template <class T> struct ltt__sdt_type<T, true> {
	enum {
		ltt__bytes = sizeof(T) < sizeof(int) ? sizeof(int) : sizeof(T),
		ltt__is_signed = sizeof(T) < sizeof(int) || std::is_signed<T>::value
	};
	LTT__OURS static uint64_t ltt__bits(T value) { return (uint64_t)value; }
};
}
#endif

LTT__OURS static inline uint64_t ltt__sdt_word(const void *value, size_t bytes)
{
	uint64_t word = 0;

	__builtin_memcpy(&word, value, bytes < sizeof(word) ? bytes : sizeof(word));
	return word;
}

#ifdef __cplusplus
extern "C++" {
template <class T, bool ltt__is_integer>
uint64_t ltt__sdt_type<T, ltt__is_integer>::ltt__bits(const T &value)
{
	return ltt__sdt_word(&value, sizeof(value));
}
}
#endif

#define LTT__SDT_VALUE(n, id, value) LTT__SDT_AUTO ltt__a##n = ((void)0, (value));
#define LTT__SDT_WORD(n, id, value) const uint64_t ltt__w##n = LTT__SDT_BITS(ltt__a##n);
#define LTT__SDT_PASS(n, id, value) , ltt__a##n
#define LTT__SDT_TEXT(n, id, value) \
	".if %c[ltt__s" #n "]\n" \
	".if .Lltt_sdt_parts == 3\n" \
	".ascii \" \"\n" \
	".endif\n" \
	".ascii \"%c[ltt__s" #n "]@%[ltt__w" #n "]\"\n" \
	".set .Lltt_sdt_parts, 3\n" \
	".endif\n"
#define LTT__SDT_OPERAND(n, id, value) , \
	[ltt__w##n] "nor"(ltt__w##n), \
	[ltt__s##n] "i"(LTT__SDT_BYTES(ltt__a##n) > 8 ? 0 : \
			LTT__SDT_SIGN(ltt__a##n) ? -(int)LTT__SDT_BYTES(ltt__a##n) : \
						   (int)LTT__SDT_BYTES(ltt__a##n))

/* The text of a name, its first '_' replaced by the end of a text. Without one it is both. */
#define LTT__SDT_NAMES(name) \
	".set .Lltt_sdt_parts, 1\n" \
	".irpc ltt_c, " name "\n" \
	".ifc \\ltt_c,_\n" \
	".if .Lltt_sdt_parts == 1\n" \
	".byte 0\n" \
	".else\n" \
	".ascii \"_\"\n" \
	".endif\n" \
	".set .Lltt_sdt_parts, 2\n" \
	".else\n" \
	".ascii \"\\ltt_c\"\n" \
	".endif\n" \
	".endr\n" \
	".byte 0\n" \
	".if .Lltt_sdt_parts == 1\n" \
	".asciz \"" name "\"\n" \
	".endif\n"

/* LTT__SDT_MARK(SITE, NAME, FORMAT, VALUES...): hits the note, and records. */
#define LTT__SDT_MARK(site, name, ...) \
	LTT__CAT(LTT__SDT_MARK_, LTT__SDT_MARK_FORM(__VA_ARGS__))(site, name, __VA_ARGS__)
#define LTT__SDT_MARK_FORM(...) \
	LTT__COUNT_(__VA_ARGS__, \
		2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, \
		2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, \
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0)
#define LTT__SDT_MARK_0(site, name, format) \
	LTT__SDT_MARK_SITE(site, name, format, LTT__SDT_NO_EACH, (), ())
#define LTT__SDT_MARK_1(site, name, format, ...) \
	LTT__SDT_MARK_SITE(site, name, format, LTT__CAT(LTT__EACH_, LTT__COUNT(__VA_ARGS__)), \
		       (__VA_ARGS__), ())
#define LTT__SDT_MARK_2(site, name, format, a, b, c, d, e, f, g, h, i, j, k, l, ...) \
	LTT__SDT_MARK_SITE(site, name, format, LTT__EACH_12, (a, b, c, d, e, f, g, h, i, j, k, l), \
		       (, __VA_ARGS__))
#define LTT__SDT_NO_EACH(m, id, x)
#define LTT__SDT_ALL(each, m, values) LTT__SDT_ALL_(each, m, LTT__OPEN values)
#define LTT__SDT_ALL_(each, m, ...) each(m, ~, __VA_ARGS__)
#define LTT__SDT_MARK_SITE(site, name, format, each, values, rest) \
	do { \
		LTT__SDT_ALL(each, LTT__SDT_VALUE, values) \
		LTT__SDT_ALL(each, LTT__SDT_WORD, values) \
		LTT__SDT_ASM( \
			"9: nop\n" \
			LTT__SDT_NOTE("\"?\",\"note\"", \
				      LTT__SDT_NAMES(name) \
				      LTT__SDT_ALL(each, LTT__SDT_TEXT, values) \
				      ".byte 0\n") \
			: \
			: [ltt__site] LTT__SDT_SYMBOL(site) \
			  LTT__SDT_ALL(each, LTT__SDT_OPERAND, values)); \
		ltt_emit_format(site, format LTT__SDT_ALL(each, LTT__SDT_PASS, values) \
				LTT__OPEN rest); \
	} while (0)

#else /* no notes */

#define LTT__SDT_CLASS(id, members, layout)
#define LTT__SDT_EVENT(cls, id)
#define LTT__SDT_FUNCTION(id) 0
#define LTT__SDT_POINT(id, provider, name) ((void)0)
#define LTT__SDT_HIT(...) ((void)0)
#define LTT__SDT_MARK(site, name, ...) ltt_emit_format(site, __VA_ARGS__)

#endif

#endif
