/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_channel.h - channels of other modules: a module that knows how many its events are
 * registers a channel for them, and takes it back when it goes. Where somebody enables such
 * events in a session and names no channel they go there: into buffers of their own, of the
 * size that the module says, with ids of their own. It costs nothing where nobody does.
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
 * struct ltt_channel - all but @node, which is ltt.ko's, are the module's, and stay as they are.
 * @name: a word: letters, digits and underscores.
 * @events: which events, with their provider: "printer:*", "marker:print_*".
 * @subbuf_size: bytes of a sub-buffer; @num_subbuf: how many on each CPU. Powers of two; 0: as
 *               other channels have it.
 */
struct ltt_channel {
	const char *name;
	const char *events;
	u64 subbuf_size;
	u32 num_subbuf;
	struct list_head node;
};

/**
 * ltt_channel_register() - from now on sessions can have it. For tasks; may sleep.
 * Return: 0; -EEXIST: there is one of this name; -EINVAL: a name, events or a size that can't be.
 */
int ltt_channel_register(struct ltt_channel *channel);
/** For tasks; may sleep. */
void ltt_channel_unregister(struct ltt_channel *channel);

#endif
