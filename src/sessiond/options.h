/* SPDX-License-Identifier: GPL-2.0-only */
/* options.h - the command line of ltt-sessiond. Read once, before anything else. */
#ifndef SESSIOND_OPTIONS_H
#define SESSIOND_OPTIONS_H

#include <stdbool.h>

#include "core/quota.h"
#include "proto/enums.h"

struct options {
	int daemonize;	/* detach, and close the standard descriptors */
	int background; /* detach, and keep the standard descriptors */
	int sig_parent;
	int no_kernel;
	int no_exec;
	int verbose;
	int quiet;
	char *pidfile;	      /* NULL: RUNDIR/sessiond.pid */
	char *group;	      /* NULL: the default one */
	char *consumerd_path; /* NULL: search for it */
	char *load;	      /* saved sessions to load; NULL: those of the configuration */
	int no_load;
	int on_demand;	/* lttctl starts it: it keeps nothing of that process's state */
	uint64_t exit_idle_us; /* end after this time without session and client; 0: never */
	enum trace_format trace_format; /* of sessions whose creation names none */
	bool has_quota[NR_QUOTAS];
	uint64_t quotas[NR_QUOTAS];
};

/** Return: -1: continue; else the status to exit with. */
int options_parse(struct options *options, int argc, const char **argv);
/** Replace defaults by the given options. */
void options_quotas(const struct options *options, struct quotas *quotas);
void options_fini(struct options *options);

#endif
