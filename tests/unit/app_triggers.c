/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An application receives memory for triggers, and the points that they watch: it fires there, in
 * no other place, and only until the trigger is removed; with pairs and filters, after fork(), with
 * another daemon; and messages that make no sense.
 */
#include <sys/prctl.h>

#include <ltt/tracepoint.h>

#include "lib/app_fake.h"
#include "ltt_fired.h"

LTT_TRACEPOINT(fire_test, begin, (int n), LTT_INFO, ltt_string(text, "some"), ltt_int(int, n, n))
LTT_TRACEPOINT(fire_test, end, (int n), LTT_INFO, ltt_int(int, n, n), ltt_float(double, x, 1.5))

#define BEGIN "fire_test:begin"
#define END "fire_test:end"
#define NO_KEY UINT32_MAX

enum { MATCH, FIRST, LAST, COUNT };

/* --- the application ------------------------------------------------------------ */

static void app_triggers_emit(int n)
{
	ltt_trace(fire_test, begin, n);
	ltt_trace(fire_test, end, n);
}

static char app_triggers_child(void)
{
	int status;
	pid_t pid;

	if (UNDER_TSAN) { /* it allows no new thread in a child */
		ltt_trace(fire_test, end, 3);
		return 'k';
	}
	pid = fork();
	if (pid == 0) {
		ltt_trace(fire_test, end, 3);
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
			answer = app_triggers_child();
		else if (command == 'b')
			ltt_trace(fire_test, begin, 3);
		else
			app_triggers_emit(5);
		if (write(fd, &answer, 1) != 1)
			return 2;
	}
	return 0;
}

/* --- the daemon ----------------------------------------------------------------- */

struct area {
	uint64_t id;
	int fd;
	struct ltt_fired *fired;
};

static struct area area_new(uint64_t id)
{
	struct area a = { id, app_fake_memfd(sizeof(*a.fired)), NULL };

	a.fired = mmap(NULL, sizeof(*a.fired), PROT_READ | PROT_WRITE, MAP_SHARED, a.fd, 0);
	CHECK(a.fired != MAP_FAILED);
	return a;
}

static void area_free(struct area *a)
{
	munmap(a->fired, sizeof(*a->fired));
	close(a->fd);
}

/* Of all slots. */
static uint64_t all(const struct area *a)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < LTT_FIRED_SLOTS; i++)
		all += a->fired->slot[i].fired + a->fired->slot[i].missed;
	return all;
}

static uint64_t of_slot(const struct area *a, uint32_t slot)
{
	return a->fired->slot[slot].fired;
}

