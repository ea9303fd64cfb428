// SPDX-License-Identifier: GPL-2.0-only
/*
 * planted - requests that take long for a known cause each: a lock whose holder sleeps, a timer,
 * own work, a CPU that another thread has, a server that works and sleeps, and a child that works.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ltt/ltt.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int held, stop;

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void work_us(long us)
{
	long end = now_us() + us;

	while (now_us() < end)
		;
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *holder(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "holder");
	pthread_mutex_lock(&mutex);
	__atomic_store_n(&held, 1, __ATOMIC_SEQ_CST);
	usleep(60000);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *hog(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "hog");
	on_cpu(0);
	while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST))
		;
	return NULL;
}

static void serve(int in, int out)
{
	char c;

	prctl(PR_SET_NAME, "server");
	if (read(in, &c, 1) == 1) {
		work_us(20000);
		usleep(40000);
		if (write(out, &c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void with_lock(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, holder, NULL);
	while (!__atomic_load_n(&held, __ATOMIC_SEQ_CST))
		usleep(1000);
	trace_mark(web_request_begin, "kind %s", "lock");
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	trace_mark(web_request_end, "kind %s", "lock");
	pthread_join(thread, NULL);
}

static void with_hog(void)
{
	cpu_set_t before;
	pthread_t thread;

	sched_getaffinity(0, sizeof(before), &before);
	on_cpu(0);
	pthread_create(&thread, NULL, hog, NULL);
	usleep(20000);
	trace_mark(web_request_begin, "kind %s", "stolen");
	work_us(100000);
	trace_mark(web_request_end, "kind %s", "stolen");
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof(before), &before);
}

static void with_server(void)
{
	int to[2], from[2];
	char c = 'q';

	if (pipe(to) || pipe(from))
		exit(1);
	if (!fork())
		serve(to[0], from[1]);
	usleep(20000);
	trace_mark(web_request_begin, "kind %s", "rpc");
	if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1)
		exit(1);
	trace_mark(web_request_end, "kind %s", "rpc");
	wait(NULL);
}

int main(void)
{
	prctl(PR_SET_NAME, "worker");
	with_lock();
	trace_mark(web_request_begin, "kind %s", "timer");
	usleep(50000);
	trace_mark(web_request_end, "kind %s", "timer");
	trace_mark(web_request_begin, "kind %s", "alone");
	work_us(50000);
	trace_mark(web_request_end, "kind %s", "alone");
	with_hog();
	with_server();
	trace_mark(web_request_begin, "kind %s", "child");
	if (!fork()) { /* a program without libltt, whose thread could be the last to end */
		execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done",
		      NULL);
		_exit(1);
	}
	wait(NULL);
	trace_mark(web_request_end, "kind %s", "child");
	return 0;
}
