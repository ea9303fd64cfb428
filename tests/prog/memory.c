// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - allocates with a known peak: 100 x 10,000 bytes by keep(), 50 x 20,000 by surge() and
 * 15 x 1,000 by leak(). At the end 49 of keep(), one of 5,000 by shrink() and 30 of leak() are not
 * freed. Before and afterwards, churn() has 64 blocks of random sizes, which it frees.
 */
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))
#define BLOCKS 64

static void *volatile kept[100];
static void *volatile surged[50];
static void *volatile leaked[30];
static void *volatile churned[BLOCKS];

NOINLINE static void keep(int i)
{
	kept[i] = malloc(10000);
}

NOINLINE static void surge(int i)
{
	surged[i] = calloc(2, 10000);
}

NOINLINE static void leak(int i)
{
	leaked[i] = malloc(1000);
}

NOINLINE static void shrink(int i)
{
	kept[i] = realloc(kept[i], 5000);
}

NOINLINE static void churn(int rounds)
{
	while (rounds--) {
		int i = (int)(random() % BLOCKS);
		size_t size = (size_t)random() % 2000 + 1;

		if (random() % 3) {
			churned[i] = realloc(churned[i], size);
			continue;
		}
		free(churned[i]);
		churned[i] = malloc(size);
	}
	for (int i = 0; i < BLOCKS; i++) {
		free(churned[i]);
		churned[i] = NULL;
	}
}

int main(void)
{
	churn(500);
	for (int i = 0; i < 100; i++)
		keep(i);
	for (int i = 0; i < 15; i++)
		leak(i);
	usleep(20000);
	for (int i = 0; i < 50; i++)
		surge(i);
	usleep(20000);
	for (int i = 0; i < 50; i++)
		free(surged[i]);
	shrink(0);
	for (int i = 50; i < 100; i++)
		free(kept[i]);
	for (int i = 15; i < 30; i++)
		leak(i);
	usleep(20000);
	churn(500);
	return 0;
}
