/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.c - saving and restoring of a recording for a successor:
 * traces with the event classes that are described on disk, and ring sets.
 */
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "proto/counters.h"
#include "recording.h"
#include "trace/metadata.h"

/** Destination of the saved state. */
struct saving {
	struct recording *rec;
	struct state_space *space;
	void (*put_app)(struct recording *rec, struct encoder *enc, uint64_t app);
};

static void rec_state_put_app(const struct saving *saving, uint64_t app)
{
	if (app && saving->put_app)
		saving->put_app(saving->rec, &saving->space->lists[STATE_APPS], app);
}

/* A successor has to account for it: its files are not read yet. */
static bool is_unaccounted(const struct recording *rec, const struct ring *ring)
{
	return ring_in(ring, RING_LOST_STATES) && !note_find(rec, ring->id)->final;
}

static struct list put_rings(const struct saving *saving, const struct trace_channel *trace_channel)
{
	struct encoder *enc = state_list(saving->space, STATE_RINGS);
	const struct ring *ring;

	list_for_each(ring, &trace_channel->rings, node) {
		struct msg_state_ring msg = {
			.id = ring->id,
			.app = ring->app,
			.exclusive = ring->exclusive,
			.nr_rings = ring->nr_rings,
			.first_instance = ring->first_instance,
			.name = ring->name,
			.data_dev = ring->data_id.dev,
			.data_ino = ring->data_id.ino,
			.data_born_ns = ring->data_id.born_ns,
			.ctl_dev = ring->ctl_id.dev,
			.ctl_ino = ring->ctl_id.ino,
			.ctl_born_ns = ring->ctl_id.born_ns,
			.uncounted = ring->uncounted,
		};

		if (ring->state == RING_CLOSED)
			continue;
		if (!ring_in(ring, RING_WANTED_STATES) && !is_unaccounted(saving->rec, ring) &&
		    (ring->state == RING_FAILED || ring->data < 0))
			continue; /* no process has it */
		msg_state_ring_add(enc, &msg);
		rec_state_put_app(saving, ring->app);
	}
	return state_end(saving->space, STATE_RINGS);
}

struct class_walk {
	const struct event_class **by_id;
	uint32_t nr;
};

static void sort_class(const void *node, VISIT visit, void *data)
{
	const struct event_class *class = *(struct event_class *const *)node;
	struct class_walk *walk = data;

	if ((visit == postorder || visit == leaf) && class->id < walk->nr)
		walk->by_id[class->id] = class;
}

/* In order of their ids from @first on, up to one that is not described yet. Return: its id. */
static uint32_t put_classes(const struct trace_channel *trace_channel, uint32_t first,
			    struct encoder *enc)
{
	struct class_walk walk = { .nr = trace_channel->classes.nr };
	uint32_t i;

	walk.by_id = xalloc((walk.nr + 1) * sizeof(walk.by_id[0]));
	twalk_r(trace_channel->classes.by_body, sort_class, &walk);
	for (i = first; i < walk.nr; i++) {
		const struct event_class *class = walk.by_id[i];
		struct msg_state_class msg;

		if (!class || class->batch == 0 || class->batch > trace_channel->trace->saved)
			break;
		msg = (struct msg_state_class){
			.kind = (uint8_t) class->shape->kind,
			.loglevel = (uint8_t) class->shape->loglevel,
			.name = class->shape->name,
			.format = class->shape->format,
			.body = class->shape->body,
		};
		msg_state_class_add(enc, &msg);
	}
	free(walk.by_id);
	return i;
}

/* Append the classes that the file of classes lacks. Return: number of those that it has then. */
static uint32_t put_group(struct trace_channel *trace_channel, struct state_space *space)
{
	struct saved_classes *saved = &trace_channel->saved;
	struct msg_state_class_group msg = { .trace = trace_channel->trace->id,
					     .channel = trace_channel->channel->number };
	struct encoder *groups = &space->lists[STATE_GROUPS];
	struct encoder *classes = state_list(space, STATE_CLASSES);
	uint32_t nr;

	if (saved->save && saved->save == space->saved) {
		saved->nr = saved->next_nr;
		saved->file = saved->next_file;
	}
	msg.first = saved->file == space->classes_file ? saved->nr : 0;
	saved->bytes = msg.first ? saved->bytes : 0;
	nr = msg.first;
	if (nr < trace_channel->classes.nr)
		nr = put_classes(trace_channel, nr, classes);
	if (nr > msg.first) {
		msg.classes = state_end(space, STATE_CLASSES);
		saved->bytes += msg.classes.len;
		msg_state_class_group_add(groups, &msg);
	}
	saved->next_nr = nr;
	saved->next_file = space->classes_file;
	saved->save = space->save;
	return nr;
}

static struct list put_trace_channels(const struct saving *saving, const struct trace *trace)
{
	struct encoder *enc = state_list(saving->space, STATE_TRACE_CHANNELS);
	struct trace_channel *trace_channel;

