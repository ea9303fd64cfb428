/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ksyms.h - the functions of the running kernel and its modules, for the traces that record it:
 * read from /proc/kallsyms when the first one is opened, and again when a module comes, a part in
 * each turn of the loop. Owned by the kernel domain.
 */
#ifndef DOMAIN_KERNEL_KSYMS_H
#define DOMAIN_KERNEL_KSYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "io/loop.h"

/**
 * struct ksyms
 * @from: /proc/kallsyms, opened with the rights to see addresses; borrowed; -1: none.
 * @file: the content of a trace's file (trace/kallsyms.h), in memory; -1: not read yet.
 * @ready: it was read. @came: a module has come.
 * @text, @len, @size: the part that was read so far.
 */
struct ksyms {
	int from, file;
	void (*ready)(struct ksyms *ksyms);
	void (*came)(struct ksyms *ksyms);
	struct loop_timer turn;
	struct loop_fd modules; /* reports that one has come */
	char *text;
	size_t len, size;
	bool reading, again;
};

/** @ready: called each time that they were read. @came: when modules have come. */
void ksyms_init(struct ksyms *ksyms, struct loop *loop, void (*ready)(struct ksyms *ksyms),
		void (*came)(struct ksyms *ksyms));
void ksyms_fini(struct ksyms *ksyms);
/** Read them, unless that was requested before. @from: as above; outlives @ksyms. */
void ksyms_want(struct ksyms *ksyms, int from);
/** Learn of modules that come, from now on. @modules: of ksyms_watch(), or -1; outlives @ksyms. */
void ksyms_follow(struct ksyms *ksyms, int modules);

/** A descriptor that is readable when modules come or go. Return: or negative errno. */
int ksyms_watch(void) MUST_CHECK;

/** Load the library that packs them: before confine(). Return: 0, or the code in @err. */
int ksyms_prepare(struct err *err) MUST_CHECK;

/** ksyms_pack() - the content of a trace's file, from the text of /proc/kallsyms, which is changed.
 *  Return: a descriptor of memory, or negative errno. */
int ksyms_pack(char *text, size_t len) MUST_CHECK;

#endif
