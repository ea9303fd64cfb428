/* SPDX-License-Identifier: GPL-2.0-only */
/* main.c - ltt-sessiond: options, the runtime directory, sockets, signals. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stdfds.h"
#include "io/confine.h"
#include "io/listener.h"
#include "io/logplace.h"
#include "io/pidinfo.h"
#include "io/program.h"
#include "options.h"
#include "sessiond.h"
#include "sessiond/peers/apps.h"
#include "sessiond/peers/clients.h"
#include "sessiond/service/autoload.h"
#include "sessiond/service/detach.h"
#include "sessiond/service/rundir.h"

struct program {
	struct options options;
	struct rundir dir;
	struct notify notify;
	struct fdstore store;
	struct sessiond sd;
	struct listener clients, apps;
	bool leaving;	       /* a signal has ended it */
	struct loop_work quit; /* a client has ended it */
	struct loop_timer idle;
	struct autoload autoload;
	uint64_t idle_clients; /* that had come by the last check */
	mode_t mask;
	pid_t parent; /* for --sig-parent */
	int ready_fd;
	int runner_fd; /* of the process that runs commands of triggers */
	int caller_fd; /* the caller's standard error, until the daemon is ready; -1 */
};

/* --- connections ------------------------------------------------------------- */

static void take_client(struct listener *listener, int fd)
{
	int ret = client_conn_new(&container_of(listener, struct program, clients)->sd, fd);

	if (ret < 0)
		log_debug("a client was refused: %s", strerror(-ret));
}

static void take_app(struct listener *listener, int fd)
{
	int ret = app_conn_new(&container_of(listener, struct program, apps)->sd, fd);

	if (ret < 0)
		log_debug("an application was refused: %s", strerror(-ret));
}

static int sessiond_start(struct program *p, struct err *err)
{
	AUTO_FREE char *consumer = program_find(p->options.consumerd_path, "LTT_CONSUMERD",
						"ltt-consumerd", LTT_WAY_TO_HELPERS);
	AUTO_FREE char *keeper =
		program_find(NULL, "LTT_KEEPERD", "ltt-keeperd", LTT_WAY_TO_HELPERS);
	int ret = access(consumer, X_OK) < 0 ?
			  -errno :
			  sessiond_set_up(&p->sd, p->dir.path, consumer, keeper);

	if (ret < 0)
		return err_errno(err, ERR_CONSUMER, -ret,
				 "can't start %s (set its path with --consumerd-path)", consumer);
	return 0;
}

/* A daemon that goes on with the sessions of another one loads none: a session that was destroyed
 * since stays so. */
static void sessiond_autoload(struct program *p)
{
	AUTO_FREE char *lttctl = program_find(NULL, NULL, "lttctl", LTT_WAY_TO_CTL);

	autoload_init(&p->autoload, p->sd.loop, lttctl, p->dir.path, &p->sd.loading);
	if (!p->options.no_load && !p->sd.continued)
		autoload_find(&p->autoload, p->options.load);
	autoload_begin(&p->autoload);
}

/* --- start and end --------------------------------------------------------------------- */

/* As if killed: sessions, buffers and sockets stay, and the next daemon goes on with them. */
static void sessiond_leave_sessions(struct program *p)
{
	log_info("leaving sessions to the next daemon");
	rundir_leave(&p->dir);
	loop_stop(p->sd.loop);
}

static void end_all(struct program *p)
{
	listener_fini(&p->clients);
	listener_fini(&p->apps);
	sessiond_end(&p->sd);
}

/* The first of them decides: a manager that stops a service sends SIGTERM in any case. */
static void caught(int signo, void *data)
{
	struct program *p = data;

	if (p->leaving)
		return;
	p->leaving = true;
	log_info("signal %d: ending", signo);
	notify_send(&p->notify, "STOPPING=1");
	(signo == SIGUSR1 ? sessiond_leave_sessions : end_all)(p);
}

static void on_end_request(struct loop_work *work)
{
	caught(SIGTERM, container_of(work, struct program, quit));
}

static void sessiond_request_end(struct sessiond *sd)
{
	loop_defer(sd->loop, &container_of(sd, struct program, sd)->quit);
}

