/* SPDX-License-Identifier: GPL-2.0-only */
#include "relay_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"
#include "base/dir.h"
#include "relay_sender.h"

#define TICK_US 2000

struct thread_tick {
	struct loop_timer timer;
	struct loop_thread *of;
};

static void thread_on_tick(struct loop_timer *timer)
{
	struct thread_tick *tick = container_of(timer, struct thread_tick, timer);

	if (atomic_load(&tick->of->over))
		loop_stop(tick->of->loop);
	else
		loop_timer_set(timer, TICK_US);
}

static void *thread_run_loop(void *data)
{
	struct thread_tick tick = { .of = data };

	loop_timer_init(&tick.timer, tick.of->loop, thread_on_tick);
	loop_timer_set(&tick.timer, TICK_US);
	CHECK_IS(loop_run(tick.of->loop), ==, 0);
	return NULL;
}

void loop_thread_start(struct loop_thread *t, struct loop *loop)
{
	t->loop = loop;
	CHECK_IS(pthread_create(&t->thread, NULL, thread_run_loop, t), ==, 0);
}

void loop_thread_stop(struct loop_thread *t)
{
	atomic_store(&t->over, true);
	pthread_join(t->thread, NULL);
}

void relay_place_init(struct relay_place *place, int *fds, size_t nr)
{
	static const struct retention_rules rules = { .size = 1, .period_ms = 1 };
	struct loop *loop;

	snprintf(place->top, sizeof(place->top), "/tmp/relay_XXXXXX");
	CHECK(mkdtemp(place->top));
	place->fd = open(place->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(place->fd >= 0 && loop_new(&loop) == 0);
	CHECK_IS(relay_init(&place->relay, loop, place->fd, 1000), ==, 0);
	retention_init(&place->retention, &place->relay, &rules);
	for (size_t i = 0; i < nr; i++)
		fds[i] = sender_connect(&place->relay);
	loop_thread_start(&place->loop, loop);
}

void relay_place_fini(struct relay_place *place)
{
	loop_thread_stop(&place->loop);
	relworkers_stop(&place->relay);
	retention_fini(&place->retention);
	relay_fini(&place->relay);
	loop_free(place->loop.loop);
	dir_empty(place->fd, ".", 12);
	CHECK_IS(rmdir(place->top), ==, 0);
	close(place->fd);
}

bool relay_place_has(const struct relay_place *place, const char *path)
{
	struct stat st;

	return fstatat(place->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}
