// SPDX-License-Identifier: GPL-2.0-only
/*
 * rapp.c - a load of numbered events that prove themselves.
 *
 * Every event carries its thread's number, a sequence number, a checksum and a
 * payload that follows from both, so that a checker (rapp_check) finds any that
 * is missing, doubled, torn or out of order. A shared file counts the calls
 * that returned, also after SIGKILL.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

#include "rapp.h"

LTT_TRACEPOINT(rapp, event,
	       (uint32_t thread, uint64_t seq, uint32_t sum, const uint8_t *data, uint16_t length),
	       LTT_INFO,
	       ltt_int(uint32_t, thread, thread),
	       ltt_int(uint64_t, seq, seq),
	       ltt_hex(uint32_t, sum, sum),
	       ltt_sequence_hex(uint8_t, data, data, uint16_t, length))

enum { MAX_PAYLOAD = 60000, MAX_THREADS = 1024, CHILD_STACK = 1 << 17 };

static struct options {
	unsigned int threads;
	unsigned int children;
	uint64_t events; /* of each thread; 0: until the program is ended */
	double rate;     /* events/s of each thread; 0: flat out */
	unsigned int payload;
	unsigned int signal_hz;
	unsigned int base;
	bool wait_armed;
	bool detach;
	const char *counters;
	const char *ready;
	const char *guise;
	const char *crash; /* KIND:THREAD:EVENTS */
} opt = { .threads = 1, .payload = 32 };

static struct rapp_file *file;
static _Atomic int ending;
static _Thread_local struct rapp_slot *signal_slot;

static void usage(void);

static void die(const char *what)
{
	fprintf(stderr, "rapp: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned int slots_per_process(void)
{
	return opt.threads * 2;
}

static void map_counters(void)
{
	unsigned int nr = slots_per_process() * (opt.children + 1);
	size_t size = sizeof(*file) + nr * sizeof(file->slot[0]);
	int fd = -1, flags = MAP_SHARED;

	if (opt.counters) {
		fd = open(opt.counters, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
			die(opt.counters);
	} else {
		flags |= MAP_ANONYMOUS;
	}
	file = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (file == MAP_FAILED)
		die("mmap");
	if (fd >= 0)
		close(fd);
	file->pid = (uint32_t)getpid();
	file->nr_slots = nr;
	for (unsigned int i = 0; i < nr; i++)
		file->slot[i].thread = opt.base + i;
	__atomic_store_n(&file->magic, RAPP_MAGIC, __ATOMIC_RELEASE);
}

/* One event of a slot. A slot has one writer at a time. */
static void emit(struct rapp_slot *slot, unsigned int most)
{
	uint64_t seq = slot->begun, mix = rapp_mix(slot->thread, seq);
	uint16_t length = rapp_length(mix, most);
	uint8_t small[256], *data = small;

	if (length > sizeof(small)) {
		data = malloc(length);
		if (!data)
			die("malloc");
	}
	for (unsigned int i = 0; i < length; i++)
		data[i] = rapp_byte(mix, i);
	__atomic_store_n(&slot->begun, seq + 1, __ATOMIC_RELEASE);
	ltt_trace(rapp, event, slot->thread, seq, rapp_sum(mix, length), data, length);
	__atomic_store_n(&slot->returned, seq + 1, __ATOMIC_RELEASE);
	if (data != small)
		free(data);
}

/* --- signals ------------------------------------------------------------------ */

static void on_tick(int sig)
{
	(void)sig;
	if (signal_slot)
		emit(signal_slot, opt.payload < 64 ? opt.payload : 64);
}

static void on_end(int sig)
{
	(void)sig;
	ending = 1;
}

static timer_t start_ticks(struct rapp_slot *slot)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	long period = 1000000000L / (long)opt.signal_hz;
	struct itimerspec its = {
		.it_interval = { period / 1000000000L, period % 1000000000L },
		.it_value = { period / 1000000000L, period % 1000000000L },
	};
	timer_t timer = NULL;

	signal_slot = slot;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &its, NULL) != 0)
		die("timer");
	return timer;
}

/* --- threads -------------------------------------------------------------------- */

