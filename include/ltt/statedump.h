/* SPDX-License-Identifier: MIT */
/*
 * ltt/statedump.h - record the program's state for a session that begins.
 *
 * A trace shows changes, but not the state before it began. A program
 * registers functions that record its state (open connections, loaded
 * configuration, ...) through ordinary tracepoints. They run once for each
 * session that starts, in libltt's own thread, and what they record goes into
 * that session only.
 */
#ifndef LTT_STATEDUMP_H
#define LTT_STATEDUMP_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * ltt_statedump_register() - run @dump(@priv) whenever a session starts.
 *
 * @dump runs in libltt's helper thread with all signals blocked; it must take the program's own
 * locks itself. It must not register or unregister state dumps. It is not run for sessions that
 * record already.
 * Return: 0, -EINVAL (no function), -EEXIST (the pair is registered), -ENOMEM.
 */
int ltt_statedump_register(void (*dump)(void *priv), void *priv);

/**
 * ltt_statedump_unregister() - unregister the pair; waits for it if it is running.
 * Return: 0 or -ENOENT.
 */
int ltt_statedump_unregister(void (*dump)(void *priv), void *priv);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
