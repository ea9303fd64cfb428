/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to a consumer that is dying: its connection is closed before its end is reported.
 * They all wait for the successor, in the order in which they were made; those that set up its
 * state are superseded by new ones. Each is answered once.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "check.h"
#include "sessiond/peers/consumer.h"

static struct loop *loop;
static unsigned int nr_gone, nr_superseded;
static char order[8];

static void gone(struct consumer *consumer, const char *why)
{
	CHECK(strstr(why, "status 7"));
	CHECK_IS(order[0], ==, '\0'); /* its end has not been reported yet */
	nr_gone++;
	consumer_give_up(consumer, 0);
	loop_stop(loop);
}

static const struct consumer_ops ops = { .gone = gone };

static void done(void *data, const struct con_answer *answer)
{
	CHECK(nr_gone == 1 && answer->code == ERR_CONSUMER && !answer->superseded);
	strcat(order, data);
}

static void state_done(void *data, const struct con_answer *answer)
{
	(void)data;
	CHECK(nr_gone == 0 && answer->code == ERR_CONSUMER && answer->superseded);
	nr_superseded++;
}

static void ask(struct consumer *consumer, char *name)
{
	struct req_con_end req;

	CONSUMER_CALL(consumer, con_end, &req, NULL, done, name);
}

static void look(struct loop_timer *timer)
{
	(void)timer;
	loop_stop(loop);
}

/* For 10 ms, or until it is gone. */
static void run(struct loop_timer *timer)
{
	loop_timer_set(timer, 10000);
	CHECK_IS(loop_run(loop), ==, 0);
}

/* It closes its connection at once, and ends when the file is there. */
static const char *make_dying(void)
{
	FILE *f = fopen("dying", "we");

	CHECK(f);
	fputs("#!/bin/sh\ntrap '' TERM\nexec 3>&-\nuntil [ -e now ]; do sleep 0.01; done\nexit 7\n",
	      f);
	CHECK(fclose(f) == 0 && chmod("dying", 0700) == 0);
	return "./dying";
}

int main(void)
{
	struct req_con_adopted adopted;
	struct consumer consumer;
	struct loop_timer timer;
	FILE *now;

	CHECK_IS(loop_new(&loop), ==, 0);
	loop_timer_init(&timer, loop, look);
	consumer_init(&consumer, loop, &ops);
	CHECK_IS(consumer_spawn(&consumer, make_dying(), "none.sock", NULL), ==, 0);
	CONSUMER_CALL(&consumer, con_adopted, &adopted, NULL, state_done, NULL);
	consumer_resend(&consumer); /* it has received all requests */
	ask(&consumer, "a");
	while (consumer.connected)
		run(&timer);
	CHECK_IS(nr_superseded, ==, 1);
	ask(&consumer, "b");
	for (int i = 0; i < 3; i++)
		run(&timer);
	CHECK(nr_gone == 0 && consumer.running);
	now = fopen("now", "we");
	CHECK(now && fclose(now) == 0);
	while (!nr_gone)
		run(&timer);
	CHECK_IS(strcmp(order, "ab"), ==, 0);
	CHECK_IS(nr_superseded, ==, 1);
	loop_timer_cancel(&timer);
	consumer_fini(&consumer);
	loop = loop_free(loop);
	return 0;
}
