/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.h - libltt's side of control, as the rest of libltt sees it.
 *
 * libltt is an agent inside the traced process: a constructor starts one
 * helper thread (thread.h) that talks to the daemons, keeps its
 * descriptors in a table of its own, and is asleep otherwise. Nothing here runs
 * on the way of an event.
 */
#ifndef TRACER_AGENT_AGENT_H
#define TRACER_AGENT_AGENT_H

/**
 * agent_sites_changed() - points have come or gone (site.c).
 * Call it with no lock held. Where LTT_REGISTER_TIMEOUT asks for it, it waits
 * until the daemons have armed what is new, so that a program's first event is
 * recorded; else it returns at once.
 */
void agent_sites_changed(void);

/** In a forked child whose helper has been started: wait, not for long, for buffers of its own. */
void agent_await_buffers(void);
/** Before that, in the parent, with agent_lock: children that it may have can wait. */
void agent_expect_children(void);

/** agent_wake() - there is something new to tell. Async-signal safe, keeps errno. */
void agent_wake(void);

#endif
