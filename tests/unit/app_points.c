/* SPDX-License-Identifier: GPL-2.0-only */
/* Points of every size and number reach the daemon, come and go; rseq is given up. */
#include <ltt/site.h>
#include <ltt/tracepoint.h>

#include "app_fake.h"
#include "tracer/ring/rseq.h"

LTT_TRACEPOINT(app_test, tick, (int n), LTT_INFO, ltt_int(int, n, n))

/* --- the application ------------------------------------------------------------ */

#define NR_MANY    400
#define NR_FIELDS  200
#define NR_LABELS  5000
#define NAME_BYTES 500

static struct ltt_event many_event[NR_MANY];
static struct ltt_site many_site[NR_MANY];
static struct ltt_site *many[NR_MANY];
static char many_name[NR_MANY][200];

/* Fields with a long name each make points of about 2 KiB: more than one message. */
static void make_many(void)
{
	static struct ltt_field field = { .kind = LTT_KIND_INT, .size_bits = 32, .base = 10 };
	static char name[2000];

	memset(name, 'f', sizeof(name) - 1);
	field.name = name;
	for (int i = 0; i < NR_MANY; i++) {
		snprintf(many_name[i], sizeof(many_name[i]), "many:event_%d", i);
		many_event[i] = (struct ltt_event){
			.size = sizeof(struct ltt_event), .field_size = sizeof(struct ltt_field),
			.nr_fields = 1, .name = many_name[i], .fields = &field, .file = __FILE__,
			.kind = LTT_EVENT_TRACEPOINT, .loglevel = LTT_INFO, .format = "",
		};
		many_site[i] = (struct ltt_site){ .size = sizeof(struct ltt_site),
						  .event = &many_event[i] };
		many[i] = &many_site[i];
	}
}

static void add_many(void)
{
	make_many();
	ltt_sites_register(many, many + NR_MANY, LTT_SITE_ABI);
}

static struct ltt_event large_event[2];
static struct ltt_site large_site[2];
static struct ltt_site *large[2];

/* One with 100 KB of field names, which no message holds, and one whose labels
 * are too many. */
static void add_large(void)
{
	static struct ltt_field fields[NR_FIELDS], labelled;
	static char names[NR_FIELDS][NAME_BYTES];
	static struct ltt_enum_entry entries[NR_LABELS];
	static struct ltt_enum labels = { .name = "labels", .entries = entries,
					  .nr_entries = NR_LABELS };

	for (int i = 0; i < NR_FIELDS; i++) {
		memset(names[i], 'a' + i % 26, NAME_BYTES - 1);
		names[i][0] = (char)('A' + i / 26);
		fields[i] = (struct ltt_field){ .name = names[i], .kind = LTT_KIND_INT,
						.size_bits = 8, .base = 10 };
	}
	for (int i = 0; i < NR_LABELS; i++)
		entries[i] = (struct ltt_enum_entry){ "a label of some length", i, i };
	labelled = (struct ltt_field){ .name = "e", .enumeration = &labels, .size_bits = 32,
				       .kind = LTT_KIND_ENUM, .base = 10 };
	for (int i = 0; i < 2; i++) {
		large_event[i] = (struct ltt_event){
			.size = sizeof(struct ltt_event), .field_size = sizeof(struct ltt_field),
			.nr_fields = i ? 1 : NR_FIELDS, .fields = i ? &labelled : fields,
			.name = i ? "large:labels" : "large:fields", .file = __FILE__,
			.kind = LTT_EVENT_TRACEPOINT, .loglevel = LTT_INFO, .format = "",
		};
		large_site[i] = (struct ltt_site){ .size = sizeof(struct ltt_site),
						   .event = &large_event[i] };
		large[i] = &large_site[i];
	}
	ltt_sites_register(large, large + 2, LTT_SITE_ABI);
}

static int application(int fd)
{
	char command;

	while (read(fd, &command, 1) == 1) {
		if (command == 'e')
			ltt_trace(app_test, tick, 1);
		else if (command == 'm')
			add_many();
		else if (command == 'M')
			ltt_sites_unregister(many, many + NR_MANY);
		else if (command == 'l')
			add_large();
		else if (command == 'g')
			ring_give_up_rseq();
		if (write(fd, "k", 1) != 1)
			return 2;
	}
	return 0;
}

