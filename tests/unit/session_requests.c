/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to a consumer that dies, for each kind in the table: before the request is sent, before
 * or after it is read, amid its answer. Each has exactly one callback, whether a successor answers,
 * dies in the same way, or never comes. Then the daemon: for each kind, the consumer dies instead
 * of answering the first requests of this kind, and all that waits for them goes on.
 */
#include <sys/eventfd.h>

#include "base/mem.h"
#include "lib/session_apps.h"

#define COMMAND(name, number, access, turn, doc) { MSG_##name, #name },
static const struct kind {
	uint16_t type;
	const char *name;
} kinds[] = {
#include "proto/consumer.def"
};

/* --- the connection -------------------------------------------------------------------- */

/* When the consumer dies. */
enum point { UNSENT, UNREAD, READ, ITEM, MALFORMED, POINTS };
enum outcome { ANSWERED, DIES_AGAIN, GIVEN_UP, FORGOTTEN, OUTCOMES };

static struct loop *loop;
static struct consumer consumer;
static int far; /* the consumer's end */
static unsigned int nr_gone;

static struct seen {
	unsigned int callbacks, superseded, failed, items, restarts;
} seen;

static void gone(struct consumer *of, const char *why)
{
	(void)of, (void)why;
	nr_gone++;
}

static void done(void *data, const struct con_answer *answer)
{
	CHECK(data == &seen);
	seen.callbacks++;
	seen.superseded += answer->superseded;
	seen.failed += answer->code == ERR_CONSUMER;
	CHECK(!answer->superseded || answer->code == ERR_CONSUMER);
	CHECK((answer->code == 0) == (answer->dec != NULL));
}

static void item(void *data, struct decoder *dec)
{
	CHECK(data == &seen);
	seen.items += dec != NULL;
	seen.restarts += !dec;
}

static void ticked(struct loop_fd *source, uint32_t events)
{
	(void)events;
	loop_stop(source->loop);
}

static void pump(void)
{
	for (int i = 0; i < 6; i++)
		CHECK_IS(loop_run(loop), ==, 0);
}

static void attach(void)
{
	int fds[2];

	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(consumer_attach(&consumer, fds[0]), ==, 0);
	far = fds[1];
}

static void request(const struct kind *kind)
{
	struct encoder enc;

	consumer_begin(&consumer, &enc, kind->type);
	consumer_send(&consumer, &enc, item, done, &seen);
}

static void far_send(const struct encoder *enc)
{
	CHECK_IS(sock_send(far, enc->buf, enc->len, NULL, 0), ==, 0);
	pump();
}

/* Read the request. Return: its serial. */
static uint32_t far_read(const struct kind *kind)
{
	uint8_t buf[256];
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];
	unsigned int nr_fds;
	ssize_t n;

	pump();
	n = sock_recv(far, buf, sizeof(buf), fds, &nr_fds);
	CHECK_IS(n, >, 0);
	decoder_init(&dec, buf, (size_t)n, fds, nr_fds);
	CHECK(decode_header(&dec, &header) == 0 && header.type == kind->type);
	return header.serial;
}

/* The fields of an answer that are 0 or empty. */
static void far_answer(const struct kind *kind, uint32_t serial)
{
	static const uint8_t zeros[256];
	uint8_t buf[512];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, kind->type, MSG_REPLY, serial);
	encode_u32(&enc, 0);
	encode_str(&enc, "");
	memcpy(buf + enc.len, zeros, sizeof(zeros));
	enc.len += sizeof(zeros);
	far_send(&enc);
}

static void far_item(uint32_t serial)
{
	const struct msg_con_stream stream = { .ring = 1 };
	uint8_t buf[256];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_stream, MSG_ITEM, serial);
	msg_con_stream_encode(&enc, &stream);
	far_send(&enc);
}

static void far_malformed(uint32_t serial)
{
	uint8_t buf[64];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, 999, MSG_REPLY, serial);
	far_send(&enc);
}

