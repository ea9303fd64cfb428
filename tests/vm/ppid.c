/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ppid - prints the cost of a thousand getppid() by the CPU's counter, the least of many
 * thousands: interrupts are in the others. Where the guest's clock counts instructions, that
 * is their number.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

static uint64_t thousand(void)
{
	uint64_t begin = __rdtsc();

	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	return __rdtsc() - begin;
}

int main(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t cost = thousand();

		least = cost < least ? cost : least;
	}
	printf("%llu\n", (unsigned long long)least);
	return 0;
}
