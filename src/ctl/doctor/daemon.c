/* SPDX-License-Identifier: GPL-2.0-only */
/* daemon.c - checks whether there is a session daemon, and whether it is the intended one */
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "io/logplace.h"
#include "io/paths.h"
#include "io/procstate.h"
#include "ctl/print/text.h"
#include "doctor.h"
#include "ctl/connect.h"
#include "ctl/session/points.h"
#include "ctl/session/quota.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"

#define MAX_OTHERS 32
#define KERNEL_CLOCK_HZ 1000000000 /* CLOCK_MONOTONIC, where the processor's won't do */
#define LISTENING 0x10000	   /* __SO_ACCEPTCON, as /proc/net/unix has it */

/* The directory of a daemon's socket in a line of /proc/net/unix; allocated, or NULL. */
static char *served_dir(const char *line)
{
	static const char name[] = "/client.sock\n";
	const char *path = strchr(line, '/');
	char *dir, *apps AUTO_FREE = NULL;
	unsigned long flags = 0;
	size_t len;

	if (!path || sscanf(line, "%*s %*s %*s %lx", &flags) != 1 || !(flags & LISTENING))
		return NULL;
	len = strlen(path);
	if (len < sizeof(name) || strcmp(path + len - (sizeof(name) - 1), name) != 0)
		return NULL;
	dir = xstrdup(path);
	dir[len - (sizeof(name) - 1)] = '\0';
	apps = xasprintf("%s/apps.sock", dir);
	if (access(apps, F_OK) == 0)
		return dir;
	free(dir);
	return NULL;
}

static bool doctor_daemon_is_reported(const struct doctor *d, const char *rundir)
{
	for (size_t i = 0; i < json_object_array_length(d->findings); i++) {
		struct json_object *finding = json_object_array_get_idx(d->findings, i);

		if (strcmp(json_str(finding, "rundir"), rundir) == 0)
			return true;
	}
	return false;
}

static void report_other(struct doctor *d, const char *rundir, unsigned int uid)
{
	char *word AUTO_FREE = text_shell_word(rundir);

	doctor_found(d, GRADE_WARN, "other-daemon",
		     "a session daemon of user %u serves %s, which lttctl does not use", uid,
		     rundir);
	doctor_repair(d, "LTT_RUNDIR=%s lttctl list", word);
	json_set_str(json_object_array_get_idx(d->findings,
						 json_object_array_length(d->findings) - 1),
		       "rundir", rundir);
}

/* Daemons that serve other directories, of users whose daemons the caller may use. */
static void other_daemons(struct doctor *d)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[1024];
	int nr = 0;

	while (f && nr < MAX_OTHERS && fgets(line, sizeof(line), f)) {
		char *dir AUTO_FREE = served_dir(line);
		struct stat st;

		if (!dir || strcmp(dir, d->rundir) == 0 || doctor_daemon_is_reported(d, dir) ||
		    stat(dir, &st) != 0)
			continue;
		if (geteuid() != 0 && st.st_uid != geteuid())
			continue;
		report_other(d, dir, st.st_uid);
		nr++;
	}
	if (f)
		fclose(f);
}

/* A daemon that runs in @rundir and refuses this user: its socket has a group, which is the way to
 * it. Return: false: there is none. */
static bool report_refused(struct doctor *d, const char *rundir)
{
	char *sock AUTO_FREE = xasprintf("%s/client.sock", rundir);
	const struct group *group;
	struct stat st;

	if (stat(sock, &st) != 0 || access(sock, W_OK) == 0)
		return false;
	group = getgrgid(st.st_gid);
	doctor_found(d, GRADE_BAD, "daemon",
		     "%s session daemon runs, but you may not use it: %s is group %s's",
		     strcmp(rundir, PATHS_SYSTEM_RUNDIR) == 0 ? "the system's" : "a", sock,
		     group ? group->gr_name : "unknown");
	if (!st.st_gid || !group || !(st.st_mode & S_IWGRP))
		doctor_repair(d, "sudo ltt-sessiond --group=GROUP # instead: this one is root's");
	else
		doctor_repair(d, "sudo usermod -aG %s \"$USER\" # and log in again",
			      group->gr_name);
	return true;
}

/* Its owner opens a directory; if the path leads through another user's directory, choose a
 * different one. */
