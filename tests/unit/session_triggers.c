/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Triggers on events of applications: the messages to an application, before app_ready; records of
 * firings, with and without captures, of processes that were killed while they wrote one; memory
 * that an application has filled with anything.
 */
#include <stdlib.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ltt_fired.h"
#include "lib/session_apps.h"
#include "sessiond/core/trigger.h"

#define NO_FIELD UINT32_MAX

/* --- messages to an application ---------------------------------------------------- */

struct seen {
	unsigned int memories, points, untriggers, drops, ready, syncs;
	int fd;
	struct msg_app_fired memory;
	struct msg_app_triggering triggering[8];
	uint32_t captures[8][LTT_FIRED_VALUES + 1], nr_captures[8], filters[8];
	bool points_after_ready;
};

static void note_points(struct seen *s, struct decoder *dec)
{
	struct msg_app_capture capture;
	struct msg_app_trigger m;

	CHECK_IS(msg_app_trigger_decode(dec, &m), ==, 0);
	CHECK_IS(m.fired, ==, s->memory.fired);
	while (msg_app_triggering_next(&m.points, &s->triggering[s->points])) {
		uint32_t at = s->points++;

		CHECK_IS(s->points, <, 8);
		s->filters[at] = m.filter.len;
		while (msg_app_capture_next(&s->triggering[at].captures, &capture))
			s->captures[at][s->nr_captures[at]++] = capture.field;
	}
	s->points_after_ready |= s->ready != 0;
}

static struct seen receive(int app)
{
	struct msg_header header;
	struct seen s = { .fd = -1 };
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	harness_pump();
	while (harness_recv(app, &header, &dec, fds)) {
		if (header.type == MSG_app_fired) {
			CHECK_IS(msg_app_fired_decode(&dec, &s.memory), ==, 0);
			s.fd = s.memory.memory;
			s.memories++;
		} else if (header.type == MSG_app_trigger) {
			note_points(&s, &dec);
		}
		if (header.type == MSG_app_sync) {
			struct msg_app_sync sync;

			CHECK_IS(msg_app_sync_decode(&dec, &sync), ==, 0);
			HARNESS_APP_SEND(app, app_synced, sync.serial);
			s.syncs++;
		}
		s.untriggers += header.type == MSG_app_untrigger;
		s.drops += header.type == MSG_app_fired_drop;
		s.ready += header.type == MSG_app_ready;
	}
	harness_pump();
	return s;
}

static void add(int client, const char *name, enum condition condition, const char *pattern,
		const char *end, const char *key, const char *filter)
{
	const struct msg_trigger_action action = { .kind = ACTION_NOTIFY };
	uint8_t buf[256];
	struct encoder list;

	encoder_init(&list, buf, sizeof(buf));
	msg_trigger_action_add(&list, &action);
	HARNESS_SEND(client, trigger_add, .name = name, .actions = encoder_list(&list),
		     .condition = (uint8_t)condition, .domain = DOMAIN_USER, .pattern = pattern,
		     .end = end, .key = key, .filter = filter,
		     .captures = condition == CONDITION_EVENT ? "none,n" :
				 condition == CONDITION_PAIR  ? "n" :
								"",
		     .loglevel_type = LOGLEVEL_ALL, .threshold = 1000, .exclude = "", .session = "",
		     .channel = "");
}

static struct trigger *trigger_named(const char *name)
{
	struct trigger *trigger = trigger_find(&harness.sd.triggers, getuid(), name);

	CHECK(trigger);
	return trigger;
}

static struct ltt_fired *map(const struct seen *s)
{
	struct ltt_fired *fired =
		mmap(NULL, sizeof(*fired), PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);

	CHECK(fired != MAP_FAILED);
	close(s->fd);
	return fired;
}

/* --- firings, as an application makes them ------------------------------------------ */

static void claim(struct ltt_fired *fired, uint32_t at, uint32_t slot, uint32_t step)
{
	fired->state[at] = LTT_FIRED_STATE(step, slot, 100 + at);
}

static void fire(struct ltt_fired *fired, uint32_t at, const struct msg_app_triggering *triggering)
{
	fired->record[at] = (struct ltt_fired_record){
		.generation = triggering->generation,
		.nr_values = 2,
		.kind = { LTT_FIRED_NONE, LTT_FIRED_UNSIGNED },
		.comm = "web",
		.event = "t:one",
	};
	claim(fired, at, triggering->slot, LTT_FIRED_READY);
	fired->slot[triggering->slot].fired++;
}

