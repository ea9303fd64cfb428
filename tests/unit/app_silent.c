/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that enters strict seccomp mode reports to daemons that it can't record any more
 * (app_silent), also to one that has not accepted its connection yet. */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <ltt/tracepoint.h>

#include "lib/app_fake.h"

LTT_TRACEPOINT(app_silent, tick, (int n), LTT_INFO, ltt_int(int, n, n))

/* It may only read, write and end from then on. */
static int application(int fd)
{
	char command;

	while (read(fd, &command, 1) == 1) {
		if (command == 's' && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
			return 1;
		ltt_trace(app_silent, tick, 1);
		if (write(fd, &command, 1) != 1)
			break;
	}
	syscall(SYS_exit, 0);
	return 1;
}

int main(int argc, char **argv)
{
	struct fake_app app;
	struct fake_child c;
	int listener, type;

	if (argc == 3)
		return application(atoi(argv[2]));
	if (UNDER_TSAN || UNDER_ASAN)
		return 77; /* they make more calls at the end */
	app_fake_rundir();
	listener = app_fake_listen();
	c = app_fake_child_start("silent");
	CHECK_IS(app_fake_child_command(&c, 's'), ==, 's');
	app_fake_accept(listener, &app);
	while ((type = app_fake_receive(&app, WAIT_MS)) != MSG_app_silent)
		CHECK_IS(type, >, 0);
	while ((type = app_fake_receive(&app, WAIT_MS)) != 0)
		CHECK_IS(type, >, 0);
	close(app.fd);
	close(listener);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_rundir_end();
	return 0;
}
