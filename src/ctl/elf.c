/* SPDX-License-Identifier: GPL-2.0-only */
#include "elf.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/elffile.h"

static bool has_interpreter(const struct elffile *file)
{
	ElfW(Phdr) segment;

	for (unsigned int i = 0; elffile_segment(file, i, &segment); i++)
		if (segment.p_type == PT_INTERP)
			return true;
	return false;
}

/* A stripped program still has its sections. */
static bool has_sites(const struct elffile *file)
{
	ElfW(Shdr) section;

	for (unsigned int i = 0; elffile_section(file, i, &section); i++)
		if (elffile_is_named(file, &section, "ltt_sites"))
			return true;
	return false;
}

int elf_read(const char *path, struct elf_facts *ret)
{
	int fd AUTO_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elffile file;
	int code;

	if (fd < 0)
		return -errno;
	code = elffile_open(fd, &file);
	if (code < 0)
		return code;
	if (code == ELFFILE_FOREIGN || file.head.e_phentsize != sizeof(ElfW(Phdr)))
		return -ENOEXEC;
	ret->dynamic = has_interpreter(&file);
	ret->instrumented = has_sites(&file);
	return 0;
}
