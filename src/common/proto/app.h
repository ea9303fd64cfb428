/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* app.h - structs, encoders and decoders of app.def. */
#ifndef PROTO_APP_H
#define PROTO_APP_H

#include "gen/proto_app.h"

/** Bits of app_hello.features. */
enum app_feature {
	APP_FEATURE_TRIGGERS = 1, /* app_trigger, with captures of contexts and elements */
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
	APP_REASON_FILTER = 1,	   /* a seccomp filter would end it for a system call of libltt */
	APP_REASON_COUNTS = 2,	   /* it counts its threads */
	APP_REASON_RESTRICTED = 3, /* libltt's thread can't take on its restrictions */
	APP_REASON_LIMIT = 4,	   /* its user may have no more processes */
	APP_REASON_OFTEN = 5,	   /* it changes its users, groups or capabilities too often */
	APP_REASON_UNSEEN = 6, /* it has changed them by a system call that libltt does not see */
};

#endif
