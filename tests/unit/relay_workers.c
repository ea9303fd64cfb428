/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Senders of many sessions at a time, which a relay's workers store: each acknowledged packet is
 * stored. Two senders take the same session away from each other all the while, and some close
 * their connections in the middle of a packet: nothing is left of any of them in the end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/dir.h"
#include "check.h"
#include "lib/relay_sender.h"

#define NR_SENDERS 12u
#define NR_RIVALS 2u /* of them, with the same session */
#define NR_TURNS 4u  /* connections of each, one after the other */
#define NR_PACKETS 25u
#define BODY_BYTES 3000u

static struct relay relay;
static struct loop *loop;
static atomic_uint nr_done;
static pthread_barrier_t all_are_there;

struct sender {
	pthread_t thread;
	unsigned int nr;
	char name[16];
	int fds[NR_TURNS];
	uint64_t seq; /* of the next packet */
	unsigned int acknowledged;
};

static bool is_rival(const struct sender *s)
{
	return s->nr < NR_RIVALS;
}

/* The other rival's packets may be stored already, or it may have the session. */
static void check(const struct sender *s, int ret)
{
	CHECK(ret == 0 || is_rival(s));
}

static int send_packet(struct sender *s, int fd)
{
	uint8_t body[BODY_BYTES];
	struct packet_header header;
	int ret;

	memset(body, (int)s->seq, sizeof(body));
	header = sender_header(s->seq++, body, sizeof(body));
	ret = sender_write_packet(fd, &header, body, sizeof(body)) ? sender_answer(fd) : -1;
	s->acknowledged += ret == 0;
	return ret;
}

static void send_half_a_packet(const struct sender *s, int fd)
{
	const uint8_t body[BODY_BYTES] = { 0 };
	struct packet_header header = sender_header(s->seq, body, sizeof(body));

	(void)sender_write_packet(fd, &header, body, sizeof(body) / 2);
}

static void take_turn(struct sender *s, int fd, bool first)
{
	int ret = sender_begin(fd, s->name, s->nr % 2 ? SYNC_PACKET : SYNC_NONE, 20000);

	check(s, ret);
	if (first)
		pthread_barrier_wait(&all_are_there);
	for (unsigned int i = 0; i < NR_PACKETS && ret != -1; i++) {
		ret = send_packet(s, fd);
		check(s, ret);
	}
	if (ret == 0 && s->nr % 3 == 0)
		send_half_a_packet(s, fd);
}

static void *sender_run(void *data)
{
	struct sender *s = data;

	for (unsigned int i = 0; i < NR_TURNS; i++) {
		take_turn(s, s->fds[i], i == 0);
		close(s->fds[i]);
	}
	atomic_fetch_add(&nr_done, 1);
	return NULL;
}

static void sender_start(struct sender *s, unsigned int nr)
{
	s->nr = nr;
	snprintf(s->name, sizeof(s->name), "s%u", is_rival(s) ? 0 : nr);
	for (unsigned int i = 0; i < NR_TURNS; i++)
		s->fds[i] = sender_connect(&relay);
	CHECK_IS(pthread_create(&s->thread, NULL, sender_run, s), ==, 0);
}

/* The main loop has something to do meanwhile. */
static void tick(struct loop_timer *timer)
{
	relworkers_recheck(&relay);
	if (atomic_load(&nr_done) == NR_SENDERS &&
	    !__atomic_load_n(&relay.nr_conns, __ATOMIC_RELAXED))
		loop_stop(loop);
	else
		loop_timer_set(timer, 2000);
}

static void check_stored(const struct sender *senders, int out_fd)
{
	uint64_t by_rivals = 0;

	for (unsigned int i = 0; i < NR_SENDERS; i++)
		if (is_rival(&senders[i]))
			by_rivals += senders[i].acknowledged;
		else
			CHECK_IS(sender_stored(out_fd, senders[i].name), ==, NR_TURNS * NR_PACKETS);
	/* packets may have been stored of which the answer did not come */
	CHECK(by_rivals && sender_stored(out_fd, senders[0].name) >= by_rivals);
}

int main(void)
{
	static struct sender senders[NR_SENDERS];
	char top[] = "/tmp/relay_workers_XXXXXX";
	struct loop_timer timer;
	int out_fd;

	CHECK(mkdtemp(top));
	out_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(out_fd >= 0 && loop_new(&loop) == 0);
	CHECK_IS(relay_init(&relay, loop, out_fd, 1000), ==, 0);
	CHECK_IS(pthread_barrier_init(&all_are_there, NULL, NR_SENDERS), ==, 0);
	loop_timer_init(&timer, loop, tick);
	loop_timer_set(&timer, 2000);
	for (unsigned int i = 0; i < NR_SENDERS; i++)
		sender_start(&senders[i], i);
	CHECK_IS(loop_run(loop), ==, 0);
	for (unsigned int i = 0; i < NR_SENDERS; i++)
		pthread_join(senders[i].thread, NULL);
	pthread_mutex_lock(&relay.lock); /* which the workers held when they last wrote these */
	CHECK_IS(relay.nr_workers, ==, RELWORKER_PER_HOST);
	CHECK(relay.nr_files == 0 && relay.nr_sessions == 0 && list_empty(&relay.claim_list));
	pthread_mutex_unlock(&relay.lock);
	check_stored(senders, out_fd);
	relay_fini(&relay);
	loop_free(loop);
	dir_empty(out_fd, ".", 12);
	CHECK_IS(rmdir(top), ==, 0);
	close(out_fd);
	return 0;
}
