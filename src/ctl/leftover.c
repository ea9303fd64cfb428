/* SPDX-License-Identifier: GPL-2.0-only */
#include "leftover.h"

#include <string.h>

#include "base/mem.h"
#include "connect.h"
#include "text.h"

/* One that is being sent is in use, too. */
static bool is_leftover(const struct ltt_ctl_spool *spool, const struct ltt_ctl_sessions *sessions)
{
	for (size_t i = 0; spool->in_use && i < sessions->nr; i++)
		if (strcmp(sessions->sessions[i]->spool, spool->path) == 0)
			return false;
	return !*spool->problem && spool->bytes;
}

void leftover_each(struct ctl *ctl,
		   void (*report)(void *data, const char *spool, const char *sentence), void *data)
{
	struct ltt_ctl_sessions *sessions;
	struct ltt_ctl_spools *list;
	struct err ignored = { 0 };

	if (ctl_done(ctl, ltt_ctl_list_spools(ctl->library, NULL, &list), &ignored) != 0)
		return;
	if (ctl_done(ctl, ltt_ctl_find(ctl->library, NULL, &sessions), &ignored) != 0) {
		ltt_ctl_spools_free(list);
		return;
	}
	for (size_t i = 0; i < list->nr; i++) {
		const struct ltt_ctl_spool *spool = list->spools[i];
		AUTO_FREE char *sentence = NULL;
		char size[TEXT_BYTES];

		if (!is_leftover(spool, sessions))
			continue;
		text_size(size, spool->bytes);
		if (spool->sendable)
			sentence = xasprintf("%s of session '%s' wait in the spool %s for the "
					     "relay %s",
					     size, spool->session, spool->path, spool->relay);
		else
			sentence = xasprintf("%s of an earlier session are in the spool %s, which "
					     "does not name its relay",
					     size, spool->path);
		report(data, spool->name, sentence);
	}
	ltt_ctl_spools_free(list);
	ltt_ctl_sessions_free(sessions);
}