/* --- the daemon --------------------------------------------------------------------- */

static void await_names(struct fake_app *app, const char *name)
{
	while (!fake_point(app, name))
		CHECK(fake_receive(app, WAIT_MS) > 0);
}

/* In as many messages as it takes, none of them lost; and gone, and there again. */
static void many_points(void)
{
	int listener = fake_listen();
	struct child c = child_start("points");
	struct fake_app app;
	unsigned int own;

	fake_register(listener, &app, 7);
	fake_ready(&app);
	own = app.nr_points;
	CHECK(child_ask(&c, 'm') == 'k');
	fake_await_points(&app);
	while (app.nr_points < own + NR_MANY) { /* the helper began before all were there */
		fake_ready(&app);
		fake_await_points(&app);
	}
	CHECK(app.nr_points == own + NR_MANY);
	for (int i = 0; i < NR_MANY; i++) {
		char name[64];

		snprintf(name, sizeof(name), "many:event_%d", i);
		CHECK(fake_point(&app, name));
	}
	CHECK(child_ask(&c, 'M') == 'k');
	while (app.nr_removed < NR_MANY)
		CHECK(fake_receive(&app, WAIT_MS) > 0);
	CHECK(app.nr_removed == NR_MANY && !fake_point(&app, "many:event_7"));
	CHECK(fake_point(&app, "app_test:tick"));
	close(app.fd);

	/* a new daemon hears of what there is now only */
	close(listener);
	listener = fake_listen();
	fake_register(listener, &app, 8);
	CHECK(app.nr_points == own && !fake_point(&app, "many:event_7"));
	CHECK(child_ask(&c, 'm') == 'k');
	await_names(&app, "many:event_399");
	CHECK(child_end(&c) == 0);
	close(app.fd);
	close(listener);
}

/* A point that fits no message does not keep back the rest. */
static void large_points(void)
{
	int listener = fake_listen();
	struct child c = child_start("points");
	struct fake_app app;

	fake_register(listener, &app, 7);
	fake_ready(&app);
	CHECK(child_ask(&c, 'l') == 'k');
	await_names(&app, "large:labels");
	CHECK(!fake_point(&app, "large:fields"));
	CHECK(child_ask(&c, 'm') == 'k');
	await_names(&app, "many:event_399");
	CHECK(child_end(&c) == 0);
	close(app.fd);
	close(listener);
}

/* Given up in the middle of recording: the daemon is told, sends a set for this
 * process alone, and nothing goes uncounted meanwhile. */
static void rseq_is_given_up(void)
{
	int listener = fake_listen();
	struct child c = child_start("points");
	struct fake_set shared, own;
	struct fake_app app;

	fake_register(listener, &app, 7);
	if (app.hello.producer != 0) {
		CHECK(child_end(&c) == 0);
		close(app.fd);
		close(listener);
		return;
	}
	fake_set_init(&shared, 1, 100, "channel0", 0);
	fake_say_buffer(&app, &shared);
	fake_arm(&app, &shared, "app_test:tick");
	fake_ready(&app);
	fake_sync(&app);
	CHECK(child_ask(&c, 'e') == 'k');
	CHECK(child_ask(&c, 'g') == 'k');
	while (app.last_producer < 0)
		CHECK(fake_receive(&app, WAIT_MS) > 0);
	CHECK(app.last_producer == 1);
	CHECK(child_ask(&c, 'e') == 'k');
	CHECK(fake_recorded(&shared) + fake_count(&shared, 1) == 2);
	fake_set_init(&own, 2, 100, "channel0", 1);
	fake_say_buffer(&app, &own);
	fake_arm(&app, &own, "app_test:tick");
	fake_drop(&app, &shared);
	fake_sync(&app);
	CHECK(child_ask(&c, 'e') == 'k');
	CHECK(fake_recorded(&own) == 1);
	CHECK(fake_recorded(&shared) + fake_count(&shared, 1) == 2);
	CHECK(child_end(&c) == 0);
	fake_set_fini(&shared);
	fake_set_fini(&own);
	close(app.fd);
	close(listener);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return application(atoi(argv[2]));
	fake_rundir();
	many_points();
	large_points();
	rseq_is_given_up();
	fake_rundir_end();
	return 0;
}
