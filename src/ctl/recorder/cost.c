/* SPDX-License-Identifier: GPL-2.0-only */
#include "cost.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "channel.h"
#include "ctl/connect.h"
#include "ctl/home.h"
#include "ctl/own.h"
#include "ctl/print/print.h"

#define SESSION "recorder-cost"
#define LIBRARY "libltt-libc.so"
#define BATCHES 40u /* the fastest counts: all that a machine does besides only adds to it */
#define CALLS 500u
#define SWITCHES 100u
#define REGISTER_MS "3000"

/* --- the load, in the child -------------------------------------------------------------- */

static uint64_t cost_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct {
	void *(*allocate)(size_t size); /* wrapped: each call is an event */
	int ping[2], pong[2];
} load;

static void cost_calls(void)
{
	static void *volatile allocated;

	for (unsigned int i = 0; i < CALLS; i++) {
		allocated = load.allocate(16);
		free(allocated);
	}
}

static void cost_switches(void)
{
	char byte = 0;

	for (unsigned int i = 0; i < SWITCHES; i++)
		if (write(load.ping[1], &byte, 1) != 1 || read(load.pong[0], &byte, 1) != 1)
			_exit(1);
}

static void *cost_answer(void *unused)
{
	char byte;

	(void)unused;
	while (read(load.ping[0], &byte, 1) == 1 && write(load.pong[1], &byte, 1) == 1)
		;
	return NULL;
}

/* Two threads on one CPU: each byte that one writes is a wakeup and a switch. */
static void cost_begin_kernel(void)
{
	pthread_t thread;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)MAX(sched_getcpu(), 0), &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0 || pipe(load.ping) < 0 ||
	    pipe(load.pong) < 0 || pthread_create(&thread, NULL, cost_answer, NULL) != 0)
		_exit(1);
}

/* The library waits until the session daemon knows this process. */
static void cost_begin_program(const char *path)
{
	void *library;

	setenv("LTT_SCOPE", SESSION, 1);
	setenv("LTT_REGISTER_TIMEOUT", REGISTER_MS, 1);
	library = dlopen(path, RTLD_NOW);
	if (library)
		load.allocate = (void *(*)(size_t))dlsym(library, "malloc");
	if (!load.allocate)
		_exit(1);
}

/* A byte from the parent is a request; the answer is the time of the fastest batch. */
static void cost_run(int from, int to, const char *library)
{
	uint64_t ready = 0;
	char byte;

	if (library)
		cost_begin_program(library);
	else
		cost_begin_kernel();
	if (write(to, &ready, sizeof(ready)) != sizeof(ready))
		_exit(1);
	while (read(from, &byte, 1) == 1) {
		uint64_t least = UINT64_MAX;

		for (unsigned int i = 0; i < BATCHES; i++) {
			uint64_t begin = cost_now_ns();

			(library ? cost_calls : cost_switches)();
			least = MIN(least, cost_now_ns() - begin);
		}
		if (write(to, &least, sizeof(least)) != sizeof(least))
			break;
	}
	_exit(0);
}

/* --- the child ------------------------------------------------------------------------------ */

struct child {
	pid_t pid;
	int to, from;
};

static void child_fini(struct child *child)
{
	close(child->to);
	close(child->from);
	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		waitpid(child->pid, NULL, 0);
	}
}

static bool child_answers(struct child *child, uint64_t *ret)
{
	return read(child->from, ret, sizeof(*ret)) == sizeof(*ret);
}

static bool child_measure(struct child *child, uint64_t *ret)
{
	return write(child->to, "", 1) == 1 && child_answers(child, ret);
}

/* @library: NULL: the load of the kernel. */
static bool child_init(struct child *child, const char *library)
{
	int to[2], from[2];
	uint64_t ready;

	*child = (struct child){ .to = -1, .from = -1 };
	if (pipe(to) < 0)
		return false;
	child->to = to[1];
	if (pipe(from) < 0) {
		close(to[0]);
		return false;
	}
	child->from = from[0];
	child->pid = fork();
	if (child->pid == 0) {
		close(to[1]);
		close(from[0]);
		cost_run(to[0], from[1], library);
	}
	close(to[0]);
	close(from[1]);
	return child->pid > 0 && child_answers(child, &ready);
}

/* --- the session ------------------------------------------------------------------------------ */