static void repair_closed(struct doctor *d, const char *closed)
{
	const char *env = getenv("LTT_RUNDIR");
	char *word AUTO_FREE = text_shell_word(closed);
	struct stat st;

	if (stat(closed, &st) == 0 && st.st_uid == geteuid())
		doctor_repair(d, "chmod u+rwx %s", word);
	else if (strcmp(closed, PATHS_SYSTEM_RUNDIR) == 0)
		doctor_repair(d, "sudo chmod a+rx %s", word);
	else if (env && *env)
		doctor_repair(d, "unset LTT_RUNDIR");
	else
		doctor_repair(
			d,
			"unset XDG_RUNTIME_DIR; export HOME=\"$(getent passwd %u | cut -d: -f6)\"",
			(unsigned int)geteuid());
}

/* A daemon can be neither examined nor started if a directory is not accessible. Return: true if
 * so. */
static bool doctor_daemon_report_closed(struct doctor *d, const char *rundir)
{
	char *closed AUTO_FREE = paths_closed_dir(rundir);
	bool is_itself = closed && strcmp(closed, rundir) == 0;
	struct stat st = { .st_uid = 0 };

	if (!closed)
		return false;
	if (stat(closed, &st) != 0)
		doctor_found(d, GRADE_BAD, "rundir", "the runtime directory %s can't be entered",
			     rundir);
	else
		doctor_found(
			d, GRADE_BAD, "rundir",
			"the runtime directory %s can't be entered: %s%sis user %u's, mode %04o",
			rundir, is_itself ? "it " : closed, is_itself ? "" : " ",
			(unsigned int)st.st_uid, (unsigned int)st.st_mode & 07777);
	repair_closed(d, closed);
	return true;
}

static void no_daemon(struct doctor *d, const struct err *err)
{
	const char *env = getenv("LTT_RUNDIR");
	bool chosen = env && *env;
	bool closed = doctor_daemon_report_closed(d, d->rundir);

	if (!chosen && strcmp(d->rundir, PATHS_SYSTEM_RUNDIR) != 0)
		doctor_daemon_report_closed(d, PATHS_SYSTEM_RUNDIR);
	if (closed || doctor_service(d, d->rundir)) {
		other_daemons(d);
		return;
	}
	if (!report_refused(d, d->rundir)) {
		doctor_found(d, GRADE_BAD, "daemon", "%s", err->text);
		if (chosen || !report_refused(d, PATHS_SYSTEM_RUNDIR))
			doctor_repair(d, "lttctl create");
	}
	if (chosen) {
		doctor_found(d, GRADE_WARN, "rundir",
			     "LTT_RUNDIR=%s: only the daemon there is used", env);
		doctor_repair(d, "unset LTT_RUNDIR");
	}
	other_daemons(d);
}

static void doctor_daemon_check_version(struct doctor *d, const struct ltt_ctl_daemon_info *daemon)
{
	if (strcmp(daemon->version, LTT_VERSION) == 0)
		return;
	doctor_found(d, GRADE_WARN, "version",
		     "lttctl is version " LTT_VERSION ", the session daemon %s", daemon->version);
	doctor_repair(d, "kill %u; lttctl list # a new one is started; sessions end", daemon->pid);
}

static void check_clock(struct doctor *d, const struct ltt_ctl_daemon_info *daemon)
{
	if (daemon->clock_hz != KERNEL_CLOCK_HZ) {
		doctor_found(d, GRADE_OK, "clock",
			     "events are timed by the processor's counter, %.3f MHz: %s",
			     (double)daemon->clock_hz / 1e6, daemon->clock_why);
		return;
	}
	doctor_found(d, GRADE_WARN, "clock",
		     "events are timed by the kernel's clock, which takes longer to read: %s",
		     *daemon->clock_why ? daemon->clock_why :
					  "the kernel does not trust the processor's counter");
	if (!strstr(daemon->clock_why, "LTT_CLOCK")) /* else it was chosen */
		doctor_repair(d, "dmesg | grep -i tsc");
}

static unsigned int count_entries(const char *path)
{
	AUTO_DIR DIR *dir = opendir(path);
	unsigned int nr = 0;

	while (dir_next(dir))
		nr++;
	return nr;
}

