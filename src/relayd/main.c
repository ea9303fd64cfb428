/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - ltt-relayd: stores the traces that ltt-consumerd sends from other hosts, below one
 * directory, as any user. One loop receives data, and a thread with another one serves viewers. It
 * can be killed at any time: senders keep unacknowledged data, and continue after a restart.
 */
#include <errno.h>
#include <fcntl.h>
#include <popt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stdfds.h"
#include "base/str.h"
#include "listeners.h"
#include "io/confine.h"
#include "io/lockfile.h"
#include "io/logplace.h"
#include "io/paths.h"
#include "io/program.h"
#include "relayd/archive/spawner.h"
#include "relayd/store/repair.h"
#include "relayd/store/retention.h"

static struct {
	char *output;
	char **ports, **live_ports; /* allocated by popt; NULL: none */
	int by_host, by_session;
	char *keys;
	int clear_text;
	char **quotas; /* allocated by popt; NULL: none */
	char *keep_age, *keep_size, *keep_free, *check_every;
	char *sync;
	char *store;
	int daemonize, background;
	int verbose, version;
} opt;

#define OPT_LTTNG 100

/* clang-format off */
#define LTTNG(nr, name, letter, sentence)                                                   \
	[nr] = { name, letter, POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL | POPT_ARGFLAG_DOC_HIDDEN, \
		 NULL, OPT_LTTNG + (nr), sentence, NULL }

/* Options of lttng-relayd that have no meaning here. */
static const struct poptOption lttng_options[] = {
	LTTNG(0, "config", 'f', "there is no configuration file; give the options on the command line"),
	LTTNG(1, "data-port", 'D',
	      "control and data share one connection; set its address with --control-port"),
	LTTNG(2, "disallow-clear", 'x', "no client can clear traces at this relay"),
	LTTNG(3, "fd-pool-size", 0,
	      "the limit of open files (ulimit -n, LimitNOFILE=) is the number of files"),
	LTTNG(4, "group", 'g', "there is no health check socket, to which a group could connect"),
	LTTNG(5, "working-directory", 'w', "set the directory of the traces with --output"),
	LTTNG(6, "list-options", 0, "see --help"),
	POPT_TABLEEND
};
/* clang-format on */

static const struct poptOption options[] = {
	{ NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)lttng_options, 0, NULL, NULL },
	{ "output", 'o', POPT_ARG_STRING, &opt.output, 0,
	  "directory for the traces (default: ~/ltt-traces)", "DIR" },
	{ "control-port", 'C', POPT_ARG_ARGV, &opt.ports, 0,
	  "address to listen on; may be repeated (default: tcp://127.0.0.1:5342 and [::1])", "URL" },
	{ "live-port", 'L', POPT_ARG_ARGV, &opt.live_ports, 0,
	  "the same for viewers (default: tcp://127.0.0.1:5344 and [::1])", "URL" },
	{ "group-output-by-host", 'p', POPT_ARG_NONE, &opt.by_host, 0,
	  "HOST/SESSION-TIME (default)", NULL },
	{ "group-output-by-session", 's', POPT_ARG_NONE, &opt.by_session, 0, "SESSION/HOST-TIME",
	  NULL },
	{ "keys", 'k', POPT_ARG_STRING, &opt.keys, 0,
	  "keys of this relay and of its peers (default: /etc/ltt/keys, or ~/.ltt-keys)", "DIR" },
	{ "clear-text", 0, POPT_ARG_NONE, &opt.clear_text, 0,
	  "accept unencrypted connections from other hosts, without checking their identity", NULL },
	{ "quota", 0, POPT_ARG_ARGV, &opt.quotas, 0,
	  "limit for each host: connections, sessions, traces, streams, bytes, files, rate, session-rate; "
	  "idle=PERIOD",
	  "NAME=NUMBER" },
	{ "keep-age", 0, POPT_ARG_STRING, &opt.keep_age, 0,
	  "remove sessions that ended longer ago (default: none)", "PERIOD" },
	{ "keep-size", 0, POPT_ARG_STRING, &opt.keep_size, 0,
	  "remove the oldest sessions while all together are larger (default: never)", "SIZE" },
	{ "keep-free", 0, POPT_ARG_STRING, &opt.keep_free, 0,
	  "remove the oldest sessions, and refuse data, while less of the disk is free (default: 0)",
	  "SIZE" },
	{ "check-every", 0, POPT_ARG_STRING, &opt.check_every, 0,
	  "interval of these checks (default: 1m)", "PERIOD" },
	{ "sync", 0, POPT_ARG_STRING, &opt.sync, 0,
	  "sync data to the disk before it is acknowledged: none (default), packet or PERIOD", "WHEN" },
	{ "store", 0, POPT_ARG_STRING, &opt.store, 0,
	  "put the sessions into a store, too: s3://BUCKET/PREFIX or file:///DIR", "URL" },
	{ "daemonize", 'd', POPT_ARG_NONE, &opt.daemonize, 0,
	  "run in the background; return once it accepts connections", NULL },
	{ "background", 'b', POPT_ARG_NONE, &opt.background, 0,
	  "the same, but keep standard output and error", NULL },
	{ "verbose", 'v', POPT_ARG_NONE, &opt.verbose, 0, "log more on standard error", NULL },
	{ "version", 'V', POPT_ARG_NONE, &opt.version, 0, "print the version and exit", NULL },
	POPT_AUTOHELP POPT_TABLEEND
};

