/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parser.h - state of one run of the parser of CTF 2 metadata, shared by its sources.
 * Functions return 0, or -EPROTO after model_fail() has stored the reason.
 */
#ifndef READ_CTF2_PARSER_H
#define READ_CTF2_PARSER_H

#include "json.h"
#include "read/model/model.h"

struct ctf2_name {
	const char *name;
	void *is;
	struct ctf2_name *next;
};

/** struct ctf2 - @aliases: of field classes; @clocks: by their ids. @nesting: of field classes.
 *  @byte, @letter: types of the bytes of BLOBs and strings; NULL: not needed yet. */
struct ctf2 {
	struct model model;
	struct ctf2_name *aliases, *clocks;
	uint32_t nesting;
	const struct ctf_type *byte, *letter;
	bool has_preamble;
	bool declined; /* it needs an extension */
};

#define ctf2_fail(p, ...) model_fail(&(p)->model, __VA_ARGS__)

void ctf2_add_name(struct ctf2 *p, struct ctf2_name **list, const char *name, void *is);
/** Return: NULL: there is none; or after model_fail(). */
void *ctf2_find_name(struct ctf2 *p, const struct ctf2_name *list, const char *name);

/** A property that is an unsigned integer up to @max. @ret: stays as it is where there is none. */
int ctf2_number(struct ctf2 *p, const struct json *object, const char *key, uint64_t max,
		uint64_t *ret);
/** The same of one that has to be there. */
int ctf2_needed_number(struct ctf2 *p, const struct json *object, const char *key, uint64_t max,
		       uint64_t *ret);
/** A text, copied; NULL: there is none. */
int ctf2_text(struct ctf2 *p, const struct json *object, const char *key, const char **ret);
int ctf2_needed_text(struct ctf2 *p, const struct json *object, const char *key, const char **ret);

/** A member of the attributes of a fragment or field class, in a namespace; NULL: none. */
const struct json *ctf2_attribute(const struct json *object, const char *space, const char *key);
/** The namespace of this project: trace/metadata.h. */
#define CTF2_OWN "ltt"

/** The field class of a property, or the alias that it names. */
int ctf2_class(struct ctf2 *p, const struct json *object, const char *key,
	       const struct ctf_type **ret);
/** The same of a scope: NULL: there is none. */
int ctf2_scope(struct ctf2 *p, const struct json *object, const char *key,
	       const struct ctf_type **ret);

#endif
