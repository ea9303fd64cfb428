/* SPDX-License-Identifier: MIT */
/*
 * ltt/statedump.h - state dumps: events with the program's state at the start of a session.
 *
 * A trace shows changes, but not the state before it began. A program
 * registers functions that record its state (open connections, loaded
 * configuration, ...) by ordinary tracepoints. They run once for each
 * session that starts, in libltt's helper thread, and their events are
 * recorded into that session only.
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
 * locks itself. It must not register or unregister state dumps. Sessions that record already at the
 * time of registration do not run it.
 * Return: 0, -EINVAL (no function), -EEXIST (the pair is registered), -ENOMEM.
 */
int ltt_statedump_register(void (*dump)(void *priv), void *priv);

/**
 * ltt_statedump_unregister() - unregister the pair; waits for it if it is running.
 * Return: 0 or -ENOENT.
 */
int ltt_statedump_unregister(void (*dump)(void *priv), void *priv);

/**
 * ltt_statedump_libraries() - record the libraries that came or went since the last look.
 *
 * libltt looks once a second while a session records, more often after a change, and when the
 * program ends, so that tools can name the addresses in libraries that are loaded by dlopen(). A
 * program that loads and unloads within a second calls this after each, and the wrappers do so for
 * dlclose(); the events (ltt_statedump:bin_info, build_id, bin_gone) go
 * to all sessions. Any thread; not async-signal-safe. Keeps errno. Waits for a look that another
 * thread makes, 1 s at most.
 */
void ltt_statedump_libraries(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
