/* SPDX-License-Identifier: GPL-2.0-only */
#include "channel.h"

#include "ctl/connect.h"
#include "ctl/names.h"

#define CHANNEL "recorder"
#define CONTEXTS "vpid,vtid,procname"

int channel_make(struct ctl *ctl, const char *session, enum ltt_ctl_domain domain,
		 uint64_t subbuf_size, uint32_t num_subbuf, struct err *err)
{
	struct ltt_ctl_channel_options o;

	ltt_ctl_channel_options_init(&o);
	o.session = session;
	o.name = CHANNEL;
	o.domain = domain;
	o.subbuf_size = subbuf_size;
	o.num_subbuf = num_subbuf;
	if (ctl_done(ctl, ltt_ctl_enable_channel(ctl->library, &o), err) != 0 ||
	    domain == LTT_CTL_KERNEL)
		return err->code;
	return ctl_done(ctl,
			ltt_ctl_add_context(ctl->library, session, domain, CHANNEL, CONTEXTS, NULL),
			err);
}

int channel_record(struct ctl *ctl, const char *session, enum ltt_ctl_domain domain,
		   const char *events, struct err *err)
{
	struct names names CLEANUP(names_fini) = { 0 };
	struct ltt_ctl_event_options o;

	ltt_ctl_event_options_init(&o);
	o.session = session;
	o.channel = CHANNEL;
	o.domain = domain;
	names_split(events, &names);
	for (size_t i = 0; i < names.nr && !err->code; i++) {
		o.pattern = names.names[i];
		(void)ctl_done(ctl, ltt_ctl_enable_event(ctl->library, &o, NULL, NULL), err);
	}
	return err->code;
}
