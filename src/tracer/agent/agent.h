/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.h - interface of libltt's agent for the rest of libltt.
 *
 * The agent connects the traced process to the daemons: a constructor starts one helper thread
 * (thread.h), which exchanges messages with the daemons, has a separate table of descriptors, and
 * sleeps otherwise. Of the agent, an event executes agent_wake() at most.
 */
#ifndef TRACER_AGENT_AGENT_H
#define TRACER_AGENT_AGENT_H

/**
 * agent_sites_changed() - points were added or removed (site.c).
 * Call it with no lock held. If LTT_REGISTER_TIMEOUT is set, it waits until the daemons have
 * armed the new points, so that a program's first event is recorded; else it returns at once.
 */
void agent_sites_changed(void);
/** The same of points that are never emitted: it does not wait. */
void agent_names_added(void);

/** In a forked child whose helper has been started: wait, for a limited time, for buffers of its
 *  own. */
void agent_await_buffers(void);
/** The daemons have answered: children that are forked from now on, in related processes, too, wait
 *  again if they had ceased to. Called by the helper. */
void agent_daemons_answered(void);
/** Prepare for agent_await_buffers() in future children: called in the parent, with agent_lock. */
void agent_expect_children(void);

/** agent_wake() - wake the helper, as there are messages to send. Async-signal safe, keeps
 *  errno. */
void agent_wake(void);

#endif
