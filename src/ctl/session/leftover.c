/* SPDX-License-Identifier: GPL-2.0-only */
#include "leftover.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/print/text.h"
#include "io/logplace.h"

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

/* --- saved sessions ---------------------------------------------------------------------- */

#define UNLOADED_BYTES 4096

static char *unloaded_path(struct ctl *ctl)
{
	return xasprintf("%s/" LOGPLACE_AUTOLOAD, ltt_ctl_daemon(ctl->library)->rundir);
}

void leftover_unloaded(struct ctl *ctl, void (*report)(void *data, const char *sentence),
		       void *data)
{
	static const char *const labels[] = { "Error: ", "Warning: " };
	char *path AUTO_FREE = unloaded_path(ctl);
	char *text AUTO_FREE = xalloc(UNLOADED_BYTES);
	char *rest = text;

	text_read(path, text, UNLOADED_BYTES);
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
			const char *said = line + strlen(labels[i]);

			if (strncmp(line, labels[i], strlen(labels[i])) == 0 &&
			    !isdigit((unsigned char)*said)) /* the number of files */
				report(data, said);
		}
}

void leftover_loaded(struct ctl *ctl)
{
	char *path AUTO_FREE = unloaded_path(ctl);

	unlink(path);
}
