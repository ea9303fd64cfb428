/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An application receives memory for counters, and the points to count: it counts there, in no
 * other place, and only until the counting is removed; also after fork(), and with another daemon.
 */
#include <sys/prctl.h>

#include <ltt/tracepoint.h>

#include "lib/app_fake.h"
#include "ltt_counts.h"

LTT_TRACEPOINT(count_test, tick, (int n), LTT_INFO, ltt_string(text, "some"), ltt_int(int, n, n))

#define TICK "count_test:tick"
#define PARTS 2u
#define PART 4096u
#define BYTES (PARTS * PART)
#define OUTSIDE (PART / 8) /* a word behind the last */
#define LAST (PART / 8 - 1)
#define FIELD_N 1
#define NO_FIELD (-1)

/* --- the application ------------------------------------------------------------ */

static char child_that_counts(void)
{
	pid_t pid;
	int status;

	if (UNDER_TSAN) { /* it allows no new thread in a child */
		ltt_trace(count_test, tick, 3);
		return 'k';
	}
	pid = fork();
	if (pid == 0) {
		ltt_trace(count_test, tick, 3);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 'k' : 'x';
}

static int application(int fd)
{
	char command, answer;

	while (read(fd, &command, 1) == 1) {
		answer = 'k';
		if (command == 'f')
			answer = child_that_counts();
		else
			ltt_trace(count_test, tick, 5);
		if (write(fd, &answer, 1) != 1)
			return 2;
	}
	return 0;
}

/* --- the daemon --------------------------------------------------------------------- */

struct memory {
	uint64_t id;
	int fd;
	uint64_t *words;
};

static struct memory memory_new(uint64_t id)
{
	struct memory m = { id, app_fake_memfd(BYTES), NULL };

	m.words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
	CHECK_IS(m.words, !=, MAP_FAILED);
	return m;
}

static void memory_free(struct memory *m)
{
	munmap(m->words, BYTES);
	close(m->fd);
}

static uint64_t sum(const struct memory *m, uint32_t word)
{
	uint64_t sum = 0;

	for (uint32_t part = 0; part < PARTS; part++)
		sum += m->words[part * (PART / 8) + word];
	return sum;
}

static uint64_t all(const struct memory *m)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < BYTES / 8; i++)
		all += m->words[i];
	return all;
}

static void say_table(const struct fake_app *app, const struct memory *memory, uint32_t parts,
		      uint32_t part_bytes, uint32_t slots)
{
	struct msg_app_counts m = { memory->id, 100, memory->fd, parts, part_bytes, slots };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_counts);
	msg_app_counts_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static void say_counts(const struct fake_app *app, const struct memory *memory, uint32_t parts,
		       uint32_t part_bytes)
{
	say_table(app, memory, parts, part_bytes, 0);
}

