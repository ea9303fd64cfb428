// SPDX-License-Identifier: GPL-2.0-only
/*
 * rapp_check.c - does a trace hold the events that rapp emitted?
 *
 *   rapp_check COUNTERS[,COUNTERS...] TRACE_DIR
 *
 * Reads the stream files below TRACE_DIR by the written format
 * (doc/trace-format.md), with no code of the product. Checks each packet
 * (magic, sizes, sequence numbers, time, counts) and each event of rapp (its
 * thread, number, checksum, bytes; rising numbers within a thread), and
 * prints one line of figures:
 *
 *   emitted E in_flight F recorded R lost L silent S doubled D torn T bad B packets P
 *
 * where in_flight are the calls begun that did not return, and silent the calls
 * that returned, are not in the trace and were not counted as lost (less than
 * none where a call in flight was counted). Exits 1 where anything was wrong.
 *
 * Events of other programs in the same streams have to have rapp's layout.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rapp.h"

enum { HEADER_BYTES = 136, MAX_FILES = 16, MAX_SLOTS = 65536, TS_BITS = 27 };

struct packet {
	uint64_t begin, end, bytes, seq, discarded, pos, recorded, lost[4];
	uint32_t cpu, stream_id, sum;
};

struct thread {
	const struct rapp_slot *slot;
	uint64_t last;	      /* number of its last event in the stream being read */
	uint64_t last_stream; /* which that is; from 1 */
	uint8_t *seen;	      /* a bit for each event */
};

static struct thread thread[MAX_SLOTS];
static unsigned int nr_threads;
static struct {
	uint64_t recorded, returned_recorded, lost, doubled, torn, misplaced, bad, packets, streams;
} total;

static void complain(const char *path, uint64_t offset, const char *what)
{
	if (total.bad++ < 20)
		fprintf(stderr, "rapp_check: %s at %llu: %s\n", path, (unsigned long long)offset,
			what);
}

static uint64_t get(const uint8_t *p, unsigned int bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

static const uint8_t *map_file(const char *path, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const uint8_t *map = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		fprintf(stderr, "rapp_check: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	if (st.st_size) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED) {
			fprintf(stderr, "rapp_check: %s: %s\n", path, strerror(errno));
			exit(2);
		}
	}
	close(fd);
	*ret_size = (size_t)st.st_size;
	return map;
}

/* --- emitted events ------------------------------------------------------------ */

static void load_counters(const char *path)
{
	size_t size;
	const struct rapp_file *f = (const void *)map_file(path, &size);

	if (size < sizeof(*f) || f->magic != RAPP_MAGIC) {
		fprintf(stderr, "rapp_check: %s is no counter file\n", path);
		exit(2);
	}
	for (unsigned int i = 0; i < f->nr_slots; i++) {
		const struct rapp_slot *slot = &f->slot[i];
		struct thread *t;

		if (slot->thread >= MAX_SLOTS || thread[slot->thread].slot) {
			fprintf(stderr, "rapp_check: thread %u twice\n", slot->thread);
			exit(2);
		}
		t = &thread[slot->thread];
		t->slot = slot;
		t->seen = calloc(slot->begun / 8 + 1, 1);
		if (!t->seen)
			exit(2);
		if (slot->thread >= nr_threads)
			nr_threads = slot->thread + 1;
	}
}

/* --- events ------------------------------------------------------------------------ */

static void count_event(struct thread *t, uint64_t seq)
{
	uint8_t *byte = &t->seen[seq / 8], bit = (uint8_t)(1u << seq % 8);

	if (*byte & bit)
		total.doubled++;
	else if (seq < t->slot->returned)
		total.returned_recorded++;
	*byte |= bit;
	total.recorded++;
	if (t->last_stream == total.streams && seq <= t->last)
		total.misplaced++;
	t->last_stream = total.streams;
	t->last = seq;
}

