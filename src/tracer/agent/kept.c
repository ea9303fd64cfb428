/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kept.h"

#include <stddef.h>
#include <sys/resource.h>

#include "tracer/agent/host/alone.h"
#include "tracer/base/sys.h"
#include "proto/app.h"

#define OTHERS 32u /* sockets, watches, files that are read, descriptors in a message */

static struct agent_kept *all;
static unsigned int nr; /* sets, of two descriptors each */

/* Return: whether there is room for the descriptors of @sets. */
static bool room_for(unsigned int sets)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 2 * sets + OTHERS;
}

void agent_keep(struct agent_kept *kept, struct msg_app_buffer *m)
{
	if (kept->data >= 0 || m->data < 0 || m->ctl < 0 || !room_for(nr + 1))
		return;
	*kept = (struct agent_kept){ .next = all, .data = m->data, .ctl = m->ctl };
	m->data = m->ctl = -1;
	all = kept;
	nr++;
}

void agent_kept_drop(struct agent_kept *kept)
{
	struct agent_kept **at = &all;

	if (kept->data < 0)
		return;
	while (*at != kept)
		at = &(*at)->next;
	*at = kept->next;
	nr--;
	sys_close(kept->data);
	sys_close(kept->ctl);
	*kept = AGENT_KEPT_NONE;
}

void agent_kept_make_room(void)
{
	while (all && !room_for(nr))
		agent_kept_drop(all);
}

size_t agent_kept_fds(int *ret_fds, size_t max)
{
	size_t at = 0;

	while (2 * nr > max)
		agent_kept_drop(all);
	for (const struct agent_kept *k = all; k; k = k->next) {
		ret_fds[at++] = k->data;
		ret_fds[at++] = k->ctl;
	}
	return at;
}

void agent_kept_moved(void)
{
	for (struct agent_kept *k = all; k; k = k->next) {
		k->data = agent_alone_moved(k->data);
		k->ctl = agent_alone_moved(k->ctl);
	}
}

void agent_kept_after_fork_child(void)
{
	while (all) {
		struct agent_kept *next = all->next;

		*all = AGENT_KEPT_NONE;
		all = next;
	}
	nr = 0;
}
