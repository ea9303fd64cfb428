/* SPDX-License-Identifier: GPL-2.0-only */
#include "ends.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/realtime.h"
#include "base/str.h"
#include "firing.h"
#include "io/peer.h"
#include "io/pidinfo.h"
#include "sessiond/domain/user/user.h"
#include "sessiond/peers/admission.h"
#include "sessiond/sessiond.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define EVENT_LATE_US 1000000 /* the event of an end is sent after the pidfd is ready */

struct ends_watch {
	struct list_node node;
	struct ends *ends;
	struct loop_fd ended; /* the pidfd, until it is reported */
	struct loop_timer late;
	int pidfd;
	pid_t pid;
	uid_t uid;
	char *name;
};

/* Its end is seen when the parent has read its status, but then it had ended before. */
static bool ends_has_ended(const struct ends_watch *watch)
{
	struct pollfd ended = { .fd = watch->pidfd, .events = POLLIN };

	return poll(&ended, 1, 0) != 0;
}

static bool ends_is_about(const struct trigger *trigger, uid_t uid)
{
	return trigger->condition == CONDITION_SIGNAL &&
	       (trigger->uid == 0 || trigger->uid == uid);
}

static bool ends_are_wanted(const struct ends *ends, uid_t uid)
{
	const struct trigger *trigger;

	list_for_each(trigger, &ends->sd->triggers.list, node)
		if (ends_is_about(trigger, uid))
			return true;
	return false;
}

/* --- the end --------------------------------------------------------------------------- */

static void ends_watch_free(struct ends_watch *watch)
{
	loop_fd_fini(&watch->ended);
	loop_timer_cancel(&watch->late);
	close_fd(watch->pidfd);
	quota_give(&watch->ends->sd->quotas, (struct account_id){ .uid = watch->uid },
		   QUOTA_DESCRIPTORS, 1);
	list_remove(&watch->node);
	free(watch->name);
	free(watch);
}

/* Return: the signal; 0: none. */
static int ends_signal(const struct ends_watch *watch)
{
	struct pidinfo info = { .mask = PIDINFO_EXIT };

	if (ioctl(watch->pidfd, PIDINFO_GET, &info) < 0 || !(info.mask & PIDINFO_EXIT)) {
		log_warn_some("the end of process %d (%s) is not known", (int)watch->pid,
			      watch->name);
		return 0;
	}
	return WIFSIGNALED(info.exit_code) ? WTERMSIG(info.exit_code) : 0;
}

static void ends_fire(struct ends_watch *watch, int signo)
{
	struct sessiond *sd = watch->ends->sd;
	char name[SIGNAL_NAME_BYTES];
	const struct firing firing = {
		.at_ns = realtime_ns(),
		.value = (uint64_t)signo,
		.pid = watch->pid,
		.process = watch->name,
		.event = signal_text(signo, name),
	};
	struct trigger *trigger, *next;

	list_for_each_safe(trigger, next, &sd->triggers.list, node)
		if (signo && ends_is_about(trigger, watch->uid) &&
		    glob_match(trigger->pattern, watch->name) &&
		    signal_list_has(trigger->key, signo))
			firing_decided(sd, trigger, &firing);
	ends_watch_free(watch);
}

static void ends_ended(struct loop_fd *source, uint32_t events)
{
	struct ends_watch *watch = container_of(source, struct ends_watch, ended);

	(void)events;
	loop_fd_fini(source);
	if (pidinfo_has_exit())
		ends_fire(watch, ends_signal(watch));
	else
		loop_timer_set(&watch->late, EVENT_LATE_US);
}

static void ends_without_signal(struct loop_timer *timer)
{
	ends_watch_free(container_of(timer, struct ends_watch, late));
}

/* The first event of the process' threads. */
static void ends_by_event(struct exits *exits, pid_t pid, int signo)
{
	struct ends *ends = container_of(exits, struct ends, exits);
	struct ends_watch *watch;

	list_for_each(watch, &ends->watches, node)
		if (watch->pid == pid) {
			ends_fire(watch, signo);
			return;
		}
}

/* --- applications ------------------------------------------------------------------------ */

/* One that has executed another program connects again. */
static bool ends_rename(struct ends *ends, pid_t pid, const char *name)
{
	struct ends_watch *watch;

	list_for_each(watch, &ends->watches, node)
		if (watch->pid == pid && !ends_has_ended(watch)) {
			free(watch->name);
			watch->name = xstrdup(name);
			return true;
		}
	return false;
}

