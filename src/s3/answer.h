/* SPDX-License-Identifier: GPL-2.0-only */
/* answer.h - the XML documents that a store sends; they are untrusted. */
#ifndef S3_ANSWER_H
#define S3_ANSWER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define ANSWER_MAX_BYTES (8u << 20) /* of a document */

/** struct answer_error - "" where the store sends none. */
struct answer_error {
	char code[64], message[128], region[64];
};

/** struct answer_page - @next: continues the list; NULL: this is its end. */
struct answer_page {
	char *next;
	unsigned int nr;
};

/** An answer that is no such document has no code. */
void answer_error(const struct buf *document, struct answer_error *ret);
/**
 * answer_list() - read a page of ListObjectsV2 and call @each with the keys in it.
 * Return: 0; what @each returns; ERR_BAD_MESSAGE: with a phrase in @err.
 */
int answer_list(const struct buf *document,
		int (*each)(void *data, const char *key, uint64_t bytes), void *data,
		struct answer_page *ret, struct err *err) MUST_CHECK;

#endif
