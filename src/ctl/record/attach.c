/* SPDX-License-Identifier: GPL-2.0-only */
#include "attach.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/doctor/doctor.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "linger.h"

#define REGISTER_NS 5000000000u /* most applications register within milliseconds */
#define REGISTER_POLL_MS 50
#define EXEC_POLL_MS 10
#define THREAD_POLL_MS 200 /* the end of a thread is not reported */
#define COMM_BYTES 64

/* --- the options ----------------------------------------------------------------------- */

int attach_limit(struct attach *attach, const char *text, struct err *err)
{
	uint64_t us;

	if (parse_period(text, &us) != 0 || us == 0 || us > UINT64_MAX / 1000)
		return err_set(err, ERR_INVALID,
			       "--for=%s: this is not a time, such as 500ms, 10s or 5m", text);
	attach->limit_ns = us * 1000;
	return 0;
}

/* The name of the process; "" if it can't be read. */
static const char *attach_comm(uint32_t pid, char buf[COMM_BYTES])
{
	char *path AUTO_FREE = xasprintf("/proc/%" PRIu32 "/comm", pid);

	if (!text_read(path, buf, COMM_BYTES))
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

/* The message names commands that record the process. */
static int attach_check_libltt(uint32_t pid, struct err *err)
{
	char *path AUTO_FREE = xasprintf("/proc/%" PRIu32 "/maps", pid);
	char *number AUTO_FREE = xasprintf("%" PRIu32, pid);
	char comm[COMM_BYTES], byte;
	int fd AUTO_FD = open(path, O_RDONLY | O_CLOEXEC);

	if ((fd < 0 && (errno == EACCES || errno == EPERM)) ||
	    (fd >= 0 && read(fd, &byte, 1) < 0 && errno != ESRCH))
		return err_set(err, ERR_INVALID,
			       "process %" PRIu32 " (%s) can be recorded by its user and root only",
			       pid, attach_comm(pid, comm));
	while (fd >= 0 && !linger_has_libltt(number) && linger_is_young(number))
		poll(NULL, 0, REGISTER_POLL_MS);
	if (fd < 0 || linger_has_libltt(number))
		return 0; /* one that has just ended is no error */
	return err_set(err, ERR_INVALID,
		       "process %" PRIu32 " (%s) runs without libltt: start it with 'lttctl record "
		       "-- PROGRAM', or with 'lttctl record --wrap=libc,pthread -- PROGRAM' if it "
		       "has no tracepoints; 'lttctl record -k -p %" PRIu32
		       "' records what the kernel does for it (root)",
		       pid, attach_comm(pid, comm), pid);
}

static bool attach_has(const struct attach *attach, uint32_t pid)
{
	for (size_t i = 0; i < attach->nr; i++)
		if (attach->pids[i] == pid)
			return true;
	return false;
}

static int attach_add(struct attach *attach, const char *name, bool need_libltt, struct err *err)
{
	uint64_t pid;
	int fd;

	if (parse_u64(name, &pid) != 0 || pid == 0 || pid > INT_MAX)
		return err_set(err, ERR_INVALID, "'%s' is not the id of a process", name);
	if (attach_has(attach, (uint32_t)pid))
		return 0;
	fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0)
		return err_set(err, ERR_INVALID,
			       errno == ESRCH ? "there is no process %s" :
			       errno == EINVAL || errno == ENOENT ?
						"%s is a thread; name its process, or use --thread" :
						"process %s can't be watched",
			       name);
	if (need_libltt && attach_check_libltt((uint32_t)pid, err) != 0) {
		close(fd);
		return err->code;
	}
	attach->pids[attach->nr] = (uint32_t)pid;
	attach->fds[attach->nr++] = fd;
	return 0;
}

/* The number behind @key in a file of /proc, or the last one of several; 0: it has none. */
static uint32_t attach_status(const char *status, const char *key)
{
	const char *line = strstr(status, key);
	const char *end = line ? line + strcspn(line + 1, "\n") + 1 : NULL;

	while (line && end > line && isdigit((unsigned char)end[-1]))
		end--;
	return line ? (uint32_t)strtoul(end, NULL, 10) : 0;
}

static int attach_add_thread(struct attach *attach, const char *name, bool need_libltt,
			     struct err *err)
{
	struct attach_thread *thread = &attach->threads[attach->nr_threads];
	char *path AUTO_FREE = NULL, *process AUTO_FREE = NULL;
	char status[4096];
	uint64_t tid;

