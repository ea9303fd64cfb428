/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_channel.h - channels of other modules: a module that produces many events registers a
 * channel for them, and unregisters it before it is unloaded. If a user enables such events in a
 * session without naming a channel, they are recorded into a separate channel of the session, with
 * buffers of the size that the module chose. Registration has no cost otherwise.
 *
 *	static struct ltt_channel channel = {
 *		.name = "printer", .events = "printer:*", .subbuf_size = SZ_64K, .num_subbuf = 8,
 *	};
 *
 *	ltt_channel_register(&channel);				when the module is loaded
 *	ltt_channel_unregister(&channel);			before it is unloaded
 *
 * Channels that sessions have created stay unchanged after that. kmod/examples has an example.
 */
#ifndef LTT_CHANNEL_H
#define LTT_CHANNEL_H

#include <linux/list.h>
#include <linux/types.h>

/**
 * struct ltt_channel - set by the module and not changed afterwards, except @node, which ltt.ko
 * uses.
 * @name: a word: letters, digits and underscores.
 * @events: pattern of the events, with their provider: "printer:*", "marker:print_*".
 * @subbuf_size: bytes of a sub-buffer; @num_subbuf: number of them on each CPU. Powers of two; 0:
 * the default of other channels.
 */
struct ltt_channel {
	const char *name;
	const char *events;
	u64 subbuf_size;
	u32 num_subbuf;
	struct list_head node;
};

/**
 * ltt_channel_register() - make a channel available to sessions. Process context; may sleep.
 * Return: 0; -EEXIST: there is one of this name; -EINVAL: an invalid name, pattern or size.
 */
int ltt_channel_register(struct ltt_channel *channel);
/** Process context; may sleep. */
void ltt_channel_unregister(struct ltt_channel *channel);

#endif