	list_for_each(trace_channel, &trace->channels, node) {
		struct msg_state_trace_channel msg = {
			.channel = trace_channel->channel->number,
			.next_instance = trace_channel->next_instance,
			.nr_added = channel_nr_contexts(trace_channel->channel) -
				    trace_channel->nr_contexts,
		};

		if (trace_channel->batch == 0 || trace_channel->batch > trace->saved)
			continue; /* not described: it is made again */
		msg.nr_classes = put_group(trace_channel, saving->space);
		msg.rings = put_rings(saving, trace_channel);
		msg_state_trace_channel_add(enc, &msg);
	}
	return state_end(saving->space, STATE_TRACE_CHANNELS);
}

static void put_traces(const struct saving *saving)
{
	const struct trace *trace;

	list_for_each(trace, &saving->rec->traces, node) {
		struct msg_state_trace msg = {
			.id = trace->id,
			.uid = trace->uid,
			.app = trace->app,
			.path = trace->path,
			.uuid = { trace->uuid, sizeof(trace->uuid) },
			.metadata_bytes = trace->metadata_bytes,
			.head = trace->saved > 0,
			.domain = (uint8_t)saving->rec->domain,
			.apart = trace->apart,
		};

		if (trace->state == TRACE_FAILED)
			continue;
		msg.channels = put_trace_channels(saving, trace);
		msg_state_trace_add(&saving->space->lists[STATE_TRACES], &msg);
		rec_state_put_app(saving, trace->app);
	}
}

static void put_final(const void *node, VISIT visit, void *data)
{
	const struct ring_note *note = *(struct ring_note *const *)node;
	const struct saving *saving = data;
	struct msg_state_final msg = {
		.ring = note->id,
		.channel = note->channel->number,
		.owner = note->owner,
		.unreported = note->sum.unreported,
	};

	if ((visit != postorder && visit != leaf) || !note->final || note->wanted)
		return; /* lost ring sets are counted again after their recovery */
	COUNTERS_COPY(&msg, &note->sum);
	msg_state_final_add(&saving->space->lists[STATE_FINALS], &msg);
}

void recording_save(struct recording *rec, struct state_space *space,
		    void (*app)(struct recording *rec, struct encoder *enc, uint64_t app))
{
	struct saving saving = { rec, space, app };

	put_traces(&saving);
	twalk_r(rec->rings, put_final, &saving);
}

/* --- restore ------------------------------------------------------------------------ */

static struct channel *channel_by_number(struct session *session, uint32_t number)
{
	struct channel *channel;

	list_for_each(channel, &session->channels, node)
		if (channel->number == number)
			return channel;
	return NULL;
}

/* @first: id of the first one. Classes that were saved twice are restored once. */
static void restore_classes(struct trace_channel *trace_channel, struct list classes,
			    uint32_t first, uint32_t nr)
{
	struct shapes *shapes = &trace_channel->trace->rec->recorder->shapes;
	struct msg_state_class msg;

	for (uint32_t id = first; id < nr && msg_state_class_next(&classes, &msg); id++) {
		struct shape *shape;

		if (id < trace_channel->classes.nr)
			continue;
		shape = shape_restore(shapes, (enum shape_kind)msg.kind, msg.loglevel,
						    msg.name, msg.format, msg.body);
		struct event_class *class;

		if (class_get(&trace_channel->classes, shape, &class) == CLASS_NEW)
			class->batch = 1;
		shape_unref(shapes, shape);
	}
}

/* Return: false: some are missing. */
static bool restore_groups(struct trace_channel *trace_channel, struct list groups, uint32_t nr)
{
	const struct session *session = trace_channel->trace->rec->session;
	struct saved_classes *saved = &trace_channel->saved;
	struct msg_state_class_group msg;

	while (trace_channel->classes.nr < nr && msg_state_class_group_next(&groups, &msg)) {
		if (msg.trace != trace_channel->trace->id ||
		    msg.channel != trace_channel->channel->number ||
		    msg.first > trace_channel->classes.nr)
			continue;
		restore_classes(trace_channel, msg.classes, msg.first, nr);
		saved->bytes += msg.classes.len;
	}
	saved->nr = trace_channel->classes.nr;
	saved->file = session->saved.classes_file;
	return saved->nr == nr;
}

