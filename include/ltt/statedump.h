/* SPDX-License-Identifier: MIT */
/*
 * ltt/statedump.h - tell a session that begins what the program's state is.
 *
 * A trace shows changes; what was so before it began, it can't show. A program
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
 * @dump runs in libltt's helper thread with all signals blocked; it takes the
 * program's own locks itself. It must not register or unregister state dumps.
 * Sessions that record already are not told again.
 * Return: 0, -EINVAL (no function), -EEXIST (the pair is registered), -ENOMEM.
 */
int ltt_statedump_register(void (*dump)(void *priv), void *priv);

/**
 * ltt_statedump_unregister() - take the pair back; waits for it if it is running.
 * Return: 0 or -ENOENT.
 */
int ltt_statedump_unregister(void (*dump)(void *priv), void *priv);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