/* Return: 0; 1: exit with status 0; 2: bad arguments. */
static int relayd_parse_args(int argc, const char **argv)
{
	poptContext ctx = poptGetContext("ltt-relayd", argc, argv, options, 0);
	int ret = 0, rc;

	rc = poptGetNextOpt(ctx);
	if (rc >= OPT_LTTNG) {
		const struct poptOption *row = &lttng_options[rc - OPT_LTTNG];

		log_error("--%s: %s", row->longName, row->descrip);
		ret = 2;
	} else if (rc < -1) {
		log_error("%s: %s; see --help", poptBadOption(ctx, POPT_BADOPTION_NOALIAS),
			  poptStrerror(rc));
		ret = 2;
	} else if (poptPeekArg(ctx)) {
		log_error("'%s' is one word too many; see --help", poptPeekArg(ctx));
		ret = 2;
	} else if (opt.by_host && opt.by_session) {
		log_error(
			"--group-output-by-host and --group-output-by-session exclude each other");
		ret = 2;
	} else if (opt.version) {
		printf("ltt-relayd %s\n", LTT_VERSION);
		ret = 1;
	}
	poptFreeContext(ctx);
	return ret;
}

/* --- options for stored sessions ------------------------------------------------------ */

static int relayd_parse_size(const char *option, const char *text, uint64_t *ret)
{
	if (!text || parse_size(text, ret) == 0)
		return 0;
	log_error("--%s=%s: this is not a size, such as 67108864, 64M or 1G", option, text);
	return -EINVAL;
}

static int relayd_parse_period(const char *option, const char *text, uint64_t *ret_us)
{
	if (!text || (parse_period(text, ret_us) == 0 && *ret_us))
		return 0;
	log_error("--%s=%s: this is not a period, such as 10s, 12h or 30d", option, text);
	return -EINVAL;
}

static int relayd_parse_quotas(struct relquotas *ret)
{
	relquotas_init(ret);
	for (char **text = opt.quotas; text && *text; text++)
		if (relquotas_parse(ret, *text) < 0) {
			log_error("--quota=%s: this is not NAME=NUMBER; names are connections, "
				  "sessions, traces, streams, bytes, files, rate and session-rate; "
				  "or idle=PERIOD",
				  *text);
			return -EINVAL;
		}
	return 0;
}

static int relayd_parse_rules(struct retention_rules *ret)
{
	uint64_t age_us = 0, period_us = 60000000;

	if (relayd_parse_size("keep-size", opt.keep_size, &ret->size) < 0 ||
	    relayd_parse_size("keep-free", opt.keep_free, &ret->keep_free) < 0 ||
	    relayd_parse_period("keep-age", opt.keep_age, &age_us) < 0 ||
	    relayd_parse_period("check-every", opt.check_every, &period_us) < 0)
		return -EINVAL;
	ret->age_s = age_us ? MAX(age_us / 1000000, 1ull) : 0;
	ret->period_ms = MAX(period_us / 1000, 1ull);
	return 0;
}