/* No session, and no client since the last check: nothing is lost if this daemon exits. */
static void is_idle(struct loop_timer *timer)
{
	struct program *p = container_of(timer, struct program, idle);

	if (!p->sd.sessions.nr && list_empty(&p->sd.clients) &&
	    p->idle_clients == p->sd.next_client) {
		caught(SIGTERM, p);
		return;
	}
	p->idle_clients = p->sd.next_client;
	loop_timer_set(timer, p->options.exit_idle_us);
}

static int watch_signals(struct program *p)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	return loop_signals(p->sd.loop, &set, caught, p);
}

/* Variables that name a file by a path from the working directory. */
static bool has_relative_paths(void)
{
	for (char **env = environ; *env; env++) {
		const char *value = strchr(*env, '=');

		if (strncmp(*env, "LTT_", 4) == 0 && value && value[1] != '/' && strchr(value, '/'))
			return true;
	}
	return false;
}

/* A client has started it, and others follow: the state of that client's process is not theirs. */
static void leave_caller(void)
{
	static const int limits[] = { RLIMIT_FSIZE, RLIMIT_CPU,	  RLIMIT_AS,	 RLIMIT_DATA,
				      RLIMIT_NPROC, RLIMIT_STACK, RLIMIT_MEMLOCK };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (geteuid() != 0 || setrlimit(limits[i], &none) < 0)
			(void)limit_raise(limits[i]);
	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) > 0 && setpriority(PRIO_PROCESS, 0, 0) < 0)
		log_debug("the nice value stays: %s", strerror(errno));
	if (!has_relative_paths() && chdir("/") < 0)
		log_debug("can't leave the working directory: %s", strerror(errno));
}

/* Also that of the processes that it starts. */
static void sessiond_move_log(struct program *p)
{
	if (!p->options.daemonize || p->options.background)
		return;
	p->caller_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	log_copy(p->caller_fd);
	logplace_use(p->dir.path, LOGPLACE_SESSIOND, "ltt-sessiond");
}

static int sessiond_begin(struct program *p, struct err *err)
{
	int ret, code = rundir_lock(&p->dir, &p->store, err);

	if (code)
		return code;
	sessiond_move_log(p);
	umask(p->mask);
	ret = sessiond_init(&p->sd);
	if (ret == 0)
		ret = watch_signals(p);
	if (ret < 0)
		return err_errno(err, ERR_INTERNAL, -ret, "can't create the event loop");
	exec_init(&p->sd.exec, p->sd.loop, p->runner_fd);
	options_quotas(&p->options, &p->sd.quotas);
	p->sd.trace_format = p->options.trace_format;
	loop_work_init(&p->quit, on_end_request);
	p->sd.quit = sessiond_request_end;
	loop_timer_init(&p->idle, p->sd.loop, is_idle);
	if (p->options.exit_idle_us)
		loop_timer_set(&p->idle, p->options.exit_idle_us);
	p->sd.store = &p->store;
	if (!p->options.no_kernel)
		kmod_open(&p->sd.kmod, p->sd.clock.kind);
	if (clock_take(&p->sd.clock, kmod_clock(&p->sd.kmod, p->sd.clock.kind)))
		log_info("clock: the other one: %s", p->sd.clock.why);
	if (p->sd.kmod.fd < 0)
		log_info("the kernel is not traced: %s", p->sd.kmod.why);
	code = sessiond_start(p, err);
	if (!code)
		code = rundir_listen(&p->dir, p->options.group, &p->store, err);
	if (!code)
		code = rundir_write_pid(&p->dir, p->options.pidfile, err);
	if (code)
		return code;
	ret = listener_init(&p->clients, p->sd.loop, p->dir.clients, take_client);
	if (ret == 0)
		ret = listener_init(&p->apps, p->sd.loop, p->dir.apps, take_app);
	return ret < 0 ? err_errno(err, ERR_INTERNAL, -ret, "can't watch the sockets") : 0;
}

static void sessiond_report_ready(struct program *p)
{
	rundir_store(&p->dir, &p->store, true);
	notify_ready(&p->notify, p->sd.loop);
	log_copy(-1);
	close_fd(p->caller_fd);
	if (p->ready_fd >= 0)
		detach_ready(p->ready_fd);
	if (p->options.sig_parent)
		kill(p->parent, SIGUSR1);
	log_info("serving %s", p->dir.path);
}

