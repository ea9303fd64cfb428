/* SPDX-License-Identifier: MIT */
/*
 * ltt/channel.h - channels of libraries: a library that records many events registers a channel for
 * them. If a user enables such events in a session without naming a channel, they are recorded into
 * a separate channel of the session, with buffers of the size that the library has chosen, so that
 * they do not use up the room of other events. Registration has no cost otherwise.
 *
 *	ltt_channel_register("printer", "printer:*", 65536, 8);		when the library is loaded
 *	ltt_channel_unregister("printer");				before it is unloaded
 *
 * Sessions of the same user use the registered channel while one of the user's processes has it;
 * root's sessions do, too, unless programs of other users have such events. Channels that sessions
 * have created stay unchanged when it is unregistered.
 */
#ifndef LTT_CHANNEL_H
#define LTT_CHANNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LTT_CHANNEL_NAME_MAX 63	   /* bytes of a name */
#define LTT_CHANNEL_EVENTS_MAX 255 /* bytes of a pattern */
#define LTT_CHANNELS_MAX 16	   /* registered channels of a process */

/**
 * ltt_channel_register() - make a channel available to sessions.
 * @name: letters, digits and underscores, at most LTT_CHANNEL_NAME_MAX. Copied.
 * @events: pattern of the names of the events, in which `*` stands for any characters: "printer:*",
 *	"printer_*" for markers. Letters, digits, `_`, `:`, `.`, `-` and `*`; it does not begin with
 *	`*`; at most LTT_CHANNEL_EVENTS_MAX. Copied.
 * @subbuf_size: bytes of a sub-buffer, a power of two from 4096 to 1 GiB; 0: the default of other
 *	channels.
 * @num_subbuf: number of sub-buffers on each CPU, a power of two from 1 to 65536; 0: the default.
 *
 * Any thread; not from a signal handler. Several libraries of a process may register the same
 * channel: it remains until each of them has unregistered it. A child made by fork() has the
 * channels of its parent. Works without a session daemon: one that starts later is sent the
 * channels.
 *
 * Return: 0; -EEXIST: a channel of this name is registered in the process with other events or
 * sizes, which stay in force; -EINVAL: an invalid name, pattern or size; -ENOSPC: LTT_CHANNELS_MAX
 * are registered.
 *
 * If another process of the user has registered the name with other events or sizes, the session
 * daemon uses the earlier registration as long as that process runs; `lttctl list -u` shows both. A
 * registration that exceeds the quota of its user is not used, either.
 */
int ltt_channel_register(const char *name, const char *events, uint64_t subbuf_size,
			 uint32_t num_subbuf);

/**
 * ltt_channel_unregister() - withdraw a channel. Threads: as ltt_channel_register().
 * Return: 0; -ENOENT: the process has no such channel.
 */
int ltt_channel_unregister(const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
