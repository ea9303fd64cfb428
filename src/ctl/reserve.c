/* SPDX-License-Identifier: GPL-2.0-only */
#include "reserve.h"

#include <string.h>
#include <sys/statvfs.h>

#include <ltt/control.h>

#include "base/mem.h"
#include "connect.h"
#include "io/paths.h"
#include "print.h"

#define LEAST (1ull << 30)
#define SHARE 20u /* 5 % */
/* Data that the consumer may hold back while this much more than the reserve is free. */
#define NEAR (512ull << 20)
#define RESERVE_OPTION "(--keep-free)" /* in the daemon's sentence */

/* Of the nearest directory above that exists. */
static bool reserve_stat(const char *path, struct statvfs *ret)
{
	char *above AUTO_FREE = xstrdup(path), *slash;
	bool found;

	while (!(found = statvfs(*above ? above : "/", ret) == 0) && (slash = strrchr(above, '/')))
		*slash = '\0';
	return found || statvfs(".", ret) == 0;
}

/* A disk that is small or nearly full has room for a short trace nevertheless. */
uint64_t reserve_choose(const char *output)
{
	char *home AUTO_FREE = output ? NULL : paths_home();
	struct statvfs st;
	uint64_t bytes, unit;

	if ((!output && !home) || !reserve_stat(output ? output : home, &st))
		return 0;
	bytes = MAX((uint64_t)st.f_blocks * st.f_frsize / SHARE, LEAST);
	bytes = MIN(bytes, (uint64_t)st.f_bavail * st.f_frsize / 2);
	unit = bytes < LEAST ? 1ull << 20 : LEAST; /* a short number in messages */
	return bytes / unit * unit;
}

bool reserve_check(void *priv)
{
	struct reserve *reserve = priv;
	struct ltt_ctl_sessions *found;
	struct err err = { 0 };
	struct statvfs st;

	if (statvfs(reserve->output, &st) != 0 ||
	    (uint64_t)st.f_bavail * st.f_frsize > reserve->bytes + NEAR ||
	    !ctl_is_connected(reserve->ctl) ||
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
