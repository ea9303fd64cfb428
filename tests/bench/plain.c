/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plain PORT BYTES SUM - the least program that sends memory to a relay: fills BYTES of memory,
 * sends them to PORT of this machine (SUM is 1: after the CRC-32C of each part was computed), waits
 * for one byte, prints the seconds that this took and its seconds of CPU, and waits for the end of
 * stdin.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define HAS_SUM __attribute__((target("sse4.2")))
#define SUM_WORD(sum, word) ((uint32_t)__builtin_ia32_crc32di(sum, word))
#else
#include <arm_acle.h>
#define HAS_SUM __attribute__((target("+crc")))
#define SUM_WORD(sum, word) __crc32cd(sum, word)
#endif

#define PART (1u << 20) /* bytes that are summed, then sent */

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The numbers depend on each other: as fast as a CPU is without several sums at once. */
HAS_SUM static uint32_t sum_of(const uint64_t *words, size_t nr)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum = SUM_WORD(sum, words[i]);
	return sum;
}

static int send_all(int fd, const uint8_t *at, size_t len, int has_sum)
{
	volatile uint32_t sum = 0;

	while (len) {
		size_t part = len < PART ? len : PART;

		if (has_sum)
			sum ^= sum_of((const uint64_t *)at, part / 8);
		for (size_t sent = 0; sent < part;) {
			ssize_t n = send(fd, at + sent, part - sent, 0);

			if (n < 0)
				return -1;
			sent += (size_t)n;
		}
		at += part;
		len -= part;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	size_t len = argc == 4 ? strtoull(argv[2], NULL, 0) : 0;
	uint64_t *memory, word = 88172645463325252ull;
	double begin, cpu;
	char c;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (!len)
		return 2;
	addr.sin_port = htons((uint16_t)atoi(argv[1]));
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memory = mmap(NULL, len + 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return 1;
	for (size_t i = 0; i < len / 8 + 1; i++) {
		word ^= word << 13;
		word ^= word >> 7;
		memory[i] = word ^= word << 17;
	}
	begin = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (send_all(fd, (const uint8_t *)memory, len, atoi(argv[3])) < 0 ||
	    shutdown(fd, SHUT_WR) < 0 || recv(fd, &c, 1, 0) < 0)
		return 1;
	printf("%.6f %.6f\n", seconds(CLOCK_MONOTONIC) - begin,
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	fflush(stdout);
	close(fd);
	return read(0, &c, 1) != 0;
}
