/* SPDX-License-Identifier: GPL-2.0-only */
#include "reserve.h"

#include <errno.h>
#include <string.h>

#include <ltt/control.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/print/print.h"
#include "ctl/statfs.h"
#include "io/paths.h"

#define LEAST (1ull << 30)
#define SHARE 20u /* 5 % */
#define DISK_ANSWER_MS 5000
#define RESERVE_OPTION "(--keep-free)" /* in the daemon's sentence */

/* Of the nearest directory above that exists. Return: 0 or an errno. */
static int reserve_stat(const char *path, struct statvfs *ret)
{
	char *above AUTO_FREE = xstrdup(path), *slash;
	int error;

	while ((error = statfs_ask(*above ? above : "/", DISK_ANSWER_MS, ret)) != 0 &&
	       error != ETIMEDOUT && (slash = strrchr(above, '/')))
		*slash = '\0';
	return error && error != ETIMEDOUT ? statfs_ask(".", DISK_ANSWER_MS, ret) : error;
}

/* A disk that is small or nearly full has room for a short trace nevertheless. */
int reserve_choose(const char *output, uint64_t *ret, struct err *err)
{
	char *home AUTO_FREE = output ? NULL : paths_home();
	const char *path = output ? output : home;
	int error = path ? 0 : ENOENT;
	struct statvfs st;
	uint64_t bytes, unit;

	*ret = 0;
	if (path)
		error = reserve_stat(path, &st);
	if (error == ETIMEDOUT)
		return err_set(err, ERR_OUTPUT,
			       "the file system of %s does not answer; use another one with "
			       "--output=DIR",
			       path);
	if (error)
		return 0;
	bytes = MAX((uint64_t)st.f_blocks * st.f_frsize / SHARE, LEAST);
	bytes = MIN(bytes, (uint64_t)st.f_bavail * st.f_frsize / 2);
	unit = bytes < LEAST ? 1ull << 20 : LEAST; /* a short number in messages */
	*ret = bytes / unit * unit;
	return 0;
}

bool reserve_check(void *priv)
{
	struct reserve *reserve = priv;
	struct ltt_ctl_sessions *found;
	struct err err = { 0 };

	if (!ctl_is_connected(reserve->ctl) ||
	    ctl_done(reserve->ctl, ltt_ctl_find(reserve->ctl->library, reserve->session, &found),
		     &err) != 0)
		return true;
	if (found->nr && strstr(found->sessions[0]->problem, RESERVE_OPTION)) {
		char *text AUTO_FREE = reserve_explain(reserve, found->sessions[0]->problem);

		print_warning(reserve->ctl,
			      "session '%s': %s; events are counted as lost until there is room",
			      reserve->session, text);
		reserve->reported = true;
	}
	ltt_ctl_sessions_free(found);
	return !reserve->reported;
}

char *reserve_explain(const struct reserve *reserve, const char *problem)
{
	if (!reserve->bytes || !strstr(problem, RESERVE_OPTION))
		return xstrdup(problem);
	return xasprintf("%s; 'lttctl record --no-limit' writes until the disk is full", problem);
}
