/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of applications that are counted: the messages to an application, and their time; the
 * memory that it gets, which can't be shrunk; the figures that a client gets, whatever the
 * memory holds; and an application that can't count, or may not any more.
 */
#include <stdio.h>
#include <unistd.h>

#include "io/memfile.h"
#include "ltt_counts.h"
#include "session_apps.h"

/* --- what an application hears ---------------------------------------------------- */

struct heard {
	unsigned int memories, counts, uncounts, drops, buffers, arms;
	uint32_t sync;
	uint32_t word[8], point[8]; /* of what is counted, as it was said */
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
		CHECK(msg_app_count_decode(dec, &m) == 0);
		while (msg_app_counting_next(&m.countings, &counting)) {
			unsigned int *nr = type == MSG_app_count ? &h->counts : &h->uncounts;

			CHECK(*nr < ARRAY_SIZE(h->word) && counting.counts == h->memory.counts);
			h->word[*nr] = counting.word;
			h->point[*nr] = counting.point;
			h->field[*nr] = counting.has_field ? (int)counting.field : -1;
			++*nr;
		}
	} else if (type == MSG_app_sync) {
		CHECK(msg_app_sync_decode(dec, &sync) == 0);
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

static int counting_app(uint64_t features, const char *point)
{
	int app = harness_app();

	HARNESS_APP_SEND(app, app_hello, .abi = 1, .pid = 77, .procname = "web", .bits = 64,
			 .features = features, .start_ns = 1700000000000000000ull);
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

/* --- what a client hears ------------------------------------------------------------- */

struct answers {
	unsigned int items, buckets, refusals;
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

			CHECK(msg_counted_decode(&dec, &told.last) == 0);
			snprintf(told.event, sizeof(told.event), "%s", told.last.event);
			told.items++;
			while (msg_bucket_next(&told.last.buckets, &bucket))
				told.buckets++;
		} else if (header.type == MSG_refusal && (header.flags & MSG_ITEM)) {
			struct msg_refusal refusal;

			CHECK(msg_refusal_decode(&dec, &refusal) == 0);
			CHECK(refusal.domain == DOMAIN_USER);
			snprintf(told.why, sizeof(told.why), "%s", refusal.why);
			told.refusals++;
		} else if (header.type == type) {
			CHECK(decode_u32(&dec) == 0);
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

	CHECK(h->memory.nr_parts == harness.sd.recorder.config.nr_cpus + 1);
	CHECK(memfile_check(h->fd, bytes) == 0);
	words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
	CHECK(words != MAP_FAILED);
	close(h->fd);
	return words;
}

/* From the start to the end; what is counted is counted, and nothing is recorded. */
static void life(void)
{
	struct heard h = { 0 };
	struct answers told;
	int client, app, other;
	uint64_t *words;
	size_t part;

	harness_begin();
	client = harness_client();
	app = counting_app(APP_FEATURE_COUNT, "x:y");
	new_session(client);
	CHECK(count(client, RULE_COUNT, "x:*", NULL).code == 0);
	CHECK(count(client, RULE_HISTOGRAM, "x:y", "n").code == 0);
	CHECK(count(client, RULE_HISTOGRAM, "x:y", "m").code == ERR_INVALID);
	CHECK(count(client, RULE_HISTOGRAM, "x:*", "m").code == 0);
	CHECK(count(client, RULE_PROBE, "x:y", "m").code == ERR_INVALID);
	hear_more(app, &h);
	CHECK(h.memories == 0 && stats(client).items == 0);
	start(client, app, &h);
	CHECK(harness_answer(client).code == 0);
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
	other = counting_app(APP_FEATURE_COUNT, "x:y");
	hear_more(other, &h);
	CHECK(h.memories == 2 && h.counts == 1 && h.field[0] == 0);
	close(h.fd);
	close(other);

	HARNESS_SEND(client, session_stop, NAME);
	hear_more(app, &h);
	CHECK(h.uncounts == 2 && h.drops == 0);
	CHECK(harness_answer(client).code == 0 && !stats(client).last.counting);
	close(app); /* what it counted stays */
	harness_pump();
	memset(words, 0xff, part * 8 * h.memory.nr_parts); /* whatever it is */
	told = stats(client);
	CHECK(told.items == 2 && told.buckets == LTT_COUNTS_BUCKETS);
	CHECK(told.last.count == 0 - (uint64_t)h.memory.nr_parts);
	CHECK(HARNESS_CALL(client, session_destroy, NAME).code == 0);
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
	app = counting_app(APP_FEATURE_COUNT, "x:y");
	new_session(client);
	CHECK(count(client, RULE_COUNT, "x:y", NULL).code == 0);
	CHECK(enable(client, "x:y").code == 0);
	start(client, app, &h);
	CHECK(h.counts == 1 && h.buffers == 1 && h.arms == 1);
	close(h.fd);
	harness_answer(client);
	HARNESS_SEND(client, session_destroy, NAME);
	hear_more(app, &h); /* it confirms the stop, */
	hear_more(app, &h); /* and then is told the end */
	CHECK(h.drops == 1);
	close(app);
	close(client);
	harness_end();
}

/* An old library hears nothing of it, and its user does. */
static void older(void)
{
	struct heard h = { 0 };
	struct answers told;
	int client, app;

	harness_begin();
	client = harness_client();
	app = counting_app(APP_FEATURE_OFFER, "x:y");
	new_session(client);
	CHECK(count(client, RULE_COUNT, "x:y", NULL).code == 0);
	CHECK(count(client, RULE_COUNT, "no:such", NULL).code == 0);
	HARNESS_SEND(client, session_start, NAME);
	hear_more(app, &h);
	told = ask(client, MSG_session_start);
	CHECK(h.memories == 0 && h.counts == 0);
	CHECK(told.refusals == 1 && strstr(told.why, "(web) has an older libltt"));
	HARNESS_SEND(client, session_show, NAME);
	CHECK(ask(client, MSG_session_show).refusals == 1);
	CHECK(stats(client).items == 0);
	close(app);
	close(client);
	harness_end();
}

/* Its user may have no more memory: nothing is counted, the session says why; and once there
 * is room, the next start finds it. */
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
	CHECK(seteuid(65534) == 0);
	app = counting_app(APP_FEATURE_COUNT, "x:y");
	CHECK(seteuid(0) == 0);
	harness.sd.quotas.limits[QUOTA_MEMORY] = 4096;
	new_session(client);
	CHECK(count(client, RULE_COUNT, "x:y", NULL).code == 0);
	start(client, app, &h);
	session = session_by_id(&harness.sd.sessions, 1);
	CHECK(h.memories == 0 && session && strstr(session_problem(session), "bytes of buffers"));
	CHECK(harness_answer(client).code == 0 && stats(client).last.count == 0);
	HARNESS_SEND(client, session_stop, NAME);
	hear_more(app, &h);
	CHECK(harness_answer(client).code == 0);
	start(client, app, &h); /* no better yet */
	CHECK(h.memories == 0 && strstr(session_problem(session), "bytes of buffers"));
	CHECK(harness_answer(client).code == 0);
	HARNESS_SEND(client, session_stop, NAME);
	hear_more(app, &h);
	CHECK(harness_answer(client).code == 0);
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
	older();
	no_share();
	return 0;
}
