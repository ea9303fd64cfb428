/* SPDX-License-Identifier: GPL-2.0-only */
/* check.h - the assertions of unit tests: report the failed condition, and end. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                                            \
	do {                                                                                   \
		if (!(cond)) {                                                                 \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);             \
			exit(1);                                                               \
		}                                                                              \
	} while (0)

/** This machine can't run the test: give the reason. */
#define SKIP(...)                                                                              \
	do {                                                                                   \
		printf("skipped: " __VA_ARGS__);                                               \
		putchar('\n');                                                                 \
		exit(77);                                                                      \
	} while (0)

#endif
