/* SPDX-License-Identifier: GPL-2.0-only */
#include "elf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/elffile.h"

/* Return: whether there is one. */
static bool elf_read_linker(const struct elffile *file, char *ret, size_t size)
{
	ElfW(Phdr) segment;

	for (unsigned int i = 0; elffile_segment(file, i, &segment); i++) {
		ssize_t len;

		if (segment.p_type != PT_INTERP)
			continue;
		len = pread(file->fd, ret, MIN(segment.p_filesz, size - 1),
			    (off_t)segment.p_offset);
		ret[MAX(len, 0)] = '\0';
		return true;
	}
	return false;
}

bool elf_has_glibc(const struct elf_facts *facts)
{
	const char *slash = strrchr(facts->linker, '/');
	const char *name = slash ? slash + 1 : facts->linker;

	return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld64.so", 7) == 0 ||
	       strncmp(name, "ld.so", 5) == 0 || strncmp(name, "ld-2.", 5) == 0;
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
	ret->dynamic = elf_read_linker(&file, ret->linker, sizeof(ret->linker));
	ret->instrumented = has_sites(&file);
	return 0;
}
