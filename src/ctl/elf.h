/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elf.h - determines from a program's file whether the program can be traced. The file is
 * untrusted: all numbers in it are checked. No effects except reading the file.
 */
#ifndef CTL_ELF_H
#define CTL_ELF_H

#include <stdbool.h>

#include "base/macros.h"

/**
 * struct elf_facts - of one file.
 * @dynamic: has a dynamic linker, so that libraries can be preloaded.
 * @instrumented: has instrumentation points of its own (section ltt_sites).
 * @linker: path of the dynamic linker.
 */
struct elf_facts {
	bool dynamic;
	bool instrumented;
	char linker[128];
};

/** Return: 0; -ENOEXEC: not an ELF file of this machine's word size; another negative errno. */
int elf_read(const char *path, struct elf_facts *ret) MUST_CHECK;
/** Whether the dynamic linker is glibc's; the linkers of other C libraries can't load libltt. */
bool elf_has_glibc(const struct elf_facts *facts);

#endif
