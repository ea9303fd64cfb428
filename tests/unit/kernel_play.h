/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_play.h - a kernel module that is played to the daemon without main(): what it has, what
 * it was told, and that it was told nothing before its time.
 */
#ifndef UNIT_KERNEL_PLAY_H
#define UNIT_KERNEL_PLAY_H

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/stat.h>

#include "session_apps.h"

static const char *const names[] = { "sched:sched_switch", "sched:sched_wakeup",
				     "irq:irq_handler_entry", "syscall_entry_openat",
				     "lttng_statedump_end" };
#define NR    ARRAY_SIZE(names)
#define STATE 4 /* of them */

static struct {
	unsigned int missing; /* the last ones, which modules bring later */
	bool on[NR];
	uint32_t event_ids[NR];
	unsigned int told, dumps;
	int refuse;  /* errno of LTT_KMOD_CHANNEL */
	int channel; /* descriptor, as the daemon knows it */
	int trial;   /* of a channel that probes and counters are tried in */
	unsigned int tried;
	int counting;		      /* of the channel that counts, */
	struct ltt_kmod_enable tally; /* the last that is on in it */
	unsigned int nr_counted;      /* how many are, */
	uint64_t hits;		      /* and how often each was hit */
	bool refuses; /* events and probes, but in a trial */
	struct {
		bool on;
		uint32_t id;
		struct ltt_kmod_probe told;
		struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX];
	} probes[4]; /* of the channel; ids are the places */
	struct ltt_kmod_user_probe user; /* the last one, and its second place */
	struct ltt_kmod_user_place second;
	struct ltt_kmod_arg user_args[2][2];
	unsigned int users;
	bool unseen; /* the consumer that is played holds metadata back */
	char contexts[100];	       /* of the channel, in order */
	uint32_t on_kinds;	       /* that are tracked, */
	uint32_t ids[TRACK_NR_KINDS];  /* how many of each, */
	uint32_t sum[TRACK_NR_KINDS];  /* and their sum */
} played;

static unsigned int index_of(const char *name)
{
	unsigned int i = 0;

	while (i < NR && strcmp(names[i], name) != 0)
		i++;
	CHECK(i < NR);
	return i;
}

static unsigned int nr_on(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < NR; i++)
		nr += played.on[i];
	return nr;
}

static int play_event(struct ltt_kmod_event *event)
{
	if (event->index >= NR - played.missing)
		return errno = ENOENT, -1;
	event->nr_fields = 1;
	event->flags = LTT_KMOD_LIVE | (event->index == STATE ? LTT_KMOD_STATE : 0);
	snprintf(event->name, sizeof(event->name), "%s", names[event->index]);
	return 0;
}

static int play_field(struct ltt_kmod_field *field)
{
	CHECK(field->index < NR && field->field == 0);
	field->kind = LTT_KIND_INT;
	field->size_bits = 32;
	field->base = 10;
	snprintf(field->name, sizeof(field->name), "f%u", field->index);
	return 0;
}

static int play_channel(struct ltt_kmod_channel *channel)
{
	if (played.refuse)
		return errno = played.refuse, -1;
	if (channel->flags == LTT_KMOD_COUNTS) {
		channel->data_fd = channel->ctl_fd = -1;
		return played.counting = memfd_create("counting", MFD_CLOEXEC);
	}
	if (channel->subbuf_size == LTT_RING_PAGE && channel->num_subbuf == 2) {
		channel->data_fd = channel->ctl_fd = -1;
		played.trial = memfd_create("trial", MFD_CLOEXEC);
		return played.trial;
	}
	CHECK(channel->subbuf_size == 1u << 20 && channel->num_subbuf == 4);
	channel->data_fd = memfd_create("data", MFD_CLOEXEC);
	channel->ctl_fd = memfd_create("ctl", MFD_CLOEXEC);
	channel->nr_rings = 2;
	played.channel = memfd_create("channel", MFD_CLOEXEC);
	return played.channel;
}

static int play_count(const struct ltt_kmod_enable *enable)
{
	if (played.refuses)
		return errno = EPERM, -1;
	CHECK(enable->id != played.tally.id);
	played.tally = *enable;
	played.nr_counted++;
	return 0;
}

/* Hits of 0 and of 5. */
static int play_counted(int fd, struct ltt_kmod_counted *counted)
{
	CHECK(fd == played.counting && played.nr_counted);
	counted->count = 2 * played.hits;
	counted->buckets[0] = counted->buckets[3] = played.hits;
	counted->sum = 5 * played.hits;
	return 0;
}

