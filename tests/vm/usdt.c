/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usdt COUNT - passes a USDT probe `shop:sold` so often in one place, and for each third time
 * in another, whose arguments are narrower; calls shop_sell(), a function, each time. Prints how
 * many times a tracer was attached, by the semaphore. With `-`, the same for each number that it
 * reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/usdt.h"

__attribute__((section(".probes"), used)) volatile unsigned short sold_semaphore;
static const char name[] = "a name of which nothing has been read before";
static short shelf[4] = { -1, -2, -3, -4 };

__attribute__((noipa, used)) long shop_sell(long nr, const char *what)
{
	USDT("shop", "sold", "sold_semaphore", "8@%[nr] 8@%[what] -8@%[debt] -2@%[left]",
	     [nr] "r"(nr), [what] "r"(what), [debt] "r"(-nr), [left] "m"(shelf[nr & 3]));
	if (nr % 3 == 0)
		USDT("shop", "sold", "sold_semaphore", "4@%k[nr] 8@%[what] -1@%b[debt] -2@$-9",
		     [nr] "r"(nr), [what] "r"(what), [debt] "r"(-7l));
	return nr * 2;
}

static long pass(long count)
{
	long heard = 0, sum = 0;

	for (long i = 0; i < count; i++) {
		heard += sold_semaphore > 0;
		sum += shop_sell(i, name);
	}
	printf("%ld\n", heard);
	fflush(stdout);
	return sum;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;

	if (argc < 2 || strcmp(argv[1], "-") != 0)
		return pass(count) < 0;
	while (scanf("%ld", &count) == 1)
		pass(count);
	return 0;
}