static int read_only(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static struct ring *ring_from(struct trace_channel *trace_channel, const struct msg_state_ring *msg)
{
	struct ring *ring = ring_alloc(trace_channel, msg->id, msg->app);

	ring->exclusive = msg->exclusive;
	ring->nr_rings = msg->nr_rings;
	ring->first_instance = msg->first_instance;
	ring->name = xstrdup(msg->name);
	ring->data_id = (struct dirid){ msg->data_dev, msg->data_ino, msg->data_born_ns };
	ring->ctl_id = (struct dirid){ msg->ctl_dev, msg->ctl_ino, msg->ctl_born_ns };
	return ring;
}

/* All its holders have died, but for applications that record into it: one of them may offer it.
 * A new ring set is created on demand. */
static void ring_is_lost(struct trace_channel *trace_channel, const struct msg_state_ring *msg)
{
	struct ring *ring = ring_from(trace_channel, msg);

	ring->uncounted = msg->uncounted || !trace_channel->trace->rec->session->drained;
	trace_channel->replaced = true;
	ring_restore_lost(ring);
}

static void restore_ring(struct trace_channel *trace_channel, const struct msg_state_ring *msg)
{
	struct recording *rec = trace_channel->trace->rec;
	struct keeper *keeper = rec->recorder->config.keeper;
	int fds[KEEPER_FDS] = { -1, -1, -1 };
	struct err ignored = { 0 };
	struct ring *ring;

	if (note_find(rec, msg->id))
		return; /* no daemon writes two of one number */
	if (!keeper || keeper_get(keeper, rec->session->uid, "ring", msg->id, fds) < 0) {
		ring_is_lost(trace_channel, msg);
		return;
	}
	ring = ring_from(trace_channel, msg);
	ring_step(ring, RING_ON_RESTORE);
	ring->data = fds[0];
	ring->ctl_rw = fds[1];
	if (rec->domain == DOMAIN_KERNEL) {
		ring->module = fds[2];
	} else {
		ring->doorbell = fds[2];
		if (ring->doorbell < 0)
			ring_share_doorbell(ring);
		ring->ctl = read_only(fds[1]);
	}
	if (ring_charge(ring, &ignored)) /* never: all is allowed meanwhile */
		log_debug("%s", ignored.text);
}

static void restore_trace_channels(struct trace *trace, struct list channels, struct list groups)
{
	struct recording *rec = trace->rec;
	struct msg_state_ring ring;
	struct msg_state_trace_channel msg;

	while (msg_state_trace_channel_next(&channels, &msg)) {
		struct channel *channel = channel_by_number(rec->session, msg.channel);
		struct trace_channel *trace_channel =
			channel ? trace_channel_restore(trace, channel) : NULL;

		if (!trace_channel)
			continue;
		trace_channel->next_instance = msg.next_instance;
		trace_channel->nr_contexts = channel_nr_contexts(channel);
		trace_channel->nr_contexts -= MIN(msg.nr_added, trace_channel->nr_contexts);
		if (!restore_groups(trace_channel, groups, msg.nr_classes))
			log_warn("session '%s': event classes of the trace %s were not saved",
				 rec->session->name, trace->path);
		while (msg_state_ring_next(&msg.rings, &ring))
			restore_ring(trace_channel, &ring);
	}
}

static void restore_finals(struct recording *rec, struct list finals)
{
	struct msg_state_final msg;

	while (msg_state_final_next(&finals, &msg)) {
		struct ring_note note = {
			.id = msg.ring,
			.channel = channel_by_number(rec->session, msg.channel),
			.owner = msg.owner,
			.final = true,
			.sum = { .ring = msg.ring, .unreported = msg.unreported },
		};

		COUNTERS_COPY(&note.sum, &msg);
		if (note.channel && note.channel->domain == rec->domain)
			note_add(rec, &note);
	}
}

static void restore_metadata(struct trace *trace)
{
	struct keeper *keeper = trace->rec->recorder->config.keeper;
	int fds[KEEPER_FDS] = { -1, -1, -1 };

	if (session_has_files(trace->rec->session) || !keeper ||
	    keeper_get(keeper, trace->rec->session->uid, "trace", trace->id, fds) < 0)
		return;
	trace->metadata = fds[0];
	close_fd(fds[1]);
	close_fd(fds[2]);
}

static void restore_trace(struct recording *rec, struct msg_state_trace *msg, struct list groups)
{
	struct trace *trace;

	if (msg->uuid.len != sizeof(trace->uuid))
		return;
	trace = trace_alloc(rec, msg->id, msg->uid, msg->app);
	trace->path = xstrdup(msg->path);
	trace->apart = msg->apart;
	restore_metadata(trace);
	memcpy(trace->uuid, msg->uuid.data, sizeof(trace->uuid));
	trace->metadata_bytes = trace->acked_bytes = msg->metadata_bytes;
	if (msg->head) {
		trace->acked = trace->saved = 1;
		trace->next_batch = 2;
		if (rec->clock->nr_changes) /* its metadata may have been in flight */
			trace_remark(trace, metadata_clock(&rec->clock->changed));
		if (rec->clock->set_ns)
			trace_remark(trace, metadata_clock_set(rec->clock->set_ns));
	} else {
		rec->ops->describe(trace);
	}
	restore_trace_channels(trace, msg->channels, groups);
}

void recording_restore(struct recording *rec, const struct msg_state_session *msg)
{
	struct list traces = msg->traces;
	struct msg_state_trace trace;

	rec->recording = rec->session->state == SESSION_RECORDING;
	while (msg_state_trace_next(&traces, &trace))
		if (trace.domain == rec->domain)
			restore_trace(rec, &trace, msg->groups);
	restore_finals(rec, msg->finals);
}
