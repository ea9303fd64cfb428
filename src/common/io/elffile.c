/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elffile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADERS 4096u /* more is not a program */
#define MAX_CONTENTS (1u << 30)
#define NAME_BYTES 64

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_HERE ELFDATA2LSB
#else
#define BYTE_ORDER_HERE ELFDATA2MSB
#endif

static bool elffile_read(const struct elffile *file, uint64_t offset, void *buf, size_t len)
{
	char *to = buf;

	if (offset > file->size || len > file->size - offset)
		return false;
	while (len) {
		ssize_t n = pread(file->fd, to, len, (off_t)offset);

		if (n <= 0)
			return false;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

static void elffile_widen_head(struct elffile *file)
{
	Elf32_Ehdr head;

	memcpy(&head, &file->head, sizeof(head));
	file->head.e_phoff = head.e_phoff;
	file->head.e_shoff = head.e_shoff;
	file->head.e_phentsize = head.e_phentsize;
	file->head.e_phnum = head.e_phnum;
	file->head.e_shentsize = head.e_shentsize;
	file->head.e_shnum = head.e_shnum;
	file->head.e_shstrndx = head.e_shstrndx;
	file->narrow = true;
}

static bool elffile_narrow_segment(const struct elffile *file, unsigned int nr, ElfW(Phdr) * ret)
{
	Elf32_Phdr segment;

	if (file->head.e_phentsize != sizeof(segment) ||
	    !elffile_read(file, file->head.e_phoff + (uint64_t)nr * sizeof(segment), &segment,
			  sizeof(segment)))
		return false;
	*ret = (ElfW(Phdr)){
		.p_type = segment.p_type,
		.p_flags = segment.p_flags,
		.p_offset = segment.p_offset,
		.p_vaddr = segment.p_vaddr,
		.p_paddr = segment.p_paddr,
		.p_filesz = segment.p_filesz,
		.p_memsz = segment.p_memsz,
		.p_align = segment.p_align,
	};
	return true;
}

static bool elffile_narrow_section(const struct elffile *file, unsigned int nr, ElfW(Shdr) * ret)
{
	Elf32_Shdr section;

	if (file->head.e_shentsize != sizeof(section) ||
	    !elffile_read(file, file->head.e_shoff + (uint64_t)nr * sizeof(section), &section,
			  sizeof(section)))
		return false;
	*ret = (ElfW(Shdr)){
		.sh_name = section.sh_name,
		.sh_type = section.sh_type,
		.sh_flags = section.sh_flags,
		.sh_addr = section.sh_addr,
		.sh_offset = section.sh_offset,
		.sh_size = section.sh_size,
		.sh_link = section.sh_link,
		.sh_info = section.sh_info,
		.sh_addralign = section.sh_addralign,
		.sh_entsize = section.sh_entsize,
	};
	return true;
}
int elffile_open(int fd, struct elffile *ret)
{
	const unsigned char *ident = ret->head.e_ident;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	*ret = (struct elffile){ .fd = fd, .size = (uint64_t)st.st_size };
	if (!elffile_read(ret, 0, &ret->head, sizeof(ret->head)) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if (ident[EI_DATA] != BYTE_ORDER_HERE)
		return ELFFILE_FOREIGN;
	if (ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
		return 0;
	if (ident[EI_CLASS] == ELFCLASS32)
		elffile_widen_head(ret);
	return ELFFILE_FOREIGN;
}

bool elffile_segment(const struct elffile *file, unsigned int nr, ElfW(Phdr) * ret)
{
	if (file->narrow)
		return nr < file->head.e_phnum && nr < MAX_HEADERS &&
		       elffile_narrow_segment(file, nr, ret);
	return nr < file->head.e_phnum && nr < MAX_HEADERS &&
	       file->head.e_phentsize == sizeof(*ret) && file->head.e_phoff <= file->size &&
	       elffile_read(file, file->head.e_phoff + (uint64_t)nr * sizeof(*ret), ret,
			    sizeof(*ret));
}

bool elffile_section(const struct elffile *file, unsigned int nr, ElfW(Shdr) * ret)
{
	if (file->narrow)
		return nr < file->head.e_shnum && nr < MAX_HEADERS &&
		       elffile_narrow_section(file, nr, ret);
	return nr < file->head.e_shnum && nr < MAX_HEADERS &&
	       file->head.e_shentsize == sizeof(*ret) && file->head.e_shoff <= file->size &&
	       elffile_read(file, file->head.e_shoff + (uint64_t)nr * sizeof(*ret), ret,
			    sizeof(*ret));
}

bool elffile_is_named(const struct elffile *file, const ElfW(Shdr) * section, const char *name)
{
	size_t len = strlen(name) + 1;
	char found[NAME_BYTES];
	ElfW(Shdr) names;

	return len <= sizeof(found) && elffile_section(file, file->head.e_shstrndx, &names) &&
	       names.sh_offset <= file->size &&
	       elffile_read(file, (uint64_t)names.sh_offset + section->sh_name, found, len) &&
	       memcmp(found, name, len) == 0;
}

int elffile_contents(const struct elffile *file, const ElfW(Shdr) * section, char **ret,
		     size_t *ret_size)
{
	char *bytes;

	if (section->sh_type == SHT_NOBITS || section->sh_size > MAX_CONTENTS ||
	    section->sh_offset > file->size || section->sh_size > file->size - section->sh_offset)
		return -EINVAL;
	bytes = malloc((size_t)section->sh_size + 1);
	if (!bytes)
		return -ENOMEM;
	if (!elffile_read(file, section->sh_offset, bytes, (size_t)section->sh_size)) {
		free(bytes);
		return -EINVAL;
	}
	bytes[section->sh_size] = '\0';
	*ret = bytes;
	*ret_size = (size_t)section->sh_size;
	return 0;
}
