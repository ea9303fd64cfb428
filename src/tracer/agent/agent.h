/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.h - interface of libltt's agent for the rest of libltt.
 *
 * libltt is an agent inside the traced process: a constructor starts one
 * helper thread (thread.h) that talks to the daemons, keeps its
 * descriptors in a table of its own, and is asleep otherwise. Nothing here runs
 * on the way of an event.
 */
#ifndef TRACER_AGENT_AGENT_H
#define TRACER_AGENT_AGENT_H

/**
 * agent_sites_changed() - points were added or removed (site.c).
 * Call it with no lock held. If LTT_REGISTER_TIMEOUT is set, it waits until the daemons have
 * armed the new points, so that a program's first event is recorded; else it returns at once.
 */
void agent_sites_changed(void);

/** In a forked child whose helper has been started: wait, for a limited time, for buffers of its
 *  own. */
void agent_await_buffers(void);
/** Before that, in the parent, with agent_lock: children that it may have can wait. */
void agent_expect_children(void);

/** agent_wake() - there is something new to send. Async-signal safe, keeps errno. */
void agent_wake(void);

#endif
