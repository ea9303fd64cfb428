// SPDX-License-Identifier: GPL-2.0-only
/*
 * webdemo.c - a small multi-threaded request service under its own load.
 *
 * Client threads put requests into a bounded queue and wait for the answers;
 * worker threads take them out, find a page in a cache or render it. Events as a
 * real service would record them: tracepoints for the life of a request, a marker
 * for each wait of the workers.
 *
 *   webdemo [-s SECONDS] [-w WORKERS] [-c CLIENTS] [-n REQUESTS] [-p PAUSE_US] [-l NTH]
 *
 * A client pauses between its requests (200 us; 0: as many as it can). With -l every NTH request
 * takes 60 ms.
 *
 * Prints its counts, so that a trace can be compared with them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ltt/marker.h>
#include <ltt/tracepoint.h>

LTT_ENUM(web, outcome,
	 ltt_range("OK", 200, 299),
	 ltt_value("NOT_FOUND", 404),
	 ltt_value("TOO_LONG", 414))

LTT_TRACEPOINT(web, accept, (uint64_t id, const char *client), LTT_DEBUG,
	       ltt_int(uint64_t, id, id),
	       ltt_string(client, client))

LTT_TRACEPOINT(web, request_begin, (uint64_t id, const char *path, uint64_t queued_ns), LTT_INFO,
	       ltt_int(uint64_t, id, id),
	       ltt_string(path, path),
	       ltt_int(uint64_t, queued_ns, queued_ns))

LTT_TRACEPOINT(web, cache_hit, (uint64_t id, uint32_t key), LTT_DEBUG,
	       ltt_int(uint64_t, id, id),
	       ltt_hex(uint32_t, key, key))

LTT_TRACEPOINT(web, cache_miss, (uint64_t id, uint32_t key), LTT_INFO,
	       ltt_int(uint64_t, id, id),
	       ltt_hex(uint32_t, key, key))

LTT_TRACEPOINT(web, request_end, (uint64_t id, int status, uint32_t bytes, uint64_t ns), LTT_INFO,
	       ltt_int(uint64_t, id, id),
	       ltt_enum(uint16_t, web, outcome, status, status),
	       ltt_int(uint32_t, bytes, bytes),
	       ltt_int(uint64_t, duration_ns, ns))

enum {
	QUEUE_SLOTS = 64,
	CACHE_SLOTS = 256,
	PAGE_BYTES = 2048,
	MAX_THREADS = 64,
	PATH_BYTES = 32,
	SLOW_NS = 60000000,
};

struct request {
	uint64_t id;
	uint64_t begin_ns;
	char path[PATH_BYTES];
	int status;
	uint32_t bytes;
	bool done;
	pthread_mutex_t lock;
	pthread_cond_t answered;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t drained;
	struct request *slot[QUEUE_SLOTS];
	unsigned int head;
	unsigned int used;
	bool closed;
};

struct page {
	uint32_t key;
	bool valid;
	char text[PAGE_BYTES];
};

static struct queue queue = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.filled = PTHREAD_COND_INITIALIZER,
	.drained = PTHREAD_COND_INITIALIZER,
};
static struct {
	pthread_mutex_t lock;
	struct page page[CACHE_SLOTS];
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct {
	_Atomic uint64_t requests, hits, misses, not_found, waits;
} done;
static _Atomic uint64_t next_id = 1;
static _Atomic bool closing;
static uint64_t most_requests = UINT64_MAX;
static unsigned int pause_us = 200;
static uint64_t slow_nth; /* 0: no request is slow */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261u;

	while (*text)
		h = (h ^ (uint8_t)*text++) * 16777619u;
	return h;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

/* --- the queue between clients and workers -------------------------------- */

static void queue_put(struct request *req)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.used == QUEUE_SLOTS)
		pthread_cond_wait(&queue.drained, &queue.lock);
	queue.slot[(queue.head + queue.used++) % QUEUE_SLOTS] = req;
	pthread_cond_signal(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
}

/* NULL once the queue is closed and empty. */
static struct request *queue_take(int worker)
{
	struct request *req = NULL;
	uint64_t begin = 0;

	pthread_mutex_lock(&queue.lock);
	while (queue.used == 0 && !queue.closed) {
		if (!begin)
			begin = now_ns();
		pthread_cond_wait(&queue.filled, &queue.lock);
	}
	if (queue.used) {
		req = queue.slot[queue.head++ % QUEUE_SLOTS];
		queue.used--;
		pthread_cond_signal(&queue.drained);
	}
	pthread_mutex_unlock(&queue.lock);
	if (begin) {
		trace_mark(web_worker_waited, "worker %d ns %llu", worker,
			   (unsigned long long)(now_ns() - begin));
		done.waits++;
	}
	return req;
}