	if (parse_u64(name, &tid) != 0 || tid == 0 || tid > INT_MAX)
		return err_set(err, ERR_INVALID, "'%s' is not the id of a thread", name);
	path = xasprintf("/proc/%" PRIu64 "/status", tid);
	text_read(path, status, sizeof(status));
	*thread = (struct attach_thread){ attach_status(status, "\nTgid:"), (uint32_t)tid,
					  attach_status(status, "\nNSpid:") };
	if (!thread->pid)
		return err_set(err, ERR_INVALID, "there is no thread %s", name);
	attach->nr_threads++;
	process = xasprintf("%" PRIu32, thread->pid);
	return attach_add(attach, process, need_libltt, err);
}

int attach_find(struct attach *attach, const struct names *pids, const struct names *tids,
		bool need_libltt, struct err *err)
{
	const size_t nr = pids->nr + tids->nr + 1;

	attach->pids = xalloc(nr * sizeof(*attach->pids));
	attach->fds = xalloc(nr * sizeof(*attach->fds));
	attach->threads = xalloc(nr * sizeof(*attach->threads));
	for (size_t i = 0; i < pids->nr; i++)
		if (attach_add(attach, pids->names[i], need_libltt, err) != 0)
			return err->code;
	for (size_t i = 0; i < tids->nr; i++)
		if (attach_add_thread(attach, tids->names[i], need_libltt, err) != 0)
			return err->code;
	return 0;
}

void attach_fini(struct attach *attach)
{
	for (size_t i = 0; i < attach->nr; i++)
		close(attach->fds[i]);
	free(attach->fds);
	free(attach->pids);
	free(attach->threads);
}

/* `PROG & lttctl record -p $!`: the process may still have the shell's name. */
char *attach_name(const struct attach *attach)
{
	char comm[COMM_BYTES] = "", *name;

	while (attach->nr && linger_awaits_exec((int)attach->pids[0]))
		poll(NULL, 0, EXEC_POLL_MS);
	name = xstrdup(attach->nr ? attach_comm(attach->pids[0], comm) : "all");
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '-')
			*at = '_';
	if (*name)
		return name;
	free(name);
	return xstrdup("process");
}

/* --- the session ----------------------------------------------------------------------- */

char *attach_filter(const struct attach *attach, const char *filter)
{
	char *text = NULL;

	for (size_t i = 0; i < attach->nr_threads; i++) {
		char *longer = xasprintf("%s%s$ctx.vtid == %" PRIu32, text ? text : "",
					 text ? " || " : "", attach->threads[i].vtid);

		free(text);
		text = longer;
	}
	if (text && filter) {
		char *both = xasprintf("(%s) && (%s)", text, filter);

		free(text);
		return both;
	}
	return text ? text : filter ? xstrdup(filter) : NULL;
}

int attach_track(struct ctl *ctl, const struct attach *attach, const char *session,
		 enum domain_id domain)
{
	bool by_thread = attach->nr_threads && domain == DOMAIN_KERNEL;
	uint32_t *tids AUTO_FREE = NULL;
	struct ltt_ctl_track_options track;

	if (!attach->nr)
		return 0;
	tids = xalloc((attach->nr_threads + 1) * sizeof(*tids));
	for (size_t i = 0; i < attach->nr_threads; i++)
		tids[i] = attach->threads[i].tid;
	ltt_ctl_track_options_init(&track);
	track.session = session;
	track.domain = (enum ltt_ctl_domain)domain;
	track.kind = by_thread ? LTT_CTL_TRACK_TID : LTT_CTL_TRACK_PID;
	track.op = LTT_CTL_TRACK_ADD;
	track.ids = by_thread ? tids : attach->pids;
	track.nr_ids = by_thread ? attach->nr_threads : attach->nr;
	return ctl_done(ctl, ltt_ctl_track(ctl->library, &track, NULL), &ctl->err);
}

/* Return: the number of applications that may record into it; -1: unknown. */
static int64_t attach_registered(struct ctl *ctl, const char *session)
{
	struct ltt_ctl_programs *programs;
	struct err ignored = { 0 };
	int64_t nr;

	if (!ctl_is_connected(ctl) ||
	    ctl_done(ctl, ltt_ctl_list_programs(ctl->library, session, &programs), &ignored))
		return -1;
	nr = programs->applications;
	ltt_ctl_programs_free(programs);
	return nr;
}

/* --- waiting --------------------------------------------------------------------------- */

struct attach_waiting {
	struct ctl *ctl;
	struct attach *attach;
	const char *session;
	struct run *run;
	struct pollfd *pfds; /* of the processes, of signals, of the session daemon */
	size_t left;	     /* processes that have not ended */
	bool *named;	     /* for each process: its user has been warned */
	bool registering;    /* processes are waited for that have not registered */
};

static uint64_t attach_elapsed(const struct attach_waiting *w)
{
	return run_now_ns() - w->run->begin_ns;
}

/* Warn of processes that can't be recorded, as doctor finds it. @begin: they may still register.
 * Return: the number of those that were named until now. */
