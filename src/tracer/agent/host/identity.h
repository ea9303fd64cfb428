/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* identity.h - calls of libc that change the values of contexts (ring/context.h). */
#ifndef TRACER_AGENT_HOST_IDENTITY_H
#define TRACER_AGENT_HOST_IDENTITY_H

/** In the constructor: finds libc's functions, since their callers may be signal handlers. */
void agent_identity_init(void);

#endif
