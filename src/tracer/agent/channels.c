/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include <ltt/channel.h>

#include "agent.h"
#include "proto/app.h"
#include "tracer/base/env.h"
#include "tracer/base/large.h"

#define SUBBUF_MIN 4096u
#define SUBBUF_MAX (1u << 30)
#define NUM_SUBBUF_MAX 65536u

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/** A registered channel. @uses: how often it was registered; 0: the place is free. */
struct registered {
	char name[LTT_CHANNEL_NAME_MAX + 1];
	char events[LTT_CHANNEL_EVENTS_MAX + 1];
	uint64_t subbuf_size;
	uint32_t num_subbuf;
	uint32_t uses;
};

static pthread_mutex_t channels_lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered channels[LTT_CHANNELS_MAX] TRACER_LARGE;
static uint32_t channels_generation;

/* Any length of the text is compared at most up to @max. */
static bool is_of(const char *text, const char *characters, size_t max)
{
	size_t len = text ? strnlen(text, max + 1) : 0;

	return len > 0 && len <= max && strspn(text, characters) == len;
}

static bool is_size(uint64_t value, uint64_t least, uint64_t most)
{
	return value == 0 || ((value & (value - 1)) == 0 && value >= least && value <= most);
}

static struct registered *channels_find(const char *name)
{
	for (size_t i = 0; i < LTT_CHANNELS_MAX; i++)
		if (channels[i].uses && strcmp(channels[i].name, name) == 0)
			return &channels[i];
	return NULL;
}

static struct registered *channels_free_place(void)
{
	for (size_t i = 0; i < LTT_CHANNELS_MAX; i++)
		if (!channels[i].uses)
			return &channels[i];
	return NULL;
}

static void channels_changed(void)
{
	__atomic_add_fetch(&channels_generation, 1, __ATOMIC_RELEASE);
}

/* With the lock held. */
static int channels_add(const char *name, const char *events, uint64_t subbuf_size,
			uint32_t num_subbuf)
{
	struct registered *channel = channels_find(name);

	if (channel) {
		if (strcmp(channel->events, events) != 0 || channel->subbuf_size != subbuf_size ||
		    channel->num_subbuf != num_subbuf)
			return -EEXIST;
		channel->uses++;
		return 0;
	}
	channel = channels_free_place();
	if (!channel)
		return -ENOSPC;
	*channel = (struct registered){ .subbuf_size = subbuf_size,
					.num_subbuf = num_subbuf,
					.uses = 1 };
	strcpy(channel->name, name);
	strcpy(channel->events, events);
	channels_changed();
	return 0;
}

int ltt_channel_register(const char *name, const char *events, uint64_t subbuf_size,
			 uint32_t num_subbuf)
{
	int ret;

	if (!is_of(name, WORD, LTT_CHANNEL_NAME_MAX) ||
	    !is_of(events, WORD ":.-*", LTT_CHANNEL_EVENTS_MAX) || events[0] == '*' ||
	    !is_size(subbuf_size, SUBBUF_MIN, SUBBUF_MAX) ||
	    !is_size(num_subbuf, 1, NUM_SUBBUF_MAX))
		return -EINVAL;
	agent_channels_lock();
	ret = channels_add(name, events, subbuf_size, num_subbuf);
	agent_channels_unlock();
	if (ret == -EEXIST)
		tracer_debug("channel %s is registered already with other events or sizes, which "
			     "stay in force",
			     name);
	if (ret == 0)
		agent_wake();
	return ret;
}

int ltt_channel_unregister(const char *name)
{
	struct registered *channel;

	if (!is_of(name, WORD, LTT_CHANNEL_NAME_MAX))
		return -ENOENT;
	agent_channels_lock();
	channel = channels_find(name);
	if (channel && --channel->uses == 0)
		channels_changed();
	agent_channels_unlock();
	if (!channel)
		return -ENOENT;
	agent_wake();
	return 0;
}

uint32_t agent_channels_generation(void)
{
	return __atomic_load_n(&channels_generation, __ATOMIC_ACQUIRE);
}

uint32_t agent_channels_encode(struct encoder *enc)
{
	static uint8_t bytes[LTT_CHANNELS_MAX * (sizeof(struct registered) + 32)]
		TRACER_LARGE; /* helper's */
	struct msg_app_channels m;
	struct encoder list;
	uint32_t generation;

	encoder_init(&list, bytes, sizeof(bytes));
	agent_channels_lock();
	generation = channels_generation;
	for (size_t i = 0; i < LTT_CHANNELS_MAX; i++) {
		const struct msg_app_channel channel = {
			.name = channels[i].name,
			.events = channels[i].events,
			.subbuf_size = channels[i].subbuf_size,
			.num_subbuf = channels[i].num_subbuf,
		};

		if (channels[i].uses)
			msg_app_channel_add(&list, &channel);
	}
	agent_channels_unlock();
	m.channels = encoder_list(&list);
	msg_app_channels_encode(enc, &m);
	return generation;
}

void agent_channels_lock(void)
{
	pthread_mutex_lock(&channels_lock);
}

void agent_channels_unlock(void)
{
	pthread_mutex_unlock(&channels_lock);
}
