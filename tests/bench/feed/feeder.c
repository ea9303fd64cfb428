/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * feeder PORT SESSIONS STREAMS PACKETS METADATA DATA - sessions of as many hosts at the relay on
 * PORT of this machine, by relay.def byte by byte: the least that a sender can be. Each stream of
 * each session has the first PACKETS packets of the stream in the file DATA, whose metadata is the
 * text METADATA. Before each step it prints a line and waits for one of its stdin: "open" - the
 * streams are open, with one packet each; "stored" - the relay has acknowledged all packets; "ended" - the sessions are.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/crc32c.h"
#include "trace/packet.h"

enum { HELLO = 1, SESSION, TRACE, METADATA, STREAM, PACKET, END = 8 };

#define MESSAGE_HEAD 12u
#define ANSWER_LEAST 12u /* type, flags, serial, code */

struct sender {
	int fd;
	uint32_t serial, pending;
};

struct message {
	uint8_t *bytes;
	size_t len;
};

static struct message message;

static void fail(const char *text)
{
	perror(text);
	exit(1);
}

static void put_bytes(const void *bytes, size_t len)
{
	message.bytes = realloc(message.bytes, message.len + len);
	if (!message.bytes)
		fail("memory");
	memcpy(message.bytes + message.len, bytes, len);
	message.len += len;
}

static void put_u16(uint16_t v)
{
	v = htole16(v);
	put_bytes(&v, sizeof(v));
}

static void put_u32(uint32_t v)
{
	v = htole32(v);
	put_bytes(&v, sizeof(v));
}

static void put_u64(uint64_t v)
{
	v = htole64(v);
	put_bytes(&v, sizeof(v));
}

static void put_blob(const void *bytes, size_t len)
{
	put_u32((uint32_t)len);
	put_bytes(bytes, len);
}

static void put_text(const char *text)
{
	put_blob(text, strlen(text));
	put_bytes("", 1);
}

static void begin(struct sender *sender, uint16_t type)
{
	message.len = 0;
	put_u32(0);
	put_u16(type);
	put_u16(0);
	put_u32(++sender->serial);
}

static void send_message(struct sender *sender, const void *behind, size_t len)
{
	uint32_t size = htole32((uint32_t)(message.len - sizeof(size)));
	struct iovec parts[] = { { message.bytes, message.len }, { (void *)behind, len } };
	size_t left = message.len + len;

	memcpy(message.bytes, &size, sizeof(size));
	while (left) {
		ssize_t n = writev(sender->fd, parts, 2);

		if (n < 0)
			fail("send");
		left -= (size_t)n;
		for (int i = 0; i < 2; i++) {
			size_t done = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;

			parts[i].iov_base = (char *)parts[i].iov_base + done;
			parts[i].iov_len -= done;
			n -= (ssize_t)done;
		}
	}
	sender->pending++;
}

static void receive(const struct sender *sender, void *to, size_t len)
{
	for (size_t got = 0; got < len;) {
		ssize_t n = read(sender->fd, (char *)to + got, len - got);

		if (n <= 0)
			fail("the relay closed a connection");
		got += (size_t)n;
	}
}

/* Until all requests of a connection are answered. */
static void drain(struct sender *sender)
{
	for (; sender->pending; sender->pending--) {
		char answer[4096];
		uint32_t len, code;

		receive(sender, &len, sizeof(len));
		len = le32toh(len);
		if (len < ANSWER_LEAST || len >= sizeof(answer)) {
			fprintf(stderr, "an answer of %u bytes\n", len);
			exit(1);
		}
		receive(sender, answer, len);
		memcpy(&code, answer + 8, sizeof(code));
		if (!code)
			continue;
		answer[len] = '\0';
		fprintf(stderr, "refused: %u %s\n", le32toh(code),
			len > ANSWER_LEAST + 4 ? answer + ANSWER_LEAST + 4 : "");
		exit(1);
	}
}

static uint8_t *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "r");
	uint8_t *bytes;
	long size;

	if (!f || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0)
		fail(path);
	rewind(f);
	bytes = malloc((size_t)size + 1);
	if (!bytes || fread(bytes, 1, (size_t)size, f) != (size_t)size)
		fail(path);
	fclose(f);
	*ret_len = (size_t)size;
	return bytes;
}