/* Return the payload's length, or 0 where it runs over the end. */
static size_t check_event(const uint8_t *p, size_t left)
{
	uint32_t number, sum;
	uint64_t seq, mix;
	uint16_t length;
	struct thread *t;

	if (left < 18 || left < 18 + get(p + 16, 2))
		return 0;
	number = (uint32_t)get(p, 4);
	seq = get(p + 4, 8);
	sum = (uint32_t)get(p + 12, 4);
	length = (uint16_t)get(p + 16, 2);
	mix = rapp_mix(number, seq);
	t = number < MAX_SLOTS ? &thread[number] : NULL;
	if (!t || !t->slot || seq >= t->slot->begun || sum != rapp_sum(mix, length)) {
		total.torn++;
		return 18 + (size_t)length;
	}
	for (unsigned int i = 0; i < length; i++) {
		if (p[18 + i] != rapp_byte(mix, i)) {
			total.torn++;
			return 18 + (size_t)length;
		}
	}
	count_event(t, seq);
	return 18 + (size_t)length;
}

/* Event header. Return its length or 0. @clock moves on. */
static size_t event_header(const uint8_t *p, size_t left, uint64_t *clock)
{
	uint32_t word, ts;
	uint64_t low;

	if (left < 4)
		return 0;
	if ((p[0] & 31) == 31) {
		if (left < 13)
			return 0;
		*clock = get(p + 5, 8);
		return 13;
	}
	word = (uint32_t)get(p, 4);
	ts = word >> 5;
	low = *clock & ((1u << TS_BITS) - 1);
	*clock += ts >= low ? ts - low : ts + (1u << TS_BITS) - low;
	return (p[0] & 31) == 30 ? 6 : 4;
}

static uint64_t walk_events(const char *path, const uint8_t *p, const struct packet *pk)
{
	size_t at = HEADER_BYTES;
	uint64_t clock = pk->begin, before = pk->begin, events = 0;

	while (at < pk->bytes) {
		size_t head = event_header(p + at, pk->bytes - at, &clock);
		size_t body = head ? check_event(p + at + head, pk->bytes - at - head) : 0;

		if (!head || !body) {
			complain(path, at, "an event runs over the end of its packet");
			break;
		}
		if (clock < before || clock > pk->end)
			complain(path, at, "an event's time is not within its packet");
		before = clock;
		at += head + body;
		events++;
	}
	return events;
}

/* --- packets ------------------------------------------------------------------------- */

static bool read_packet(const uint8_t *p, size_t left, struct packet *pk)
{
	if (left < HEADER_BYTES || get(p, 4) != 0xc1fc1fc1u || get(p + 8, 4) != 2)
		return false;
	*pk = (struct packet){
		.sum = (uint32_t)get(p + 12, 4),
		.pos = get(p + 16, 8),
		.recorded = get(p + 24, 8),
		.lost = { get(p + 32, 8), get(p + 40, 8), get(p + 48, 8), get(p + 56, 8) },
		.stream_id = (uint32_t)get(p + 64, 4),
		.begin = get(p + 84, 8),
		.end = get(p + 92, 8),
		.bytes = get(p + 108, 8) / 8,
		.seq = get(p + 116, 8),
		.discarded = get(p + 124, 8),
		.cpu = (uint32_t)get(p + 132, 4),
	};
	return get(p + 100, 8) == get(p + 108, 8) && pk->bytes >= HEADER_BYTES && pk->bytes <= left;
}

/* CRC-32C of a packet with that field as 0: by a table, not the product's code */
static uint32_t checksum(const uint8_t *p, uint64_t bytes)
{
	static uint32_t table[256];
	uint32_t v = ~0u;

	for (uint32_t b = 0; b < 256 && !table[255]; b++) {
		table[b] = b;
		for (int bit = 0; bit < 8; bit++)
			table[b] = table[b] >> 1 ^ (table[b] & 1 ? 0x82f63b78u : 0);
	}
	for (uint64_t i = 0; i < bytes; i++) {
		uint8_t byte = i / 4 == 3 ? 0 : p[i]; /* the field is at 12 */

		v = v >> 8 ^ table[(v ^ byte) & 255];
	}
	return ~v;
}