static int relayd_parse_sync(uint32_t *ret_us)
{
	uint64_t us;

	*ret_us = SYNCER_NONE;
	if (!opt.sync || strcmp(opt.sync, "none") == 0)
		return 0;
	if (strcmp(opt.sync, "packet") == 0) {
		*ret_us = 0;
		return 0;
	}
	if (parse_period(opt.sync, &us) < 0 || !us || us > SYNCER_MOST_US) {
		log_error(
			"--sync=%s: invalid value; use none, packet, or a period of 1s at most, such "
			"as 100ms",
			opt.sync);
		return -EINVAL;
	}
	*ret_us = (uint32_t)us;
	return 0;
}

/* Return: 0 or negative errno. */
static int relayd_find_archive(char **ret)
{
	if (!opt.store)
		return 0;
	if (strncmp(opt.store, "s3://", 5) != 0 && strncmp(opt.store, "file:///", 8) != 0) {
		log_error("--store=%s: this is not the URL of a store, such as "
			  "s3://BUCKET/PREFIX or file:///DIR",
			  opt.store);
		return -EINVAL;
	}
	*ret = program_find(NULL, "LTT_ARCHIVE", "ltt-archive", LTT_WAY_TO_HELPERS);
	if (access(*ret, X_OK) == 0)
		return 0;
	log_error("--store needs %s, which can't be run: %s; install it", *ret, strerror(errno));
	return -errno;
}

/* --- where the traces go ------------------------------------------------------------- */

static char *default_output(void)
{
	const char *home = getenv("LTT_HOME");

	if (!home || !*home)
		home = getenv("HOME");
	return home && *home ? xasprintf("%s/ltt-traces", home) : NULL;
}

/* Two relays that write to one directory would not know of each other. The lock is not on the
 * directory: users with the right to read that could keep the relay from starting. It is held until
 * the relay ends. */
static int lock_output(int dir_fd, const char *path)
{
	int fd = -1, ret = lockfile_lock(dir_fd, RELAY_LOCK_FILE, &fd);

	if (ret == -EWOULDBLOCK) {
		close_fd(fd);
		log_error("another ltt-relayd writes to %s", path);
	} else if (ret < 0) {
		log_error("can't lock %s/" RELAY_LOCK_FILE ": %s", path, strerror(-ret));
	}
	return ret;
}

static int open_output(void)
{
	AUTO_FREE char *path = opt.output ? xstrdup(opt.output) : default_output();
	AUTO_FD int fd = -1;
	int ret;

	if (!path) {
		log_error("HOME is not set: name the directory of the traces with --output");
		return -1;
	}
	ret = paths_make_dir(path, 0750);
	if (ret < 0) {
		log_error("can't make the directory %s: %s", path, strerror(-ret));
		return -1;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		log_error("can't open the directory %s: %s", path, strerror(errno));
		return -1;
	}
	if (lock_output(fd, path) < 0)
		return -1;
	return TAKE_FD(fd);
}

/* --- life ------------------------------------------------------------------------------ */

/* Two loops: no viewer delays the reception of data. */
struct house {
	struct loop *loop, *viewers_loop;
	struct notify notify;
	struct relay relay;
	struct viewers viewers;
	struct keyring ring;
	struct loop_timer expiry; /* of the keys: a daily check */
	struct retention_rules rules;
	struct relquotas quotas;
	uint32_t sync_us;
	struct retention retention;
	char *archive; /* path of ltt-archive; NULL: there is no store */
	int ready_fd;  /* of go_to_background() */
};

