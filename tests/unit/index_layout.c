/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes of index files and of metadata packet headers. */
#include <string.h>

#include "check.h"
#include "trace/index.h"
#include "trace/metapacket.h"

static void check_index(void)
{
	static const uint8_t want_head[16] = { 0xc1, 0xf1, 0xdc, 0xc1, 0, 0, 0, 1,
					       0,    0,	   0,	 1,    0, 0, 0, 72 };
	struct index_header head = index_header_make();
	struct packet_header packet = {
		.packet_size = 0x8000,
		.content_size = 0x7288,
		.timestamp_begin = 0xf850701da8,
		.timestamp_end = 0xf85cc70c98,
		.events_discarded = 3,
		.stream_id = 4,
		.stream_instance_id = 5,
		.packet_seq_num = 6,
	};
	struct index_entry entry = index_entry_make(0x1000, &packet);
	static const uint8_t want_entry[72] = {
		0, 0, 0, 0,    0,    0,	   0x10, 0,    /* offset */
		0, 0, 0, 0,    0,    0,	   0x80, 0,    /* packet size */
		0, 0, 0, 0,    0,    0,	   0x72, 0x88, /* content size */
		0, 0, 0, 0xf8, 0x50, 0x70, 0x1d, 0xa8, /* begin */
		0, 0, 0, 0xf8, 0x5c, 0xc7, 0x0c, 0x98, /* end */
		0, 0, 0, 0,    0,    0,	   0,	 3,    /* discarded */
		0, 0, 0, 0,    0,    0,	   0,	 4,    /* stream class */
		0, 0, 0, 0,    0,    0,	   0,	 5,    /* instance */
		0, 0, 0, 0,    0,    0,	   0,	 6,    /* sequence number */
	};

	CHECK(!memcmp(&head, want_head, sizeof(want_head)));
	CHECK(sizeof(entry) == sizeof(want_entry) &&
	      !memcmp(&entry, want_entry, sizeof(want_entry)));
}

static void check_metapacket(void)
{
	static const uint8_t want[37] = { 0x57, 0x1d, 0xd1, 0x75, 'u',	'u', 'u', 'u', 'u',  'u',
					  'u',	'u',  'u',  'u',  'u',	'u', 'u', 'u', 'u',  'u',
					  0,	0,    0,    0,	  0x48, 9,   0,	  0,   0x48, 9,
					  0,	0,    0,    0,	  0,	1,   8 };
	uint8_t uuid[16];
	struct metapacket_header head;

	memset(uuid, 'u', sizeof(uuid));
	head = metapacket_header_make(uuid, 260); /* (37 + 260) * 8 = 0x948 */
	CHECK(sizeof(head) == sizeof(want) && !memcmp(&head, want, sizeof(want)));
}

static void check_trailer(void)
{
	char text[80] = "event { id = 0; };\n";
	size_t len = strlen(text), end = len + METAPACKET_TRAILER_BYTES;

	CHECK(!metapacket_is_damaged(text, len));
	metapacket_trailer_make("123456789", 9, false, text + len);
	CHECK(!memcmp(text + len, "/* crc32c e3069283 */\n", METAPACKET_TRAILER_BYTES));
	CHECK(metapacket_is_damaged(text, end));
	metapacket_trailer_make(text, len, false, text + len);
	CHECK(!metapacket_is_damaged(text, end));
	text[3] ^= 1;
	CHECK(metapacket_is_damaged(text, end));
}

/* CTF 2: header and trailer are white space. */
static void check_spaces(void)
{
	static const char fragment[] = "{\"type\":\"preamble\",\"version\":2,\"uuid\":[117,"
				       "117,117,117,117,117,117,117,117,117,117,117,117,117,117,117]}\n";
	const uint32_t len = sizeof(fragment) - 1 + METAPACKET_TRAILER_BYTES;
	struct metapacket_spaces head = metapacket_spaces_make(len);
	uint8_t bytes[200], uuid[16];
	char *text = (char *)bytes + sizeof(head);
	struct metapacket packet;

	memset(uuid, 'u', sizeof(uuid));
	memcpy(bytes, &head, sizeof(head));
	memcpy(text, fragment, sizeof(fragment) - 1);
	metapacket_trailer_make(fragment, sizeof(fragment) - 1, true, text + sizeof(fragment) - 1);
	CHECK(metapacket_is_ctf_2(bytes, 1) && !metapacket_is_ctf_2(text, len));
	CHECK(!metapacket_is_damaged(text, len));
	CHECK(strspn(text + sizeof(fragment) - 1, " \t\n\r") >= METAPACKET_TRAILER_BYTES);
	CHECK(metapacket_parse(bytes, sizeof(bytes), &packet) && packet.ctf_2 && packet.has_uuid);
	CHECK(!memcmp(packet.uuid, uuid, sizeof(uuid)));
	CHECK(packet.bytes == sizeof(head) + len && packet.text_bytes == len);
	text[3] ^= 1;
	CHECK(metapacket_is_damaged(text, len));
	CHECK(metapacket_parse(bytes, sizeof(bytes), &packet) && !packet.has_uuid);
	bytes[5] = 'x';
	CHECK(!metapacket_parse(bytes, sizeof(bytes), &packet));
}

int main(void)
{
	check_spaces();
	check_index();
	check_metapacket();
	check_trailer();
	return 0;
}
