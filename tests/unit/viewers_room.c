/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The viewer that is closed when there is no room: one address can't use more than half of it, and
 * beyond that the oldest viewer of the address with the most is closed; viewers that follow a
 * session stay.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "relayd/viewer/live.h"
#include "relayd/viewer/viewer.h"

#define ROOM 10u /* viewers */

static struct viewers viewers;

/* Return: 0 or negative errno; our end is left open. */
static int come(uint8_t from)
{
	uint8_t origin[16] = { from };
	int fds[2];

	CHECK_IS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), ==, 0);
	return viewers_serve(&viewers, fds[0], NULL, true, origin);
}

static unsigned int count(uint8_t from)
{
	const struct viewer *viewer;
	unsigned int nr = 0;

	list_for_each(viewer, &viewers.list, node)
		nr += viewer->origin->key[0] == from;
	return nr;
}

/* As if all of them followed a session, or none. */
static void follow(uint8_t from, unsigned int nr_sessions)
{
	struct viewer *viewer;

	list_for_each(viewer, &viewers.list, node)
		if (viewer->origin->key[0] == from)
			viewer->nr_sessions = nr_sessions;
}

int main(void)
{
	struct loop *loop;
	const unsigned int none = 0;
	struct live live;

	CHECK_IS(loop_new(&loop), ==, 0);
	live_init(&live, &none, 20);
	CHECK(viewers_init(&viewers, loop, &live, 2 * ROOM) == 0 && viewers.max == ROOM);
	CHECK_IS(come(2), ==, 0); /* the oldest of all */
	for (unsigned int i = 0; i < 100; i++)
		CHECK_IS(come(1), ==, 0);
	CHECK(count(1) == ROOM / 2 && viewers.nr == ROOM / 2 + 1);
	for (uint8_t from = 3; from < 7; from++)
		CHECK_IS(come(from), ==, 0);
	CHECK_IS(viewers.nr, ==, ROOM);
	for (uint8_t from = 2; from < 7; from++) /* full: the one with the most makes room */
		CHECK_IS(count(from), ==, 1);
	CHECK(come(7) == 0 && count(1) == ROOM / 2 - 1 && count(7) == 1);
	follow(1, 1);
	CHECK(come(8) == 0 && count(1) == ROOM / 2 - 1 && viewers.nr == ROOM);
	for (uint8_t from = 2; from < 9; from++)
		follow(from, 1);
	CHECK(come(9) < 0 && viewers.nr == ROOM); /* every viewer follows a session */
	follow(1, 0);
	CHECK(come(9) == 0 && count(1) == ROOM / 2 - 2 && count(9) == 1);
	for (uint8_t from = 1; from < 10; from++)
		follow(from, 0);
	viewers_fini(&viewers);
	CHECK(!viewers.origins);
	loop_free(loop);
	return 0;
}
