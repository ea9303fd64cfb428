/* SPDX-License-Identifier: GPL-2.0-only */
#include "btf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_BYTES (256u << 20)
#define MAX_DEPTH 32u /* of names for a type, of structures within each other */
#define MAX_MEMBERS (1u << 17) /* visited in the search for the wanted one */

struct btf {
	uint8_t *data;
	size_t size;
	const char *strings;
	uint32_t strings_len;
	const struct btf_type **types; /* by number; the first is void, and NULL */
	uint32_t nr_types;
};

/* --- reading ------------------------------------------------------------------------ */

static int btf_read_all(int fd, struct btf *btf)
{
	size_t room = 0;
	ssize_t n;

	do {
		if (btf->size >= MAX_BYTES)
			return -EFBIG;
		if (btf->size == room) {
			room = room ? 2 * room : 1u << 16;
			btf->data = xrealloc(btf->data, room);
		}
		n = read(fd, btf->data + btf->size, room - btf->size);
		btf->size += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	if (n < 0)
		return -errno;
	btf->data = xrealloc(btf->data, btf->size ? btf->size : 1); /* and no more */
	return 0;
}

/* Bytes behind the fixed part of a type. Return: false: an unknown kind. */
static bool tail_bytes(const struct btf_type *type, size_t *ret)
{
	size_t nr = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		*ret = sizeof(uint32_t);
		return true;
	case BTF_KIND_ARRAY:
		*ret = sizeof(struct btf_array);
		return true;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		*ret = nr * 3 * sizeof(uint32_t);
		return true;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		*ret = nr * 2 * sizeof(uint32_t);
		return true;
	default:
		*ret = 0;
		return BTF_INFO_KIND(type->info) <= BTF_KIND_ENUM64;
	}
}

static int index_types(struct btf *btf, const uint8_t *at, size_t len)
{
	size_t room = 0, bytes;

	while (len) {
		const struct btf_type *type = (const void *)at;

		if (len < sizeof(*type) || !tail_bytes(type, &bytes) ||
		    len - sizeof(*type) < bytes)
			return -EBADMSG;
		if (btf->nr_types + 1 >= room) {
			room = room ? 2 * room : 1024;
			btf->types = xrealloc(btf->types, room * sizeof(*btf->types));
			btf->types[0] = NULL;
		}
		btf->types[++btf->nr_types] = type;
		at += sizeof(*type) + bytes;
		len -= sizeof(*type) + bytes;
	}
	return btf->nr_types ? 0 : -EBADMSG;
}

static int index_all(struct btf *btf)
{
	const struct btf_header *head = (const void *)btf->data;
	uint64_t types, strings;

	if (btf->size < sizeof(*head) || head->magic != BTF_MAGIC || head->hdr_len > btf->size)
		return -EBADMSG;
	types = (uint64_t)head->hdr_len + head->type_off;
	strings = (uint64_t)head->hdr_len + head->str_off;
	if (types + head->type_len > btf->size || strings + head->str_len > btf->size ||
	    types % sizeof(uint32_t) || !head->str_len ||
	    btf->data[strings + head->str_len - 1])
		return -EBADMSG;
	btf->strings = (const char *)btf->data + strings;
	btf->strings_len = head->str_len;
	return index_types(btf, btf->data + types, head->type_len);
}

int btf_open(const char *path, struct btf **ret)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct btf *btf;
	int err;

	if (fd < 0)
		return -errno;
	btf = xalloc(sizeof(*btf));
	err = btf_read_all(fd, btf);
	if (err == 0)
		err = index_all(btf);
	if (err == 0)
		*ret = btf;
	else
		btf_free(btf);
	return err;
}

struct btf *btf_free(struct btf *btf)
{
	if (!btf)
		return NULL;
	free(btf->types);
	free(btf->data);
	free(btf);
	return NULL;
}

/* --- types ---------------------------------------------------------------------------- */

static const struct btf_type *btf_get(const struct btf *btf, uint32_t type)
{
	return type && type <= btf->nr_types ? btf->types[type] : NULL;
}