/* New keys, or others: for new connections, and for those that there are. */
static void reload(struct house *h)
{
	struct err err = { 0 };

	if (!h->ring.keys) {
		log_info("there are no keys to read again");
	} else if (keyring_reload(&h->ring, &err) != 0) {
		log_error("the previous keys remain in use: %s", err.text);
	} else {
		log_info("the keys have been read again");
		keyring_warn(&h->ring);
		relworkers_recheck(&h->relay);
		viewers_recheck(&h->viewers);
	}
}

#define EXPIRY_US (86400 * 1000000ull)

static void relayd_check_expiry(struct loop_timer *timer)
{
	struct house *h = container_of(timer, struct house, expiry);

	keyring_warn(&h->ring);
	loop_timer_set(timer, EXPIRY_US);
}

static void relayd_on_signal(int signo, void *data)
{
	struct house *h = data;

	if (signo == SIGHUP) {
		reload(h);
		return;
	}
	log_info("ending on %s", strsignal(signo));
	notify_send(&h->notify, "STOPPING=1");
	loop_stop(h->loop);
}

static int relayd_set_up_signals(struct house *h)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	return loop_signals(h->loop, &set, relayd_on_signal, h);
}

static unsigned int relayd_raise_descriptor_limit(void)
{
	unsigned int limit = limit_raise(RLIMIT_NOFILE);

	return limit ? MIN(limit, 1u << 20) : 1024;
}

/* The parent's side. Does not return. */
static void await_ready(pid_t child, int fd)
{
	int status = 0;
	char byte;
	ssize_t n;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Before there are signals to wait for, which stay with the process that began to.
 * Return: in the child, the descriptor for relayd_report_ready(); negative errno. */
static int go_to_background(void)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid > 0) {
		close(fds[1]);
		await_ready(pid, fds[0]);
	}
	close(fds[0]);
	if (pid < 0 || setsid() < 0)
		return -errno;
	return fds[1];
}

/* Notify the waiting parent that the relay serves, and release its standard files. @fd: -1:
 * there is none. */
static void relayd_report_ready(int fd)
{
	if (fd < 0)
		return;
	(void)!write(fd, "", 1);
	close(fd);
}

/* While others can still be opened. */
static void let_go_of_files(void)
{
	AUTO_FREE char *dir = paths_rundir();

	if (dir && paths_make_dir(dir, geteuid() == 0 ? 0755 : 0700) == 0)
		logplace_use(dir, LOGPLACE_RELAYD, "ltt-relayd");
	else
		logplace_use("/dev/null", LOGPLACE_RELAYD, "ltt-relayd");
	(void)!chdir("/");
}

/* While a relative path still leads there. Return: allocated; NULL: it can't be known. */
static char *find_path(int out_fd)
{
	AUTO_FREE char *link = xasprintf("/proc/self/fd/%d", out_fd);

	return realpath(link, NULL);
}

static int build(struct house *h, int out_fd)
{
	unsigned int max_fds = relayd_raise_descriptor_limit();
	int ret = loop_new(&h->loop);

	if (ret == 0)
		ret = loop_new(&h->viewers_loop);
	if (ret == 0)
		ret = relayd_set_up_signals(h);
	if (ret == 0)
		ret = relay_init(&h->relay, h->loop, out_fd, max_fds);
	if (ret == 0)
		ret = viewers_init(&h->viewers, h->viewers_loop, &h->relay.live,
				   h->relay.max_viewer_fds);
	if (ret == -EMFILE)
		log_error("%u files may be open, and at least %u are needed; raise the limit "
			  "(ulimit -n, LimitNOFILE=)",
			  max_fds, RELAY_FDS_LEAST);
	else if (ret < 0)
		log_error("%s", strerror(-ret));
	h->relay.out_path = find_path(out_fd);
	h->relay.by_session = h->relay.peers.by_session = opt.by_session;
	relpeers_limit(&h->relay.peers, &h->quotas);
	h->relay.notify = &h->notify;
	h->relay.main.disk.keep_free = h->rules.keep_free;
	h->relay.sync_us = h->sync_us;
	return ret;
}