static void send_area(const struct fake_app *app, const struct area *a, uint8_t clock)
{
	struct msg_app_fired m = { a->id, a->fd, 42, clock };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_fired);
	msg_app_fired_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static void send_trigger_of(const struct fake_app *app, const struct area *a, const char *point,
			    uint32_t slot, uint8_t role, uint32_t key, struct blob filter)
{
	struct msg_app_triggering triggering = {
		.point = app_fake_point(app, point),
		.slot = slot,
		.generation = 7,
		.role = role,
		.has_key = key != NO_KEY,
		.key = key,
	};
	const struct msg_app_capture capture = { .field = 1 };
	struct msg_app_trigger m = { .fired = a->id, .filter = filter, .filter_contexts = "",
				     .capture_contexts = "" };
	struct encoder enc, list, captures;
	uint8_t bytes[1000], more[600];

	encoder_init(&captures, more, sizeof(more));
	for (int i = 0; i < 20; i++) /* more than a record has */
		msg_app_capture_add(&captures, &capture);
	triggering.captures = encoder_list(&captures);
	encoder_init(&list, bytes, sizeof(bytes));
	msg_app_triggering_add(&list, &triggering);
	m.points = encoder_list(&list);
	app_fake_begin(&enc, MSG_app_trigger);
	msg_app_trigger_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static void send_trigger(const struct fake_app *app, const struct area *a, const char *point,
			 uint32_t slot, uint8_t role, uint32_t key)
{
	send_trigger_of(app, a, point, slot, role, key, (struct blob){ NULL, 0 });
}

static void send_untrigger(const struct fake_app *app, const struct area *a, uint32_t slot)
{
	struct msg_app_untrigger m = { a->id, slot };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_untrigger);
	msg_app_untrigger_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static void send_drop(const struct fake_app *app, const struct area *a)
{
	struct msg_app_fired_drop m = { a->id };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_fired_drop);
	msg_app_fired_drop_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static void emit(struct fake_app *app, struct fake_child *c, char how)
{
	app_fake_sync(app);
	CHECK_IS(app_fake_child_command(c, how), ==, 'k');
}

static void fires(struct fake_app *app, struct fake_child *c)
{
	struct area a = area_new(1), b = area_new(2);

	send_area(app, &a, LTT_CLOCK_MONOTONIC);
	send_area(app, &b, LTT_CLOCK_CYCLES);
	emit(app, c, 'e');
	CHECK(all(&a) == 0 && all(&b) == 0);
	send_trigger(app, &a, END, 3, MATCH, NO_KEY);
	send_trigger(app, &a, END, 3, MATCH, NO_KEY); /* twice is once */
	send_trigger(app, &a, BEGIN, 4, COUNT, NO_KEY);
	send_trigger(app, &b, BEGIN, 5, FIRST, 1);
	send_trigger(app, &b, END, 5, LAST, 0);
	emit(app, c, 'e');
	CHECK(of_slot(&a, 3) == 1 && of_slot(&a, 4) == 1 && all(&a) == 2);
	CHECK(of_slot(&b, 5) == 1 && all(&b) == 1);
	CHECK(a.fired->record[0].generation == 7 && a.fired->record[0].program == 42);
	CHECK_IS(a.fired->record[0].nr_values, ==, LTT_FIRED_VALUES);
	CHECK(a.fired->record[0].kind[15] == LTT_FIRED_DOUBLE && a.fired->bell);
	emit(app, c, 'b'); /* a begin whose end is in a child is none there */
	emit(app, c, 'f');
	CHECK(of_slot(&a, 3) == 2 && of_slot(&b, 5) == (UNDER_TSAN ? 2 : 1));
	send_untrigger(app, &a, 3);
	send_untrigger(app, &a, 3);
	send_untrigger(app, &a, UINT32_MAX);
	emit(app, c, 'e');
	CHECK_IS(of_slot(&a, 3), ==, 2);
	send_drop(app, &a);
	send_drop(app, &b);
	emit(app, c, 'e');
	CHECK(of_slot(&a, 4) == 3 && of_slot(&b, 5) == (UNDER_TSAN ? 3 : 2));
	area_free(&a);
	area_free(&b);
}

static void nonsense(struct fake_app *app, struct fake_child *c)
{
	struct area a = area_new(3), none = { 99, -1, NULL },
		    small = { 4, app_fake_memfd(4096), NULL };
	uint8_t filter[16];

	memset(filter, 0xff, sizeof(filter));
	send_area(app, &none, LTT_CLOCK_MONOTONIC);
	send_area(app, &small, LTT_CLOCK_MONOTONIC);
	send_trigger(app, &small, END, 0, MATCH, NO_KEY);
	send_area(app, &a, 77); /* there is no such clock */
	send_trigger(app, &a, END, 0, MATCH, NO_KEY);
	send_area(app, &a, LTT_CLOCK_MONOTONIC);
	send_trigger(app, &none, END, 0, MATCH, NO_KEY);
	send_trigger(app, &a, END, LTT_FIRED_SLOTS, MATCH, NO_KEY);
	send_trigger(app, &a, END, 0, COUNT + 1, NO_KEY);
	send_trigger(app, &a, BEGIN, 0, FIRST, 2); /* no such field */
	send_trigger(app, &a, END, 0, LAST, 1);	   /* no integer */
	send_trigger_of(app, &a, END, 0, MATCH, NO_KEY, (struct blob){ filter, sizeof(filter) });
	send_drop(app, &none);
	emit(app, c, 'e');
	CHECK(all(&a) == 0 && !a.fired->bell);
	send_trigger(app, &a, END, LTT_FIRED_SLOTS - 1, MATCH, NO_KEY);
	emit(app, c, 'e');
	CHECK(of_slot(&a, LTT_FIRED_SLOTS - 1) == 1 && all(&a) == 1);
	send_drop(app, &a);
	app_fake_sync(app);
	area_free(&a);
	close(small.fd);
}

/* Triggers that a restarted daemon does not send again end; those that it sends continue. */
static void sweeps(int listener, struct fake_app *app, struct fake_child *c)
{
	struct area a = area_new(5), b = area_new(6), other = area_new(6);

	send_area(app, &a, LTT_CLOCK_MONOTONIC);
	send_area(app, &b, LTT_CLOCK_MONOTONIC);
	send_trigger(app, &a, END, 0, MATCH, NO_KEY);
	send_trigger(app, &a, END, 1, MATCH, NO_KEY);
	send_trigger(app, &b, END, 0, MATCH, NO_KEY);
	app_fake_sync(app);
	close(app->fd);
	memset(app, 0, sizeof(*app));
	app_fake_register(listener, app, 7);
	CHECK_IS(app_fake_child_command(c, 'e'), ==, 'k');
	CHECK(all(&a) == 2 && all(&b) == 1);
	send_area(app, &a, LTT_CLOCK_MONOTONIC);
	send_trigger(app, &a, END, 1, MATCH, NO_KEY);
	send_area(app, &other, LTT_CLOCK_MONOTONIC); /* other memory under a known number */
	send_trigger(app, &other, END, 0, MATCH, NO_KEY);
	app_fake_ready(app);
	emit(app, c, 'e');
	CHECK(of_slot(&a, 0) == 1 && of_slot(&a, 1) == 2);
	CHECK(all(&b) == 1 && all(&other) == 1);
	close(app->fd);
	memset(app, 0, sizeof(*app));
	app_fake_register(listener, app, 8); /* a daemon without knowledge of it */
	emit(app, c, 'e');
	CHECK(all(&a) == 3 && all(&other) == 1);
	area_free(&a);
	area_free(&b);
	area_free(&other);
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
	fires(&app, &c);
	nonsense(&app, &c);
	sweeps(listener, &app, &c);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
	app_fake_rundir_end();
	return 0;
}