static int cost_track(struct ctl *ctl, uint32_t pid, struct err *err)
{
	struct ltt_ctl_track_options track;

	ltt_ctl_track_options_init(&track);
	track.session = SESSION;
	track.domain = LTT_CTL_KERNEL;
	track.kind = LTT_CTL_TRACK_PID;
	track.op = LTT_CTL_TRACK_ADD;
	track.ids = &pid;
	track.nr_ids = 1;
	return ctl_done(ctl, ltt_ctl_track(ctl->library, &track, NULL), err);
}

/* As the recorder's, but small. */
static int cost_create(struct ctl *ctl, const char *kernel_events, uint32_t pid, struct err *err)
{
	enum ltt_ctl_domain domain = kernel_events ? LTT_CTL_KERNEL : LTT_CTL_USER;
	struct ltt_ctl_create_options o;

	ltt_ctl_create_options_init(&o);
	o.name = SESSION;
	o.no_output = 1;
	o.snapshots = 1;
	o.scope = kernel_events ? NULL : SESSION;
	if (ctl_done(ctl, ltt_ctl_create(ctl->library, &o, NULL, NULL), err) != 0)
		return err->code;
	if (channel_make(ctl, SESSION, domain, 0, 0, err) != 0 ||
	    channel_record(ctl, SESSION, domain, kernel_events ? kernel_events : "*", err) != 0)
		return err->code;
	return kernel_events ? cost_track(ctl, pid, err) : 0;
}

/* Events that the session has recorded. */
static int cost_recorded(struct ctl *ctl, uint64_t *ret, struct err *err)
{
	struct ltt_ctl_session_status *status;

	if (ctl_done(ctl, ltt_ctl_status(ctl->library, SESSION, &status), err) != 0)
		return err->code;
	*ret = status->session->totals ? status->session->totals->recorded : 0;
	ltt_ctl_status_free(status);
	return 0;
}

/* Return: ns; 0: the reason is in @err. */
static uint64_t cost_compare(struct ctl *ctl, struct child *child, struct err *err)
{
	uint64_t without, with, before, after;

	if (!child_measure(child, &without)) {
		err_set(err, ERR_INTERNAL, "the load has ended");
		return 0;
	}
	if (ctl_done(ctl, ltt_ctl_start(ctl->library, SESSION, NULL), err) != 0 ||
	    cost_recorded(ctl, &before, err) != 0)
		return 0;
	if (!child_measure(child, &with) || cost_recorded(ctl, &after, err) != 0 ||
	    after - before < BATCHES || with <= without) {
		err_set(err, ERR_INTERNAL, "the events of the load are not measurable");
		return 0;
	}
	return MAX((with - without) / ((after - before) / BATCHES), (uint64_t)1);
}

/* --- both ------------------------------------------------------------------------------- */

static enum home_key cost_key(enum ltt_ctl_domain domain)
{
	return domain == LTT_CTL_KERNEL ? HOME_COST_KERNEL : HOME_COST_PROGRAM;
}

static void cost_store(enum ltt_ctl_domain domain, uint64_t ns, struct err *err)
{
	char *text AUTO_FREE = xasprintf("%llu", (unsigned long long)ns);

	(void)!home_set(cost_key(domain), text, err);
}

void cost_measure(struct ctl *ctl, const char *kernel_events)
{
	char *dir AUTO_FREE = own_library_dir(LIBRARY);
	char *path AUTO_FREE = dir ? xasprintf("%s/" LIBRARY, dir) : xstrdup(LIBRARY);
	struct child child CLEANUP(child_fini) = { 0 };
	struct err err = { 0 };
	uint64_t ns = 0;

	if (!child_init(&child, kernel_events ? NULL : path))
		err_set(&err, ERR_INTERNAL, "the load does not run");
	else if (cost_create(ctl, kernel_events, (uint32_t)child.pid, &err) == 0)
		ns = cost_compare(ctl, &child, &err);
	(void)!ltt_ctl_destroy(ctl->library, SESSION, 0, NULL);
	if (ns)
		cost_store(kernel_events ? LTT_CTL_KERNEL : LTT_CTL_USER, ns, &err);
	if (err.code)
		print_verbose(ctl, "the cost of an event is not measured: %s", err.text);
}

uint64_t cost_of(enum ltt_ctl_domain domain)
{
	char *text AUTO_FREE = home_get(cost_key(domain));
	uint64_t ns;

	return text && parse_u64(text, &ns) == 0 ? ns : 0;
}
