/* SPDX-License-Identifier: GPL-2.0-only */
#include "remembered.h"

#include <stdio.h>

#include "trace/streamlist.h"

static bool remembered_finds(const struct session *session, bool remember)
{
	const struct channel *channel;

	list_for_each(channel, &session->channels, node)
		if (channel->domain == DOMAIN_USER && (channel->remember || !remember))
			return true;
	return false;
}

bool remembered_is_wanted(const struct session *session)
{
	return remembered_finds(session, false);
}

const struct session *remembered_next(const struct sessions *sessions, const struct session *to,
				      uint64_t after)
{
	const struct session *from, *next = NULL;

	list_for_each(from, &sessions->list, node)
		if (from != to && from->uid == to->uid && from->id > after &&
		    (!next || from->id < next->id) && from->state != SESSION_DESTROYING &&
		    remembered_finds(from, true) && run_output_open(from->run))
			next = from;
	return next;
}

void remembered_name(const struct session *session, char ret[REMEMBERED_NAME_BYTES])
{
	snprintf(ret, REMEMBERED_NAME_BYTES, BESIDE_PREFIX "%.200s", session->name);
}

struct req_con_snapshot remembered_request(const struct session *from)
{
	return (struct req_con_snapshot){
		.output = from->id,
		.dir = -1,
		.relay = "",
		.relay_name = "",
		.relay_stamp = "",
		.relay_host = "",
		.relay_url = "",
		.remembered = 1,
	};
}