/* A reader of /proc/PID/fd may hold the socket for a moment: then close() alone would be late. */
static void far_close(void)
{
	shutdown(far, SHUT_RDWR);
	close(far);
}

/* A consumer gets the request up to that point; @is_new: the request is made now. */
static void die_at(const struct kind *kind, enum point point, bool is_new)
{
	if (is_new && point != UNSENT)
		request(kind);
	if (point >= READ) {
		uint32_t serial = far_read(kind);

		if (point == ITEM)
			far_item(serial);
		else if (point == MALFORMED)
			far_malformed(serial);
	}
	far_close();
	pump();
	CHECK(!consumer.connected);
	if (is_new && point == UNSENT)
		request(kind);
	pump();
}

static void drop_one(const struct kind *kind, enum point point, enum outcome outcome, bool state)
{
	static const struct consumer_ops ops = { .gone = gone };

	seen = (struct seen){ 0 };
	nr_gone = 0;
	consumer_init(&consumer, loop, &ops);
	attach();
	if (!state)
		consumer_resend(&consumer);
	die_at(kind, point, true);
	CHECK_IS(nr_gone, ==, 1);
	CHECK_IS(seen.callbacks, ==, state);
	CHECK_IS(seen.superseded, ==, state);
	if (outcome == FORGOTTEN)
		consumer_forget(&consumer, &seen);
	if (outcome == DIES_AGAIN) {
		attach();
		consumer_resend(&consumer);
		die_at(kind, state ? UNSENT : point, false);
	}
	if (outcome == GIVEN_UP) {
		consumer_give_up(&consumer, 0);
	} else {
		attach();
		consumer_resend(&consumer);
		if (!state && outcome != FORGOTTEN)
			far_answer(kind, far_read(kind));
		CHECK(consumer.connected);
		far_close();
	}
	pump();
	CHECK_IS(seen.callbacks, ==, state || outcome != FORGOTTEN);
	CHECK_IS(seen.failed, ==, state || outcome == GIVEN_UP);
	if (!state && point == ITEM && outcome != GIVEN_UP && outcome != FORGOTTEN)
		CHECK_IS(seen.restarts, ==, seen.items);
	consumer_give_up(&consumer, 0);
	pump();
	CHECK_IS(seen.callbacks, ==, state || outcome != FORGOTTEN);
	CHECK(list_empty(&consumer.calls) && list_empty(&consumer.held) &&
	      list_empty(&consumer.failed));
	consumer_fini(&consumer);
}

/* Neither is there a consumer, nor will there be one. */
static void absent(const struct kind *kind)
{
	static const struct consumer_ops ops = { .gone = gone };

	seen = (struct seen){ 0 };
	consumer_init(&consumer, loop, &ops);
	request(kind);
	CHECK_IS(seen.callbacks, ==, 0); /* never from inside the request */
	pump();
	CHECK(seen.callbacks == 1 && seen.failed == 1 && !seen.superseded);
	consumer_fini(&consumer);
}

static void connection(void)
{
	struct loop_fd tick;

	CHECK_IS(loop_new(&loop), ==, 0);
	CHECK_IS(loop_fd_init(&tick, loop, eventfd(1, EFD_CLOEXEC), EPOLLIN, ticked), ==, 0);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		absent(&kinds[i]);
		for (int point = 0; point < POINTS; point++)
			for (int outcome = 0; outcome < OUTCOMES; outcome++)
				for (int state = 0; state < 2; state++)
					drop_one(&kinds[i], point, outcome, state);
	}
	close(tick.fd);
	loop_fd_fini(&tick);
	loop = loop_free(loop);
}

/* --- the daemon -------------------------------------------------------------------------- */

#define POINT_ID 1u
#define RESPAWN_US 600000u /* the daemon starts another consumer meanwhile */

static char path[64];

struct life {
	int client, listener;
	unsigned int deaths; /* that are left */
	bool requested;	     /* a request of the kind was made */
};

