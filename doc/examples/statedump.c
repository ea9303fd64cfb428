/* SPDX-License-Identifier: MIT */
/*
 * statedump.c - the state from before a session began: a state dump (ltt_statedump(3)) records it
 * for each session that starts. The program sells for ten seconds.
 *
 *   cc -o statedump statedump.c $(pkg-config --cflags --libs ltt) -lpthread
 *   ./statedump & lttctl record -o trace --for=1s -p $!
 *   lttctl view --statedump trace
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <ltt/statedump.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(shop, stock, (const char *item, int count), LTT_INFO, ltt_string(item, item),
	       ltt_int(int, count, count))
LTT_TRACEPOINT(shop, sale, (const char *item), LTT_INFO, ltt_string(item, item))

static struct {
	const char *item;
	int count;
} shelf[] = { { "tea", 600 }, { "coffee", 700 } };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the shelf */

/* Runs in libltt's thread: the program's own lock is taken here. */
static void dump_stock(void *priv)
{
	(void)priv;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof(shelf) / sizeof(shelf[0]); i++)
		ltt_trace(shop, stock, shelf[i].item, shelf[i].count);
	pthread_mutex_unlock(&lock);
}

static void sell(size_t nr)
{
	pthread_mutex_lock(&lock);
	shelf[nr].count--;
	ltt_trace(shop, sale, shelf[nr].item);
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	int code = ltt_statedump_register(dump_stock, NULL);

	if (code < 0) {
		fprintf(stderr, "statedump: no state dump: %s\n", strerror(-code));
		return 1;
	}
	for (size_t i = 0; i < 1000; i++) {
		const struct timespec pause = { 0, 10000000 };

		sell(i % 2);
		nanosleep(&pause, NULL);
	}
	ltt_statedump_unregister(dump_stock, NULL);
	return 0;
}