/* Sleeps once a millisecond or so: a sleep for each event would be the limit. */
static void pace(uint64_t done, const struct timespec *begin)
{
	uint64_t batch = opt.rate > 1000 ? (uint64_t)(opt.rate / 1000) : 1;
	double due = (double)done / opt.rate;
	struct timespec ts = *begin;

	if (done % batch)
		return;
	ts.tv_sec += (time_t)due;
	ts.tv_nsec += (long)((due - (double)(time_t)due) * 1e9);
	if (ts.tv_nsec >= 1000000000L) {
		ts.tv_nsec -= 1000000000L;
		ts.tv_sec++;
	}
	while (!ending && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* --- guises: a thread with another thread's thread-local data ------------------ */

enum { TURN = 200 }; /* events in a row */

static void emit_turn(struct rapp_slot *slot)
{
	for (int i = 0; i < TURN && slot->begun < opt.events; i++)
		emit(slot, opt.payload);
}

static int child_turn(void *slot)
{
	emit_turn(slot);
	return 0;
}

static void reap(pid_t pid)
{
	int status = 1;

	if (pid < 0 || waitpid(pid, &status, __WALL) != pid || status != 0)
		die("a child that shares the memory");
}

static __attribute__((noinline)) pid_t turn_of_vfork(struct rapp_slot *slot)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(child_turn(slot));
	return pid;
}

/* AddressSanitizer's vfork() has one place for the return address, of both. */
#ifdef __SANITIZE_ADDRESS__
#define turn_of_vfork_in_vfork turn_of_vfork
#else
static __attribute__((noinline)) pid_t turn_of_vfork_in_vfork(struct rapp_slot *slot)
{
	pid_t pid = vfork();

	if (pid == 0) {
		emit(slot, opt.payload);
		reap(turn_of_vfork(slot));
		if (slot->begun < opt.events)
			emit(slot, opt.payload);
		_exit(0);
	}
	return pid;
}
#endif

static void run_vfork(struct rapp_slot *slot)
{
	while (!ending && slot->begun < opt.events) {
		reap(turn_of_vfork(slot));
		emit_turn(slot);
		if (slot->begun < opt.events)
			reap(turn_of_vfork_in_vfork(slot));
		emit_turn(slot);
	}
}

static char *new_stack(void)
{
	char *stack = malloc(CHILD_STACK);

	if (!stack)
		die("malloc");
	return stack;
}

static void run_clone_vfork(struct rapp_slot *slot)
{
	char *stack = new_stack();

	while (!ending && slot->begun < opt.events) {
		reap(clone(child_turn, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
			   slot));
		emit_turn(slot);
	}
	free(stack);
}

static void run_spawn(struct rapp_slot *slot)
{
	char *const argv[] = { (char *)"true", NULL };

	while (!ending && slot->begun < opt.events) {
		pid_t pid = -1;

		if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0)
			die("posix_spawn");
		emit_turn(slot);
		reap(pid);
	}
}

static int child_run(void *slot)
{
	while (((struct rapp_slot *)slot)->begun < opt.events)
		emit(slot, opt.payload);
	return 0;
}

/* Both at once, on one thread's data. */
static void run_clone_share(struct rapp_slot *slot)
{
	char *stack = new_stack();
	pid_t pid;

	emit_turn(slot);
	slot[1].used = 1;
	pid = clone(child_run, stack + CHILD_STACK, CLONE_VM | SIGCHLD, slot + 1);
	child_run(slot);
	reap(pid);
	free(stack);
}

