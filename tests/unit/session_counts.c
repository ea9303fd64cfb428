/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of applications that are counted: the messages to an application, and their time; the
 * memory that it gets, which can't be shrunk; the figures that a client gets, for any
 * contents of the memory; and an application that can't count, or may not any more.
 */
#include <stdio.h>
#include <unistd.h>

#include "io/memfile.h"
#include "ltt_counts.h"
#include "lib/session_apps.h"

/* --- messages to an application ---------------------------------------------------- */

struct heard {
	unsigned int memories, counts, uncounts, drops, buffers, arms;
	uint32_t sync;
	uint32_t word[8], point[8]; /* the countings in the order of their messages */
	int field[8];
	int fd; /* of the last memory */
	struct msg_app_counts memory;
};

static void note(struct heard *h, uint16_t type, struct decoder *dec)
{
	struct msg_app_counting counting;
	struct msg_app_count m;
	struct msg_app_sync sync;

	if (type == MSG_app_counts) {
		CHECK(msg_app_counts_decode(dec, &h->memory) == 0 && h->memory.memory >= 0);
		h->fd = h->memory.memory;
		h->memories++;
	} else if (type == MSG_app_count || type == MSG_app_uncount) {
		CHECK_IS(msg_app_count_decode(dec, &m), ==, 0);
		while (msg_app_counting_next(&m.countings, &counting)) {
			unsigned int *nr = type == MSG_app_count ? &h->counts : &h->uncounts;

			CHECK(*nr < ARRAY_SIZE(h->word) && counting.counts == h->memory.counts);
			h->word[*nr] = counting.word;
			h->point[*nr] = counting.point;
			h->field[*nr] = counting.has_field ? (int)counting.field : -1;
			++*nr;
		}
	} else if (type == MSG_app_sync) {
		CHECK_IS(msg_app_sync_decode(dec, &sync), ==, 0);
		h->sync = sync.serial;
	}
	h->drops += type == MSG_app_counts_drop;
	h->buffers += type == MSG_app_buffer;
	h->arms += type == MSG_app_arm;
}

/* Receive new messages; the earlier counts of them are cleared. */
static void hear_more(int app, struct heard *h)
{
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	h->counts = h->uncounts = h->sync = 0;
	harness_pump();
	while (harness_recv(app, &header, &dec, fds))
		note(h, header.type, &dec);
	if (h->sync)
		HARNESS_APP_SEND(app, app_synced, h->sync);
	harness_pump();
}

static int counting_app(const char *point)
{
	int app = harness_app();

	HARNESS_APP_SEND(app, app_hello, .abi = 1, .pid = 77, .procname = "web", .bits = 64,
			 .start_ns = 1700000000000000000ull);
	send_point(app, 1, point, NULL, 32, true);
	return app;
}

static struct answer count(int client, uint8_t kind, const char *pattern, const char *field)
{
	return HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_USER, .pattern = pattern,
			    .kind = kind, .location = field);
}

static void start(int client, int app, struct heard *h)
{
	HARNESS_SEND(client, session_start, NAME);
	hear_more(app, h);
}

/* --- figures for a client ------------------------------------------------------------- */

struct answers {
	unsigned int items, buckets, refusals, keys;
	uint64_t key_hits;
	char by[64];
	struct msg_counted last;
	char event[64], why[200];
};

static struct answers ask(int client, uint16_t type)
{
	struct answers told = { 0 };
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	harness_pump();
	while (harness_recv(client, &header, &dec, fds)) {
		if (header.type == MSG_counted && (header.flags & MSG_ITEM)) {
			struct msg_bucket bucket;

			CHECK_IS(msg_counted_decode(&dec, &told.last), ==, 0);
			snprintf(told.by, sizeof(told.by), "%s", told.last.by);
			snprintf(told.event, sizeof(told.event), "%s", told.last.event);
			told.items++;
			while (msg_bucket_next(&told.last.buckets, &bucket))
				told.buckets++;
		} else if (header.type == MSG_counted_key && (header.flags & MSG_ITEM)) {
			struct msg_counted_key key;

			CHECK_IS(msg_counted_key_decode(&dec, &key), ==, 0);
			told.keys++;
			told.key_hits += key.count;
		} else if (header.type == MSG_refusal && (header.flags & MSG_ITEM)) {
			struct msg_refusal refusal;

			CHECK_IS(msg_refusal_decode(&dec, &refusal), ==, 0);
			CHECK_IS(refusal.domain, ==, DOMAIN_USER);
			snprintf(told.why, sizeof(told.why), "%s", refusal.why);
			told.refusals++;
		} else if (header.type == type) {
			CHECK_IS(decode_u32(&dec), ==, 0);
		}
	}
	return told;
}