static void say_keys(const struct fake_app *app, uint16_t type, const struct memory *memory,
		     uint32_t word, int field, uint8_t nr_by, uint32_t by)
{
	const struct msg_app_counting counting = {
		app_fake_point(app, TICK), memory->id, word, field != NO_FIELD,
		(uint32_t)field,	   nr_by,      by,   0
	};
	struct msg_app_count m = { .filter_contexts = "" };
	uint8_t bytes[64];
	struct encoder enc, list;

	encoder_init(&list, bytes, sizeof(bytes));
	msg_app_counting_add(&list, &counting);
	m.countings = encoder_list(&list);
	app_fake_begin(&enc, type);
	msg_app_count_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static void say_counting(const struct fake_app *app, uint16_t type, const struct memory *memory,
			 uint32_t word, int field)
{
	say_keys(app, type, memory, word, field, 0, 0);
}

static void say_count(const struct fake_app *app, const struct memory *memory, uint32_t word,
		      int field)
{
	say_counting(app, MSG_app_count, memory, word, field);
}

static void say_drop(const struct fake_app *app, const struct memory *memory)
{
	struct msg_app_counts_drop m = { memory->id };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_counts_drop);
	msg_app_counts_drop_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static void tick(struct fake_app *app, struct fake_child *c)
{
	app_fake_sync(app);
	CHECK_IS(app_fake_child_command(c, 'e'), ==, 'k');
}

static void counts(struct fake_app *app, struct fake_child *c)
{
	struct memory a = memory_new(1), b = memory_new(2);

	say_counts(app, &a, PARTS, PART);
	say_counts(app, &b, PARTS, PART);
	tick(app, c);
	CHECK_IS(all(&a), ==, 0);
	say_count(app, &a, 7, NO_FIELD);
	say_count(app, &a, 7, NO_FIELD); /* twice is once */
	say_count(app, &b, LAST - (LTT_COUNTS_WORDS - 1), FIELD_N);
	tick(app, c);
	CHECK(sum(&a, 7) == 1 && all(&a) == 1);
	CHECK(sum(&b, LAST - 68) == 1 && sum(&b, LAST - 67) == 5 && sum(&b, LAST - 61) == 1);
	CHECK_IS(all(&b), ==, 1 + 5 + 1);
	CHECK_IS(app_fake_child_command(c, 'f'), ==, 'k');
	CHECK(all(&a) == 2 && all(&b) == 7 + 1 + 3 + 1);
	say_counting(app, MSG_app_uncount, &b, LAST - 68, FIELD_N);
	say_counting(app, MSG_app_uncount, &b, LAST - 68, FIELD_N);
	tick(app, c);
	CHECK(all(&a) == 3 && all(&b) == 12);
	say_drop(app, &a);
	say_drop(app, &b);
	tick(app, c);
	CHECK(all(&a) == 3 && all(&b) == 12);
	memory_free(&a);
	memory_free(&b);
}

/* Descriptions that would make the application write elsewhere are refused. */
static void nonsense(struct fake_app *app, struct fake_child *c)
{
	struct memory a = memory_new(3), none = { 99, -1, NULL };

	say_counts(app, &a, PARTS + 1, PART); /* more than the file's size */
	say_count(app, &a, 0, NO_FIELD);
	say_counts(app, &a, 0, PART);
	say_counts(app, &a, PARTS, 0);
	say_counts(app, &a, PARTS, 4);
	say_counts(app, &a, 1, 1u << 30);
	say_counts(app, &none, PARTS, PART);
	say_count(app, &none, 0, NO_FIELD);
	say_drop(app, &none);
	tick(app, c);
	CHECK_IS(all(&a), ==, 0);
	say_counts(app, &a, PARTS, PART);
	say_count(app, &a, OUTSIDE, NO_FIELD);
	say_count(app, &a, UINT32_MAX, NO_FIELD);
	say_count(app, &a, LAST - 67, FIELD_N);
	say_count(app, &a, UINT32_MAX - 5, FIELD_N);
	say_count(app, &a, 0, 0); /* a string */
	say_count(app, &a, 0, 2); /* none */
	tick(app, c);
	CHECK_IS(all(&a), ==, 0);
	say_count(app, &a, LAST, NO_FIELD);
	tick(app, c);
	CHECK(sum(&a, LAST) == 1 && all(&a) == 1);
	say_drop(app, &a);
	app_fake_sync(app);
	memory_free(&a);
}

/* Countings that a restarted daemon does not send again end; those that it sends continue. */
static void sweeps(int listener, struct fake_app *app, struct fake_child *c)
{
	struct memory a = memory_new(4), b = memory_new(5), other = memory_new(5);

	say_counts(app, &a, PARTS, PART);
	say_counts(app, &b, PARTS, PART);
	say_count(app, &a, 0, NO_FIELD);
	say_count(app, &a, 1, NO_FIELD);
	say_count(app, &b, 0, NO_FIELD);
	app_fake_sync(app);
	close(app->fd);
	memset(app, 0, sizeof(*app));
	app_fake_register(listener, app, 7);
	CHECK_IS(app_fake_child_command(c, 'e'), ==, 'k');
	CHECK(all(&a) == 2 && all(&b) == 1);
	say_counts(app, &a, PARTS, PART);
	say_count(app, &a, 1, NO_FIELD);
	say_counts(app, &other, PARTS, PART); /* other memory under a known number */
	say_count(app, &other, 0, NO_FIELD);
	app_fake_ready(app);
	tick(app, c);
	CHECK(sum(&a, 0) == 1 && sum(&a, 1) == 2);
	CHECK(all(&b) == 1 && all(&other) == 1);
	close(app->fd);
	memset(app, 0, sizeof(*app));
	app_fake_register(listener, app, 8); /* a daemon without knowledge of it */
	tick(app, c);
	CHECK(all(&a) == 3 && all(&other) == 1);
	memory_free(&a);
	memory_free(&b);
	memory_free(&other);
}

#define SLOTS 64u /* a page of them, which is the second part */

static struct ltt_counts_slot *table_of(const struct memory *m)
{
	return (void *)(m->words + PART / 8);
}

static uint32_t nr_keys(const struct memory *m)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < SLOTS; i++)
		nr += table_of(m)[i].tag > 1;
	return nr;
}

