/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * private.h - a separate descriptor table for the helper thread.
 */
#ifndef TRACER_AGENT_HOST_PRIVATE_H
#define TRACER_AGENT_HOST_PRIVATE_H

/**
 * agent_private_table() - leave the process's descriptor table; begin with an
 * empty one (with LTT_DEBUG: with stderr).
 * @keep: a descriptor above stderr that stays open, or -1.
 * Return: 0; negative errno: the kernel does not allow it: no descriptor was
 * closed, and the calling thread must not open any.
 */
int agent_private_table(int keep);

#endif
