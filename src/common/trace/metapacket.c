/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "metapacket.h"

#include <stdio.h>
#include <string.h>

#include "crc32c.h"

_Static_assert(sizeof(struct metapacket_header) == 37, "layout of a file");
_Static_assert(sizeof(struct metapacket_spaces) == 17, "layout of a file");

#define COMMENT "/* crc32c "
#define SPACES "\n\t \t \n" /* more than JSON needs between two fragments */
#define DIGITS 16

_Static_assert(sizeof(SPACES) - 1 + DIGITS == METAPACKET_TRAILER_BYTES, "as long as the comment");

static const char digits[4] = { ' ', '\t', '\n', '\r' };

static void put_number(uint32_t number, char ret[DIGITS])
{
	for (unsigned int i = 0; i < DIGITS; i++)
		ret[i] = digits[number >> (30 - 2 * i) & 3];
}

static bool get_number(const char text[DIGITS], uint32_t *ret)
{
	*ret = 0;
	for (unsigned int i = 0; i < DIGITS; i++) {
		const char *digit = memchr(digits, text[i], sizeof(digits));

		if (!digit)
			return false;
		*ret = *ret << 2 | (uint32_t)(digit - digits);
	}
	return true;
}

struct metapacket_header metapacket_header_make(const uint8_t uuid[16], uint32_t len)
{
	struct metapacket_header header = {
		.magic = METAPACKET_MAGIC,
		.content_size = ((uint32_t)sizeof(header) + len) * 8,
		.packet_size = ((uint32_t)sizeof(header) + len) * 8,
		.major = 1,
		.minor = 8,
	};

	memcpy(header.uuid, uuid, sizeof(header.uuid));
	return header;
}

struct metapacket_spaces metapacket_spaces_make(uint32_t len)
{
	struct metapacket_spaces header = { .separator = METAPACKET_SEPARATOR };

	put_number((uint32_t)sizeof(header) + len, header.size);
	return header;
}

bool metapacket_is_ctf_2(const void *text, size_t len)
{
	return len && *(const char *)text == METAPACKET_SEPARATOR;
}

void metapacket_trailer_make(const void *text, size_t len, bool ctf_2,
			     char ret[METAPACKET_TRAILER_BYTES])
{
	uint32_t sum = crc32c(0, text, len);
	char buf[METAPACKET_TRAILER_BYTES + 1];

	snprintf(buf, sizeof(buf), COMMENT "%08x */\n", sum);
	if (ctf_2) {
		memcpy(buf, SPACES, strlen(SPACES));
		put_number(sum, buf + strlen(SPACES));
	}
	memcpy(ret, buf, METAPACKET_TRAILER_BYTES);
}

bool metapacket_is_damaged(const void *text, size_t len)
{
	char own[METAPACKET_TRAILER_BYTES];
	const char *trailer = (const char *)text + len - METAPACKET_TRAILER_BYTES;
	bool ctf_2;

	if (len < METAPACKET_TRAILER_BYTES)
		return false;
	ctf_2 = memcmp(trailer, SPACES, strlen(SPACES)) == 0;
	if (!ctf_2 && memcmp(trailer, COMMENT, strlen(COMMENT)) != 0)
		return false;
	metapacket_trailer_make(text, len - METAPACKET_TRAILER_BYTES, ctf_2, own);
	return memcmp(trailer, own, METAPACKET_TRAILER_BYTES) != 0;
}

/* Of the preamble: 16 numbers, each of three characters, with a comma between two. */
static bool get_uuid(const char *text, size_t len, uint8_t ret[16])
{
	const char *at = text + strlen(METAPACKET_PREAMBLE);

	if (len < strlen(METAPACKET_PREAMBLE) + 16 * 4 ||
	    memcmp(text, METAPACKET_PREAMBLE, strlen(METAPACKET_PREAMBLE)) != 0)
		return false;
	for (int i = 0; i < 16; i++, at += 4) {
		unsigned int number = 0;

		for (int digit = 0; digit < 3; digit++) {
			if (at[digit] != ' ' && (at[digit] < '0' || at[digit] > '9'))
				return false;
			if (at[digit] != ' ')
				number = 10 * number + (unsigned int)(at[digit] - '0');
		}
		if (number > UINT8_MAX || at[3] != (i == 15 ? ']' : ','))
			return false;
		ret[i] = (uint8_t)number;
	}
	return true;
}

static bool parse_spaces(const uint8_t *bytes, size_t len, struct metapacket *ret)
{
	struct metapacket_spaces head;

	memcpy(&head, bytes, sizeof(head));
	if (!get_number(head.size, &ret->bytes) ||
	    ret->bytes < sizeof(head) + METAPACKET_TRAILER_BYTES)
		return false;
	ret->ctf_2 = true;
	ret->has_uuid = get_uuid((const char *)bytes + sizeof(head), len - sizeof(head), ret->uuid);
	ret->head_bytes = sizeof(head);
	ret->text_bytes = ret->bytes - (uint32_t)sizeof(head);
	return true;
}

bool metapacket_parse(const uint8_t *bytes, size_t len, struct metapacket *ret)
{
	struct metapacket_header head;

	*ret = (struct metapacket){ .has_uuid = true };
	if (metapacket_is_ctf_2(bytes, len))
		return len >= sizeof(struct metapacket_spaces) && parse_spaces(bytes, len, ret);
	if (len < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	memcpy(ret->uuid, head.uuid, sizeof(ret->uuid));
	ret->head_bytes = sizeof(head);
	ret->bytes = head.packet_size / 8;
	ret->text_bytes = head.content_size / 8 - (uint32_t)sizeof(head);
	return head.magic == METAPACKET_MAGIC && ret->bytes >= sizeof(head) &&
	       head.content_size / 8 >= sizeof(head) && head.content_size <= head.packet_size;
}
