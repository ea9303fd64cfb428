// SPDX-License-Identifier: GPL-2.0-only
/*
 * before.c - a program with the binary interface of LTTng-UST 2.12, written out: an event with an
 * integer, a string and a sequence, and damaged providers. It needs nothing of LTTng.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "lttng/old/abi.h"

#define NR_BAD 8

static const struct old_field fields[] = {
	{ .name = "number",
	  .type = { OLD_INTEGER, { .basic = { .integer = { 32, 8, 1, 0, 10, 0, "" } } } } },
	{ .name = "text", .type = { .type = OLD_STRING } },
	{ .name = "bytes",
	  .type = { OLD_SEQUENCE,
		    { .sequence = { { OLD_INTEGER, { .integer = { 16, 8, 0, 0, 10, 0, "" } } },
				    { OLD_INTEGER, { .integer = { 8, 8, 0, 0, 16, 0, "" } } } } } } },
	{ .name = "hidden", .type = { .type = OLD_STRING }, .nowrite = 1 },
};

static void probe(void *data, int number, const char *text)
{
	struct old_event *event = data;
	const struct old_operations *operations = event->channel->operations;
	const uint16_t length = 2;
	struct old_reservation at = {
		.event = event,
		.bytes = sizeof(number) + strlen(text) + 1 + sizeof(length) + 2,
		.cpu = -1,
	};

	if (!event->channel->session->active || !event->channel->enabled || !event->enabled)
		return;
	if (event->filters.next != &event->filters || operations->reserve(&at, event->id) < 0)
		return;
	operations->write(&at, &number, sizeof(number));
	operations->write_string(&at, text, strlen(text) + 1);
	operations->write(&at, &length, sizeof(length));
	operations->write(&at, "\x12\xff", 2);
	operations->commit(&at);
}

static const struct old_event_desc event = {
	.name = "before:event",
	.probe = (void (*)(void))probe,
	.fields = fields,
	.nr_fields = 4,
	.signature = "int, number, const char *, text",
};
static const struct old_event_desc *const events[] = { &event, NULL };
static struct old_provider_desc provider = {
	.name = "before", .events = events, .nr_events = 1, .major = 1
};
static struct old_site site = { .name = "before:event",
				.signature = "int, number, const char *, text" };
static struct old_site other = { .name = "before:event", .signature = "int, number" };
static struct old_site unnamed = { .name = "before", .signature = "" };
static struct old_site *const sites[] = { &site, &other, &unnamed, NULL, &site };

static void fire(int number, const char *text)
{
	if (!site.state)
		return;
	for (const struct tp_probe *p = site.probes; p && p->function; p++)
		((void (*)(void *, int, const char *))p->function)(p->data, number, text);
}

static struct old_provider_desc bad[NR_BAD];
static struct old_event_desc bad_event[NR_BAD];
static struct old_field bad_field[NR_BAD][300];
static const struct old_event_desc *bad_events[NR_BAD][2];

static void damage(void)
{
	static char name[NR_BAD][20], whole[NR_BAD][30];

	for (int i = 0; i < NR_BAD; i++) {
		snprintf(name[i], sizeof(name[i]), "bad%d", i);
		snprintf(whole[i], sizeof(whole[i]), "bad%d:event", i);
		bad[i] = provider;
		bad[i].name = name[i];
		bad[i].events = bad_events[i];
		bad_events[i][0] = &bad_event[i];
		bad_events[i][1] = &bad_event[i];
		bad_event[i] = event;
		bad_event[i].name = whole[i];
		bad_event[i].fields = bad_field[i];
		bad_event[i].nr_fields = 1;
		bad_field[i][0] = fields[0];
	}
	bad_field[0][0].type.u.basic.integer.bits = 24;
	bad_field[1][0].type.type = 77;
	bad[2].major = 9;
	bad[3].nr_events = 1u << 31;
	bad_event[4].nr_fields = 257;
	bad_event[5].name = "else:event";
	bad_events[6][0] = NULL;
	memset(&bad_field[7][0].type, 0, sizeof(bad_field[7][0].type));
	bad_field[7][0].type.type = OLD_ENUM; /* without a description */
	bad_field[7][0].type.u.basic.enumeration.container.bits = 32;
}

int main(void)
{
	int (*add)(const void *), (*module_add)(const void *, int), (*module_remove)(const void *);
	void (*remove)(const void *);
	void *points = dlopen("liblttng-ust-tracepoint.so.0", RTLD_NOW | RTLD_GLOBAL);
	void *library = dlopen("liblttng-ust.so.0", RTLD_NOW | RTLD_GLOBAL);

	if (!points || !library)
		return 1;
	*(void **)&add = dlsym(library, "lttng_probe_register");
	*(void **)&remove = dlsym(library, "lttng_probe_unregister");
	*(void **)&module_add = dlsym(points, "tracepoint_register_lib");
	*(void **)&module_remove = dlsym(points, "tracepoint_unregister_lib");
	if (!add || !remove || !module_add || !module_remove || module_add(sites, 5))
		return 1;
	damage();
	for (int i = 0; i < NR_BAD; i++)
		if (add(&bad[i]) != 0)
			return 1;
	if (add(&provider) != 0)
		return 1;
	puts(site.state ? "wanted" : "off");
	fire(-5, "first");
	fire(6, "");
	if (other.state || other.probes)
		return 2;
	remove(&provider);
	fire(7, "removed");
	for (int i = 0; i < NR_BAD; i++)
		remove(&bad[i]);
	if (add(&provider) != 0)
		return 1;
	fire(8, "again");
	module_remove(sites);
	return site.state != 0;
}
