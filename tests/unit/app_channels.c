/* SPDX-License-Identifier: GPL-2.0-only */
/* Channels that libraries register are sent to the daemon before the points (app_channels), again
 * after each change, to each new daemon, and by forked children. Threads may register at once. */
#include <pthread.h>

#include <ltt/channel.h>
#include <ltt/tracepoint.h>

#include "lib/app_fake.h"

LTT_TRACEPOINT(app_channels, tick, (int n), LTT_INFO, ltt_int(int, n, n))

#define THREADS 4
#define ROUNDS 500
#define FIRST "first app_channels:* 65536 8\n"

static void *register_often(void *name)
{
	for (int i = 0; i < ROUNDS; i++) {
		CHECK_IS(ltt_channel_register("common", "c:*", 0, 0), ==, 0);
		CHECK_IS(ltt_channel_register(name, "own:*", 4096, 2), ==, 0);
		CHECK_IS(ltt_channel_unregister("common"), ==, 0);
		CHECK_IS(ltt_channel_unregister(name), ==, 0);
	}
	CHECK_IS(ltt_channel_register(name, "own:*", 4096, 2), ==, 0);
	return NULL;
}

static void by_threads(void)
{
	static char names[THREADS][16];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		snprintf(names[i], sizeof(names[i]), "t%d", i);
		CHECK_IS(pthread_create(&threads[i], NULL, register_often, names[i]), ==, 0);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_IS(pthread_join(threads[i], NULL), ==, 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_IS(ltt_channel_unregister(names[i]), ==, 0);
	CHECK_IS(ltt_channel_unregister("common"), ==, -ENOENT);
	CHECK_IS(ltt_channel_register("last", "last_*", 0, 0), ==, 0);
}

static void by_child(int fd)
{
	pid_t child = fork();
	char command;

	CHECK_IS(child, >=, 0);
	if (child == 0) {
		CHECK_IS(ltt_channel_unregister("last"), ==, 0);
		CHECK_IS(write(fd, "f", 1), ==, 1);
		while (read(fd, &command, 1) == 1)
			ltt_trace(app_channels, tick, 1);
		_exit(0);
	}
	CHECK_IS(waitpid(child, NULL, 0), ==, child);
}

static int application(int fd)
{
	char command;

	CHECK_IS(ltt_channel_register("first", "app_channels:*", 65536, 8), ==, 0);
	CHECK_IS(ltt_channel_register("first", "other:*", 65536, 8), ==, -EEXIST);
	CHECK_IS(ltt_channel_register(NULL, "other:*", 0, 0), ==, -EINVAL);
	CHECK_IS(ltt_channel_register("first", NULL, 0, 0), ==, -EINVAL);
	CHECK_IS(ltt_channel_unregister(NULL), ==, -ENOENT);
	CHECK_IS(write(fd, "r", 1), ==, 1);
	while (read(fd, &command, 1) == 1) {
		if (command == 'f') {
			by_child(fd);
			return 0;
		}
		if (command == 't')
			by_threads();
		CHECK_IS(write(fd, &command, 1), ==, 1);
	}
	return 0;
}

static void await(struct fake_app *app, const char *channels)
{
	while (strcmp(app->channels, channels) != 0)
		CHECK_IS(app_fake_receive(app, WAIT_MS), >, 0);
}

static void end_connection(struct fake_app *app)
{
	close(app->fd);
	memset(app, 0, sizeof(*app));
}

int main(int argc, char **argv)
{
	struct fake_app app = { 0 };
	struct fake_child c;
	int listener;

	if (argc == 3)
		return application(atoi(argv[2]));
	app_fake_rundir();
	c = app_fake_child_start("channels");
	CHECK_IS(app_fake_child_read(&c), ==, 'r');
	listener = app_fake_listen();
	app_fake_register(listener, &app, 7);
	CHECK_IS(strcmp(app.channels, FIRST), ==, 0);
	CHECK_IS(app_fake_child_command(&c, 't'), ==, 't');
	await(&app, FIRST "last last_* 0 0\n");
	end_connection(&app);
	app_fake_register(listener, &app, 8);
	CHECK_IS(strcmp(app.channels, FIRST "last last_* 0 0\n"), ==, 0);
	CHECK_IS(app_fake_child_command(&c, 'f'), ==, 'f');
	end_connection(&app);
	do { /* the parent connects again, too */
		if (app.fd)
			end_connection(&app);
		app_fake_accept(listener, &app);
		app_fake_await_points(&app);
	} while (strcmp(app.channels, FIRST) != 0);
	end_connection(&app);
	close(listener);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_rundir_end();
	return 0;
}
