/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * life.h - the life of a ring set: its states, the events that change them, and the table of both.
 * Pure.
 *
 *   NEW -> OPENING -> STARTING -> READY -> CLOSING -> CLOSED    the usual life
 *   UNADOPTED, READOPTING    a consumer that took over can't continue its files
 *   LOST, GONE ... RESUMING  every daemon that held its memory was killed
 */
#ifndef DOMAIN_REC_LIFE_H
#define DOMAIN_REC_LIFE_H

#include <stdint.h>

enum ring_state {
	RING_NEW = 1,	/* without memory, and no request for it: the next consumer is sent one */
	RING_OPENING,	/* the consumer was requested to make the memory, or to take the module's */
	RING_STARTING,	/* it has memory; being switched on */
	RING_READY,	/* it has memory; on or off */
	RING_CLOSING,	/* the consumer was requested to write the last packet */
	RING_CLOSED,	/* the last packet is written, or there is none: about to be freed */
	RING_FAILED,	/* its memory can't be made */
	RING_UNADOPTED, /* recorded into, but the consumer can't continue its files. Its armings and
			   memory stay, it counts as lost, and its adoption is tried again */
	RING_READOPTING, /* it is being tried */
	/* Without its memory: applications may offer that of the first two, as they record into
	   it. The consumer repairs the files of all. */
	RING_LOST,
	RING_LOST_REPAIRING,
	RING_GONE,
	RING_GONE_REPAIRING,
	RING_OFFERED,  /* an application has offered it, and its files are being repaired */
	RING_FOUND,    /* an application has offered it, and its files are valid */
	RING_RESUMING, /* the consumer was requested to continue with that memory */
	RING_NR_STATES,
};

/** Events, with the ring set as their object. */
enum ring_event {
	RING_ON_REQUEST,      /* the consumer is requested to make or take its memory */
	RING_ON_MEMORY,	      /* its memory is there, and the consumer writes its files */
	RING_ON_SWITCHED,     /* on, or off if the session does not record */
	RING_ON_REFUSAL,      /* its memory can't be made */
	RING_ON_CONSUMER_END, /* a request to open, adopt or resume will not be answered */
	RING_ON_UNADOPTED,    /* the consumer can't continue its files, or write its last packet */
	RING_ON_RESUME,	      /* the consumer is requested to continue with its memory */
	RING_ON_REPAIR,	      /* the consumer is requested to repair its files */
	RING_ON_REPAIRED,
	RING_ON_OFFER,	 /* an application has provided its memory */
	RING_ON_GIVE_UP, /* no application will */
	RING_ON_CLOSE,	 /* nothing records into it any more */
	RING_ON_CLOSED,
	RING_ON_RESTORE,      /* taken over from an earlier daemon, with its memory */
	RING_ON_RESTORE_LOST, /* the same without: an application may have it */
	RING_ON_RESTORE_GONE, /* the same: no application has it */
	RING_NR_EVENTS,
};

/** Return: the state after the event; 0: the event can't happen in this state. */
enum ring_state ring_after(enum ring_state state, enum ring_event event);

/* Sets of states, for ring_in(). */
#define RING_MISSING_STATES \
	(1u << RING_LOST | 1u << RING_LOST_REPAIRING | 1u << RING_GONE | 1u << RING_GONE_REPAIRING)
/* An application may offer it, or has. */
#define RING_WANTED_STATES (1u << RING_LOST | 1u << RING_LOST_REPAIRING | 1u << RING_OFFERED)
#define RING_REPAIRING_STATES \
	(1u << RING_LOST_REPAIRING | 1u << RING_GONE_REPAIRING | 1u << RING_OFFERED)
#define RING_UNADOPTED_STATES (1u << RING_UNADOPTED | 1u << RING_READOPTING)
/* Its memory is lost, or was until its files are repaired. */
#define RING_LOST_STATES (RING_MISSING_STATES | RING_REPAIRING_STATES)
/* The answer to a request to open, adopt or resume is due. */
#define RING_REQUESTED_STATES (1u << RING_OPENING | 1u << RING_READOPTING | 1u << RING_RESUMING)

#endif
