/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * btf.h - the kernel's description of its types (BTF, Documentation/bpf/btf.rst): parameters
 * of functions, members of structures. Owned by its opener, for a short time, as it has some
 * megabytes. The bytes are untrusted: nothing outside of them is read.
 */
#ifndef DOMAIN_KERNEL_BTF_H
#define DOMAIN_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define BTF_VMLINUX "/sys/kernel/btf/vmlinux"

struct btf;

/** Return: 0; negative errno: there is none, or it is invalid. */
int btf_open(const char *path, struct btf **ret) MUST_CHECK;
struct btf *btf_free(struct btf *btf);
static inline void cleanup_btf(struct btf **btf)
{
	btf_free(*btf);
}
#define AUTO_BTF CLEANUP(cleanup_btf)

enum btf_kind {
	BTF_OTHER = 0, /* nothing that a register holds */
	BTF_INTEGER,   /* enumerations and bool, too */
	BTF_POINTER,
	BTF_STRUCT, /* or a union */
	BTF_ARRAY,
};

/** struct btf_type_info - a type without its names and qualifiers. @target: of a pointer: to
 *  what; of a structure: itself. */
struct btf_type_info {
	enum btf_kind kind;
	uint32_t bytes;
	bool is_signed;
	uint32_t target;
};
struct btf_type_info btf_type(const struct btf *btf, uint32_t type);

/** Return: a number for the next two; 0: unknown function. */
uint32_t btf_function(const struct btf *btf, const char *name);
/** A function's parameter, from 0. Return: its name; NULL: no further parameter. */
const char *btf_parameter(const struct btf *btf, uint32_t function, uint32_t nr,
			  uint32_t *ret_type);

/** struct btf_place - of a member. @bit: from the structure's beginning. @is_field: of bits. */
struct btf_place {
	uint32_t type;
	uint32_t bit;
	bool is_field;
};
/** Also of structures without a name within it. Return: false: it has no such member. */
bool btf_find_member(const struct btf *btf, uint32_t structure, const char *name,
		     struct btf_place *ret);

#endif
