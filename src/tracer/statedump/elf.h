/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf.h - reads the identification of a loaded object. Its memory is read while
 * the loader's lock keeps the object mapped; its file is read later, without the lock.
 */
#ifndef TRACER_STATEDUMP_ELF_H
#define TRACER_STATEDUMP_ELF_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64

/**
 * struct elf_object
 * @base: lowest address of the object.
 * @size: from there to its end, bytes.
 * @pic: position independent.
 * @link_name: separate file with debugging information; empty: none.
 * @link_crc: checksum of that file.
 */
struct elf_object {
	uintptr_t base;
	uint64_t size;
	bool pic;
	size_t build_id_len;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	uint32_t link_crc;
	char link_name[NAME_MAX + 1];
	char path[PATH_MAX];
};

/** Read base, size, pic and build id from memory, within dl_iterate_phdr(). Return: false: there is
 *  no loaded segment. */
bool elf_read_memory(struct elf_object *object, const struct dl_phdr_info *info);

/** Read the debug link from the file @object->path, if there is one. */
void elf_read_file(struct elf_object *object);

#endif