static const char *btf_text(const struct btf *btf, uint32_t at)
{
	return at < btf->strings_len ? btf->strings + at : "";
}

static bool is_name(uint32_t kind)
{
	return kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_CONST || kind == BTF_KIND_VOLATILE ||
	       kind == BTF_KIND_RESTRICT || kind == BTF_KIND_TYPE_TAG;
}

static bool is_structure(const struct btf_type *type)
{
	return BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT ||
	       BTF_INFO_KIND(type->info) == BTF_KIND_UNION;
}

struct btf_type_info btf_type(const struct btf *btf, uint32_t number)
{
	const struct btf_type *type = btf_get(btf, number);
	struct btf_type_info info = { BTF_OTHER, 0, false, number };

	for (uint32_t i = 0; type && is_name(BTF_INFO_KIND(type->info)); i++) {
		number = type->type;
		type = i < MAX_DEPTH ? btf_get(btf, number) : NULL;
	}
	if (!type)
		return info;
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
		info.is_signed = BTF_INT_ENCODING(*(const uint32_t *)(type + 1)) & BTF_INT_SIGNED;
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		info.is_signed = BTF_INFO_KFLAG(type->info);
		break;
	case BTF_KIND_PTR:
		return (struct btf_type_info){ BTF_POINTER, 8, false, type->type };
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (struct btf_type_info){ BTF_STRUCT, type->size, false, number };
	case BTF_KIND_ARRAY:
		info.kind = BTF_ARRAY;
		return info;
	default:
		return info;
	}
	info.bytes = type->size;
	info.kind = info.bytes && info.bytes <= 8 ? BTF_INTEGER : BTF_OTHER;
	return info;
}

uint32_t btf_function(const struct btf *btf, const char *name)
{
	for (uint32_t i = 1; i <= btf->nr_types; i++) {
		const struct btf_type *type = btf->types[i], *proto = btf_get(btf, type->type);

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC && proto &&
		    BTF_INFO_KIND(proto->info) == BTF_KIND_FUNC_PROTO &&
		    strcmp(btf_text(btf, type->name_off), name) == 0)
			return type->type;
	}
	return 0;
}

const char *btf_parameter(const struct btf *btf, uint32_t function, uint32_t nr,
			  uint32_t *ret_type)
{
	const struct btf_type *proto = btf_get(btf, function);
	const struct btf_param *params;

	if (!proto || nr >= BTF_INFO_VLEN(proto->info))
		return NULL;
	params = (const void *)(proto + 1);
	*ret_type = params[nr].type;
	return btf_text(btf, params[nr].name_off);
}

/* @left: structures that are within themselves, many times, must not keep us forever. */
static bool find_member(const struct btf *btf, uint32_t structure, const char *name,
			struct btf_place *ret, uint32_t depth, uint32_t *left)
{
	const struct btf_type *type = btf_get(btf, structure);
	const struct btf_member *members;
	bool fields;

	if (!type || !is_structure(type) || depth == MAX_DEPTH)
		return false;
	members = (const void *)(type + 1);
	fields = BTF_INFO_KFLAG(type->info);
	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info) && *left; i++) {
		uint32_t bit = fields ? BTF_MEMBER_BIT_OFFSET(members[i].offset) :
					members[i].offset;
		const char *own = btf_text(btf, members[i].name_off);

		(*left)--;
		if (*own && strcmp(own, name) == 0) {
			*ret = (struct btf_place){
				members[i].type, bit,
				fields && BTF_MEMBER_BITFIELD_SIZE(members[i].offset)
			};
			return true;
		}
		if (!*own && find_member(btf, btf_type(btf, members[i].type).target, name, ret,
					 depth + 1, left)) {
			ret->bit += bit;
			return true;
		}
	}
	return false;
}

bool btf_find_member(const struct btf *btf, uint32_t structure, const char *name,
		     struct btf_place *ret)
{
	uint32_t left = MAX_MEMBERS;

	return find_member(btf, structure, name, ret, 0, &left);
}