/* Each application and each stream takes some. */
static void check_descriptors(struct doctor *d, uint32_t pid)
{
	char *dir AUTO_FREE = xasprintf("/proc/%u/fd", pid);
	char *path AUTO_FREE = xasprintf("/proc/%u/limits", pid);
	unsigned int used = count_entries(dir);
	char limits[4096];
	uint64_t limit = 0;
	const char *line;

	text_read(path, limits, sizeof(limits));
	line = strstr(limits, "Max open files");
	if (!used || !line || sscanf(line, "Max open files %" SCNu64, &limit) != 1 || !limit)
		return;
	if (used < limit / 10 * 9)
		return;
	doctor_found(d, used + 8 >= limit ? GRADE_BAD : GRADE_WARN, "descriptors",
		     "the session daemon uses %u of the %" PRIu64 " descriptors that it may have; "
		     "further applications are "
		     "rejected",
		     used, limit);
	doctor_repair(d, "prlimit --pid %u --nofile=%" PRIu64, pid, limit * 4);
}

/* Limits of its process with which it can't do its work for long. */
static void check_limits(struct doctor *d, uint32_t pid)
{
	static const struct {
		const char *name, *option, *effect;
	} needs[] = {
		{ "Max file size", "fsize", "larger files of traces can't be written" },
		{ "Max cpu time", "cpu", "it is killed then" },
		{ "Max address space", "as", "buffers can't be mapped" },
	};
	char *path AUTO_FREE = xasprintf("/proc/%u/limits", pid);
	char limits[4096];

	text_read(path, limits, sizeof(limits));
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		const char *line = strstr(limits, needs[i].name);
		uint64_t limit;

		if (!line || sscanf(line + strlen(needs[i].name), "%" SCNu64, &limit) != 1)
			continue; /* unlimited */
		doctor_found(d, GRADE_WARN, "limits", "%s of the session daemon is %" PRIu64 ": %s",
			     needs[i].name, limit, needs[i].effect);
		doctor_repair(d, "prlimit --pid %u --%s=unlimited", pid, needs[i].option);
	}
}

/* Memory of its own, without the rings, which are in files of memory. Return: kB; 0: unknown. */
static uint64_t consumer_memory(uint32_t pid)
{
	char *path AUTO_FREE = xasprintf("/proc/%u/status", pid);
	char status[4096];
	uint64_t kb = 0;
	const char *line;

	text_read(path, status, sizeof(status));
	line = strstr(status, "RssAnon:");
	return line && sscanf(line, "RssAnon: %" SCNu64, &kb) == 1 ? kb : 0;
}

/* Commands that need it wait for it. */
static void check_consumer(struct doctor *d, const struct ltt_ctl_consumer *c, bool own)
{
	char whose[32] = "";

	if (c->kernel)
		snprintf(whose, sizeof(whose), " of the kernel");
	else if (!own)
		snprintf(whose, sizeof(whose), " of user %u", c->uid);
	if (!c->pid) {
		doctor_found(
			d, GRADE_BAD, "consumer",
			"the consumer daemon%s is not running: it ends as soon as it is started; "
			"the session daemon's log has the reason",
			whose);
	} else if (c->silent_ms) {
		bool killed = procstate_is_killed((pid_t)c->pid);

		doctor_found(
			d, GRADE_BAD, "consumer",
			"the consumer daemon%s (pid %u) has not answered the session daemon for "
			"%u s%s",
			whose, c->pid, c->silent_ms / 1000,
			killed ? ": it has been killed, but waits in the kernel, as for a disk; "
				 "another one takes over when that wait ends" :
				 "");
		if (!killed)
			doctor_repair(d, "kill -9 %u # another one takes over", c->pid);
	} else {
		doctor_found(d, GRADE_OK, "consumer",
			     "the consumer daemon%s (pid %u, %" PRIu64 " kB) writes %u session%s",
			     whose, c->pid, consumer_memory(c->pid), c->nr_sessions,
			     c->nr_sessions == 1 ? "" : "s");
	}
}

static void check_consumers(struct doctor *d)
{
	struct ltt_ctl_consumers *list;

	if (ltt_ctl_list_consumers(d->ctl->library, &list) != 0)
		return;
	for (size_t i = 0; i < list->nr; i++)
		check_consumer(d, list->consumers[i], i == 0);
	ltt_ctl_consumers_free(list);
}

