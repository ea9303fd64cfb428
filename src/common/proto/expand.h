/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * expand.h - expands a .def table to C. No include guard: define PROTO_TABLE
 * as the quoted name of a table and include this file. It declares
 *
 *   struct msg_NAME, req_NAME, rep_NAME
 *   msg_NAME_encode(enc, &msg)        msg_NAME_decode(dec, &msg)   (req_, rep_ too)
 *   msg_NAME_add(enc, &msg)           append as a record to a list being built
 *   MSG_NAME                          the number
 *
 * A decoder sets all members, also if it fails (descriptors to -1), and returns 0 or
 * -EBADMSG. On success the caller owns the descriptors in the struct; after a
 * failure all of them still belong to the receiver of the message.
 * All functions are static inline, so that unused ones produce no code.
 */
#include <errno.h>

#include "codec.h"

#define CTYPE_u8 uint8_t
#define CTYPE_u32 uint32_t
#define CTYPE_u64 uint64_t
#define CTYPE_i64 int64_t
#define CTYPE_str const char *
#define CTYPE_blob struct blob
#define CTYPE_fd int

/* 1: numbers */
#define MESSAGE(name, number, who, doc) enum { MSG_##name = number };
#define COMMAND(name, number, access, turn, doc) enum { MSG_##name = number };
#include PROTO_TABLE

/* 2: messages and nested records */
#define MESSAGE(name, number, who, doc) struct msg_##name {
#define F(type, field, doc) CTYPE_##type field;
#define L(record, field, doc) struct list field;
#define MESSAGE_END(name) \
	}                 \
	;
#include PROTO_TABLE

#define MESSAGE(name, number, who, doc)                                                         \
	static inline void msg_##name##_encode(struct encoder *enc, const struct msg_##name *m) \
	{                                                                                       \
		(void)m, (void)enc;
#define F(type, field, doc) encode_##type(enc, m->field);
#define L(record, field, doc) encode_list(enc, m->field);
#define MESSAGE_END(name) }
#include PROTO_TABLE

#define MESSAGE(name, number, who, doc)                                                  \
	static inline int msg_##name##_decode(struct decoder *dec, struct msg_##name *m) \
	{                                                                                \
		(void)m;
#define F(type, field, doc) m->field = decode_##type(dec);
#define L(record, field, doc) m->field = decode_list(dec);
#define MESSAGE_END(name)                                                                    \
	return decoder_finish(dec);                                                          \
	}                                                                                    \
	static inline void msg_##name##_add(struct encoder *enc, const struct msg_##name *m) \
	{                                                                                    \
		size_t mark = record_begin(enc);                                             \
                                                                                             \
		msg_##name##_encode(enc, m);                                                 \
		record_end(enc, mark);                                                       \
	}                                                                                    \
	static inline bool msg_##name##_next(struct list *list, struct msg_##name *m)        \
	{                                                                                    \
		struct decoder record;                                                       \
                                                                                             \
		return list_next(list, &record) && msg_##name##_decode(&record, m) == 0;     \
	}
#include PROTO_TABLE

/* 3: requests */
#define COMMAND(name, number, access, turn, doc) struct req_##name {
#define IN(type, field, doc) CTYPE_##type field;
#define IN_LIST(record, field, doc) struct list field;
#define COMMAND_END(name) \
	}                 \
	;
#include PROTO_TABLE

#define COMMAND(name, number, access, turn, doc)                                                \
	static inline void req_##name##_encode(struct encoder *enc, const struct req_##name *m) \
	{                                                                                       \
		(void)m, (void)enc;
#define IN(type, field, doc) encode_##type(enc, m->field);
#define IN_LIST(record, field, doc) encode_list(enc, m->field);
#define COMMAND_END(name) }
#include PROTO_TABLE

#define COMMAND(name, number, access, turn, doc)                                         \
	static inline int req_##name##_decode(struct decoder *dec, struct req_##name *m) \
	{                                                                                \
		(void)m;
#define IN(type, field, doc) m->field = decode_##type(dec);
#define IN_LIST(record, field, doc) m->field = decode_list(dec);
#define COMMAND_END(name)           \
	return decoder_finish(dec); \
	}
#include PROTO_TABLE

/* 4: replies */
#define COMMAND(name, number, access, turn, doc) struct rep_##name {
#define OUT(type, field, doc) CTYPE_##type field;
#define OUT_LIST(record, field, doc) struct list field;
#define COMMAND_END(name) \
	}                 \
	;
#include PROTO_TABLE

#define COMMAND(name, number, access, turn, doc)                                                \
	static inline void rep_##name##_encode(struct encoder *enc, const struct rep_##name *m) \
	{                                                                                       \
		(void)m, (void)enc;
#define OUT(type, field, doc) encode_##type(enc, m->field);
#define OUT_LIST(record, field, doc) encode_list(enc, m->field);
#define COMMAND_END(name) }
#include PROTO_TABLE

#define COMMAND(name, number, access, turn, doc)                                         \
	static inline int rep_##name##_decode(struct decoder *dec, struct rep_##name *m) \
	{                                                                                \
		(void)m;
#define OUT(type, field, doc) m->field = decode_##type(dec);
#define OUT_LIST(record, field, doc) m->field = decode_list(dec);
#define COMMAND_END(name)           \
	return decoder_finish(dec); \
	}
#include PROTO_TABLE

#undef CTYPE_u8
#undef CTYPE_u32
#undef CTYPE_u64
#undef CTYPE_i64
#undef CTYPE_str
#undef CTYPE_blob
#undef CTYPE_fd
