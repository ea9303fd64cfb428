// SPDX-License-Identifier: GPL-2.0-only
/*
 * btf FILE STRUCT... - print definitions of structures of a kernel from its type information (the
 * raw contents of /sys/kernel/btf/vmlinux), which the kernel's headers only declare.
 *
 * Each member is at its offset, in a structure of its own in a union. Numbers, enumerations and
 * pointers keep their types, others are bytes: the types that their names need may be private, too.
 * A structure that the file does not define is left out.
 */
#include <linux/btf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BTF_KIND_ENUM64
#define BTF_KIND_ENUM64 19
#endif
#define KIND_TYPE_TAG 18 /* of Linux 5.17 */
#define KIND_DECL_TAG 17
#define MAX_DEPTH 32

static const struct btf_type **types; /* by id; 0 is void */
static uint32_t nr_types;
static const char *strings;
static uint32_t strings_bytes;
static unsigned int nr_pads;

static const char *text_of(uint32_t at)
{
	return at < strings_bytes ? strings + at : "";
}

static uint32_t kind_of(const struct btf_type *type)
{
	return type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN;
}

static const struct btf_type *type_of(uint32_t id)
{
	return id < nr_types ? types[id] : NULL;
}

/* Bytes behind the type that belong to it. */
static size_t rest_of(const struct btf_type *type)
{
	const size_t nr = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return nr * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return nr * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return nr * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return nr * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return nr * 3 * sizeof(uint32_t);
	default:
		return 0;
	}
}

static const struct btf_type *without_names(const struct btf_type *type)
{
	for (int i = 0; i < MAX_DEPTH; i++) {
		switch (kind_of(type)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case KIND_TYPE_TAG:
			type = type_of(type->type);
			continue;
		default:
			return type;
		}
	}
	return NULL;
}

static uint64_t size_of(const struct btf_type *type, int depth)
{
	const struct btf_array *array;

	type = without_names(type);
	switch (depth < MAX_DEPTH ? kind_of(type) : BTF_KIND_UNKN) {
	case BTF_KIND_INT:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return type->size;
	case BTF_KIND_PTR:
		return sizeof(void *);
	case BTF_KIND_ARRAY:
		array = (const void *)(type + 1);
		return array->nelems * size_of(type_of(array->type), depth + 1);
	default:
		return 0;
	}
}

static const char *number_of_size(uint32_t size)
{
	return size == 1 ? "unsigned char" : size == 2 ? "unsigned short" :
	       size == 4 ? "unsigned int" : "unsigned long";
}

/* Atomic numbers are read by functions that check their types. */
static int put_atomic(const struct btf_type *type)
{
	const char *name = kind_of(type) == BTF_KIND_TYPEDEF ? text_of(type->name_off) : "";

	if (strcmp(name, "atomic_t") && strcmp(name, "atomic64_t") && strcmp(name, "atomic_long_t"))
		return 0;
	printf("%s", name);
	return 1;
}

/* The flag of a declaration is set for a union. */
static int is_structure(const struct btf_type *type)
{
	return kind_of(type) == BTF_KIND_STRUCT ||
	       (kind_of(type) == BTF_KIND_FWD && !BTF_INFO_KFLAG(type->info));
}

/* Print the name of a type. Return: whether it has one that is known everywhere. */
static int put_type(const struct btf_type *type)
{
	const struct btf_type *plain = without_names(type), *to;

	switch (kind_of(plain)) {
	case BTF_KIND_INT:
		printf("%s", text_of(plain->name_off));
		return 1;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		printf("%s", number_of_size(plain->size));
		return 1;
	case BTF_KIND_PTR:
		to = without_names(type_of(plain->type));
		if (kind_of(to) == BTF_KIND_INT)
			printf("%s *", text_of(to->name_off));
		else if (is_structure(to) && *text_of(to->name_off))
			printf("struct %s *", text_of(to->name_off));
		else
			printf("void *");
		return 1;
	default:
		return put_atomic(type);
	}
}

