/* SPDX-License-Identifier: GPL-2.0-only */
#include "elf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/elffile.h"
#include "own.h"

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

char *elf_obstacle(const struct elf_facts *facts, const char **ret_remedy)
{
	unsigned int own = 8 * sizeof(void *);

	*ret_remedy = facts->foreign ? "Build it for this machine" :
		      facts->dynamic ? "Build it with glibc" :
				       "Link it with libltt";
	if (facts->foreign && facts->bits != own) {
		*ret_remedy = "Install libltt for 32 bits (configure --enable-32bit)";
		return xasprintf("is a %u-bit program, and libltt is a %u-bit library here",
				 facts->bits, own);
	}
	if (facts->foreign)
		return xstrdup("is a program of another machine");
	if (!facts->dynamic)
		return xstrdup("is linked statically (Go's are, too)");
	if (!elf_has_glibc(facts))
		return xasprintf("has another C library than glibc, which libltt needs (%s)",
				 facts->linker);
	return NULL;
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

static bool elf_has_libltt(const struct elffile *file)
{
	char *dir AUTO_FREE = file->narrow && file->head.e_machine == EM_386 ?
				      own_library_dir_for(32, "libltt.so.1") :
				      NULL;

	return dir;
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
	if (code != ELFFILE_FOREIGN && file.head.e_phentsize != sizeof(ElfW(Phdr)))
		return -ENOEXEC;
	ret->bits = file.head.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
	ret->foreign = code == ELFFILE_FOREIGN && !elf_has_libltt(&file);
	ret->dynamic = ret->foreign;
	if (ret->foreign && !file.narrow)
		return 0;
	ret->dynamic = elf_read_linker(&file, ret->linker, sizeof(ret->linker)) || ret->foreign;
	ret->instrumented = has_sites(&file);
	return 0;
}
