/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json.h - reads one JSON text (RFC 8259) into a tree: a fragment of CTF 2 metadata. Numbers are
 * exact up to 64 bits of either sign. The text is untrusted: its depth and values are limited.
 *
 * Own code, as ltt-view is static and libltt-read depends on libc alone.
 */
#ifndef READ_CTF2_JSON_H
#define READ_CTF2_JSON_H

#include "read/decode/type.h"

#define JSON_MAX_DEPTH 100u
#define JSON_MAX_VALUES (1u << 20) /* 48 MiB */

enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_INTEGER,
	JSON_REAL, /* without a value: nothing in metadata is one */
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/** struct json - a value. @key: of a member. @text: of a string; a NUL in it is U+FFFD. @number: of
 *  an integer, two's complement, or 1: true. @nr: elements or members from @first on. */
struct json {
	const char *key;
	struct json *next;
	union {
		const char *text;
		uint64_t number;
		struct json *first;
	};
	uint32_t nr;
	uint8_t kind;
	bool negative;
};

/**
 * json_read() - @len bytes of text.
 * @arena: memory of all values.
 * @ret_at: of an error, the byte in the text.
 * Return: NULL, or why it is no JSON.
 */
const char *json_read(const char *text, size_t len, struct arena *arena, struct json **ret,
		      size_t *ret_at);

/** The member of an object; NULL: none, or @object is none. */
const struct json *json_member(const struct json *object, const char *key);

#endif