static void queue_close(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.closed = true;
	pthread_cond_broadcast(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
}

/* --- the workers ----------------------------------------------------------- */

/* Some honest work: a page is made of the bytes of its path. */
static void render(struct page *page, const char *path, uint32_t key)
{
	uint32_t x = key | 1;

	for (int i = 0; i < PAGE_BYTES; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		page->text[i] = (char)(path[(unsigned int)i % strlen(path)] ^ (x & 1));
	}
	page->key = key;
	page->valid = true;
}

static uint32_t serve_page(struct request *req)
{
	uint32_t key = hash(req->path);
	struct page *page = &cache.page[key % CACHE_SLOTS];

	pthread_mutex_lock(&cache.lock);
	if (page->valid && page->key == key) {
		ltt_trace(web, cache_hit, req->id, key);
		done.hits++;
	} else {
		ltt_trace(web, cache_miss, req->id, key);
		render(page, req->path, key);
		done.misses++;
	}
	pthread_mutex_unlock(&cache.lock);
	return PAGE_BYTES - key % 1024;
}

static void answer(struct request *req)
{
	pthread_mutex_lock(&req->lock);
	req->done = true;
	pthread_cond_signal(&req->answered);
	pthread_mutex_unlock(&req->lock);
}

static void *worker_main(void *arg)
{
	int worker = (int)(intptr_t)arg;
	struct request *req;

	while ((req = queue_take(worker))) {
		uint64_t begin = now_ns();

		ltt_trace(web, request_begin, req->id, req->path, begin - req->begin_ns);
		if (strncmp(req->path, "/missing", 8) == 0) {
			req->status = 404;
			req->bytes = 0;
			done.not_found++;
		} else {
			req->status = 200;
			req->bytes = serve_page(req);
		}
		if (slow_nth && req->id % slow_nth == 0)
			sleep_ns(SLOW_NS);
		done.requests++;
		ltt_trace(web, request_end, req->id, req->status, req->bytes, now_ns() - begin);
		answer(req);
	}
	return NULL;
}

/* --- the clients ------------------------------------------------------------ */

/* Few paths are requested often, many seldom, as in practice. */
static void choose_path(char *path, uint32_t *seed)
{
	uint32_t r;

	*seed = *seed * 1664525u + 1013904223u;
	r = *seed >> 8;
	if (r % 50 == 0)
		snprintf(path, PATH_BYTES, "/missing/%u", r % 1000);
	else if (r % 10 == 0)
		snprintf(path, PATH_BYTES, "/article/%u", r / 10 % 5000);
	else
		snprintf(path, PATH_BYTES, "/page/%u", r / 50 % 40);
}

static void request_once(struct request *req, const char *name, uint32_t *seed)
{
	choose_path(req->path, seed);
	req->done = false;
	ltt_trace(web, accept, req->id, name);
	req->begin_ns = now_ns();
	queue_put(req);
	pthread_mutex_lock(&req->lock);
	while (!req->done)
		pthread_cond_wait(&req->answered, &req->lock);
	pthread_mutex_unlock(&req->lock);
}

static void *client_main(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg * 7919u + 1;
	struct request req = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.answered = PTHREAD_COND_INITIALIZER,
	};
	char name[24];

	snprintf(name, sizeof(name), "10.0.0.%d", (int)(intptr_t)arg + 1);
	while (!closing && (req.id = next_id++) <= most_requests) {
		request_once(&req, name, &seed);
		if (pause_us)
			sleep_ns(pause_us * 1000u);
	}
	return NULL;
}

/* --- start and end ----------------------------------------------------------- */

static void start(pthread_t *thread, void *(*run)(void *), int number)
{
	if (pthread_create(thread, NULL, run, (void *)(intptr_t)number) != 0) {
		fprintf(stderr, "webdemo: no thread\n");
		exit(1);
	}
}

static int usage(void)
{
	fprintf(stderr, "usage: webdemo [-s SECONDS] [-w WORKERS] [-c CLIENTS] [-n REQUESTS] "
			"[-p PAUSE_US] [-l NTH]\n");
	return 2;
}

static void print_result(uint64_t ns)
{
	printf("requests %llu hits %llu misses %llu not_found %llu waits %llu\n",
	       (unsigned long long)done.requests, (unsigned long long)done.hits,
	       (unsigned long long)done.misses, (unsigned long long)done.not_found,
	       (unsigned long long)done.waits);
	printf("webdemo: %.0f requests/s\n", (double)done.requests * 1e9 / (double)ns);
}

int main(int argc, char **argv)
{
	pthread_t client[MAX_THREADS], worker[MAX_THREADS];
	int clients = 8, workers = 4, opt;
	double seconds = 2;
	uint64_t begin;

	while ((opt = getopt(argc, argv, "s:w:c:n:p:l:")) != -1) {
		if (opt == 's')
			seconds = atof(optarg);
		else if (opt == 'w')
			workers = atoi(optarg);
		else if (opt == 'c')
			clients = atoi(optarg);
		else if (opt == 'p')
			pause_us = (unsigned int)atoi(optarg);
		else if (opt == 'l')
			slow_nth = strtoull(optarg, NULL, 0);
		else if (opt == 'n')
			most_requests = strtoull(optarg, NULL, 0);
		else
			return usage();
	}
	if (workers < 1 || workers > MAX_THREADS || clients < 1 || clients > MAX_THREADS)
		return usage();
	begin = now_ns();
	for (int i = 0; i < workers; i++)
		start(&worker[i], worker_main, i);
	for (int i = 0; i < clients; i++)
		start(&client[i], client_main, i);
	if (most_requests == UINT64_MAX) {
		sleep_ns((uint64_t)(seconds * 1e9));
		closing = true;
	}
	for (int i = 0; i < clients; i++)
		pthread_join(client[i], NULL);
	queue_close();
	for (int i = 0; i < workers; i++)
		pthread_join(worker[i], NULL);
	print_result(now_ns() - begin);
	return 0;
}
