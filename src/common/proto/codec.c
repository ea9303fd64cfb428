/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "codec.h"

#include <errno.h>
#include <string.h>

void encoder_init(struct encoder *enc, void *buf, size_t cap)
{
	memset(enc, 0, sizeof(*enc));
	enc->buf = buf;
	enc->cap = cap;
}

static uint8_t *codec_reserve(struct encoder *enc, size_t len)
{
	uint8_t *at = enc->buf + enc->len;

	if (enc->overflow || len > enc->cap - enc->len) {
		enc->overflow = true;
		return NULL;
	}
	enc->len += len;
	return at;
}

static void codec_put(struct encoder *enc, const void *data, size_t len)
{
	uint8_t *at = codec_reserve(enc, len);

	if (at && len)
		memcpy(at, data, len);
}

void encode_header(struct encoder *enc, uint16_t type, uint16_t flags, uint32_t serial)
{
	struct msg_header header = { .type = type, .flags = flags, .serial = serial };

	codec_put(enc, &header, sizeof(header));
}

void encode_u8(struct encoder *enc, uint8_t v)
{
	codec_put(enc, &v, sizeof(v));
}

void encode_u32(struct encoder *enc, uint32_t v)
{
	codec_put(enc, &v, sizeof(v));
}

void encode_u64(struct encoder *enc, uint64_t v)
{
	codec_put(enc, &v, sizeof(v));
}

void encode_i64(struct encoder *enc, int64_t v)
{
	codec_put(enc, &v, sizeof(v));
}

/* A string is sent with its NUL, so that the receiver can use it in place. */
void encode_str(struct encoder *enc, const char *v)
{
	size_t len = v ? strlen(v) : 0;

	encode_u32(enc, (uint32_t)len);
	codec_put(enc, v ? v : "", len + 1);
}

void encode_blob(struct encoder *enc, struct blob v)
{
	encode_u32(enc, v.len);
	codec_put(enc, v.data, v.len);
}

void encode_fd(struct encoder *enc, int v)
{
	bool present = v >= 0;

	if (present && enc->nr_fds == MSG_MAX_FDS) {
		enc->overflow = true;
		return;
	}
	encode_u8(enc, present);
	if (present)
		enc->fds[enc->nr_fds++] = v;
}

void encode_list(struct encoder *enc, struct list v)
{
	encode_u32(enc, v.nr);
	encode_u32(enc, v.len);
	codec_put(enc, v.data, v.len);
}

void encode_outcome(struct encoder *enc, uint32_t code, const char *text)
{
	encode_u32(enc, code);
	encode_str(enc, text);
}

size_t record_begin(struct encoder *enc)
{
	size_t mark = enc->len;

	encode_u32(enc, 0);
	return mark;
}

void record_end(struct encoder *enc, size_t mark)
{
	uint32_t len;

	if (enc->overflow)
		return;
	len = (uint32_t)(enc->len - mark - sizeof(len));
	memcpy(enc->buf + mark, &len, sizeof(len));
	enc->nr_records++;
}

struct list encoder_list(const struct encoder *enc)
{
	return (struct list){ .data = enc->buf, .len = (uint32_t)enc->len, .nr = enc->nr_records };
}

int encoder_finish(const struct encoder *enc)
{
	return enc->overflow ? -EMSGSIZE : 0;
}

void decoder_init(struct decoder *dec, const void *buf, size_t len, int *fds, unsigned int nr_fds)
{
	memset(dec, 0, sizeof(*dec));
	dec->p = buf;
	dec->end = dec->p + len;
	dec->fds = fds;
	dec->nr_fds = nr_fds;
}

/* The next @len bytes; NULL at a clean end of the message (the field did not
 * exist when the sender was built) and where the message is bad. */
static const uint8_t *codec_take(struct decoder *dec, size_t len)
{
	const uint8_t *at = dec->p;

	if (dec->bad || at == dec->end)
		return NULL;
	if (len > (size_t)(dec->end - at)) {
		dec->bad = true;
		return NULL;
	}
	dec->p += len;
	return at;
}