static void check_packet(const char *path, uint64_t at, const struct packet *pk,
			 const struct packet *before)
{
	if (pk->end < pk->begin || (before && pk->begin < before->end))
		complain(path, at, "packet times go back");
	if (pk->discarded != pk->lost[0] + pk->lost[1] + pk->lost[2] + pk->lost[3])
		complain(path, at, "the causes of loss do not add up to events_discarded");
	if (!before)
		return;
	if (pk->seq != before->seq + 1)
		complain(path, at, "a packet is missing");
	if (pk->lost[3] == before->lost[3] &&
	    pk->pos != before->pos + (before->bytes - HEADER_BYTES))
		complain(path, at, "stream_pos does not follow");
	if (pk->discarded < before->discarded)
		complain(path, at, "events_discarded goes back");
}

static void walk_stream(const char *path)
{
	struct packet pk, before = { 0 };
	uint64_t counted = 0, events;
	size_t size, at = 0;
	const uint8_t *p = map_file(path, &size);

	total.streams++;
	while (at < size) {
		if (!read_packet(p + at, size - at, &pk)) {
			complain(path, at, "no whole packet");
			break;
		}
		check_packet(path, at, &pk, at ? &before : NULL);
		if (checksum(p + at, pk.bytes) != pk.sum)
			complain(path, at, "the checksum is wrong");
		events = walk_events(path, p + at, &pk);
		/* earlier events are in an archive, or were cleared, perhaps before any packet */
		if (!at && (pk.seq || !events))
			counted = pk.recorded - pk.lost[3] - events;
		counted += events;
		/* published, and lost to the output: the events that are not in the file */
		if (counted + pk.lost[3] != pk.recorded)
			complain(path, at, "events_recorded differs from the events in the file");
		total.packets++;
		before = pk;
		at += pk.bytes;
	}
	if (size)
		total.lost += before.discarded;
}

static bool is_stream(const char *name)
{
	return strcmp(name, "metadata") != 0 && strcmp(name, "clocks") != 0 && name[0] != '.';
}

static void walk_tree(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *de;

	if (!dir) {
		fprintf(stderr, "rapp_check: %s: %s\n", folder, strerror(errno));
		exit(2);
	}
	while ((de = readdir(dir))) {
		char path[4096];
		struct stat st;

		if (de->d_name[0] == '.' || strcmp(de->d_name, "index") == 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, de->d_name) >= (int)sizeof(path))
			continue;
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			walk_tree(path);
		else if (is_stream(de->d_name))
			walk_stream(path);
	}
	closedir(dir);
}

/* --- the verdict ------------------------------------------------------------------------ */

static int verdict(void)
{
	uint64_t emitted = 0, in_flight = 0;
	int64_t silent;
	bool wrong;

	for (unsigned int i = 0; i < nr_threads; i++) {
		if (!thread[i].slot)
			continue;
		emitted += thread[i].slot->returned;
		in_flight += thread[i].slot->begun - thread[i].slot->returned;
	}
	silent = (int64_t)emitted - (int64_t)total.returned_recorded - (int64_t)total.lost;
	wrong = total.doubled || total.torn || total.bad || total.misplaced || silent > 0 ||
		-silent > (int64_t)in_flight;
	printf("emitted %llu in_flight %llu recorded %llu lost %llu silent %lld doubled %llu "
	       "torn %llu misplaced %llu bad %llu packets %llu streams %llu\n",
	       (unsigned long long)emitted, (unsigned long long)in_flight,
	       (unsigned long long)total.recorded, (unsigned long long)total.lost,
	       (long long)silent, (unsigned long long)total.doubled, (unsigned long long)total.torn,
	       (unsigned long long)total.misplaced, (unsigned long long)total.bad,
	       (unsigned long long)total.packets, (unsigned long long)total.streams);
	return wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
	char *save = NULL;

	if (argc != 3) {
		fprintf(stderr, "usage: rapp_check COUNTERS[,COUNTERS...] TRACE_DIR\n");
		return 2;
	}
	for (char *p = strtok_r(argv[1], ",", &save); p; p = strtok_r(NULL, ",", &save))
		load_counters(p);
	walk_tree(argv[2]);
	return verdict();
}
