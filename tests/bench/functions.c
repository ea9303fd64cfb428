/* SPDX-License-Identifier: GPL-2.0-only */
/* functions - a known number of calls of three functions, whose entries and exits are recorded:
 * gcc -finstrument-functions. Argument: the number of rounds, of 4 calls each. */
#include <stdlib.h>

static volatile int sum;

static void leaf(int n)
{
	sum += n;
}

static void middle(int n)
{
	leaf(n);
	leaf(n + 1);
}

static void outer(int n)
{
	middle(n);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++)
		outer(i);
	return 0;
}