static struct answers stats(int client)
{
	HARNESS_SEND(client, stats_list, NAME);
	return ask(client, MSG_stats_list);
}

/* --- the tests ------------------------------------------------------------------------ */

static uint64_t *map(const struct heard *h)
{
	size_t bytes = (size_t)h->memory.nr_parts * h->memory.part_bytes;
	uint64_t *words;

	CHECK_IS(h->memory.nr_parts, ==, harness.sd.recorder.config.nr_cpus + 1);
	CHECK_IS(memfile_check(h->fd, bytes), ==, 0);
	words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
	CHECK_IS(words, !=, MAP_FAILED);
	close(h->fd);
	return words;
}

/* From the start to the end; counted events are counted, and nothing is recorded. */
static void life(void)
{
	struct heard h = { 0 };
	struct answers told;
	int client, app, other;
	uint64_t *words;
	size_t part;

	harness_begin();
	client = harness_client();
	app = counting_app("x:y");
	new_session(client);
	CHECK_IS(count(client, RULE_COUNT, "x:*", NULL).code, ==, 0);
	CHECK_IS(count(client, RULE_HISTOGRAM, "x:y", "n").code, ==, 0);
	CHECK_IS(count(client, RULE_HISTOGRAM, "x:y", "m").code, ==, ERR_INVALID);
	CHECK_IS(count(client, RULE_HISTOGRAM, "x:*", "m").code, ==, 0);
	CHECK_IS(count(client, RULE_PROBE, "x:y", "m").code, ==, ERR_INVALID);
	hear_more(app, &h);
	CHECK(h.memories == 0 && stats(client).items == 0);
	start(client, app, &h);
	CHECK_IS(harness_answer(client).code, ==, 0);
	CHECK(h.memories == 1 && h.counts == 2 && h.buffers == 0 && h.arms == 0);
	CHECK(h.point[0] == 1 && h.field[0] == -1 && h.point[1] == 1 && h.field[1] == 0);
	words = map(&h);
	part = h.memory.part_bytes / 8;
	words[h.word[0]] = 5; /* hits */
	words[part * (h.memory.nr_parts - 1) + h.word[0]] += 4;
	words[h.word[1]] = 3; /* by size */
	words[h.word[1] + 1] = 300;
	words[h.word[1] + 4 + 7] = 3;
	told = stats(client);
	CHECK(told.items == 2 && told.buckets == 1 && strcmp(told.event, "x:y") == 0);
	CHECK(told.last.count == 3 && told.last.sum == 300 && told.last.counting);

	/* a rule goes; a point comes, and another application, for the same memory */
	HARNESS_SEND(client, event_disable, NAME, .domain = DOMAIN_USER, .pattern = "x:*");
	hear_more(app, &h);
	CHECK(harness_answer(client).code == 0 && h.uncounts == 1 && h.counts == 0);
	send_point(app, 2, "x:y", NULL, 64, true);
	hear_more(app, &h);
	CHECK(h.counts == 1 && h.point[0] == 2 && h.memories == 1);
	other = counting_app("x:y");
	hear_more(other, &h);
	CHECK(h.memories == 2 && h.counts == 1 && h.field[0] == 0);
	close(h.fd);
	close(other);

	HARNESS_SEND(client, session_stop, NAME);
	hear_more(app, &h);
	CHECK(h.uncounts == 2 && h.drops == 0);
	CHECK(harness_answer(client).code == 0 && !stats(client).last.counting);
	close(app); /* its counts stay */
	harness_pump();
	memset(words, 0xff, part * 8 * h.memory.nr_parts); /* with any contents */
	told = stats(client);
	CHECK(told.items == 2 && told.buckets == LTT_COUNTS_BUCKETS);
	CHECK_IS(told.last.count, ==, 0 - (uint64_t)h.memory.nr_parts);
	CHECK_IS(HARNESS_CALL(client, session_destroy, NAME).code, ==, 0);
	munmap(words, part * 8 * h.memory.nr_parts);
	close(client);
	harness_end();
}