/* A counter with a table of keys behind the only part, which stays valid when it is dropped. */
static void keys(struct fake_app *app, struct fake_child *c)
{
	struct memory a = memory_new(6), b = memory_new(7);

	say_table(app, &a, 1, PART, SLOTS);
	say_keys(app, MSG_app_count, &a, 0, NO_FIELD, 1, FIELD_N);
	say_table(app, &b, 1, PART, SLOTS);
	say_keys(app, MSG_app_count, &b, 0, FIELD_N, 2, FIELD_N); /* and field 0, a text */
	tick(app, c);
	tick(app, c);
	CHECK(nr_keys(&a) == 1 && nr_keys(&b) == 1);
	say_drop(app, &a);
	tick(app, c);
	CHECK(nr_keys(&a) == 1 && nr_keys(&b) == 1);
	say_table(app, &a, 1, PART, SLOTS); /* mapped again: another place */
	say_keys(app, MSG_app_count, &a, 0, NO_FIELD, 1, FIELD_N);
	tick(app, c);
	CHECK_IS(nr_keys(&a), ==, 1);
	CHECK_IS(app_fake_child_command(c, 'f'), ==, 'k');
	CHECK(nr_keys(&a) == 2 && nr_keys(&b) == 2);
	say_drop(app, &a);
	say_drop(app, &b);
	app_fake_sync(app);
	memory_free(&a);
	memory_free(&b);
}

static void no_keys(struct fake_app *app, struct fake_child *c)
{
	struct memory a = memory_new(8);

	say_table(app, &a, 1, PART, 48); /* no power of two */
	say_keys(app, MSG_app_count, &a, 0, NO_FIELD, 1, FIELD_N);
	say_table(app, &a, 1, PART, 1u << 20); /* outside of the file */
	say_keys(app, MSG_app_count, &a, 0, NO_FIELD, 1, FIELD_N);
	say_table(app, &a, 1, PART / 2, SLOTS); /* not on a page */
	say_keys(app, MSG_app_count, &a, 0, NO_FIELD, 1, FIELD_N);
	tick(app, c);
	CHECK_IS(all(&a), ==, 0);
	say_table(app, &a, 1, PART, SLOTS);
	say_keys(app, MSG_app_count, &a, LAST - 64, NO_FIELD, 1, FIELD_N); /* not in the part */
	say_keys(app, MSG_app_count, &a, 0, NO_FIELD, 1, 2);		   /* no such field */
	say_keys(app, MSG_app_count, &a, 0, NO_FIELD, 3, FIELD_N);
	tick(app, c);
	CHECK_IS(all(&a), ==, 0);
	say_drop(app, &a);
	say_counts(app, &a, PARTS, PART);
	say_keys(app, MSG_app_count, &a, 0, NO_FIELD, 1, FIELD_N); /* there is no table */
	tick(app, c);
	CHECK_IS(all(&a), ==, 0);
	say_drop(app, &a);
	app_fake_sync(app);
	memory_free(&a);
}

int main(int argc, char **argv)
{
	struct fake_app app;
	struct fake_child c;
	int listener;

	if (argc == 3)
		return application(atoi(argv[2]));
	app_fake_rundir();
	listener = app_fake_listen();
	c = app_fake_child_start("app");
	app_fake_register(listener, &app, 7);
	app_fake_ready(&app);
	counts(&app, &c);
	nonsense(&app, &c);
	keys(&app, &c);
	no_keys(&app, &c);
	sweeps(listener, &app, &c);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
	app_fake_rundir_end();
	return 0;
}
