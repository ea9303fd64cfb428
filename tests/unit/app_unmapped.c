/* SPDX-License-Identifier: GPL-2.0-only */
/* An application that can't use a ring set says so (app_buffer_failed), and stays connected. */
#include <ltt/tracepoint.h>

#include "app_fake.h"

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
	struct child c;
	int listener, type;

	if (argc == 3)
		return application(atoi(argv[2]));
	fake_rundir();
	listener = fake_listen();
	c = child_start("unmapped");
	fake_register(listener, &app, 7);
	fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	((struct ltt_ring_desc *)set.ctl_map)->magic++;
	fake_say_buffer(&app, &set);
	while ((type = fake_receive(&app, WAIT_MS)) != MSG_app_buffer_failed)
		CHECK(type > 0);
	fake_sync(&app);
	fake_set_fini(&set);
	close(app.fd);
	close(listener);
	CHECK(child_end(&c) == 0);
	fake_rundir_end();
	return 0;
}
