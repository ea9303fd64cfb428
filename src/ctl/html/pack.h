/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pack.h - numbers as variable-length integers (seven bits a byte, the lowest first), compressed as
 * they are appended ("deflate-raw" of browsers), to be printed in base64. Owned by one writer.
 */
#ifndef CTL_HTML_PACK_H
#define CTL_HTML_PACK_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct pack;

/** Return: NULL: the library can't be loaded, for the reason in @err. */
struct pack *pack_new(struct err *err) MUST_CHECK;
void pack_free(struct pack *pack);

void pack_number(struct pack *pack, uint64_t number);
/** A number that may be negative: its sign is the lowest bit. */
void pack_signed(struct pack *pack, int64_t number);

/** After the last number. Return: characters of base64. */
size_t pack_end(struct pack *pack);
void pack_print(const struct pack *pack, FILE *out);

#endif
