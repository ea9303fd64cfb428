/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hello_exit FILE - main() returns while threads trace flat out. FILE, mapped by all,
 * holds one counter a thread: calls that returned, whenever the process ended.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ltt/marker.h>
#include <ltt/tracepoint.h>

enum { THREADS = 4 };

LTT_TRACEPOINT(hello, until_exit, (uint64_t n), LTT_INFO, ltt_int(uint64_t, n, n))

static void *trace(void *counter)
{
	volatile uint64_t *calls = counter;

	for (;;) {
		ltt_trace(hello, until_exit, *calls);
		*calls += 1;
		if (*calls % 64 == 0)
			usleep(100);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t *calls;
	pthread_t thread;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 1;
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (calls == MAP_FAILED)
		return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, trace, &calls[i * 8]) != 0)
			return 1;
	usleep(200000);
	return 0;
}
