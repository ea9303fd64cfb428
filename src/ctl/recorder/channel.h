/* SPDX-License-Identifier: GPL-2.0-only */
/* channel.h - a channel of the recorder, and of the session that measures its cost. */
#ifndef RECORDER_CHANNEL_H
#define RECORDER_CHANNEL_H

#include <ltt/control.h>

#include "ctl/ctl.h"

/** Make the channel, with the contexts that identify a program's thread. @subbuf_size, @num_subbuf:
 *  0: the defaults. Return: 0 or the code in @err. */
int channel_make(struct ctl *ctl, const char *session, enum ltt_ctl_domain domain,
		 uint64_t subbuf_size, uint32_t num_subbuf, struct err *err) MUST_CHECK;
/** Have it record these events, comma-separated. Return: as channel_make(). */
int channel_record(struct ctl *ctl, const char *session, enum ltt_ctl_domain domain,
		   const char *events, struct err *err) MUST_CHECK;

#endif
