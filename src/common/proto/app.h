/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* app.h - structs, encoders and decoders of app.def (see expand.h). */
#ifndef PROTO_APP_H
#define PROTO_APP_H

#define PROTO_TABLE "app.def"
#include "expand.h"
#undef PROTO_TABLE

/** app_hello.features, app_welcome.features: bits, wire format. */
enum app_feature {
	/* app_buffer_want and app_buffer_offer; app_buffer of a set that is known
	 * may bring another doorbell, which is used from then on */
	APP_FEATURE_OFFER = 1,
	/* app_counts and the messages about it */
	APP_FEATURE_COUNT = 2,
	/* app_arm.contexts: vpid, vtid, procname, pthread_id, cpu_id */
	APP_FEATURE_CONTEXT = 4,
	/* app_arm.filter, with version 1 of abi/ltt_filter.h and the contexts above */
	APP_FEATURE_FILTER = 8,
	/* the same with the instructions that sample */
	APP_FEATURE_SAMPLE = 16,
	/* app_counts.nr_slots and app_counting.nr_by: counters with keys; app_count.filter */
	APP_FEATURE_KEYS = 32,
	/* contexts of app_arm: vuid, veuid, vsuid, vgid, vegid, vsgid, cgroup_ns, ipc_ns, mnt_ns,
	 * net_ns, pid_ns, time_ns, user_ns, uts_ns */
	APP_FEATURE_IDENTITY = 64,
	/* ip */
	APP_FEATURE_IP = 128,
	/* $app.PROVIDER:NAME */
	APP_FEATURE_PROVIDER = 256,
	/* otel; in filters otel_trace_id, otel_span_id */
	APP_FEATURE_OTEL = 512,
	/* app_hello.vuid and app_hello.vgid */
	APP_FEATURE_OWN_IDS = 1024,
	/* app_hello.recorded and app_ready.part */
	APP_FEATURE_READY = 2048,
};

/** app_ready.part: while a session can't be written, applications do not wait for it, but continue
 *  with buffers of it that they have. */
enum app_ready_part {
	APP_READY_ALL = 0,
	APP_READY_BEGIN = 1, /* threads continue; no state is dropped */
	APP_READY_SWEEP = 2, /* state is dropped; it answers no announcement */
};

/** The part of its events that an application does not record. */
enum app_silence {
	APP_SILENCE_NONE = 0,
	APP_SILENCE_CHILDREN = 1, /* children that it forks */
	APP_SILENCE_ALL = 2,	  /* anything, from now on; it disconnects */
	APP_SILENCE_LATER = 3,	  /* for later rules and sessions: no thread reads messages */
};

/** The reason for that. */
enum app_reason {
	/* of older applications: APP_REASON_COUNTS for APP_SILENCE_LATER, else APP_REASON_FILTER */
	APP_REASON_UNKNOWN = 0,
	APP_REASON_FILTER = 1,	   /* a seccomp filter would end it for a system call of libltt */
	APP_REASON_COUNTS = 2,	   /* it counts its threads */
	APP_REASON_RESTRICTED = 3, /* libltt's thread can't take on its restrictions */
	APP_REASON_LIMIT = 4,	   /* its user may have no more processes */
	APP_REASON_OFTEN = 5,	   /* it changes its users, groups or capabilities too often */
	APP_REASON_UNSEEN = 6, /* it has changed them by a system call that libltt does not see */
};

#endif