static void replace(const struct life *life)
{
	struct fake_consumer *fc = &harness.consumer;

	fc->nr_held = 0;
	harness_consumer_close();
	harness_pump();
	harness_consumer_connect(accept4(life->listener, NULL, NULL, SOCK_CLOEXEC));
	harness_pump();
}

/* Run the daemon; its consumer dies instead of answering. */
static void settle(struct life *life)
{
	struct fake_consumer *fc = &harness.consumer;

	harness_pump();
	while (fc->nr_held) {
		life->requested = true;
		if (--life->deaths == 0)
			fc->hold_type = 0;
		replace(life);
	}
}

/* Until the client is answered and the applications have nothing more to do. */
static struct answer live(struct life *life, const int *apps, size_t nr, struct told *told)
{
	struct answer answer = { .code = -1 };

	for (int i = 0; i < 6; i++) {
		settle(life);
		if (!answer.there)
			answer = harness_answer(life->client);
		for (size_t k = 0; k < nr; k++) {
			uint32_t before = told[k].sync;

			hear(apps[k], &told[k]);
			if (told[k].sync != before)
				confirm(apps[k], &told[k]);
		}
	}
	return answer;
}

static void answered(struct life *life, const int *apps, size_t nr, struct told *told)
{
	struct answer answer = live(life, apps, nr, told);

	CHECK(answer.there);
	if (answer.code)
		printf("%s\n", answer.text);
	CHECK_IS(answer.code, ==, 0);
}

/* Each application records into two buffers: its user's, and its own. */
static void begin(struct life *life, int *ret_app)
{
	harness_begin();
	life->client = harness_client();
	new_session(life->client);
	CHECK_IS(enable(life->client, "x:*").code, ==, 0);
	CHECK_IS(HARNESS_CALL(life->client, channel_enable, NAME, .domain = DOMAIN_USER,
			      .name = "own", .ownership = OWNERSHIP_PROCESS)
			 .code,
		 ==, 0);
	CHECK_IS(HARNESS_CALL(life->client, event_enable, NAME, .domain = DOMAIN_USER,
			      .channel = "own", .pattern = "x:*")
			 .code,
		 ==, 0);
	snprintf(path, sizeof(path), "/tmp/ltt-requests-%d.sock", (int)getpid());
	harness.sd.consumers.program = xstrdup("/nonexistent");
	harness.sd.consumers.own.socket = xstrdup(path);
	*ret_app = new_app("first", 0);
	send_point(*ret_app, POINT_ID, "x:a", NULL, 32, true);
}

static void listen_for(struct life *life)
{
	life->listener = sock_listen(path, 0600, (gid_t)-1);
	CHECK_IS(life->listener, >=, 0);
}

static void end(struct life *life)
{
	CHECK(list_empty(&harness.sd.consumers.own.consumer.calls));
	CHECK(list_empty(&harness.sd.consumers.own.consumer.held));
	close(life->listener);
	unlink(path);
	harness_end();
}