static void bell(struct ltt_fired *fired)
{
	__atomic_add_fetch(&fired->bell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &fired->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void await_fired(struct ltt_fired *fired, const struct trigger *trigger, uint64_t nr)
{
	bell(fired);
	for (int i = 0; i < 1000 && trigger->fired < nr; i++)
		harness_wait(10000);
	CHECK_IS(trigger->fired, ==, nr);
	CHECK_IS(trigger->delivered + trigger->suppressed, ==, nr);
}

static void records(struct ltt_fired *fired, const struct msg_app_triggering *triggering)
{
	const struct trigger *trigger = trigger_named("one");
	uint32_t slot = triggering->slot;

	fire(fired, 5, triggering);
	await_fired(fired, trigger, 1);
	CHECK(trigger->unrecorded == 0 && fired->state[5] == 0);
	fire(fired, 5, triggering);
	fire(fired, 1, triggering);
	fired->slot[slot].fired += 7; /* without records */
	await_fired(fired, trigger, 10);
	CHECK_IS(trigger->unrecorded, ==, 7);
	/* of a process that was killed before it fired, and of one that was killed after it */
	claim(fired, 9, slot, LTT_FIRED_CLAIMED);
	claim(fired, 10, slot, LTT_FIRED_CLAIMED);
	fired->slot[slot].fired++;
	bell(fired);
	harness_wait(200000);
	CHECK_IS(trigger->fired, ==, 10);
	await_fired(fired, trigger, 11);
	CHECK_IS(trigger->unrecorded, ==, 8);
	CHECK_IS(LTT_FIRED_STEP(fired->state[10]), ==, LTT_FIRED_ABANDONED);
	fire(fired, 11, triggering);
	fired->record[11].generation++; /* of a trigger that had the slot before */
	await_fired(fired, trigger, 12);
	CHECK_IS(trigger->unrecorded, ==, 9);
	fired->slot[slot].fired = 3; /* goes back */
	bell(fired);
	harness_wait(50000);
	fired->slot[slot].fired++;
	await_fired(fired, trigger, 13);
}

static void anything(struct ltt_fired *fired)
{
	uint64_t *words = (uint64_t *)fired, random = 88172645463325252ull;

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof(*fired) / 8; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			words[i] = round % 2 ? random : random & 0xffffff07;
		}
		bell(fired);
		harness_wait(2000);
	}
	memset(fired, 0xff, sizeof(*fired));
	bell(fired);
	harness_wait(2000);
	memset(fired, 0, sizeof(*fired));
	bell(fired);
	harness_wait(2000);
}

int main(void)
{
	int client, app, late;
	struct ltt_fired *fired;
	struct seen s;

	harness_begin();
	client = harness_client();
	add(client, "one", CONDITION_EVENT, "t:one", "", "", "");
	harness_pump();
	CHECK_IS(harness_answer(client).code, ==, 0);
	app = new_app("web", 0);
	send_point(app, 1, "t:one", NULL, 32, false);
	send_point(app, 2, "t:two", NULL, 64, true);
	s = receive(app);
	CHECK(s.memories == 1 && s.points == 1 && s.ready == 1 && !s.points_after_ready);
	CHECK(s.triggering[0].point == 1 && s.triggering[0].role == 0 && s.nr_captures[0] == 2);
	CHECK(s.captures[0][0] == NO_FIELD && s.captures[0][1] == 0);
	fired = map(&s);
	records(fired, &s.triggering[0]);
	add(client, "pair", CONDITION_PAIR, "t:one", "t:two", "n", "n > 5");
	add(client, "no-key", CONDITION_PAIR, "t:one", "t:two", "y", "");
	add(client, "rate", CONDITION_RATE, "t:*", "", "", "n == 1");
	s = receive(app);
	CHECK_IS(s.memories, ==, 0);
	CHECK_IS(s.points, >=, 2);
	CHECK_IS(s.syncs, ==, 2);
	CHECK_IS(harness_answer(client).code, ==, ERR_INVALID); /* the event has no such key */
	for (int i = 0; i < 2; i++)
		CHECK_IS(harness_answer(client).code, ==, 0);
	CHECK(s.triggering[0].role == 1 && s.triggering[0].has_key && s.triggering[0].key == 0);
	CHECK(s.triggering[1].role == 2 && s.triggering[1].threshold);
	CHECK(s.filters[0] && !s.filters[1] && s.nr_captures[0] == 0 && s.nr_captures[1] == 1);
	late = new_app("late", 0);
	send_point(late, 7, "t:two", NULL, 8, true);
	s = receive(late);
	CHECK(s.memories == 1 && s.points >= 1 && s.triggering[0].point == 7);
	close(s.fd);
	anything(fired);
	CHECK_IS(HARNESS_CALL(client, trigger_list).code, ==, 0);
	for (const char *const *name = (const char *const[]){ "one", "pair", "rate", NULL }; *name;
	     name++)
		CHECK_IS(HARNESS_CALL(client, trigger_remove, *name, getuid()).code, ==, 0);
	s = receive(app);
	CHECK(s.untriggers == 3 && s.drops == 1);
	close(client);
	close(app);
	close(late);
	harness_end();
	munmap(fired, sizeof(*fired));
	return 0;
}
