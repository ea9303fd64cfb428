/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf_place.h - finds functions and USDT probes in a program's file, by its symbols and notes.
 * The file is untrusted. Runs with the caller's rights.
 */
#ifndef PLACE_ELF_PLACE_H
#define PLACE_ELF_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sdt.h"

#define ELF_MAX_PLACES 256u /* as many as a probe may have */

/** struct elf_place - @offset, @semaphore (or 0): in the file. @args: of a USDT probe. */
struct elf_place {
	uint64_t offset, semaphore;
	struct sdt_arg args[SDT_MAX_ARGS];
	unsigned int nr_args;
};

/** Owned by the caller; elf_places_fini() it also after a failure. */
struct elf_places {
	struct elf_place *all;
	size_t nr;
};

void elf_places_fini(struct elf_places *places);

/** All functions of that name. @path: for messages. Return: 0 or the code set in @err. */
int elf_find_function(int fd, const char *path, const char *symbol, struct elf_places *ret,
		      struct err *err) MUST_CHECK;
/** All places of a USDT probe. Return: as above. */
int elf_find_usdt(int fd, const char *path, const char *provider, const char *name,
		  struct elf_places *ret, struct err *err) MUST_CHECK;

#endif
