// SPDX-License-Identifier: GPL-2.0-only
/* malformed.c - registers damaged descriptions, and fires the events of every.h, which are not. */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "every.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NR 12

static const struct lttng_ust_probe_desc *good = &lttng_ust__probe_desc___every;
static struct lttng_ust_probe_desc bad[NR];
static const struct lttng_ust_event_desc *list[NR][2];
static struct lttng_ust_event_desc event[NR][2];
static struct lttng_ust_tracepoint_class class_[NR];
static const struct lttng_ust_event_field *field_list[NR][300];
static struct lttng_ust_event_field field[NR];
static struct lttng_ust_type_integer integer[NR];
static char endless[400];

/* A provider of one event with one field of 32 bits. */
static void describe(int i)
{
	static char name[NR][20];

	snprintf(name[i], sizeof(name[i]), "bad%d", i);
	bad[i] = *good;
	bad[i].provider_name = name[i];
	bad[i].event_desc = list[i];
	bad[i].nr_events = 1;
	list[i][0] = &event[i][0];
	list[i][1] = &event[i][1];
	event[i][0] = *good->event_desc[0];
	event[i][0].event_name = "event";
	event[i][0].tp_class = &class_[i];
	event[i][1] = event[i][0];
	class_[i] = *good->event_desc[0]->tp_class;
	class_[i].fields = field_list[i];
	class_[i].nr_fields = 1;
	field_list[i][0] = &field[i];
	field[i] = *good->event_desc[0]->tp_class->fields[0];
	integer[i] = *(const struct lttng_ust_type_integer *)field[i].type;
	field[i].type = &integer[i].parent;
}

int main(int argc, char **argv)
{
	struct lttng_ust_registered_probe *registered[NR];

	memset(endless, 'x', sizeof(endless));
	for (int i = 0; i < NR; i++)
		describe(i);
	integer[0].size = 24;
	integer[1].parent.type = (enum lttng_ust_type)77;
	bad[2].major = 9;
	bad[3].nr_events = 1u << 31;
	class_[4].nr_fields = 257;
	field[5].name = endless;
	event[6][0].event_name = endless;
	bad[7].nr_events = 2; /* the same name, other fields */
	event[7][1].tp_class = good->event_desc[1]->tp_class;
	list[8][0] = NULL;
	field[9].type = NULL;
	class_[10].signature = NULL;
	integer[11].struct_size = 4;
	for (int i = 0; i < NR; i++) {
		registered[i] = lttng_ust_probe_register(&bad[i]);
		if (!registered[i])
			return 1;
	}
	lttng_ust_tracepoint(every, left, 1, 2);
	if (argc > 1 && strcmp(argv[1], "wait") == 0) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	for (int i = 0; i < NR; i++)
		lttng_ust_probe_unregister(registered[i]);
	lttng_ust_tracepoint(every, right, 3, 4);
	return 0;
}
