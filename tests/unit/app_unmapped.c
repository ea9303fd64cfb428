/* SPDX-License-Identifier: GPL-2.0-only */
/* An application that can't use a ring set reports it (app_buffer_failed), and stays connected. */
#include <ltt/tracepoint.h>

#include "lib/app_fake.h"

LTT_TRACEPOINT(app_unmapped, tick, (int n), LTT_INFO, ltt_int(int, n, n))

static int application(int fd)
{
	char command;

	while (read(fd, &command, 1) == 1)
		ltt_trace(app_unmapped, tick, 1);
	return 0;
}

int main(int argc, char **argv)
{
	struct fake_app app;
	struct fake_set set;
	struct fake_child c;
	int listener, type;

	if (argc == 3)
		return application(atoi(argv[2]));
	app_fake_rundir();
	listener = app_fake_listen();
	c = app_fake_child_start("unmapped");
	app_fake_register(listener, &app, 7);
	app_fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	((struct ltt_ring_desc *)set.ctl_map)->magic++;
	app_fake_send_buffer(&app, &set);
	while ((type = app_fake_receive(&app, WAIT_MS)) != MSG_app_buffer_failed)
		CHECK_IS(type, >, 0);
	app_fake_sync(&app);
	app_fake_set_fini(&set);
	close(app.fd);
	close(listener);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_rundir_end();
	return 0;
}
