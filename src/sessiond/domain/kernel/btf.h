/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * btf.h - the kernel's description of its types (BTF, Documentation/bpf/btf.rst): parameters
 * of functions, members of structures. Owned by the caller, and to be freed soon, as it has
 * some megabytes. The bytes are untrusted: no offset in them is used without a check.
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
	BTF_OTHER = 0, /* a type that no register holds */
	BTF_INTEGER,   /* enumerations and bool, too */
	BTF_POINTER,
	BTF_STRUCT, /* or a union */
	BTF_ARRAY,
};

/** struct btf_type_info - a type without its names and qualifiers. @target: of a pointer: the type
 *  that it points to; of a structure: itself. */
struct btf_type_info {
	enum btf_kind kind;
	uint32_t bytes;
	bool is_signed;
	uint32_t target;
};
struct btf_type_info btf_type(const struct btf *btf, uint32_t type);

/** Return: type id of the function, for btf_parameter(); 0: unknown function. */
uint32_t btf_function(const struct btf *btf, const char *name);
/** A function's parameter, from 0. Return: its name; NULL: no further parameter. */
const char *btf_parameter(const struct btf *btf, uint32_t function, uint32_t nr,
			  uint32_t *ret_type);

/** struct btf_place - position of a member. @bit: offset in the structure, bits. @is_bitfield: the
 *  member is a bit-field. */
struct btf_place {
	uint32_t type;
	uint32_t bit;
	bool is_bitfield;
};
/** Find a member, also of unnamed structures within it. Return: false: there is none. */
bool btf_find_member(const struct btf *btf, uint32_t structure, const char *name,
		     struct btf_place *ret);

#endif
