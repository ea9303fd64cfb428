/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.c - saving and restoring of the user domain for a successor, beyond traces and ring
 * sets (rec/state.c): which process had which.
 */
#include "state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "session.h"

/* --- processes -------------------------------------------------------------------- */

uint64_t process_start_ticks(pid_t pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/stat", (int)pid);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned long long ticks = 0;
	char text[1024];
	const char *at;
	ssize_t n;

	if (pid <= 0 || fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')'); /* the name may hold anything */
	/* fields 3 to 22: proc(5) */
	if (at)
		sscanf(at + 1,
		       " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%*s %*s %llu",
		       &ticks);
	return ticks;
}

#define POLL_US 1000000u

uint64_t absent_take(struct user_domain *user, pid_t pid, uint64_t start_ticks)
{
	struct absent_app *absent;
	uint64_t id;

	list_for_each(absent, &user->absent, node) {
		if (absent->pid != pid || absent->start_ticks != start_ticks || !start_ticks)
			continue;
		id = absent->id;
		list_remove(&absent->node);
		free(absent);
		return id;
	}
	return 0;
}

/* One that is stopped, or busy, comes when it can; one that is dead never. */
void absent_check(struct loop_timer *timer)
{
	struct user_domain *user = container_of(timer, struct user_domain, look);
	struct absent_app *absent, *next;

	list_for_each_safe(absent, next, &user->absent, node) {
		uint64_t ticks = process_start_ticks(absent->pid);

		if (ticks && ticks == absent->start_ticks)
			continue;
		log_debug("process %d is gone", (int)absent->pid);
		list_remove(&absent->node);
		user_close_buffers(user, absent->id);
		free(absent);
	}
	if (!list_empty(&user->absent))
		loop_timer_set(&user->look, POLL_US);
}

void absent_free(struct user_domain *user)
{
	struct absent_app *absent, *next;

	loop_timer_cancel(&user->look);
	list_for_each_safe(absent, next, &user->absent, node) {
		list_remove(&absent->node);
		free(absent);
	}
}

void absent_add(struct user_domain *user, const struct msg_state_app *msg)
{
	struct absent_app *absent;

	list_for_each(absent, &user->absent, node)
		if (absent->id == msg->id)
			return;
	absent = xalloc(sizeof(*absent));
	absent->id = msg->id;
	absent->pid = (pid_t)msg->pid;
	absent->start_ticks = msg->start_ticks;
	list_append(&user->absent, &absent->node);
	loop_timer_set(&user->look, POLL_US);
}

/* --- save -------------------------------------------------------------------------- */

/* An application without an entry has died: it will not reconnect. */
static void user_state_put_app(struct recording *rec, struct encoder *enc, uint64_t id)
{
	const struct user_domain *user = us_of(rec)->user;
	struct msg_state_app msg = { .id = id };
	const struct absent_app *absent;
	const struct user_app *app;

	list_for_each(app, &user->apps, node)
		if (app->app.id == id) {
			msg.pid = (uint32_t)app->app.pid;
			msg.start_ticks = app->start_ticks;
		}
	list_for_each(absent, &user->absent, node)
		if (absent->id == id) {
			msg.pid = (uint32_t)absent->pid;
			msg.start_ticks = absent->start_ticks;
		}
	msg_state_app_add(enc, &msg);
}

void user_save(struct domain_tracer *domain, const struct session *session,
	       struct state_space *space)
{
	struct recording *rec = recording_find(domain, session);

	if (rec)
		recording_save(rec, space, user_state_put_app);
}

void user_restore(struct domain_tracer *domain, struct session *session,
		  const struct clock_facts *clock, struct msg_state_session *msg)
{
	struct user_domain *user = user_of(domain);
	struct user_session *us = user_session_get(user, session, clock);
	struct list apps = msg->apps;
	struct msg_state_app app;

	us->generation = 1;
	recording_restore(&us->rec, msg);
	while (msg_state_app_next(&apps, &app))
		absent_add(user, &app);
}