static void open_session(struct sender *sender, uint16_t port, unsigned int number,
			 unsigned int nr_streams, const struct packet_header *first,
			 const char *metadata, size_t metadata_len)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char host[32], id[17];

	sender->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (sender->fd < 0 || connect(sender->fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		fail("connect");
	snprintf(host, sizeof(host), "host%u", number);
	snprintf(id, sizeof(id), "%016u", number);
	begin(sender, HELLO);
	put_text("feeder");
	put_u32(0);
	send_message(sender, NULL, 0);
	begin(sender, SESSION);
	put_text(host);
	put_text("bench");
	put_text("20260101-000000");
	put_blob(id, 16);
	send_message(sender, NULL, 0);
	begin(sender, TRACE);
	put_u64(1);
	put_text("ust/uid/0/64-bit");
	put_blob(first->uuid, sizeof(first->uuid));
	put_u64(0);
	send_message(sender, NULL, 0);
	begin(sender, METADATA);
	put_u64(1);
	put_blob(metadata, metadata_len);
	send_message(sender, NULL, 0);
	for (unsigned int i = 0; i < nr_streams; i++) {
		begin(sender, STREAM);
		put_u64(1);
		put_u32(i);
		put_text("chan0");
		put_u32(i);
		put_u32(first->stream_id);
		put_u32(first->stream_instance_id - first->cpu_id);
		put_u64(0);
		put_u32(0);
		send_message(sender, NULL, 0);
	}
	drain(sender);
}

static void send_packet(struct sender *sender, uint32_t stream, const uint8_t *packet)
{
	struct packet_header header;
	size_t size;

	memcpy(&header, packet, sizeof(header));
	size = header.packet_size / 8;
	header.stream_instance_id += stream - header.cpu_id;
	header.cpu_id = stream;
	header.crc32c = 0;
	header.crc32c = crc32c(crc32c(0, &header, sizeof(header)), packet + sizeof(header),
			       size - sizeof(header));
	begin(sender, PACKET);
	put_u32(stream);
	put_blob(&header, sizeof(header));
	send_message(sender, packet + sizeof(header), size - sizeof(header));
}

static void drain_all(struct sender *senders, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		drain(&senders[i]);
}

/* A packet of each stream, after the ones before it are acknowledged. */
static void send_all(struct sender *senders, unsigned int nr, unsigned int nr_streams,
		     const uint8_t *packet)
{
	for (unsigned int i = 0; i < nr; i++) {
		drain(&senders[i]);
		for (unsigned int k = 0; k < nr_streams; k++)
			send_packet(&senders[i], k, packet);
	}
}

static void step(const char *name)
{
	char line[16];

	puts(name);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(0);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	unsigned int nr, nr_streams, nr_packets;
	struct sender *senders;
	uint8_t *metadata, *data;
	size_t metadata_len, len, at = 0, first = 0;

	if (argc != 7)
		return 2;
	nr = (unsigned int)atoi(argv[2]);
	nr_streams = (unsigned int)atoi(argv[3]);
	nr_packets = (unsigned int)atoi(argv[4]);
	metadata = read_file(argv[5], &metadata_len);
	data = read_file(argv[6], &len);
	senders = calloc(nr, sizeof(*senders));
	if (!senders || len < sizeof(struct packet_header))
		fail(argv[6]);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	for (unsigned int i = 0; i < nr; i++)
		open_session(&senders[i], (uint16_t)atoi(argv[1]), i, nr_streams,
			     (const struct packet_header *)data, (const char *)metadata,
			     metadata_len);
	for (unsigned int p = 0; p < nr_packets; p++) {
		struct packet_header header;

		if (len - at < sizeof(header)) {
			fprintf(stderr, "%s has %u packets\n", argv[6], p);
			return 1;
		}
		memcpy(&header, data + at, sizeof(header));
		send_all(senders, nr, nr_streams, data + at);
		at += header.packet_size / 8;
		if (p)
			continue;
		drain_all(senders, nr);
		first = at;
		step("open");
	}
	drain_all(senders, nr);
	printf("%llu ", (unsigned long long)(at - first) * nr * nr_streams);
	step("stored");
	for (unsigned int i = 0; i < nr; i++) {
		begin(&senders[i], END);
		send_message(&senders[i], NULL, 0);
	}
	drain_all(senders, nr);
	step("ended");
	return 0;
}
