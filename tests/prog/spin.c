/* SPDX-License-Identifier: GPL-2.0-only */
/* spin TENTHS - work for so many tenths of a second of a CPU: three parts in spin_long(), one in
 * spin_short(), two in the kernel, called by spin_read(). Its functions keep their frame
 * pointers. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FRAME __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))

static volatile unsigned int sum;
static int zero;

static int64_t spin_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The clock is read so seldom that it takes no part of the time. */
#define SPIN_UNTIL(ns, work)                                \
	do {                                                \
		int64_t end = spin_now() + (ns);            \
		while (spin_now() < end)                    \
			for (int i = 0; i < 200000; i++)    \
				work;                       \
	} while (0)

FRAME void spin_long(int64_t ns)
{
	SPIN_UNTIL(ns, sum += 3);
	sum++;
}

FRAME void spin_short(int64_t ns)
{
	SPIN_UNTIL(ns, sum += 5);
	sum++;
}

FRAME void spin_read(int64_t ns)
{
	static char buf[1 << 16];
	int64_t end = spin_now() + ns;

	while (spin_now() < end)
		if (read(zero, buf, sizeof(buf)) < 0)
			perror("/dev/zero");
	sum++;
}

FRAME void spin_all(int64_t ns)
{
	spin_long(3 * ns);
	spin_short(ns);
	spin_read(2 * ns);
	sum++;
}

int main(int argc, char **argv)
{
	int tenths = argc > 1 ? atoi(argv[1]) : 10;

	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < tenths; i++)
		spin_all(100000000 / 6);
	return 0;
}