/* Return: 0 or negative errno. */
static int relayd_start_archiver(struct house *h)
{
	const struct spawner_command command = { h->archive, opt.store, h->relay.out_path };
	int ret;

	if (!opt.store)
		return 0;
	ret = spawner_start(&command);
	return ret < 0 ? ret : archiver_new(&h->relay.archiver, h->loop, ret, ARCHIVER_SILENCE_US);
}

static int relayd_serve(struct house *h)
{
	int ret;

	if (opt.daemonize)
		let_go_of_files();
	ret = relayd_start_archiver(h);
	if (ret < 0) {
		log_error("can't start a process for ltt-archive: %s", strerror(-ret));
		return ret;
	}
	retention_init(&h->retention, &h->relay, &h->rules);
	confine(&(struct confine){ CONFINE_RELAY, 0, 0 });
	ret = viewers_start(&h->viewers);
	if (ret == 0)
		ret = retention_start(&h->retention);
	if (ret == 0)
		ret = repairer_start(&h->relay.repairer, &h->relay, h->relay.started_ns);
	if (ret == 0) {
		relayd_report_ready(h->ready_fd);
		relay_count_sessions(&h->relay, 0);
		notify_ready(&h->notify, h->loop);
		ret = loop_run(h->loop);
		notify_unwatch(&h->notify);
	}
	if (ret < 0)
		log_error("%s", strerror(-ret));
	return archiver_is_lost(h->relay.archiver) ? -ECHILD : ret;
}

static uint64_t relayd_file_time_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Files get the time of the kernel's last tick: from the beginning of a new one on, those that an
 * earlier relay wrote are older than those of this one. */
static uint64_t relayd_await_tick(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	uint64_t before = relayd_file_time_ns(), now;

	do {
		nanosleep(&ms, NULL);
		now = relayd_file_time_ns();
	} while (now == before);
	return now;
}

static int relayd_run(int out_fd, int ready_fd)
{
	const struct listen_config listen = { opt.ports, opt.live_ports, opt.keys, opt.clear_text };
	struct house h = { .ready_fd = ready_fd };
	int ret;

	notify_init(&h.notify);
	if (listeners_check(&listen) < 0 || relayd_parse_rules(&h.rules) < 0 ||
	    relayd_parse_quotas(&h.quotas) < 0 || relayd_parse_sync(&h.sync_us) < 0 ||
	    relayd_find_archive(&h.archive) < 0) {
		free(h.archive);
		return 2;
	}
	if (build(&h, out_fd) < 0)
		return 1;
	h.relay.started_ns = relayd_await_tick();
	ret = listeners_open(&listen, &h.relay, &h.viewers, &h.ring);
	loop_timer_init(&h.expiry, h.loop, relayd_check_expiry);
	if (ret == 0 && h.ring.keys)
		relayd_check_expiry(&h.expiry);
	if (ret == 0)
		ret = relayd_serve(&h);
	loop_timer_cancel(&h.expiry);
	repairer_stop(h.relay.repairer);
	relworkers_stop(&h.relay); /* they call the others */
	repairer_free(h.relay.repairer);
	retention_fini(&h.retention);
	h.relay.archiver = archiver_free(h.relay.archiver);
	viewers_fini(&h.viewers); /* they read the relay's state */
	relay_fini(&h.relay);
	free(h.archive);
	if (h.ring.keys)
		keyring_fini(&h.ring);
	notify_fini(&h.notify);
	loop_free(h.viewers_loop);
	loop_free(h.loop);
	return ret < 0;
}

int main(int argc, char **argv)
{
	AUTO_FD int out_fd = -1;
	int ret, ready_fd = -1;

	stdfds_open();
	log_init("ltt-relayd", LOG_WARN);
	ret = relayd_parse_args(argc, (const char **)argv);
	if (ret)
		return ret == 1 ? 0 : ret;
	if (opt.verbose)
		log_init("ltt-relayd", LOG_INFO);
	if (opt.daemonize || opt.background) {
		ready_fd = go_to_background();
		if (ready_fd < 0) {
			log_error("can't go to the background: %s", strerror(-ready_fd));
			return 1;
		}
	}
	out_fd = open_output();
	return out_fd < 0 ? 1 : relayd_run(out_fd, ready_fd);
}
