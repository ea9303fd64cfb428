/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay removes sessions that are over while others come: one that is received stays, also if it
 * had ended before; one that is named while its neighbour is removed waits until that is done.
 */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "lib/relay_place.h"
#include "lib/relay_sender.h"

static struct relay_place place;

static bool exists(const char *path)
{
	return relay_place_has(&place, path);
}

static void end_session(int fd)
{
	CHECK_IS(SENDER_ASK(fd, rel_end, {}), ==, 0);
}

/* Of two sessions that have ended, one goes on. */
static void test_received_stays(int fds[3])
{
	CHECK_IS(sender_begin(fds[0], "stays", SYNC_NONE, 0), ==, 0);
	end_session(fds[0]);
	CHECK_IS(sender_begin(fds[1], "stays", SYNC_NONE, 0), ==, 0);
	CHECK_IS(sender_begin(fds[2], "goes", SYNC_NONE, 0), ==, 0);
	end_session(fds[2]);
	CHECK_IS(retention_start(&place.retention), ==, 0);
	while (exists("host/goes-stamp"))
		usleep(1000);
	CHECK(exists("host/stays-stamp/.session"));
	end_session(fds[1]);
	while (exists("host"))
		usleep(1000);
}

/* In the thread's place. */
static void set_removing(const char *path, const char *before)
{
	pthread_mutex_lock(&place.relay.lock);
	while (place.relay.removing != before)
		pthread_cond_wait(&place.relay.removed, &place.relay.lock);
	place.relay.removing = path;
	pthread_cond_broadcast(&place.relay.removed);
	pthread_mutex_unlock(&place.relay.lock);
}

static bool is_mute(int fd)
{
	struct pollfd pollfd = { fd, POLLIN, 0 };

	return poll(&pollfd, 1, 100) == 0;
}

static void ask_session(int fd, const char *name)
{
	const struct blob id = { sender_id, sizeof(sender_id) };
	const struct req_rel_session req = { "host", name, "stamp", id, 0, SYNC_NONE, 0, "" };
	uint8_t buf[1024];
	struct encoder enc;

	CHECK_IS(SENDER_ASK(fd, rel_hello, { "test", 0 }), ==, 0);
	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_rel_session, 0, 1);
	req_rel_session_encode(&enc, &req);
	CHECK(sender_write(fd, &enc, NULL, 0));
}

static void test_neighbour_waits(int neighbour, int other)
{
	const char *removing = "host/goes-stamp", *elsewhere = "host2/goes-stamp";

	set_removing(removing, NULL);
	ask_session(neighbour, "comes");
	CHECK(is_mute(neighbour) && !exists("host/comes-stamp"));
	set_removing(elsewhere, removing);
	CHECK_IS(sender_answer(neighbour), ==, 0);
	ask_session(other, "comes-2");
	CHECK_IS(sender_answer(other), ==, 0);
	set_removing(NULL, elsewhere);
}

int main(void)
{
	int fds[5];

	relay_place_init(&place, fds, ARRAY_SIZE(fds));
	test_received_stays(fds);
	test_neighbour_waits(fds[3], fds[4]);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	relay_place_fini(&place);
	return 0;
}
