/* SPDX-License-Identifier: GPL-2.0-only */
/* check.h - the assertions of unit tests: report the failed condition, and end. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/** The divisor of repetitions: 1, or more in a short run (LTT_TEST_SHORT). */
static inline unsigned int check_short(void)
{
	const char *text = getenv("LTT_TEST_SHORT");
	int nr = text ? atoi(text) : 1;

	return nr > 1 ? (unsigned int)nr : 1;
}

/** @nr repetitions, or fewer in a short run, and at least one. */
static inline unsigned int check_repeat(unsigned int nr)
{
	return nr / check_short() ? nr / check_short() : 1;
}

#define CHECK(cond)                                                                \
	do {                                                                       \
		if (!(cond)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

/* clang-format off */
/** CHECK a comparison of two numbers or pointers, and report both values. Each operand is evaluated
 * once; the sum gives bit-fields and arrays a type. */
#define CHECK_IS(a, op, b)                                                                      \
	do {                                                                                    \
		_Pragma("GCC diagnostic push")                                                  \
		_Pragma("GCC diagnostic ignored \"-Wsign-compare\"")                            \
		_Pragma("GCC diagnostic ignored \"-Wshadow\"") /* one in another */             \
		check_auto check_a = (a) + 0;                                                   \
		check_auto check_b = (b) + 0;                                                   \
		if (!(check_a op check_b)) {                                                    \
			fprintf(stderr, "%s:%d: %s:", __FILE__, __LINE__, #a " " #op " " #b);   \
			CHECK_SHOW(check_a);                                                    \
			fputs(" " #op, stderr);                                                 \
			CHECK_SHOW(check_b);                                                    \
			fputs(" is false\n", stderr);                                           \
			exit(1);                                                                \
		}                                                                               \
		_Pragma("GCC diagnostic pop")                                                   \
	} while (0)

#ifdef __cplusplus
#define check_auto auto
#define CHECK_SHOW(value) check_show_int((long long)(value))
#else
#define check_auto __auto_type
#define CHECK_SHOW(value)                                                                       \
	_Generic((value), float: check_show_double, double: check_show_double,                  \
		 int: check_show_int, long: check_show_int, long long: check_show_int,          \
		 unsigned int: check_show_uint, unsigned long: check_show_uint,                 \
		 unsigned long long: check_show_uint, default: check_show_pointer)(value)
#endif
/* clang-format on */

static inline void check_show_int(long long value)
{
	fprintf(stderr, " %lld", value);
}

static inline void check_show_uint(unsigned long long value)
{
	fprintf(stderr, value > 9999999 ? " %llu (0x%llx)" : " %llu", value, value);
}

static inline void check_show_double(double value)
{
	fprintf(stderr, " %.17g", value);
}

static inline void check_show_pointer(const volatile void *value)
{
	fprintf(stderr, " 0x%lx", (unsigned long)value);
}

/** This machine can't run the test: give the reason. */
#define SKIP(...)                                \
	do {                                     \
		printf("skipped: " __VA_ARGS__); \
		putchar('\n');                   \
		exit(77);                        \
	} while (0)

#endif