static void codec_get(struct decoder *dec, void *ret, size_t len)
{
	const uint8_t *at = codec_take(dec, len);

	if (at)
		memcpy(ret, at, len);
}

/* Bytes behind a length that was read: here an end is never clean. */
static const uint8_t *take_body(struct decoder *dec, size_t len)
{
	if (dec->bad || len > (size_t)(dec->end - dec->p)) {
		dec->bad = true;
		return NULL;
	}
	dec->p += len;
	return dec->p - len;
}

int decode_header(struct decoder *dec, struct msg_header *ret)
{
	if ((size_t)(dec->end - dec->p) < sizeof(*ret))
		return -EBADMSG;
	codec_get(dec, ret, sizeof(*ret));
	return 0;
}

uint8_t decode_u8(struct decoder *dec)
{
	uint8_t v = 0;

	codec_get(dec, &v, sizeof(v));
	return v;
}

uint32_t decode_u32(struct decoder *dec)
{
	uint32_t v = 0;

	codec_get(dec, &v, sizeof(v));
	return v;
}

uint64_t decode_u64(struct decoder *dec)
{
	uint64_t v = 0;

	codec_get(dec, &v, sizeof(v));
	return v;
}

int64_t decode_i64(struct decoder *dec)
{
	int64_t v = 0;

	codec_get(dec, &v, sizeof(v));
	return v;
}

const char *decode_str(struct decoder *dec)
{
	const uint8_t *at;
	uint32_t len;

	if (dec->bad || dec->p == dec->end)
		return "";
	len = decode_u32(dec);
	at = take_body(dec, (size_t)len + 1);
	if (!at || memchr(at, 0, (size_t)len + 1) != at + len) {
		dec->bad = true;
		return "";
	}
	return (const char *)at;
}

struct blob decode_blob(struct decoder *dec)
{
	struct blob v = { 0 };

	if (dec->bad || dec->p == dec->end)
		return v;
	v.len = decode_u32(dec);
	v.data = take_body(dec, v.len);
	if (!v.data)
		v.len = 0;
	return v;
}

int decode_fd(struct decoder *dec)
{
	if (!decode_u8(dec))
		return -1;
	if (dec->next_fd >= dec->nr_fds) {
		dec->bad = true;
		return -1;
	}
	return dec->fds[dec->next_fd++];
}

uint32_t decode_outcome(struct decoder *dec, const char **ret_text)
{
	uint32_t code = decode_u32(dec);

	*ret_text = decode_str(dec);
	return code;
}

int decoder_finish(struct decoder *dec)
{
	if (dec->bad)
		return -EBADMSG;
	for (unsigned int i = 0; i < dec->next_fd; i++)
		dec->fds[i] = -1;
	return 0;
}

/* The records' lengths are checked here, so that list_next() can't fail. */
struct list decode_list(struct decoder *dec)
{
	struct list v = { 0 };
	struct list walk;
	struct decoder record;
	uint32_t nr = 0;

	if (dec->bad || dec->p == dec->end)
		return v;
	v.nr = decode_u32(dec);
	v.len = decode_u32(dec);
	v.data = take_body(dec, v.len);
	walk = v;
	if (v.data)
		while (list_next(&walk, &record))
			nr++;
	if (!v.data || walk.len != 0 || nr != v.nr) {
		dec->bad = true;
		return (struct list){ 0 };
	}
	return v;
}

bool list_next(struct list *list, struct decoder *ret_record)
{
	uint32_t len;

	if (list->len < sizeof(len))
		return false;
	memcpy(&len, list->data, sizeof(len));
	if (len > list->len - sizeof(len))
		return false;
	decoder_init(ret_record, list->data + sizeof(len), len, NULL, 0);
	list->data += sizeof(len) + len;
	list->len -= (uint32_t)sizeof(len) + len;
	return true;
}