/* Arrays of one dimension. */
static void put_member(const struct btf_type *type, const char *name, uint32_t bits)
{
	const struct btf_type *plain = without_names(type);
	const struct btf_array *array = NULL;

	if (kind_of(plain) == BTF_KIND_ARRAY) {
		array = (const void *)(plain + 1);
		if (put_type(type_of(array->type))) {
			printf(" %s[%u]", name, array->nelems);
			return;
		}
	} else if (put_type(type)) {
		printf(" %s", name);
		if (bits)
			printf(" : %u", bits);
		return;
	}
	printf("char %s[%llu]", name, (unsigned long long)size_of(type, 0));
}

/* The members of an unnamed structure or union are those of the one that has it. */
static void put_members(const struct btf_type *type, uint64_t at_bits, int depth)
{
	const struct btf_member *members = (const void *)(type + 1);
	const int has_bits = BTF_INFO_KFLAG(type->info);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		const struct btf_type *of = type_of(members[i].type), *plain = without_names(of);
		uint32_t offset = members[i].offset;
		uint32_t bits = has_bits ? BTF_MEMBER_BITFIELD_SIZE(offset) : 0;
		uint64_t at = at_bits + (has_bits ? BTF_MEMBER_BIT_OFFSET(offset) : offset);
		const char *name = text_of(members[i].name_off);

		if (!*name) {
			if (depth < MAX_DEPTH && (kind_of(plain) == BTF_KIND_STRUCT ||
						  kind_of(plain) == BTF_KIND_UNION))
				put_members(plain, at, depth + 1);
			continue;
		}
		printf("\t\tstruct { ");
		if (at / 8)
			printf("char ltt_pad_%u[%llu]; ", nr_pads++, (unsigned long long)at / 8);
		if (at % 8)
			printf("unsigned char : %u; ", (unsigned int)(at % 8));
		put_member(of, name, bits);
		printf("; } __packed;\n");
	}
}

static void put_structure(const char *name)
{
	for (uint32_t id = 1; id < nr_types; id++) {
		const struct btf_type *type = types[id];

		if (kind_of(type) != BTF_KIND_STRUCT || strcmp(text_of(type->name_off), name))
			continue;
		nr_pads = 0;
		printf("struct %s {\n\tunion {\n", name);
		printf("\t\tchar ltt_size[%u];\n", type->size);
		put_members(type, 0, 0);
		printf("\t};\n};\n");
		printf("_Static_assert(sizeof(struct %s) == %u, \"%s\");\n", name, type->size,
		       name);
		return;
	}
}

/* Return: whether the types could be read. */
static int btf_read(const char *bytes, size_t size)
{
	const struct btf_header *header = (const void *)bytes;
	const char *at, *end;

	if (size < sizeof(*header) || header->magic != BTF_MAGIC ||
	    (uint64_t)header->hdr_len + header->type_off + header->type_len > size ||
	    (uint64_t)header->hdr_len + header->str_off + header->str_len > size ||
	    !header->str_len)
		return 0;
	strings = bytes + header->hdr_len + header->str_off;
	strings_bytes = header->str_len;
	at = bytes + header->hdr_len + header->type_off;
	end = at + header->type_len;
	types = calloc(header->type_len / sizeof(struct btf_type) + 2, sizeof(*types));
	if (!types || strings[strings_bytes - 1])
		return 0;
	nr_types = 1;
	while (end - at >= (ptrdiff_t)sizeof(struct btf_type)) {
		const struct btf_type *type = (const void *)at;
		size_t all = sizeof(*type) + rest_of(type);

		if ((size_t)(end - at) < all)
			return 0;
		types[nr_types++] = type;
		at += all;
	}
	return 1;
}

int main(int argc, char **argv)
{
	const size_t most = 256u << 20;
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	char *bytes = file ? malloc(most) : NULL;

	if (!bytes || !btf_read(bytes, fread(bytes, 1, most, file))) {
		fprintf(stderr, "btf: %s has no types\n", argc > 1 ? argv[1] : "");
		return 1;
	}
	for (int i = 2; i < argc; i++)
		put_structure(argv[i]);
	return 0;
}
