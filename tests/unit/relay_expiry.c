/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A certificate that expires while its owner is connected: the connections of that sender and
 * that viewer are closed then, and no others.
 */
#include "consumerd/now.h"
#include "relayd/keyring.h"
#include "relayd/relay.h"
#include "relayd/viewer/viewers.h"
#include "lib/tls_pair.h"

#define BRIEF_S 3
#define SILENT_NS 4900000000u /* less than a silent connection is kept open */

static const uint8_t nowhere[16];
static struct loop *loop;
static struct relay relay;
static struct viewers viewers;
static struct keyring ring;

/* The far end of a connection to the relay. */
struct end {
	struct chan chan;
	int opened;
};

static void stop(struct loop_timer *timer)
{
	(void)timer;
	loop_stop(loop);
}

static void go_round(void)
{
	static struct loop_timer timer;

	loop_timer_init(&timer, loop, stop);
	loop_timer_set(&timer, 10000);
	CHECK_IS(loop_run(loop), ==, 0);
}

static void begin(struct end *e, const char *host, bool looks_on)
{
	struct tls_keys *keys = tls_pair_keys(host);
	struct tls *ours_end, *theirs_end;
	int fds[2];

	tls_pair_sockets(fds);
	CHECK_IS(tls_new_server(ring.keys, fds[0], &ours_end), ==, 0);
	CHECK_IS(tls_new_client(keys, fds[1], "relay.example", &theirs_end), ==, 0);
	CHECK_IS((looks_on ? viewers_serve(&viewers, fds[0], ours_end, false, nowhere) :
			     relay_serve(&relay, fds[0], ours_end)),
		 ==, 0);
	chan_init(&e->chan, fds[1], theirs_end);
	e->opened = -EAGAIN;
	tls_keys_unref(keys);
}

static void end(struct end *e)
{
	chan_fini(&e->chan);
	close(e->chan.fd);
}

static bool is_over(struct end *e)
{
	uint8_t byte;
	ssize_t n = chan_recv(&e->chan, &byte, 1);

	CHECK_IS(n, <=, 0);
	return n != -EAGAIN;
}

static void connect_both(struct end *brief, struct end *other)
{
	while (brief->opened == -EAGAIN || other->opened == -EAGAIN) {
		if (brief->opened == -EAGAIN)
			brief->opened = chan_open(&brief->chan);
		if (other->opened == -EAGAIN)
			other->opened = chan_open(&other->chan);
		go_round();
	}
	CHECK_IS(other->opened, ==, 0);
}

/* Return: false: it took so long that both were cut off for their silence. */
static bool outlive(bool looks_on, unsigned int nr)
{
	AUTO_FREE char *dir = xasprintf("brief%u", nr);
	struct end brief, other;
	uint64_t begun;
	bool in_time;

	tls_pair_make_machine(dir, CERT_HOST, &tls_pair_ours, tls_pair_our_ca, dir, -86400,
			      BRIEF_S);
	begun = now_ns();
	begin(&brief, dir, looks_on);
	begin(&other, "web1", looks_on);
	connect_both(&brief, &other);
	while (!is_over(&brief))
		go_round();
	in_time = now_ns() - begun < SILENT_NS;
	CHECK(!in_time || (brief.opened == 0 && !is_over(&other)));
	end(&brief);
	end(&other);
	while (relay.nr_conns || viewers.nr)
		go_round();
	return in_time;
}

int main(void)
{
	AUTO_FREE char *path = NULL;
	struct err err = { 0 };
	unsigned int nr = 0;
	int out_fd;

	tls_pair_begin();
	path = xasprintf("%s/relay", tls_pair_top);
	CHECK_IS(keyring_init(&ring, path, &err), ==, 0);
	out_fd = open(tls_pair_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(out_fd >= 0 && loop_new(&loop) == 0);
	CHECK_IS(relay_init(&relay, loop, out_fd, 200), ==, 0);
	CHECK_IS(viewers_init(&viewers, loop, &relay.live, 20), ==, 0);
	relay.keyring = viewers.keyring = &ring;
	for (int looks_on = 0; looks_on < 2; looks_on++)
		while (!outlive(looks_on, nr++))
			CHECK_IS(nr, <, 10);
	viewers_fini(&viewers);
	relay_fini(&relay);
	keyring_fini(&ring);
	loop_free(loop);
	close(out_fd);
	tls_pair_end();
	return 0;
}