/* Counted and recorded at once are two things. */
static void both(void)
{
	struct heard h = { 0 };
	int client, app;

	harness_begin();
	client = harness_client();
	app = counting_app("x:y");
	new_session(client);
	CHECK_IS(count(client, RULE_COUNT, "x:y", NULL).code, ==, 0);
	CHECK_IS(enable(client, "x:y").code, ==, 0);
	start(client, app, &h);
	CHECK(h.counts == 1 && h.buffers == 1 && h.arms == 1);
	close(h.fd);
	harness_answer(client);
	HARNESS_SEND(client, session_destroy, NAME);
	hear_more(app, &h); /* it confirms the stop, */
	hear_more(app, &h); /* and then receives the end of the counting */
	CHECK_IS(h.drops, ==, 1);
	close(app);
	close(client);
	harness_end();
}

static struct answer count_by(int client, uint8_t kind, const char *by)
{
	return HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_USER, .pattern = "x:*",
			    .kind = kind, .location = kind == RULE_HISTOGRAM ? "n" : "", .by = by);
}

static uint64_t *map_keys(const struct heard *h, struct ltt_counts_slot **ret_slots, size_t *ret)
{
	size_t parts = (size_t)h->memory.nr_parts * h->memory.part_bytes;
	uint64_t *words;

	*ret = parts + h->memory.nr_slots * sizeof(struct ltt_counts_slot);
	CHECK(h->memory.nr_slots && memfile_check(h->fd, *ret) == 0);
	words = mmap(NULL, *ret, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
	CHECK_IS(words, !=, MAP_FAILED);
	close(h->fd);
	*ret_slots = (void *)((char *)words + parts);
	return words;
}

static void write_slot(uint64_t *words, struct ltt_counts_slot *slots, uint32_t slot, uint64_t head,
		       uint64_t hits)
{
	slots[slot].tag = 2 + slot;
	memset(slots[slot].key, 'k', sizeof(slots[slot].key));
	slots[slot].key[0] = head;
	words[LTT_COUNTS_REST_WORDS + slot] = hits;
}

/* Equal keys are joined; damaged ones are not shown, whatever is in the memory. */
static void by_keys(void)
{
	struct heard h = { 0 };
	struct ltt_counts_slot *slots;
	struct answers told;
	int client, app;
	uint64_t *words;
	size_t bytes;

	harness_begin();
	client = harness_client();
	app = counting_app("x:y");
	new_session(client);
	CHECK_IS(count_by(client, RULE_COUNT, "n").code, ==, 0);
	CHECK_IS(count_by(client, RULE_COUNT, "m").code, ==,
		 0); /* a pattern: no event has it yet */
	start(client, app, &h);
	CHECK(harness_answer(client).code == 0 && h.counts == 1 && h.word[0] == 0);
	words = map_keys(&h, &slots, &bytes);
	told = stats(client);
	CHECK(told.items == 1 && told.keys == 0 && strcmp(told.by, "n") == 0);
	write_slot(words, slots, 3, LTT_COUNTS_HEAD(0, LTT_COUNTS_TEXT, 4), 5);
	write_slot(words, slots, 900, LTT_COUNTS_HEAD(0, LTT_COUNTS_TEXT, 4), 7);
	slots[900].key[2] = 99; /* behind the text */
	write_slot(words, slots, 4, LTT_COUNTS_HEAD(0, LTT_COUNTS_SIGNED, 0), 2);
	write_slot(words, slots, 5, LTT_COUNTS_HEAD(0, LTT_COUNTS_UNSIGNED, 0), 0); /* no hit yet */
	slots[6].tag = 1; /* being written */
	words[0] = 10;	  /* overflow */
	words[1] = 20;	  /* missed */
	told = stats(client);
	CHECK(told.keys == 2 && told.key_hits == 14 && told.last.count == 14 + 30);
	CHECK(told.last.overflow == 10 && told.last.missed == 20);
	write_slot(words, slots, 7, LTT_COUNTS_HEAD(0, LTT_COUNTS_TEXT, 49), 1);
	write_slot(words, slots, 8, LTT_COUNTS_HEAD(0, LTT_COUNTS_CUT, 255), 1);
	write_slot(words, slots, 9, LTT_COUNTS_HEAD(0, 77, 0), 1);
	write_slot(words, slots, 10, 0, 1);
	write_slot(words, slots, 11, LTT_COUNTS_HEAD(0, LTT_COUNTS_SIGNED, 0) | 9999ull << 32, 1);
	told = stats(client);
	CHECK(told.keys == 2 && told.key_hits == 14);
	memset(words, 0xff, bytes);
	CHECK_IS(stats(client).keys, ==, 0);
	close(app);
	CHECK_IS(HARNESS_CALL(client, session_destroy, NAME).code, ==, 0);
	munmap(words, bytes);
	close(client);
	harness_end();
}

enum { CHANGES = 1500 }; /* of a filter: more than are kept */

/* A changed filter is sent, and no other; those that are in use are kept. */
static void filters(void)
{
	struct heard h = { 0 };
	int client, app;
	char filter[32];

	harness_begin();
	client = harness_client();
	app = counting_app("x:y");
	new_session(client);
	CHECK_IS(HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_USER, .pattern = "x:*",
			      .kind = RULE_COUNT, .filter = "n == 5")
			 .code,
		 ==, 0);
	start(client, app, &h);
	CHECK(harness_answer(client).code == 0 && h.counts == 1);
	close(h.fd);
	for (int i = 0; i < CHANGES; i++) {
		snprintf(filter, sizeof(filter), "n == %d", 10 + i);
		HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_USER, .pattern = "x:y",
			     .kind = RULE_COUNT, .filter = filter);
		hear_more(app, &h);
		CHECK_IS(harness_answer(client).code, ==, 0);
		CHECK(h.counts == 1 && h.uncounts == 0);
	}
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_USER, .pattern = "x:y",
		     .kind = RULE_COUNT, .filter = "m == 1"); /* a field that it does not have */
	hear_more(app, &h);
	CHECK(harness_answer(client).code == ERR_INVALID && h.counts == 0);
	close(app);
	close(client);
	harness_end();
}

