/* SPDX-License-Identifier: MIT */
/*
 * read.c - the number of events of each process of a trace, and the sum of a field: libltt-read.
 *
 *   cc read.c -o read $(pkg-config --cflags --libs libltt-read)
 *   ./read DIR FIELD
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ltt/read.h>

static void report(void *priv, const char *sentence)
{
	(void)priv;
	fprintf(stderr, "Warning: %s\n", sentence);
}

/* Columns of many events at once. Return: 0; negative: it has failed. */
static int add_up(struct ltt_read *reader, const char *field)
{
	const char *const names[] = { "name", field };
	const enum ltt_read_type types[] = { LTT_READ_TEXT, LTT_READ_REAL };
	const struct ltt_read_column *columns;
	uint64_t events = 0, with_field = 0;
	double sum = 0;
	int nr = ltt_read_columns(reader, names, types, 2);

	if (nr < 0)
		return nr;
	while ((nr = ltt_read_batch(reader, 4096, &columns)) > 0) {
		for (int i = 0; i < nr; i++) {
			with_field += !columns[1].missing[i];
			sum += columns[1].reals[i];
		}
		events += (uint64_t)nr;
	}
	printf("%" PRIu64 " events, %" PRIu64 " with %s: %.0f\n", events, with_field, field, sum);
	return nr;
}

int main(int argc, char **argv)
{
	struct ltt_read *reader = ltt_read_new();
	struct ltt_read_totals summary;
	int failed;

	if (argc != 3 || !reader) {
		fprintf(stderr, "usage: read DIR FIELD\n");
		return EXIT_FAILURE;
	}
	ltt_read_on_report(reader, report, NULL);
	failed = ltt_read_open(reader, argv[1]) < 0 || add_up(reader, argv[2]) < 0 ||
		 ltt_read_summary(reader, &summary) < 0;
	if (failed)
		fprintf(stderr, "%s\n", ltt_read_why(reader));
	else if (summary.lost)
		printf("%" PRIu64 " were lost when it was recorded\n", summary.lost);
	ltt_read_free(reader);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
