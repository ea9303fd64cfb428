/* SPDX-License-Identifier: GPL-2.0-only */
/* Instrumented libraries are loaded and unloaded, also while others trace and probes
 * come and go; nothing of them stays behind. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <ltt/log.h>
#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "ltt_ring.h"
#include "tracer/emit/trigger.h"
#include "tracer/site/site.h"
#include "tracer_alone.h"

LTT_TRACEPOINT(both, call, (int x), LTT_INFO, ltt_int(int, x, x))

typedef void (*plugin_function)(int x);

static int calls;
static int64_t last;

static void see(void *priv, const struct ltt_event_view *view)
{
	(void)priv;
	CHECK_IS(ltt_view_int(view, ltt_view_field(view, "x"), &last), ==, 0);
	calls++;
}

static struct ltt_probe *watch(const char *name)
{
	struct ltt_probe *probe = NULL;

	CHECK_IS(ltt_probe_register(name, NULL, see, NULL, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	return probe;
}

static void *load(const char *name, plugin_function *ret_call)
{
	char path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);
	void *plugin;

	CHECK_IS(len, >, 0);
	path[len] = '\0';
	strcpy(strrchr(path, '/'), "/../dso/");
	strcat(strcat(path, name), ".so");
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(plugin);
	*(void **)ret_call = dlsym(plugin, "plugin_call");
	CHECK(*ret_call);
	return plugin;
}

struct count {
	int points, sites;
};

static int count_points(void *data, const struct ltt_point_info *info)
{
	struct count *count = data;

	if (strncmp(info->event->name, "plugin", 6) == 0)
		count->points++;
	if (strcmp(info->event->name, "both:call") == 0)
		count->sites = (int)info->nr_sites;
	return 0;
}

static struct count count_all(void)
{
	struct count count = { 0, 0 };

	CHECK_IS(ltt_points_list(count_points, &count), ==, 0);
	return count;
}

static void test_one(const char *name, int sites)
{
	struct ltt_probe *tracepoint = watch("plugin:call"), *marker = watch("plugin_mark");
	plugin_function call;
	void *plugin = load(name, &call);

	CHECK(count_all().points == 2 && count_all().sites == sites);
	calls = 0;
	call(5);
	CHECK(calls == 2 && last == 5);
	CHECK_IS(dlclose(plugin), ==, 0);
	CHECK(!dlopen(name, RTLD_NOLOAD | RTLD_NOW));
	CHECK(count_all().points == 0 && count_all().sites == 1);
	plugin = load(name, &call);
	call(6);
	CHECK(calls == 4 && last == 6);
	ltt_probe_unregister(marker);
	call(7);
	CHECK(calls == 5 && last == 7);
	CHECK_IS(dlclose(plugin), ==, 0);
	ltt_probe_unregister(tracepoint);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

/* --- triggers ----------------------------------------------------------------------- */

static uint32_t plugin_id, both_id;

static void note_id(const struct point *point, void *data)
{
	(void)data;
	if (strcmp(point->event->name, "plugin:call") == 0)
		plugin_id = point->id;
	if (strcmp(point->event->name, "both:call") == 0)
		both_id = point->id;
}

/* A trigger ends with its point, and not with one of its sites. */
static void test_triggers(void)
{
	static struct ltt_fired fired;
	const struct point_listener listener = { .added = note_id };
	struct trigger_spec match = { .fired = &fired, .slot = 1, .clock = LTT_CLOCK_MONOTONIC };
	struct trigger_spec count = { .fired = &fired, .slot = 2, .role = TRIGGER_COUNT };
	plugin_function call;
	uint32_t first;
	void *plugin;

	site_listen(&listener);
	plugin = load("tracepoint_plugin", &call);
	first = plugin_id;
	CHECK(site_watch(plugin_id, &match) == 0 && site_watch(both_id, &count) == 0);
	call(5);
	CHECK(fired.slot[1].fired == 1 && fired.slot[2].fired == 1);
	CHECK(strcmp(fired.record[0].event, "plugin:call") == 0);
	CHECK_IS(dlclose(plugin), ==, 0);
	CHECK(!site_is_known(first) && site_is_known(both_id));
	CHECK_IS(site_unwatch(first, &fired, 1, TRIGGER_MATCH), ==, -ENOENT);
	ltt_trace(both, call, 1);
	plugin = load("tracepoint_plugin", &call);
	call(6);
	CHECK(plugin_id != first && fired.slot[1].fired == 1 && fired.slot[2].fired == 3);
	CHECK_IS(site_unwatch(both_id, &fired, 2, TRIGGER_COUNT), ==, 0);
	CHECK_IS(dlclose(plugin), ==, 0);
	site_listen(NULL);
}

/* --- while others trace --------------------------------------------------------------- */

static int stop;

static void ignore(void *priv, const struct ltt_event_view *view)
{
	(void)priv;
	CHECK_IS(view->nr_fields, ==, 1);
}

static void *trace(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		ltt_trace(both, call, 1);
		trace_mark(dlopen_other, "x %d", 2);
		ltt_tracef("x %d", 3);
	}
	return NULL;
}

static void *probe_all_the_time(void *arg)
{
	static const char *const names[] = { "both:call", "plugin:call", "ltt_tracef:event" };
	unsigned int n = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct ltt_probe *probe = NULL;

		CHECK_IS(ltt_probe_register(names[n++ % 3], NULL, ignore, NULL, &probe), ==, 0);
		CHECK_IS(ltt_probe_arm(probe), ==, 1);
		count_all();
		ltt_probe_unregister(probe);
		if (n % 16 == 0)
			CHECK_IS(ltt_probe_synchronize(), ==, 0);
	}
	return NULL;
}

static void test_busy(void)
{
	pthread_t tracer, prober;

	CHECK_IS(pthread_create(&tracer, NULL, trace, NULL), ==, 0);
	CHECK_IS(pthread_create(&prober, NULL, probe_all_the_time, NULL), ==, 0);
	for (int i = 0; i < 300; i++) {
		plugin_function call;
		void *plugin = load(i % 2 ? "tracepoint_plugin" : "tracepoint_plugin_cxx", &call);

		call(i);
		CHECK_IS(dlclose(plugin), ==, 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(tracer, NULL);
	pthread_join(prober, NULL);
	CHECK_IS(count_all().points, ==, 0);
}

int main(void)
{
	test_one("tracepoint_plugin", 2);
	test_one("tracepoint_plugin_cxx", 1);
	test_triggers();
	test_busy();
	return 0;
}
