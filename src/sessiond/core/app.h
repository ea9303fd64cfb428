/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * app.h - a registered application: its process and its instrumentation points. Part of the
 * model of ltt-sessiond; pure. Owned by the user domain; freed with the application's connection.
 */
#ifndef CORE_APP_H
#define CORE_APP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "quota.h"
#include "shape.h"

/* Limits of the memory for one application. */
#define APP_MAX_POINTS 100000u
#define APP_MAX_BYTES (256u << 20)

struct app_point {
	uint32_t id;
	uint32_t line;
	char *file;
	size_t bytes; /* charged to the application */
	struct shape *shape;
	struct list_node in_shape;
	struct app *app;
};

/* Refused points that are stored for one application. */
#define APP_MAX_REFUSED 10u

/** A point with an invalid description. */
struct app_refused {
	struct list_node node;
	uint32_t id;
	uint32_t line;
	enum shape_kind kind;
	char *name;	 /* printable, and not longer than other names */
	char *file;	 /* likewise */
	const char *why; /* a phrase without a subject */
};

struct app {
	uint64_t id; /* assigned by the daemon, never reused */
	pid_t pid;   /* as reported by the kernel */
	uid_t uid;
	gid_t gid;
	uint32_t vpid; /* as reported by the application: in its own pid namespace */
	uint32_t vuid, vgid; /* as reported by the application: in its own user namespace */
	char *procname;
	char *scopes;		  /* words of its environment, separated by colons */
	uint64_t start_ns;	  /* CLOCK_REALTIME */
	bool exclusive;		  /* needs separate buffers */
	uint64_t features;	  /* of its library: enum app_feature */
	void *points;		  /* tsearch by id */
	struct list_node refused; /* struct app_refused */
	uint32_t nr_refused;
	uint32_t nr_points;
	size_t bytes;
	struct shapes *shapes;
	struct quotas *quotas;
};

/** @quotas: of its user; NULL: none. */
void app_init(struct app *app, uid_t uid, struct shapes *shapes, struct quotas *quotas);
void app_fini(struct app *app);

/**
 * app_add_point() - a point that the application registers. Return: NULL or the problem.
 */
const char *app_add_point(struct app *app, uint32_t id, const char *file, uint32_t line,
			  struct shape_facts *facts, const struct app_point **ret);
/** Store a point that can't be described. app_add_point() does so itself. */
void app_refuse_point(struct app *app, uint32_t id, const char *file, uint32_t line,
		      const struct shape_facts *facts, const char *why);
/** Return: false if there is no such point; a refused one is removed. */
bool app_remove_point(struct app *app, uint32_t id);
struct app_point *app_find_point(struct app *app, uint32_t id);

/** Call @fn for each point, by id; it must not add or remove points. */
void app_each_point(struct app *app, void (*fn)(struct app_point *point, void *data), void *data);

#endif
