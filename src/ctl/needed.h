/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * needed.h - the libraries that a program needs, as glibc's dynamic linker finds them. The linker
 * lists them, and does not run the program.
 */
#ifndef CTL_NEEDED_H
#define CTL_NEEDED_H

#include <stdbool.h>

/** struct needed - names of libraries, allocated. */
struct needed {
	char *missing;	    /* the first that is not found, which ends the program; NULL: all are */
	char *instrumented; /* the first that has instrumentation points; NULL: none has */
	bool lttng;	    /* one of them needs or loads LTTng-UST's library */
};

/** @path: of a program for which elf_has_glibc(). Return: to be freed with needed_fini(). */
struct needed needed_find(const char *path);
void needed_fini(struct needed *needed);
/** The library of LTTng-UST that the program gets although LD_LIBRARY_PATH names @folder: its RPATH
 *  comes first. Allocated; NULL: it gets that of @folder, or needs none at its start. */
char *needed_lttng_elsewhere(const char *path, const char *folder);
/** Whether the file contains the name of LTTng-UST's library. */
bool needed_mentions_lttng(const char *path);

#endif
