/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Process events of the kernel: those of ends by signals alone, of all threads; messages that are
 * cut, of other connectors, and random ones; a socket that is closed.
 */
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "sessiond/trigger/exits.h"

enum { EVENT = sizeof(struct nlmsghdr) + sizeof(struct cn_msg), BYTES = EVENT + 16 + 24 };

static struct exits exits;
static struct loop *loop;
static struct loop_timer stop;
static int kernel, nr_ended, last_pid, last_signo;

static void ended(struct exits *from, pid_t pid, int signo)
{
	CHECK(from == &exits && signo > 0 && signo < 128);
	nr_ended++;
	last_pid = pid;
	last_signo = signo;
}

static void stop_now(struct loop_timer *timer)
{
	(void)timer;
	loop_stop(loop);
}

static void run_once(void)
{
	loop_timer_set(&stop, 0);
	CHECK_IS(loop_run(loop), ==, 0);
}

static void put(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void make(uint8_t *message, uint32_t what, uint32_t tgid, uint32_t code)
{
	const struct nlmsghdr head = { .nlmsg_len = BYTES, .nlmsg_type = NLMSG_DONE };
	const struct cn_msg connector = { .id = { CN_IDX_PROC, CN_VAL_PROC },
					  .len = BYTES - EVENT };

	memset(message, 0, BYTES);
	memcpy(message, &head, sizeof(head));
	memcpy(message + sizeof(head), &connector, sizeof(connector));
	put(message + EVENT, what);
	put(message + EVENT + 16, tgid + 1);
	put(message + EVENT + 20, tgid);
	put(message + EVENT + 24, code);
}

static void send_all(const void *message, size_t len)
{
	CHECK_IS(send(kernel, message, len, 0), ==, (ssize_t)len);
	run_once();
}

static void events(void)
{
	uint8_t message[BYTES];

	make(message, PROC_EVENT_EXIT, 77, 11 | 0x80);
	send_all(message, BYTES);
	CHECK(nr_ended == 1 && last_pid == 77 && last_signo == 11);
	make(message, PROC_EVENT_EXIT, 78, 3 << 8);
	send_all(message, BYTES);
	make(message, PROC_EVENT_FORK, 78, 9);
	send_all(message, BYTES);
	make(message, PROC_EVENT_NONE, 78, 9);
	send_all(message, BYTES);
	CHECK_IS(nr_ended, ==, 1);
	for (int i = 0; i < 100; i++) {
		make(message, PROC_EVENT_EXIT, 100u + (uint32_t)i, 9);
		CHECK_IS(send(kernel, message, BYTES, 0), ==, BYTES);
	}
	run_once();
	CHECK(nr_ended == 101 && last_pid == 199 && last_signo == 9);
}

static void broken(void)
{
	const size_t others[] = { 0, sizeof(struct nlmsghdr), sizeof(struct nlmsghdr) + 4 };
	uint8_t message[2 * BYTES];
	int before = nr_ended;

	for (size_t len = 1; len < EVENT + 16 + 16; len++) {
		make(message, PROC_EVENT_EXIT, 5, 6);
		send_all(message, len);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		make(message, PROC_EVENT_EXIT, 5, 6);
		put(message + others[i], 99999);
		send_all(message, BYTES);
	}
	CHECK_IS(nr_ended, ==, before);
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		size_t len = 1 + (size_t)random() % (sizeof(message) - 1);

		make(message, PROC_EVENT_EXIT, 5, 6);
		for (int n = 0; n < 4; n++)
			message[(size_t)random() % len] = (uint8_t)random();
		send_all(message, len);
	}
	before = nr_ended;
	make(message, PROC_EVENT_EXIT, 6, 15);
	send_all(message, BYTES);
	CHECK(nr_ended == before + 1 && last_pid == 6 && last_signo == 15);
	CHECK_IS(exits.lost, ==, 0);
}

static void closed(void)
{
	close(kernel);
	run_once();
	CHECK(!exits_are_received(&exits));
	exits_end(&exits);
}

int main(void)
{
	int pair[2], ret;

	CHECK_IS(loop_new(&loop), ==, 0);
	loop_timer_init(&stop, loop, stop_now);
	exits_init(&exits, loop, ended);
	CHECK(!exits_are_received(&exits));
	CHECK_IS(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), ==,
		 0);
	kernel = pair[1];
	CHECK_IS(exits_begin_from(&exits, pair[0]), ==, 0);
	CHECK_IS(exits_begin(&exits), ==, 0); /* as it is */
	events();
	broken();
	closed();
	ret = exits_begin(&exits); /* the kernel's, if this may have them */
	CHECK(ret == 0 ? exits_are_received(&exits) : ret < 0 && !exits_are_received(&exits));
	exits_end(&exits);
	CHECK(!exits_are_received(&exits));
	loop_free(loop);
	return 0;
}
