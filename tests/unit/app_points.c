/* SPDX-License-Identifier: GPL-2.0-only */
/* Points of every size and number reach the daemon, are added and removed; rseq is disabled. */
#include <ltt/site.h>
#include <ltt/tracepoint.h>

#include "lib/app_fake.h"
#include "tracer/ring/rseq.h"

LTT_TRACEPOINT(app_test, tick, (int n), LTT_INFO, ltt_int(int, n, n))

/* --- the application ------------------------------------------------------------ */

#define NR_MANY 400
#define NR_FIELDS 200
#define NR_LABELS 5000
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
			.size = sizeof(struct ltt_event),
			.field_size = sizeof(struct ltt_field),
			.nr_fields = 1,
			.name = many_name[i],
			.fields = &field,
			.file = __FILE__,
			.kind = LTT_EVENT_TRACEPOINT,
			.loglevel = LTT_INFO,
			.format = "",
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
	static struct ltt_enum labels = { .name = "labels",
					  .entries = entries,
					  .nr_entries = NR_LABELS };

	for (int i = 0; i < NR_FIELDS; i++) {
		memset(names[i], 'a' + i % 26, NAME_BYTES - 1);
		names[i][0] = (char)('A' + i / 26);
		fields[i] = (struct ltt_field){
			.name = names[i], .kind = LTT_KIND_INT, .size_bits = 8, .base = 10
		};
	}
	for (int i = 0; i < NR_LABELS; i++)
		entries[i] = (struct ltt_enum_entry){ "a label of some length", i, i };
	labelled = (struct ltt_field){ .name = "e",
				       .enumeration = &labels,
				       .size_bits = 32,
				       .kind = LTT_KIND_ENUM,
				       .base = 10 };
	for (int i = 0; i < 2; i++) {
		large_event[i] = (struct ltt_event){
			.size = sizeof(struct ltt_event),
			.field_size = sizeof(struct ltt_field),
			.nr_fields = i ? 1 : NR_FIELDS,
			.fields = i ? &labelled : fields,
			.name = i ? "large:labels" : "large:fields",
			.file = __FILE__,
			.kind = LTT_EVENT_TRACEPOINT,
			.loglevel = LTT_INFO,
			.format = "",
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
	while (!app_fake_point(app, name))
		CHECK_IS(app_fake_receive(app, WAIT_MS), >, 0);
}

/* Points are sent in as many messages as necessary, none is lost; they are removed and added
 * again. */
static void many_points(void)
{
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("points");
	struct fake_app app;
	unsigned int own;

	app_fake_register(listener, &app, 7);
	app_fake_ready(&app);
	own = app.nr_points;
	CHECK_IS(app_fake_child_command(&c, 'm'), ==, 'k');
	app_fake_await_points(&app);
	while (app.nr_points < own + NR_MANY) { /* the helper started before all were registered */
		app_fake_ready(&app);
		app_fake_await_points(&app);
	}
	CHECK_IS(app.nr_points, ==, own + NR_MANY);
	for (int i = 0; i < NR_MANY; i++) {
		char name[64];

		snprintf(name, sizeof(name), "many:event_%d", i);
		CHECK(app_fake_point(&app, name));
	}
	CHECK_IS(app_fake_child_command(&c, 'M'), ==, 'k');
	while (app.nr_removed < NR_MANY)
		CHECK_IS(app_fake_receive(&app, WAIT_MS), >, 0);
	CHECK(app.nr_removed == NR_MANY && !app_fake_point(&app, "many:event_7"));
	CHECK(app_fake_point(&app, "app_test:tick"));
	close(app.fd);

	/* a new daemon receives the current points only */
	close(listener);
	listener = app_fake_listen();
	app_fake_register(listener, &app, 8);
	CHECK(app.nr_points == own && !app_fake_point(&app, "many:event_7"));
	CHECK_IS(app_fake_child_command(&c, 'm'), ==, 'k');
	await_names(&app, "many:event_399");
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
}

/* A point that fits no message does not delay the others. */
static void large_points(void)
{
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("points");
	struct fake_app app;

	app_fake_register(listener, &app, 7);
	app_fake_ready(&app);
	CHECK_IS(app_fake_child_command(&c, 'l'), ==, 'k');
	await_names(&app, "large:labels");
	CHECK(!app_fake_point(&app, "large:fields"));
	CHECK_IS(app_fake_child_command(&c, 'm'), ==, 'k');
	await_names(&app, "many:event_399");
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
}

/* Sequences are disabled while events are recorded: the daemon is notified, sends a set for this
 * process alone, and all events are counted meanwhile. */
static void rseq_is_given_up(void)
{
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("points");
	struct fake_set shared, own;
	struct fake_app app;

	app_fake_register(listener, &app, 7);
	if (app.hello.producer != 0) {
		CHECK_IS(app_fake_child_end(&c), ==, 0);
		close(app.fd);
		close(listener);
		return;
	}
	app_fake_set_init(&shared, 1, 100, "channel0", 0);
	app_fake_send_buffer(&app, &shared);
	app_fake_arm(&app, &shared, "app_test:tick");
	app_fake_ready(&app);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK_IS(app_fake_child_command(&c, 'g'), ==, 'k');
	while (app.last_producer < 0)
		CHECK_IS(app_fake_receive(&app, WAIT_MS), >, 0);
	CHECK_IS(app.last_producer, ==, 1);
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK_IS(app_fake_recorded(&shared) + app_fake_count(&shared, 1), ==, 2);
	app_fake_set_init(&own, 2, 100, "channel0", 1);
	app_fake_send_buffer(&app, &own);
	app_fake_arm(&app, &own, "app_test:tick");
	app_fake_drop(&app, &shared);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK_IS(app_fake_recorded(&own), ==, 1);
	CHECK_IS(app_fake_recorded(&shared) + app_fake_count(&shared, 1), ==, 2);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_set_fini(&shared);
	app_fake_set_fini(&own);
	close(app.fd);
	close(listener);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return application(atoi(argv[2]));
	app_fake_rundir();
	many_points();
	large_points();
	rseq_is_given_up();
	app_fake_rundir_end();
	return 0;
}
