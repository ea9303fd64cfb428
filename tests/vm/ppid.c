/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ppid [uname] - prints the cost of a thousand getppid(), or uname(), by the CPU's counter, the
 * least of many thousands: interrupts are in the others. Where the guest's clock counts
 * instructions, that is their number.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <x86intrin.h>

static uint64_t thousand(long nr)
{
	static struct utsname names;
	uint64_t begin = __rdtsc();

	for (int i = 0; i < 1000; i++)
		syscall(nr, &names);
	return __rdtsc() - begin;
}

int main(int argc, char **argv)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t cost = thousand(argc > 1 && argv[1] ? SYS_uname : SYS_getppid);

		least = cost < least ? cost : least;
	}
	printf("%llu\n", (unsigned long long)least);
	return 0;
}
