/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * codec.h - bytes of a message, and the language of the .def tables.
 *
 * All protocols on a host use SOCK_SEQPACKET Unix sockets, one message per packet:
 * struct msg_header, then the fields in the order of their table, packed,
 * little-endian. Descriptors are sent as ancillary data (SCM_RIGHTS), in the same
 * order. Needs libc only and does not allocate, as the tracer uses this file, too.
 *
 * A table (app.def, client.def and others) consists of
 *
 *   MESSAGE(name, number, SENDER, "doc")   a message, or (number 0) a nested record
 *           F(type, field, "doc")       a field
 *           L(record, field, "doc")     a list of nested records
 *   MESSAGE_END(name)
 *   COMMAND(name, number, ACCESS, ANSWER, "doc") a request with a reply
 *           IN(type, field, "doc")  IN_LIST(record, field, "doc")
 *           OUT(type, field, "doc") OUT_LIST(record, field, "doc")
 *   COMMAND_END(name)
 *
 * ANSWER: NOW - answered before the next request is read; LATER - possibly answered after
 * later requests.
 *
 * types: u8 u32 u64 i64 str blob fd.
 *
 * The build writes the table in C to gen/proto_TABLE.h (src/tools/prototool.c), which proto/TABLE.h
 * includes:
 *
 *   struct msg_NAME, req_NAME, rep_NAME
 *   msg_NAME_encode(enc, &msg)     msg_NAME_decode(dec, &msg)   (req_, rep_ too)
 *   msg_NAME_add(enc, &msg)        append as a record to a list being built
 *   msg_NAME_next(&list, &msg)     take the next record off a list
 *   MSG_NAME                       the number
 *
 * A decoder sets all members, also if it fails (descriptors to -1), and returns 0 or -EBADMSG. On
 * success the caller owns the descriptors in the struct; after a failure all of them still belong
 * to the receiver of the message.
 *
 * An answer to a COMMAND is any number of items (MSG_ITEM; their type is the
 * item's MESSAGE number) and one reply (MSG_REPLY; type of the command). Each
 * repeats the serial. A reply begins with its outcome, encode_outcome(): u32
 * code (enum err_code, 0 is success) and str sentence; if the code is 0, the
 * outputs follow.
 *
 * Compatibility: fields are only ever appended. A missing tail is zero (empty,
 * -1 for a descriptor); an unknown tail is skipped. Records inside lists carry
 * their own length, so they grow in the same way.
 *
 * Decoded strings, blobs and lists point into the message's buffer.
 */
#ifndef PROTO_CODEC_H
#define PROTO_CODEC_H

#include <errno.h> /* -EBADMSG of decoders */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSG_MAX_BYTES 65536u /* header included; longer packets are refused */
#define MSG_MAX_FDS 4u

/* the bytes are little-endian and read in place */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian hosts only");

enum msg_flags {
	MSG_REPLY = 1, /* the last answer to a command */
	MSG_ITEM = 2,  /* one item of an answer; further messages follow */
};

struct msg_header {
	uint16_t type; /* number in the table */
	uint16_t flags;
	uint32_t serial; /* chosen by the requester, repeated in the answer */
};

struct blob {
	const uint8_t *data;
	uint32_t len;
};

/** An encoded list: decode it with msg_NAME_next(), build it with msg_NAME_add(). */
struct list {
	const uint8_t *data;
	uint32_t len;
	uint32_t nr;
};

/**
 * struct encoder - writes into a caller's buffer; encoder_finish() reports an overflow.
 */
struct encoder {
	uint8_t *buf;
	size_t cap;
	size_t len;
	int fds[MSG_MAX_FDS]; /* borrowed from the caller of the encoder */
	unsigned int nr_fds;
	uint32_t nr_records; /* of a list being built */
	bool overflow;
};

struct decoder {
	const uint8_t *p;
	const uint8_t *end;
	int *fds; /* decoder_finish() sets the decoded ones to -1 */
	unsigned int nr_fds;
	unsigned int next_fd;
	bool bad;
};

void encoder_init(struct encoder *enc, void *buf, size_t cap);
void encode_header(struct encoder *enc, uint16_t type, uint16_t flags, uint32_t serial);
void encode_u8(struct encoder *enc, uint8_t v);
void encode_u32(struct encoder *enc, uint32_t v);
void encode_u64(struct encoder *enc, uint64_t v);
void encode_i64(struct encoder *enc, int64_t v);
void encode_str(struct encoder *enc, const char *v); /* NULL: empty */
void encode_blob(struct encoder *enc, struct blob v);
void encode_fd(struct encoder *enc, int v); /* negative: absent */
void encode_list(struct encoder *enc, struct list v);
/** The outcome that every reply begins with; client and consumer protocol. */
void encode_outcome(struct encoder *enc, uint32_t code, const char *text);
/** Begin and end one record of a list: mark = record_begin(); fields; record_end(). */
size_t record_begin(struct encoder *enc);
void record_end(struct encoder *enc, size_t mark);
/** The list in an encoder that has nothing but the records of this list. */
struct list encoder_list(const struct encoder *enc);
/** Return: 0, or -EMSGSIZE if the buffer was too small. */
int encoder_finish(const struct encoder *enc);

void decoder_init(struct decoder *dec, const void *buf, size_t len, int *fds, unsigned int nr_fds);
/** Return: 0, or -EBADMSG. */
int decode_header(struct decoder *dec, struct msg_header *ret);
uint8_t decode_u8(struct decoder *dec);
uint32_t decode_u32(struct decoder *dec);
uint64_t decode_u64(struct decoder *dec);
int64_t decode_i64(struct decoder *dec);
const char *decode_str(struct decoder *dec); /* never NULL, no NUL inside */
struct blob decode_blob(struct decoder *dec);
int decode_fd(struct decoder *dec); /* the caller owns it; -1: absent */
struct list decode_list(struct decoder *dec);
/** Return: the code; *ret_text is a sentence, empty on success. */
uint32_t decode_outcome(struct decoder *dec, const char **ret_text);
/** Return: 0: the caller owns the decoded descriptors; -EBADMSG: the message is malformed. */
int decoder_finish(struct decoder *dec);
/** Decode the next record of a list. Return: false after the last one. */
bool list_next(struct list *list, struct decoder *ret_record);

#endif
