/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thrift.h - writes structs in Thrift's compact protocol (thrift.apache.org), in which Parquet has
 * its headers. The members of a struct are written in the order of their ids. Owned by the caller.
 */
#ifndef CTL_EXPORT_PARQUET_THRIFT_H
#define CTL_EXPORT_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "show/pen.h"

/** Types of elements of a list. */
enum thrift_type { THRIFT_I32 = 5, THRIFT_BINARY = 8, THRIFT_STRUCT = 12 };

/** struct thrift - a struct that is being written. @last: id of its last member. */
struct thrift {
	struct pen *pen;
	int last;
};

void thrift_unsigned(struct pen *pen, uint64_t value);
void thrift_bool(struct thrift *thrift, int id, bool value);
void thrift_byte(struct thrift *thrift, int id, int8_t value);
void thrift_i32(struct thrift *thrift, int id, int32_t value);
void thrift_i64(struct thrift *thrift, int id, int64_t value);
void thrift_binary(struct thrift *thrift, int id, const void *bytes, size_t len);
void thrift_text(struct thrift *thrift, int id, const char *text);
/** A list; its @nr elements follow. */
void thrift_list(struct thrift *thrift, int id, enum thrift_type type, size_t nr);
void thrift_element_i32(struct thrift *thrift, int32_t value);
void thrift_element_text(struct thrift *thrift, const char *text);
/** A struct as a member, which thrift_stop() ends. */
struct thrift thrift_struct(struct thrift *thrift, int id);
/** A struct as an element of a list, or by itself. */
struct thrift thrift_element(struct pen *pen);
void thrift_stop(struct thrift *thrift);

#endif
