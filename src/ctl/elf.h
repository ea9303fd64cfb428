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
 * @bits: 32 or 64.
 * @foreign: of another byte order than this program, or of another word size for which there is no
 *           libltt; of another byte order the rest is not known.
 * @dynamic: has a dynamic linker, so that libraries can be preloaded.
 * @instrumented: has instrumentation points of its own (section ltt_sites).
 * @linker: path of the dynamic linker.
 */
struct elf_facts {
	unsigned int bits;
	bool foreign;
	bool dynamic;
	bool instrumented;
	char linker[128];
};

/** Return: 0; -ENOEXEC: not an ELF file; another negative errno. */
int elf_read(const char *path, struct elf_facts *ret) MUST_CHECK;
/** Whether the dynamic linker is glibc's; the linkers of other C libraries can't load libltt. */
bool elf_has_glibc(const struct elf_facts *facts);
/** Why no library of libltt can be loaded into the program, as the end of a sentence about the
 *  program; allocated. @ret_remedy: the beginning of another. NULL: it can. */
char *elf_obstacle(const struct elf_facts *facts, const char **ret_remedy);

#endif
