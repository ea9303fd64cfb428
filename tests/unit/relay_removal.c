/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay removes sessions that are over while others come: one that is received stays, also if it
 * had ended before; one that is named while its neighbour is removed waits until that is done.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "check.h"
#include "lib/relay_sender.h"
#include "relayd/store/retention.h"

static struct relay relay;
static struct retention retention;
static struct loop *loop;
static int out_fd;
static atomic_bool over;

static void tick(struct loop_timer *timer)
{
	if (atomic_load(&over))
		loop_stop(loop);
	else
		loop_timer_set(timer, 2000);
}

static void *run_loop(void *data)
{
	struct loop_timer timer;

	loop_timer_init(&timer, loop, tick);
	loop_timer_set(&timer, 2000);
	CHECK_IS(loop_run(loop), ==, 0);
	return data;
}

static bool exists(const char *path)
{
	struct stat st;

	return fstatat(out_fd, path, &st, 0) == 0;
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
	CHECK_IS(retention_start(&retention), ==, 0);
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
	pthread_mutex_lock(&relay.lock);
	while (relay.removing != before)
		pthread_cond_wait(&relay.removed, &relay.lock);
	relay.removing = path;
	pthread_cond_broadcast(&relay.removed);
	pthread_mutex_unlock(&relay.lock);
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
	const struct retention_rules rules = { .size = 1, .period_ms = 1 };
	char top[] = "/tmp/relay_removal_XXXXXX";
	pthread_t thread;
	int fds[5];

	CHECK(mkdtemp(top));
	out_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(out_fd >= 0 && loop_new(&loop) == 0);
	CHECK_IS(relay_init(&relay, loop, out_fd, 1000), ==, 0);
	retention_init(&retention, &relay, &rules);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = sender_connect(&relay);
	CHECK_IS(pthread_create(&thread, NULL, run_loop, NULL), ==, 0);
	test_received_stays(fds);
	test_neighbour_waits(fds[3], fds[4]);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	relworkers_stop(&relay);
	retention_fini(&retention);
	relay_fini(&relay);
	loop_free(loop);
	dir_empty(out_fd, ".", 12);
	CHECK_IS(rmdir(top), ==, 0);
	close(out_fd);
	return 0;
}
