/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/base/sys.h"

#define MAX_NAMES    (1u << 20)

/* --- in memory ------------------------------------------------------------------- */

static bool statedump_elf_measure(struct elf_object *object, const struct dl_phdr_info *info)
{
	uintptr_t low = UINTPTR_MAX, high = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_vaddr < low)
			low = ph->p_vaddr;
		if (ph->p_vaddr + ph->p_memsz > high)
			high = ph->p_vaddr + ph->p_memsz;
	}
	if (low >= high)
		return false;
	object->base = info->dlpi_addr + low;
	object->size = high - low;
	object->pic = low == 0;
	return true;
}

static size_t statedump_elf_align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Notes: three words, then the name and the contents, each padded to words. */
static void statedump_elf_find_build_id(struct elf_object *object, const uint8_t *at, size_t left)
{
	ElfW(Nhdr) note;

	while (left >= sizeof(note)) {
		size_t name, size;

		memcpy(&note, at, sizeof(note));
		name = statedump_elf_align4(note.n_namesz);
		size = sizeof(note) + name + statedump_elf_align4(note.n_descsz);
		if (note.n_namesz > left || note.n_descsz > left || size > left)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(at + sizeof(note), "GNU", 4) == 0 &&
		    note.n_descsz <= ELF_BUILD_ID_MAX) {
			object->build_id_len = note.n_descsz;
			memcpy(object->build_id, at + sizeof(note) + name, note.n_descsz);
			return;
		}
		at += size;
		left -= size;
	}
}

/* A note segment is only there to be read if a loaded segment holds it. */
static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) *note)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_R && note->p_vaddr >= ph->p_vaddr &&
		    note->p_vaddr + note->p_memsz <= ph->p_vaddr + ph->p_filesz)
			return true;
	}
	return false;
}

bool elf_read_memory(struct elf_object *object, const struct dl_phdr_info *info)
{
	object->build_id_len = 0;
	object->link_name[0] = '\0';
	if (!statedump_elf_measure(object, info))
		return false;
	for (int i = 0; i < info->dlpi_phnum && !object->build_id_len; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_NOTE && is_loaded(info, ph))
			statedump_elf_find_build_id(
				object, (const uint8_t *)(info->dlpi_addr + ph->p_vaddr),
				ph->p_memsz);
	}
	return true;
}

/* --- in the file ------------------------------------------------------------------ */

static bool statedump_elf_read_at(int fd, void *ret, size_t len, uint64_t offset)
{
	return sys_pread(fd, ret, len, (off_t)offset) == (ssize_t)len;
}

static bool statedump_elf_has_name(int fd, const ElfW(Shdr) * names, const ElfW(Shdr) * section,
				   const char *name)
{
	char text[32] = "";
	size_t len = strlen(name) + 1;

	return section->sh_name < names->sh_size && names->sh_size < MAX_NAMES &&
	       statedump_elf_read_at(fd, text, len, names->sh_offset + section->sh_name) &&
	       memcmp(text, name, len) == 0;
}

/* The section holds a name, padded to words, and a checksum. */
static void statedump_elf_read_link(struct elf_object *object, int fd, const ElfW(Shdr) * section)
{
	char bytes[NAME_MAX + 1 + 8] = "";
	size_t size = section->sh_size;
	size_t name;

	if (size > sizeof(bytes) || size < 8 ||
	    !statedump_elf_read_at(fd, bytes, size, section->sh_offset))
		return;
	name = strnlen(bytes, size);
	if (name > NAME_MAX || statedump_elf_align4(name + 1) + 4 > size)
		return;
	memcpy(object->link_name, bytes, name + 1);
	memcpy(&object->link_crc, bytes + statedump_elf_align4(name + 1), 4);
}

static void read_sections(struct elf_object *object, int fd)
{
	ElfW(Ehdr) head;
	ElfW(Shdr) names, section;

	if (!statedump_elf_read_at(fd, &head, sizeof(head), 0) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(section) ||
	    head.e_shstrndx >= head.e_shnum ||
	    !statedump_elf_read_at(fd, &names, sizeof(names),
				   head.e_shoff + (uint64_t)head.e_shstrndx * sizeof(names)))
		return;
	for (unsigned int i = 0; i < head.e_shnum && !object->link_name[0]; i++) {
		if (!statedump_elf_read_at(fd, &section, sizeof(section),
					   head.e_shoff + (uint64_t)i * sizeof(section)))
			return;
		if (section.sh_type == SHT_PROGBITS &&
		    statedump_elf_has_name(fd, &names, &section, ".gnu_debuglink"))
			statedump_elf_read_link(object, fd, &section);
	}
}

void elf_read_file(struct elf_object *object)
{
	int fd = sys_open(object->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return;
	if (sys_fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		read_sections(object, fd);
	sys_close(fd);
}