static int ends_open(const struct peer *peer)
{
	socklen_t len = sizeof(int);
	int fd = -1;

	if (getsockopt(peer->source.fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) < 0)
		fd = (int)syscall(SYS_pidfd_open, peer->pid, 0); /* before Linux 6.5 */
	if (fd < 0)
		return -errno;
	if (admission_has_room(fd, ADMISSION_KEPT))
		return fd;
	close(fd);
	return -EMFILE;
}

static int ends_watch_begin(struct ends *ends, const struct peer *peer, const char *name)
{
	struct quotas *quotas = &ends->sd->quotas;
	const struct account_id account = { .uid = peer->uid };
	struct ends_watch *watch;
	int fd, ret;

	if (quota_take(quotas, account, QUOTA_DESCRIPTORS, 1))
		return -EDQUOT;
	fd = ends_open(peer);
	if (fd < 0) {
		quota_give(quotas, account, QUOTA_DESCRIPTORS, 1);
		return fd;
	}
	watch = xalloc(sizeof(*watch));
	watch->ends = ends;
	watch->pidfd = fd;
	watch->pid = peer->pid;
	watch->uid = peer->uid;
	watch->name = xstrdup(name);
	list_append(&ends->watches, &watch->node);
	loop_timer_init(&watch->late, ends->sd->loop, ends_without_signal);
	/* a hang-up, after which the status is there, is reported in any case */
	ret = loop_fd_init(&watch->ended, ends->sd->loop, fd, pidinfo_has_exit() ? 0 : EPOLLIN,
			   ends_ended);
	if (ret < 0) {
		watch->ended.fd = -1;
		ends_watch_free(watch);
	}
	return ret;
}

void ends_app_begun(struct ends *ends, const struct peer *peer, const char *name)
{
	int ret;

	if (!ends_are_wanted(ends, peer->uid) || ends_rename(ends, peer->pid, name))
		return;
	ret = ends_watch_begin(ends, peer, name);
	if (ret < 0)
		log_warn_some("the end of process %d (%s) can't be watched: %s", (int)peer->pid,
			      name, strerror(-ret));
}

static void ends_visit_app(const struct peer *peer, const char *name, void *data)
{
	ends_app_begun(data, peer, name);
}

static bool ends_has_trigger(const struct ends *ends)
{
	const struct trigger *trigger;

	list_for_each(trigger, &ends->sd->triggers.list, node)
		if (trigger->condition == CONDITION_SIGNAL)
			return true;
	return false;
}

void ends_refresh(struct ends *ends)
{
	struct ends_watch *watch, *next;
	struct err err = { 0 };

	if (!ends_has_trigger(ends))
		exits_end(&ends->exits);
	else if (ends_check(ends, &err))
		log_warn_some("triggers on the end of programs do not fire: %s", err.text);
	list_for_each_safe(watch, next, &ends->watches, node)
		if (!ends_are_wanted(ends, watch->uid))
			ends_watch_free(watch);
	user_each_app(ends->sd->domains.of[DOMAIN_USER], ends_visit_app, ends);
}

uint32_t ends_matching(const struct ends *ends, const struct trigger *trigger)
{
	const struct ends_watch *watch;
	uint32_t nr = 0;

	list_for_each(watch, &ends->watches, node)
		nr += ends_is_about(trigger, watch->uid) &&
		      glob_match(trigger->pattern, watch->name) && !ends_has_ended(watch);
	return nr;
}

/* --- life ------------------------------------------------------------------------------- */

int ends_check(struct ends *ends, struct err *err)
{
	int ret;

	if (pidinfo_has_exit())
		return 0;
	ret = geteuid() == 0 ? exits_begin(&ends->exits) : -EPERM;
	if (ret == 0)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "this kernel does not have the status of processes that are not children: "
		       "that needs Linux 6.15, or a daemon of root and process events of the kernel "
		       "(%s); 'lttctl crash --install' saves the events of programs that crash",
		       strerror(-ret));
}

uint64_t ends_lost(const struct ends *ends)
{
	return ends->exits.lost;
}

void ends_init(struct ends *ends, struct sessiond *sd)
{
	ends->sd = sd;
	list_init(&ends->watches);
	exits_init(&ends->exits, sd->loop, ends_by_event);
}

void ends_fini(struct ends *ends)
{
	struct ends_watch *watch;

	exits_end(&ends->exits);
	while ((watch = list_first(&ends->watches, struct ends_watch, node)))
		ends_watch_free(watch);
}
