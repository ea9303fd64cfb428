/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elf.h - finds out from a program's file whether it can be traced. The file is untrusted: every
 * number in it is checked. Pure but for reading.
 */
#ifndef CTL_ELF_H
#define CTL_ELF_H

#include <stdbool.h>

#include "base/macros.h"

/**
 * struct elf_facts - of one file.
 * @dynamic: has a dynamic linker, so that libraries can be preloaded.
 * @instrumented: has instrumentation points of its own (section ltt_sites).
 */
struct elf_facts {
	bool dynamic;
	bool instrumented;
};

/** Return: 0, -ENOEXEC where it is no ELF file of this machine's width, another negative errno. */
int elf_read(const char *path, struct elf_facts *ret) MUST_CHECK;

#endif