static void doctor_daemon_log_file(struct doctor *d, const char *name, const char *whose)
{
	char *path AUTO_FREE = xasprintf("%s/%s", d->rundir, name);

	if (access(path, R_OK) == 0)
		doctor_found(d, GRADE_OK, "log", "%s log to %s", whose, path);
}

/* Root's daemon does not show its standard error to other users. */
static void check_logs(struct doctor *d)
{
	char *link AUTO_FREE = xasprintf("/proc/%u/fd/%d", d->pid, STDERR_FILENO);
	char path[PATH_MAX];
	ssize_t n = d->pid ? readlink(link, path, sizeof(path) - 1) : -1;

	path[MAX(n, 0)] = '\0';
	if (strncmp(path, "socket:", strlen("socket:")) == 0)
		doctor_found(d, GRADE_OK, "log",
			     "the session daemon logs to the journal: journalctl _PID=%u", d->pid);
	else if (strcmp(path, "/dev/null") == 0)
		doctor_found(d, GRADE_OK, "log", "the session daemon's log is discarded");
	else if (*path == '/' && strncmp(path, "/dev/", strlen("/dev/")) != 0)
		doctor_found(d, GRADE_OK, "log", "the session daemon logs to %s", path);
	else if (!d->pid)
		doctor_daemon_log_file(d, LOGPLACE_SESSIOND, "session daemons in the background");
	doctor_daemon_log_file(d, LOGPLACE_RELAYD, "relays in the background");
}

/* A request beyond a quota has been rejected since the daemon started. */
static void check_quotas(struct doctor *d)
{
	struct json_object *quotas AUTO_RECORD = NULL;
	struct err ignored = { 0 };

	if (quota_fetch(d->ctl, &quotas, &ignored) != 0)
		return;
	for (size_t i = 0; i < json_object_array_length(quotas); i++) {
		struct json_object *q = json_object_array_get_idx(quotas, i);

		if (!json_num(q, "times_refused"))
			continue;
		doctor_found(d, GRADE_WARN, "quota",
			     "user %" PRIu64 "%s was refused %s %" PRIu64 " times; has %" PRIu64
			     " of %" PRIu64,
			     json_num(q, "user"),
			     json_flag(q, "in_roots") ? ", in root's sessions," : "",
			     json_str(q, "name"), json_num(q, "times_refused"), json_num(q, "used"),
			     json_num(q, "limit"));
		doctor_repair(d,
			      "lttctl quota # root starts ltt-sessiond with a higher --quota=%s=N",
			      json_str(q, "name"));
	}
}

/* A point that an application announces and that can't be recorded. */
static void check_point(const struct ltt_ctl_point *point, void *data)
{
	struct doctor *d = data;

	if (!*point->refused)
		return;
	doctor_found(d, GRADE_WARN, "point",
		     "'%s' of %s (process %u, %s:%u) is never recorded: it %s", point->name,
		     point->process, point->pid, point->file, point->line, point->refused);
	doctor_repair(d, "man 3 ltt_tracepoint # see the limits of a tracepoint");
}

void doctor_daemon(struct doctor *d)
{
	const struct ltt_ctl_daemon_info *daemon;
	struct err err = { 0 }, ignored = { 0 };

	d->rundir = paths_rundir();
	if (!d->rundir)
		d->rundir = xstrdup(PATHS_SYSTEM_RUNDIR);
	if (ctl_open(d->ctl, false, &err) != 0) {
		no_daemon(d, &err);
		check_logs(d);
		return;
	}
	print_waiting(d->ctl);
	daemon = ltt_ctl_daemon(d->ctl->library);
	d->pid = daemon->pid;
	free(d->rundir);
	d->rundir = xstrdup(daemon->rundir);
	doctor_found(d, GRADE_OK, "daemon", "session daemon %s (pid %u) serves %s", daemon->version,
		     daemon->pid, daemon->rundir);
	doctor_daemon_check_version(d, daemon);
	check_clock(d, daemon);
	check_logs(d);
	check_consumers(d);
	check_descriptors(d, daemon->pid);
	check_limits(d, daemon->pid);
	check_quotas(d);
	if (points_each(d->ctl, DOMAIN_USER, check_point, d, &ignored) != 0)
		return; /* unknown points are no finding */
}