static size_t attach_explain(struct attach_waiting *w, bool begin)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->attach->nr; i++) {
		if (!w->named[i] && w->pfds[i].fd >= 0 && ctl_is_connected(w->ctl))
			w->named[i] = doctor_warn(w->ctl, (pid_t)w->attach->pids[i], begin);
		nr += w->named[i];
	}
	return nr;
}

static void attach_say_silent(struct attach_waiting *w, size_t nr)
{
	if (attach_explain(w, false) < nr)
		print_warning(w->ctl,
			      "%zu of the processes ha%s not registered with the session daemon; "
			      "'lttctl doctor --pid=PID' shows why",
			      nr, nr == 1 ? "s" : "ve");
	w->attach->silent = nr;
}

/* The session daemon may have been started for this recording. @last: the recording ends. */
static void attach_check_registered(struct attach_waiting *w, bool last)
{
	int64_t nr = w->registering ? attach_registered(w->ctl, w->session) : -1;

	w->registering = nr >= 0 && (size_t)nr < w->left;
	if (!w->registering || (!last && attach_elapsed(w) < REGISTER_NS))
		return;
	w->registering = false;
	attach_say_silent(w, w->left - (size_t)nr);
}

/* Whether one of the named threads is there, or whole processes were named. */
static bool attach_has_thread(const struct attach *attach)
{
	char path[64];

	for (size_t i = 0; i < attach->nr_threads; i++) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32,
			 attach->threads[i].pid, attach->threads[i].tid);
		if (access(path, F_OK) == 0)
			return true;
	}
	return !attach->nr_threads;
}

/* Return: for poll(); 0: the time has ended. */
static int attach_timeout(const struct attach_waiting *w)
{
	uint64_t limit = w->attach->limit_ns, elapsed = attach_elapsed(w), ms;

	if (limit && elapsed >= limit)
		return 0;
	ms = limit ? (limit - elapsed) / 1000000 + 1 : UINT64_MAX;
	if (w->registering)
		ms = MIN(ms, (uint64_t)REGISTER_POLL_MS);
	if (w->attach->nr_threads)
		ms = MIN(ms, (uint64_t)THREAD_POLL_MS);
	return ms > INT_MAX ? (limit ? INT_MAX : -1) : (int)ms;
}

/* Return: false: the recording is to be ended. */
static bool attach_turn(struct attach_waiting *w)
{
	size_t nr = w->attach->nr;
	int timeout = attach_timeout(w), tick = run_tick(w->run);

	if (timeout == 0 || (nr && !w->left) || w->run->finished || !attach_has_thread(w->attach))
		return false;
	if (poll(w->pfds, nr + 2, tick >= 0 && (timeout < 0 || tick < timeout) ? tick : timeout) <
	    0)
		return true;
	if (w->pfds[nr].revents && run_interrupted(w->run))
		return false;
	if (w->pfds[nr + 1].revents)
		w->pfds[nr + 1].fd = w->run->repair(w->run->priv);
	for (size_t i = 0; i < nr; i++)
		if (w->pfds[i].revents) {
			w->pfds[i].fd = -1;
			w->pfds[i].revents = 0;
			w->left--;
		}
	return true;
}

static void attach_begin(struct attach_waiting *w, bool libltt)
{
	size_t nr = w->attach->nr;

	for (size_t i = 0; i < nr; i++)
		w->pfds[i] = (struct pollfd){ .fd = w->attach->fds[i], .events = POLLIN };
	w->pfds[nr] = (struct pollfd){ .fd = w->run->signals, .events = POLLIN };
	w->pfds[nr + 1] = (struct pollfd){ .fd = w->run->watch };
	w->left = nr;
	w->registering = libltt && nr;
	if (libltt)
		attach_explain(w, true);
	if (libltt && !nr && attach_registered(w->ctl, w->session) == 0)
		print_note(w->ctl,
			   "no program with libltt runs now; those that start are recorded");
	if (!w->attach->limit_ns)
		print_note(w->ctl, "recording; Ctrl-C ends it");
}

void attach_wait(struct ctl *ctl, struct attach *attach, const char *session, struct run *run,
		 bool libltt)
{
	struct attach_waiting w = {
		.ctl = ctl,
		.attach = attach,
		.session = session,
		.run = run,
		.pfds = xalloc((attach->nr + 2) * sizeof(*w.pfds)),
		.named = xalloc((attach->nr + 1) * sizeof(*w.named)),
	};

	run->begin_ns = run_now_ns();
	attach_begin(&w, libltt);
	do
		attach_check_registered(&w, false);
	while (attach_turn(&w));
	attach_check_registered(&w, true);
	run_extend(run);
	free(w.named);
	free(w.pfds);
}
