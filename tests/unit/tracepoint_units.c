/* SPDX-License-Identifier: GPL-2.0-only */
/* One header with tracepoints in several files of a program: each name is one site,
 * announced once. */
#include <string.h>

#include <ltt/probe.h>

#include "check.h"
#include "tracepoint_units.h"
#include "tracer_alone.h"

static int calls;
static int64_t last;

static void see(void *priv, const struct ltt_event_view *view)
{
	(void)priv;
	calls++;
	CHECK_IS(ltt_view_int(view, 0, &last), ==, 0);
}

static int check_point(void *data, const struct ltt_point_info *info)
{
	++*(int *)data;
	CHECK_IS(info->nr_sites, ==, 1);
	return 0;
}

int main(void)
{
	struct ltt_probe *probe = NULL;
	int points = 0;

	CHECK_IS(ltt_points_list(check_point, &points), ==, 0);
	CHECK_IS(points, ==, 2 + 16); /* and the log lines */
	CHECK_IS(ltt_probe_register("u:shared", NULL, see, NULL, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	ltt_trace(u, shared, 1);
	CHECK(calls == 1 && last == 1);
	trace_from_other(2);
	CHECK(calls == 2 && last == 2);
	trace_from_extern(3);
	CHECK(calls == 3 && last == 3);
	ltt_probe_unregister(probe);
	trace_from_other(4);
	CHECK_IS(calls, ==, 3);
	return 0;
}