static bool stays_alive(const struct kind *kind, unsigned int deaths)
{
	struct life life = { .deaths = deaths };
	struct told told[3] = { { .sync = 0 } };
	int apps[3];

	begin(&life, &apps[0]);
	listen_for(&life);
	harness.consumer.hold_type = kind->type;
	HARNESS_SEND(life.client, session_start, NAME);
	answered(&life, apps, 1, told);
	CHECK_IS(told[0].armings, ==, 2);
	replace(&life); /* its successor gets the requests that set up a consumer's state */
	(void)live(&life, apps, 1, told);
	apps[1] = new_app("second", 0);
	send_point(apps[1], POINT_ID, "x:b", NULL, 32, true);
	(void)live(&life, apps, 2, told);
	CHECK_IS(told[1].armings, ==, 2);
	CHECK_IS(told[1].nr[MSG_app_ready], ==, 1);
	close(apps[0]); /* its own buffers and trace are closed */
	(void)live(&life, apps + 1, 1, told + 1);
	HARNESS_SEND(life.client, rotation_enable, NAME, .rotate_us = 1u << 30, .keep_archives = 1);
	answered(&life, apps + 1, 1, told + 1);
	for (int i = 0; i < 2; i++) {
		HARNESS_SEND(life.client, session_rotate, NAME);
		answered(&life, apps + 1, 1, told + 1);
	}
	(void)live(&life, apps + 1, 1, told + 1); /* for the archives that go */
	HARNESS_SEND(life.client, memory_reclaim, NAME);
	answered(&life, apps + 1, 1, told + 1);
	HARNESS_SEND(life.client, session_stop, NAME);
	answered(&life, apps + 1, 1, told + 1);
	HARNESS_SEND(life.client, session_start, NAME);
	answered(&life, apps + 1, 1, told + 1);
	apps[2] = new_app("third", 0);
	send_point(apps[2], POINT_ID, "x:c", NULL, 32, true);
	(void)live(&life, apps + 1, 2, told + 1);
	CHECK_IS(told[2].armings, ==, 2);
	CHECK_IS(told[2].nr[MSG_app_ready], ==, 1);
	HARNESS_SEND(life.client, session_destroy, NAME);
	answered(&life, apps + 1, 2, told + 1);
	close(apps[1]);
	close(apps[2]);
	end(&life);
	return life.requested;
}

/* No successor comes at once: requests fail, and are made again when there is one. */
static void comes_late(const struct kind *kind)
{
	struct fake_consumer *fc = &harness.consumer;
	struct life life = { .deaths = 0 };
	struct told told[2] = { { .sync = 0 } };
	int apps[2];

	begin(&life, &apps[0]);
	HARNESS_SEND(life.client, session_start, NAME);
	answered(&life, apps, 1, told);
	fc->hold_type = kind->type;
	apps[1] = new_app("second", 0);
	send_point(apps[1], POINT_ID, "x:b", NULL, 32, true);
	close(apps[0]);
	harness_pump();
	life.requested = fc->nr_held;
	fc->hold_type = 0;
	fc->nr_held = 0;
	harness_consumer_close();
	harness_pump();
	hear(apps[1], &told[1]);
	CHECK_IS(told[1].nr[MSG_app_ready], ==, 1); /* it is not held up */
	if (kind->type == MSG_con_ring_enable)
		CHECK_IS(told[1].armings, ==, 1); /* its own buffer is not on */
	listen_for(&life);
	if (life.requested) {
		CHECK(*session_problem(session_by_id(&harness.sd.sessions, 1)));
		harness_wait(RESPAWN_US);
		harness_consumer_connect(accept4(life.listener, NULL, NULL, SOCK_CLOEXEC));
		(void)live(&life, apps + 1, 1, told + 1);
		CHECK_IS(told[1].armings - told[1].disarmings, ==, 2);
		CHECK(fc->rings_on);
		HARNESS_SEND(life.client, session_destroy, NAME);
		answered(&life, apps + 1, 1, told + 1);
	}
	close(apps[1]);
	end(&life);
}

int main(void)
{
	connection();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (unsigned int deaths = 1; deaths <= 2; deaths++) {
			printf("%s, %u deaths\n", kinds[i].name, deaths);
			/* the others are of the daemon's own start and end, of snapshots, of a
			 * change of the counter, and of the kernel's traces */
			CHECK(stays_alive(&kinds[i], deaths) || kinds[i].type == MSG_con_end ||
			      kinds[i].type == MSG_con_held || kinds[i].type == MSG_con_snapshot ||
			      kinds[i].type == MSG_con_clock_add ||
			      kinds[i].type == MSG_con_trace_kallsyms);
		}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		printf("%s, late\n", kinds[i].name);
		comes_late(&kinds[i]);
	}
	return 0;
}