/* Its user may have no more memory: nothing is counted, the session reports the reason; and once
 * there is room, the next start succeeds. */
static void no_share(void)
{
	struct heard h = { 0 };
	struct session *session;
	int client, app;

	if (geteuid() != 0) {
		printf("shares: needs root\n"); /* the own share has no end */
		return;
	}
	harness_begin();
	client = harness_client();
	CHECK_IS(seteuid(65534), ==, 0);
	app = counting_app("x:y");
	CHECK_IS(seteuid(0), ==, 0);
	harness.sd.quotas.limits[QUOTA_MEMORY] = 4096;
	new_session(client);
	CHECK_IS(count(client, RULE_COUNT, "x:y", NULL).code, ==, 0);
	start(client, app, &h);
	session = session_by_id(&harness.sd.sessions, 1);
	CHECK(h.memories == 0 && session && strstr(session_problem(session), "bytes of buffers"));
	CHECK(harness_answer(client).code == 0 && stats(client).last.count == 0);
	HARNESS_SEND(client, session_stop, NAME);
	hear_more(app, &h);
	CHECK_IS(harness_answer(client).code, ==, 0);
	start(client, app, &h); /* no better yet */
	CHECK(h.memories == 0 && strstr(session_problem(session), "bytes of buffers"));
	CHECK_IS(harness_answer(client).code, ==, 0);
	HARNESS_SEND(client, session_stop, NAME);
	hear_more(app, &h);
	CHECK_IS(harness_answer(client).code, ==, 0);
	harness.sd.quotas.limits[QUOTA_MEMORY] = 0;
	start(client, app, &h);
	CHECK(h.memories == 1 && h.counts == 1 && !*session_problem(session));
	close(h.fd);
	close(app);
	close(client);
	harness_end();
}

int main(void)
{
	life();
	both();
	by_keys();
	filters();
	no_share();
	return 0;
}