/* The place is glibc's; the size is the one that it registered on every kernel so far. */
static void run_unregister(struct rapp_slot *slot)
{
	struct rseq *area = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	while (!ending && slot->begun < opt.events) {
		emit_turn(slot);
		syscall(SYS_rseq, area, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
	}
}

static const struct guise {
	const char *name;
	void (*run)(struct rapp_slot *slot);
} guises[] = {
	{ "vfork", run_vfork },		  { "clone-vfork", run_clone_vfork },
	{ "clone-share", run_clone_share }, { "spawn", run_spawn },
	{ "unregister", run_unregister },
};

static const struct guise *find_guise(void)
{
	for (size_t i = 0; i < sizeof(guises) / sizeof(guises[0]); i++)
		if (strcmp(guises[i].name, opt.guise) == 0)
			return &guises[i];
	fprintf(stderr, "rapp: no guise '%s'\n", opt.guise);
	exit(2);
}

/* --- crashes: a thread ends the process behind one of its events ---------------- */

static __attribute__((noinline)) int overflow_stack(volatile char *outer)
{
	volatile char frame[4096];

	frame[0] = outer[0];
	return frame[0] ? 0 : overflow_stack(frame) + frame[0]; /* it is 0 */
}

static void crash(const char *kind)
{
	volatile char byte = 0;

	if (strncmp(kind, "write", 5) == 0)
		*(volatile char *)(uintptr_t)(4096 + byte) = 1; /* sanitizers report NULL */
	else if (strncmp(kind, "abort", 5) == 0)
		abort();
	else if (strncmp(kind, "trap", 4) == 0)
		__builtin_trap();
	else if (strncmp(kind, "stack", 5) == 0)
		overflow_stack(&byte);
	usage();
}

static void crash_if_due(const struct rapp_slot *slot)
{
	const char *thread = strchr(opt.crash, ':');
	const char *events = thread ? strchr(thread + 1, ':') : NULL;

	if (!events)
		usage();
	if (slot->thread == opt.base + 2u * (unsigned int)atoi(thread + 1) &&
	    slot->returned == strtoull(events + 1, NULL, 0))
		crash(opt.crash);
}

static void *thread_main(void *arg)
{
	struct rapp_slot *slot = arg;
	const struct guise *guise = opt.guise ? find_guise() : NULL;
	struct timespec begin;
	timer_t timer = NULL;

	slot->used = 1;
	if (opt.signal_hz) {
		slot[1].used = 1;
		timer = start_ticks(slot + 1);
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (guise) {
		guise->run(slot);
		return NULL;
	}
	for (uint64_t i = 0; !ending && (!opt.events || i < opt.events); i++) {
		emit(slot, opt.payload);
		if (opt.crash)
			crash_if_due(slot);
		if (opt.rate > 0)
			pace(i + 1, &begin);
	}
	if (opt.signal_hz)
		timer_delete(timer);
	return NULL;
}

static void run_threads(unsigned int process)
{
	struct rapp_slot *slot = file->slot + process * slots_per_process();
	pthread_t thread[MAX_THREADS];

	for (unsigned int i = 0; i < opt.threads; i++)
		if (pthread_create(&thread[i], NULL, thread_main, slot + 2 * i) != 0)
			die("pthread_create");
	__atomic_store_n(&file->running, 1, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < opt.threads; i++)
		pthread_join(thread[i], NULL);
}

/* As a daemon does: a new session and not one descriptor kept. */
static void detach(void)
{
	setsid();
	if (syscall(SYS_close_range, 0u, ~0u, 0u) != 0)
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
	if (open("/dev/null", O_RDWR) == 0 && dup(0) >= 0 && dup(0) >= 0)
		return;
}

static void start_children(void)
{
	for (unsigned int i = 1; i <= opt.children; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			if (opt.detach)
				detach();
			run_threads(i);
			exit(0);
		}
	}
}

/* --- main ------------------------------------------------------------------------- */

static void wait_armed(void)
{
	struct timespec ms = { 0, 1000000 };

	while (!ending && !ltt_enabled(rapp, event))
		nanosleep(&ms, NULL);
}

static void say_ready(void)
{
	int fd = open(opt.ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, "ready\n", 6) != 6)
		die(opt.ready);
	close(fd);
}

static void usage(void)
{
	fprintf(stderr, "usage: rapp [-t THREADS] [-n EVENTS] [-r RATE] [-z PAYLOAD] [-s SIGNAL_HZ]\n"
			"            [-f CHILDREN] [-d (children detach)] [-b BASE] [-c COUNTERS]\n"
			"            [-a (wait until armed)] [-R READY_FILE_OR_FIFO]\n"
			"            [-v vfork|clone-vfork|clone-share|spawn|unregister]\n"
			"            [-k write|abort|trap|stack:THREAD:EVENTS (crash)]\n");
	exit(2);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "t:n:r:z:s:f:db:c:aR:v:k:")) != -1) {
		switch (c) {
		case 't': opt.threads = (unsigned int)atoi(optarg); break;
		case 'n': opt.events = strtoull(optarg, NULL, 0); break;
		case 'r': opt.rate = atof(optarg); break;
		case 'z': opt.payload = (unsigned int)atoi(optarg); break;
		case 's': opt.signal_hz = (unsigned int)atoi(optarg); break;
		case 'f': opt.children = (unsigned int)atoi(optarg); break;
		case 'd': opt.detach = true; break;
		case 'b': opt.base = (unsigned int)atoi(optarg); break;
		case 'c': opt.counters = optarg; break;
		case 'a': opt.wait_armed = true; break;
		case 'R': opt.ready = optarg; break;
		case 'v': opt.guise = optarg; break;
		case 'k': opt.crash = optarg; break;
		default: usage();
		}
	}
	if (!opt.threads || opt.threads > MAX_THREADS || opt.payload > MAX_PAYLOAD)
		usage();
}

int main(int argc, char **argv)
{
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	struct sigaction end = { .sa_handler = on_end };
	uint64_t total = 0;

	parse(argc, argv);
	sigaction(SIGUSR1, &tick, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	map_counters();
	if (opt.ready)
		say_ready();
	if (opt.wait_armed)
		wait_armed();
	start_children();
	run_threads(0);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	for (unsigned int i = 0; i < file->nr_slots; i++)
		total += file->slot[i].returned;
	printf("emitted %llu\n", (unsigned long long)total);
	return 0;
}
