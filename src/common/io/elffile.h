/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elffile.h - reads an ELF file of this machine's word size and byte order: its segments, its
 * sections and their contents. The file is untrusted: each offset and size is checked. It is read,
 * not mapped, as it may become shorter meanwhile. Owned by the caller; any thread.
 */
#ifndef IO_ELFFILE_H
#define IO_ELFFILE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/** struct elffile - nothing in it is allocated. @fd: the caller's, open as long as this is used.
 *  @narrow: of 32 bits where a word has 64: foreign, but its headers are read in the wide form. */
struct elffile {
	int fd;
	uint64_t size; /* of the file, in bytes */
	bool narrow;
	ElfW(Ehdr) head;
};

#define ELFFILE_FOREIGN 1 /* a result: an ELF file of another word size or byte order */

/** Return: 0; ELFFILE_FOREIGN; -ENOEXEC: not an ELF file; another negative errno. */
int elffile_open(int fd, struct elffile *ret) MUST_CHECK;
/** The segment with the number @nr, from 0. Return: false: there is none. */
bool elffile_segment(const struct elffile *file, unsigned int nr, ElfW(Phdr) * ret);
/** The section with the number @nr, from 0. Return: false: there is none. */
bool elffile_section(const struct elffile *file, unsigned int nr, ElfW(Shdr) * ret);
/** Whether the section has this name, of at most 63 bytes. */
bool elffile_is_named(const struct elffile *file, const ElfW(Shdr) * section, const char *name);
/**
 * elffile_contents() - the bytes of a section.
 * @ret: allocated; a NUL byte follows them.
 *
 * Return: 0; -ENOMEM; -EINVAL: the file does not have them, or they are more than 1 GiB.
 */
int elffile_contents(const struct elffile *file, const ElfW(Shdr) * section, char **ret,
		     size_t *ret_size) MUST_CHECK;

#endif