/* Everything that takes more is done: directory, sockets and their group. It has none in effect;
 * the consumer, which it may have to start again, gets the first three from it, confine_open()
 * has the fourth one in effect for a program below the root directory of a process, and exits.h
 * the last one, where the kernel does not do without. */
static void sessiond_drop_rights(void)
{
	const uint64_t events = pidinfo_has_exit() ? 0 : CONFINE_CAP(CAP_NET_ADMIN);
	const uint64_t permitted = CONFINE_CAP(CAP_SETUID) | CONFINE_CAP(CAP_SETGID) |
				   CONFINE_CAP(CAP_DAC_OVERRIDE) | CONFINE_CAP(CAP_SYS_PTRACE) |
				   events;

	confine(&(struct confine){ CONFINE_SESSION, permitted, 0 });
}

/* The first call has threads compare the counters of all CPUs, which they may not afterwards. */
static void sessiond_take_first_pair(const struct sessiond *sd)
{
	struct clock_pair ignored;

	clock_pair(&sd->clock, &ignored);
}

#define STATUS_SERVED 4 /* another one does */

static int sessiond_serve(struct program *p)
{
	struct err err = { 0 };
	int ret = 0, code = sessiond_begin(p, &err);
	int status = code == ERR_BUSY ? STATUS_SERVED : code ? 1 : 0;

	if (code) {
		log_error("%s", err.text);
		detach_failed(p->ready_fd, status);
	} else {
		sessiond_take_first_pair(&p->sd);
		sessiond_drop_rights();
		sessiond_report_ready(p);
		sessiond_autoload(p);
		ret = loop_run(p->sd.loop);
		if (ret < 0)
			log_error("the event loop failed: %s", strerror(-ret));
	}
	notify_unwatch(&p->notify);
	listener_fini(&p->clients);
	listener_fini(&p->apps);
	loop_timer_cancel(&p->idle);
	loop_work_cancel(&p->quit);
	autoload_fini(&p->autoload);
	sessiond_fini(&p->sd);
	rundir_store(&p->dir, &p->store, false); /* clients can't connect there any more */
	rundir_fini(&p->dir);
	fdstore_fini(&p->store);
	notify_fini(&p->notify);
	return ret < 0 ? 1 : status;
}

static enum log_level choose_level(const struct options *options)
{
	if (options->quiet)
		return LOG_QUIET;
	return options->verbose >= 2 ? LOG_DEBUG : options->verbose ? LOG_INFO : LOG_WARN;
}

int main(int argc, const char **argv)
{
	static struct program p;
	int status = options_parse(&p.options, argc, argv);
	bool background = p.options.daemonize || p.options.background;

	stdfds_open();
	if (status >= 0) {
		options_fini(&p.options);
		return status;
	}
	log_init("ltt-sessiond", choose_level(&p.options));
	if (p.options.verbose >= 2)
		setenv("LTT_LOG", "debug", 0); /* the consumer's, too */
	p.parent = getppid();
	p.ready_fd = p.caller_fd = -1;
	/* the runtime directory is as it must be; all else obeys a stricter umask */
	p.mask = umask(022) | 022;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	  /* a size limit is an error of write(), not our end */
	(void)limit_raise(RLIMIT_NOFILE); /* for applications and their buffers */
	if (p.options.on_demand)
		leave_caller();
	if (background) /* files that a shell had open must not be held */
		closefrom(STDERR_FILENO + 1 + (int)fdstore_listen_fds());
	notify_init(&p.notify);
	fdstore_init(&p.store, &p.notify);
	if (background) {
		p.ready_fd = detach();
		if (p.ready_fd < 0) {
			log_error("can't detach: %s", strerror(-p.ready_fd));
			options_fini(&p.options);
			return 1;
		}
	}
	/* before there are threads, or fewer rights */
	p.runner_fd = p.options.no_exec ? -1 : exec_fork();
	status = sessiond_serve(&p);
	options_fini(&p.options);
	return status;
}