/* An event that is enabled must be described, and counted: the buffer is on. */
static int play_enable(int fd, const struct ltt_kmod_enable *enable)
{
	unsigned int i = index_of(enable->name);
	const char *bare = strchr(enable->name, ':');
	char described[200];

	if (fd == played.counting)
		return play_count(enable);
	CHECK(fd == played.channel && !played.on[i] && harness.consumer.rings_on);
	if (played.refuses)
		return errno = ENOENT, -1;
	snprintf(described, sizeof(described), "id = %u;\n\tstream_id = 0;\n\tname = \"%s\";\n",
		 enable->id, bare ? bare + 1 : enable->name);
	CHECK(played.unseen || strstr(harness.consumer.metadata, described));
	played.on[i] = true;
	played.event_ids[i] = enable->id;
	played.told++;
	return 0;
}

/* The ring is on and the event is described; but in a trial, where nothing is recorded. */
static int play_probe(int fd, const struct ltt_kmod_probe *probe)
{
	char described[80];

	if (strcmp(probe->symbol, "no_such") == 0)
		return errno = ENOENT, -1;
	if (fd != played.channel) {
		CHECK(fd == played.trial);
		return probe->offset == 3 ? (errno = EILSEQ, -1) : 0;
	}
	CHECK(harness.consumer.rings_on);
	if (played.refuses)
		return errno = EINVAL, -1;
	snprintf(described, sizeof(described), "id = %u;\n\tstream_id = 0;", probe->id);
	CHECK(strstr(harness.consumer.metadata, described));
	for (size_t i = 0; i < ARRAY_SIZE(played.probes); i++)
		if (played.probes[i].on && played.probes[i].id == probe->id)
			return errno = EEXIST, -1;
	for (size_t i = 0; i < ARRAY_SIZE(played.probes); i++) {
		if (played.probes[i].on)
			continue;
		played.probes[i].on = true;
		played.probes[i].id = probe->id;
		played.probes[i].told = *probe;
		if (probe->nr_args)
			memcpy(played.probes[i].args, (void *)(uintptr_t)probe->args,
			       probe->nr_args * sizeof(struct ltt_kmod_arg));
		return 0;
	}
	return errno = ENOMEM, -1;
}

static int play_user_probe(int fd, const struct ltt_kmod_user_probe *probe)
{
	const size_t bytes = probe->nr_args * sizeof(struct ltt_kmod_arg);
	struct stat st;

	CHECK(fd == played.channel || fd == played.trial);
	CHECK(fstat(probe->fd, &st) == 0 && S_ISREG(st.st_mode) && probe->nr_args <= 2);
	if (probe->offset == 0x666)
		return errno = EINVAL, -1;
	played.user = *probe;
	if (bytes)
		memcpy(played.user_args[0], (void *)(uintptr_t)probe->args, bytes);
	if (probe->nr_more)
		memcpy(&played.second, (void *)(uintptr_t)probe->more, sizeof(played.second));
	if (probe->nr_more && bytes)
		memcpy(played.user_args[1], (void *)(uintptr_t)played.second.args, bytes);
	played.users += fd == played.channel;
	return 0;
}

static HARNESS_USED const struct ltt_kmod_probe *probe_on(const char *symbol, uint32_t flags)
{
	for (size_t i = 0; i < ARRAY_SIZE(played.probes); i++)
		if (played.probes[i].on && played.probes[i].told.flags == flags &&
		    strcmp(played.probes[i].told.symbol, symbol) == 0)
			return &played.probes[i].told;
	return NULL;
}

static int play_disable(int fd, const struct ltt_kmod_enable *disable)
{
	CHECK(disable->flags == LTT_KMOD_NOWAIT);
	if (fd == played.counting) {
		played.nr_counted--;
		return 0;
	}
	CHECK(fd == played.channel);
	for (size_t i = 0; i < ARRAY_SIZE(played.probes); i++)
		if (played.probes[i].on && played.probes[i].id == disable->id) {
			played.probes[i].on = false;
			return 0;
		}
	for (unsigned int i = 0; i < NR; i++)
		if (played.on[i] && played.event_ids[i] == disable->id) {
			played.on[i] = false;
			played.told++;
			return 0;
		}
	return errno = ENOENT, -1;
}

