// SPDX-License-Identifier: GPL-2.0-only
/* lines.c - lines of text by tracef() and tracelog(). */
#include <lttng/tracef.h>
#include <lttng/tracelog.h>

#ifdef __cplusplus
extern "C"
#endif
void write_lines(const char *large);

void write_lines(const char *large)
{
	lttng_ust_tracef("tracef %d %s", 5, "words");
	lttng_ust_tracef("%s", large);
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING, "tracelog %d", 6);
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG, "%s", "");
}
