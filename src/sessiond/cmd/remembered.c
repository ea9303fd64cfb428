/* SPDX-License-Identifier: GPL-2.0-only */
#include "remembered.h"

#include <stdio.h>

#include "trace/streamlist.h"

/* Domains of the channels, or of those that remember: a sum of enum remembered_domain. */
static uint8_t remembered_domains(const struct session *session, bool remember)
{
	const struct channel *channel;
	uint8_t domains = 0;

	list_for_each(channel, &session->channels, node)
		if (channel->remember || !remember)
			domains |= channel->domain == DOMAIN_KERNEL ? REMEMBERED_KERNEL :
								      REMEMBERED_USER;
	return domains;
}

const struct session *remembered_next(const struct sessions *sessions, const struct session *to,
				      uint64_t after)
{
	const struct session *from, *next = NULL;
	uint8_t wanted = remembered_domains(to, false);

	list_for_each(from, &sessions->list, node)
		if (from != to && from->uid == to->uid && from->id > after &&
		    (!next || from->id < next->id) && from->state != SESSION_DESTROYING &&
		    (remembered_domains(from, true) & wanted) && run_output_open(from->run))
			next = from;
	return next;
}

void remembered_name(const struct session *session, char ret[REMEMBERED_NAME_BYTES])
{
	snprintf(ret, REMEMBERED_NAME_BYTES, BESIDE_PREFIX "%.200s", session->name);
}

struct req_con_snapshot remembered_request(const struct session *from, const struct session *to)
{
	return (struct req_con_snapshot){
		.output = from->id,
		.dir = -1,
		.relay = "",
		.relay_name = "",
		.relay_stamp = "",
		.relay_host = "",
		.relay_url = "",
		.remembered = remembered_domains(from, true) & remembered_domains(to, false),
	};
}
