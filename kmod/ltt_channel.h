/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_channel.h - channels of other modules: a module that produces many events registers a
 * channel for them, and unregisters it before it is unloaded. If a user enables such events in a
 * session without naming a channel, they are recorded there: into separate buffers, of the size
 * that the module chose, with separate ids. It costs nothing otherwise.
 *
 *	static struct ltt_channel channel = {
 *		.name = "printer", .events = "printer:*", .subbuf_size = SZ_64K, .num_subbuf = 8,
 *	};
 *
 *	ltt_channel_register(&channel);				when the module is loaded
 *	ltt_channel_unregister(&channel);			when it goes
 *
 * Channels that sessions have made meanwhile stay as they are. kmod/examples has one.
 */
#ifndef LTT_CHANNEL_H
#define LTT_CHANNEL_H

#include <linux/list.h>
#include <linux/types.h>

/**
 * struct ltt_channel - all but @node, which is ltt.ko's, belong to the module, and must not change.
 * @name: a word: letters, digits and underscores.
 * @events: which events, with their provider: "printer:*", "marker:print_*".
 * @subbuf_size: bytes of a sub-buffer; @num_subbuf: how many on each CPU. Powers of two; 0: the
 * default of other channels.
 */
struct ltt_channel {
	const char *name;
	const char *events;
	u64 subbuf_size;
	u32 num_subbuf;
	struct list_head node;
};

/**
 * ltt_channel_register() - from now on sessions can use it. For tasks; may sleep.
 * Return: 0; -EEXIST: there is one of this name; -EINVAL: an invalid name, pattern or size.
 */
int ltt_channel_register(struct ltt_channel *channel);
/** For tasks; may sleep. */
void ltt_channel_unregister(struct ltt_channel *channel);

#endif
