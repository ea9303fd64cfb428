/* SPDX-License-Identifier: GPL-2.0-only */
#include "elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define MAX_HEADERS 4096 /* more is not a program */
#define NAME "ltt_sites"

static bool ctl_elf_read_at(int fd, uint64_t offset, void *buf, size_t len)
{
	return offset <= INT64_MAX && pread(fd, buf, len, (off_t)offset) == (ssize_t)len;
}

static bool has_interpreter(int fd, const ElfW(Ehdr) * head)
{
	ElfW(Phdr) program;

	for (unsigned int i = 0; i < head->e_phnum && i < MAX_HEADERS; i++)
		if (ctl_elf_read_at(fd, head->e_phoff + (uint64_t)i * sizeof(program), &program,
				    sizeof(program)) &&
		    program.p_type == PT_INTERP)
			return true;
	return false;
}

/* Is there a section of this name? A stripped program still has its sections. */
static bool has_section(int fd, const ElfW(Ehdr) * head)
{
	ElfW(Shdr) names, section;
	char name[sizeof(NAME)];

	if (!ctl_elf_read_at(fd, head->e_shoff + (uint64_t)head->e_shstrndx * sizeof(names), &names,
			     sizeof(names)))
		return false;
	for (unsigned int i = 0; i < head->e_shnum && i < MAX_HEADERS; i++)
		if (ctl_elf_read_at(fd, head->e_shoff + (uint64_t)i * sizeof(section), &section,
				    sizeof(section)) &&
		    ctl_elf_read_at(fd, names.sh_offset + section.sh_name, name, sizeof(name)) &&
		    memcmp(name, NAME, sizeof(NAME)) == 0)
			return true;
	return false;
}

int elf_read(const char *path, struct elf_facts *ret)
{
	int fd AUTO_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ElfW(Ehdr) head;

	if (fd < 0)
		return -errno;
	if (!ctl_elf_read_at(fd, 0, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head.e_phentsize != sizeof(ElfW(Phdr)))
		return -ENOEXEC;
	ret->dynamic = has_interpreter(fd, &head);
	ret->instrumented = head.e_shentsize == sizeof(ElfW(Shdr)) && has_section(fd, &head);
	return 0;
}