static int play_context_field(struct ltt_kmod_field *field)
{
	static const char *const contexts[] = { "pid", "procname" };

	if (field->index >= ARRAY_SIZE(contexts))
		return errno = ENOENT, -1;
	field->kind = field->index ? LTT_KIND_ARRAY : LTT_KIND_INT;
	field->size_bits = field->index ? 8 : 32;
	field->count = field->index ? 16 : 0;
	field->flags = field->index ? LTT_FIELD_TEXT : LTT_FIELD_SIGNED;
	field->base = 10;
	snprintf(field->name, sizeof(field->name), "%s", contexts[field->index]);
	return 0;
}

/* The kernel's own counters, and none of a processor. */
static int play_context(int fd, const struct ltt_kmod_context *context)
{
	bool counted = context->flags & LTT_KMOD_CONTEXT_PERF;

	CHECK(counted == (strncmp(context->name, "perf:", 5) == 0));
	if (counted && context->perf_type != PERF_TYPE_SOFTWARE)
		return errno = ENOENT, -1;
	if (fd != played.channel) {
		CHECK(fd == played.trial && counted);
		return ++played.tried % 4 ? 0 : (errno = ENOSPC, -1);
	}
	CHECK(nr_on() == 0);
	strcat(strcat(played.contexts, context->name), ";");
	return 0;
}

static int play_track(int fd, const struct ltt_kmod_track *track)
{
	uint32_t bit = 1u << track->kind;

	CHECK(fd == played.channel && track->kind < TRACK_NR_KINDS);
	if (track->op == LTT_KMOD_TRACK_ALL || track->op == LTT_KMOD_TRACK_NONE)
		played.ids[track->kind] = played.sum[track->kind] = 0;
	played.on_kinds = track->op == LTT_KMOD_TRACK_ALL ? played.on_kinds & ~bit :
							    played.on_kinds | bit;
	if (track->op == LTT_KMOD_TRACK_ADD) {
		played.ids[track->kind]++;
		played.sum[track->kind] += track->id;
	} else if (track->op == LTT_KMOD_TRACK_REMOVE) {
		played.ids[track->kind]--;
		played.sum[track->kind] -= track->id;
	}
	return 0;
}

static int play(int fd, unsigned long request, void *arg)
{
	switch (request) {
	case LTT_KMOD_HELLO:
		((struct ltt_kmod_hello *)arg)->nr_events = NR - played.missing;
		return 0;
	case LTT_KMOD_EVENT:
		return play_event(arg);
	case LTT_KMOD_FIELD:
		return play_field(arg);
	case LTT_KMOD_CHANNEL:
		return play_channel(arg);
	case LTT_KMOD_CONTEXT_FIELD:
		return play_context_field(arg);
	case LTT_KMOD_CONTEXT:
		return play_context(fd, arg);
	case LTT_KMOD_TRACK:
		return play_track(fd, arg);
	case LTT_KMOD_ENABLE:
		return play_enable(fd, arg);
	case LTT_KMOD_COUNTED:
		return play_counted(fd, arg);
	case LTT_KMOD_DUMP:
		CHECK(fd == played.channel && played.on[STATE]);
		played.dumps++;
		return 0;
	case LTT_KMOD_PROBE:
		return play_probe(fd, arg);
	case LTT_KMOD_USER_PROBE:
		return play_user_probe(fd, arg);
	case LTT_KMOD_DISABLE:
		return play_disable(fd, arg);
	}
	return errno = ENOTTY, -1;
}

static int begin(bool module)
{
	int client;

	memset(&played, 0, sizeof(played));
	harness_begin();
	if (module) {
		harness.sd.kmod.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		harness.sd.kmod.call = play;
	}
	client = harness_client();
	new_session(client);
	return client;
}

static HARNESS_USED struct answer enable_kernel(int client, const char *pattern)
{
	return HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
			    .pattern = pattern, .exclude = "");
}

/* The walks are timers' work. */
static void settle(void)
{
	harness_wait(20000);
}

static HARNESS_USED struct answer enable_place(int client, uint8_t kind, const char *name,
				  const char *location)
{
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = name,
		     .exclude = "", .kind = kind, .location = location);
	settle();
	return harness_answer(client);
}

static HARNESS_USED void disable_place(int client, const char *name)
{
	HARNESS_SEND(client, event_disable, NAME, .domain = DOMAIN_KERNEL, .pattern = name);
	settle();
	CHECK(harness_answer(client).code == 0);
}

#endif
