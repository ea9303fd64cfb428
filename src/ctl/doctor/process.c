/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.c - checks whether this process, or a program that is started from here, can be
 * recorded: whether it has libltt, and finds the daemon
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "io/paths.h"
#include "ctl/print/text.h"
#include "doctor.h"
#include "ctl/connect.h"
#include "ctl/elf.h"
#include "ctl/needed.h"
#include "ctl/own.h"
#include "ctl/session/points.h"
#include "ctl/print/print.h"
#include "reach.h"
#include "ctl/print/json.h"
#include "ctl/record/run.h"
#include "ctl/session/target.h"

#define ENVIRONMENT_BYTES (1u << 20)
#define MAPS_BYTES (4u << 20)

/**
 * struct inspected - the process or program.
 * @proc: its directory in /proc.
 * @what: its name in messages; allocated.
 * @env: its environment, NUL after each; ours for a program.
 * @secure: runs with more rights than its user, so that libltt ignores the environment.
 */
struct inspected {
	pid_t pid; /* 0: a program */
	char proc[32];
	char *what;
	char *env;
	size_t env_len;
	uid_t uid;
	bool secure;
};

static void inspected_fini(struct inspected *g)
{
	free(g->what);
	free(g->env);
}

static char *proc_path(const struct inspected *g, const char *name)
{
	return xasprintf("%s/%s", g->proc, name);
}

static const char *env_of(const struct inspected *g, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = g->env; !g->secure && at < g->env + g->env_len; at += strlen(at) + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '=' && at[len + 1])
			return at + len + 1;
	return NULL;
}

static void read_environment(struct inspected *g)
{
	char *path AUTO_FREE = proc_path(g, "environ");

	g->env = xalloc(ENVIRONMENT_BYTES);
	g->env_len = text_read(path, g->env, ENVIRONMENT_BYTES);
}

/* ---- does it find the daemon? ---- */

/* The directories that libltt tries, in its order. Return: their number. */
static unsigned int inspected_dirs(const struct inspected *g, char *ret[2])
{
	const char *chosen = env_of(g, "LTT_RUNDIR"), *runtime = env_of(g, "XDG_RUNTIME_DIR");
	const char *home = env_of(g, "LTT_HOME");
	unsigned int nr = 0;

	if (chosen) {
		ret[nr++] = xstrdup(chosen);
		return nr;
	}
	ret[nr++] = xstrdup(PATHS_SYSTEM_RUNDIR);
	if (!home)
		home = env_of(g, "HOME");
	if (runtime)
		ret[nr++] = xasprintf("%s/ltt", runtime);
	else if (home)
		ret[nr++] = xasprintf("%s/.ltt/run", home);
	return nr;
}

/* Whether the daemon's socket is at @dir for the process. */
static bool doctor_process_is_ours(const struct doctor *d, const struct inspected *g,
				   const char *dir)
{
	char *theirs AUTO_FREE = xasprintf("%s/apps.sock", dir);
	char *ours AUTO_FREE = xasprintf("%s/apps.sock", d->rundir);
	struct stat a, b;

	if (g->pid)
		return reach_finds(g->pid, d->rundir, dir);
	return stat(ours, &a) == 0 && stat(theirs, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static void doctor_process_obstacle(struct doctor *d, const struct inspected *g,
				    enum reach_obstacle obstacle, const char *about)
{
	char *text AUTO_FREE = reach_explain(obstacle, d->rundir);
	char *command AUTO_FREE = reach_repair(obstacle, g->pid, d->rundir);

	doctor_found(d, GRADE_BAD, about, "%s %s", g->what, text);
	doctor_repair(d, "%s", command);
}

static void finds_no_daemon(struct doctor *d, const struct inspected *g, char *const dirs[2],
			    unsigned int nr)
{
	char *word AUTO_FREE = text_shell_word(d->rundir);
	bool named = false;

	for (unsigned int i = 0; i < nr; i++)
		named = named || strcmp(dirs[i], d->rundir) == 0;
	if (named && g->pid && reach_find_obstacle(g->pid, d->rundir) == REACH_MOUNTS) {
		doctor_process_obstacle(d, g, REACH_MOUNTS, "namespace");
		return;
	}
	doctor_found(d, GRADE_BAD, "rundir",
		     "%s connects only to a session daemon in %s%s%s%s, but that of lttctl serves "
		     "%s",
		     g->what, dirs[0], nr > 1 ? " and " : "", nr > 1 ? dirs[1] : "",
		     g->secure ? " (it has more rights than its user, so LTT_RUNDIR does not "
				 "count)" :
				 "",
		     d->rundir);
	if (g->secure)
		doctor_repair(d, "sudo lttctl create # the system's daemon");
	else
		doctor_repair(d, "LTT_RUNDIR=%s PROGRAM", word);
}

/* Whether a directory on the way to @dir is accessible to its owner only, and the owner is not
 * @uid. Groups are ignored: a directory that is open to one may be open to the user. */
static bool is_closed_to(const char *dir, uid_t uid, char **ret_closed)
{
	char *copy AUTO_FREE = xstrdup(dir);
	struct stat st;

	for (char *end = copy + strlen(copy); end; end = strrchr(copy, '/')) {
		*end = '\0';
		if (*copy && stat(copy, &st) == 0 &&
		    !(st.st_mode & (st.st_uid == uid ? S_IXUSR : S_IXGRP | S_IXOTH))) {
			*ret_closed = TAKE(copy);
			return true;
		}
	}
	return false;
}

static void check_way(struct doctor *d, const struct inspected *g)
{
	char *closed AUTO_FREE = NULL;
	char *sock AUTO_FREE = xasprintf("%s/apps.sock", d->rundir);
	char *dirs[2] = { NULL, NULL };
	unsigned int nr = inspected_dirs(g, dirs);
	bool found = false;
	struct stat st;

	for (unsigned int i = 0; i < nr; i++)
		found = found || doctor_process_is_ours(d, g, dirs[i]);
	if (!found) {
		finds_no_daemon(d, g, dirs, nr);
	} else if (g->uid && stat(sock, &st) == 0 && st.st_uid != g->uid &&
		   !(st.st_mode & S_IWOTH)) {
		doctor_found(
			d, GRADE_BAD, "user",
			"%s is user %u's; the session daemon is user %u's and serves only that user",
			g->what, (unsigned int)g->uid, (unsigned int)st.st_uid);
		doctor_repair(d, "sudo lttctl create # the system's daemon serves all users");
	} else if (g->uid && is_closed_to(d->rundir, g->uid, &closed)) {
		char *word AUTO_FREE = text_shell_word(closed);

		doctor_found(
			d, GRADE_BAD, "closed",
			"%s belongs to user %u, which cannot enter %s on the way to the session daemon",
			g->what, (unsigned int)g->uid, closed);
		doctor_repair(d, "sudo chmod a+x %s", word);
	}
	free(dirs[0]);
	free(dirs[1]);
}

/* A session records its owner's programs; root's record all programs. */
static void check_owner(struct doctor *d, const struct inspected *g)
{
	struct json_object *sessions AUTO_RECORD = NULL;
	struct err ignored = { 0 };
	size_t nr;

	if (target_sessions(d->ctl, &sessions, &ignored) != 0)
		return;
	nr = json_object_array_length(sessions);
	for (size_t i = 0; i < nr; i++) {
		uint64_t uid = json_num(json_object_array_get_idx(sessions, i), "uid");

		if (uid == 0 || uid == g->uid)
			return;
	}
	if (nr == 0)
		return;
	doctor_found(d, GRADE_BAD, "user",
		     "no session belongs to user %u, the owner of %s, and none to root",
		     (unsigned int)g->uid, g->what);
	doctor_repair(d, "sudo -u '#%u' lttctl create", (unsigned int)g->uid);
}

static void check_disabled(struct doctor *d, const struct inspected *g)
{
	const char *value = env_of(g, "LTT_APP_DISABLE");

	if (!g->pid || !value || strcmp(value, "0") == 0)
		return; /* of a program: doctor_machine() has seen it */
	doctor_found(d, GRADE_BAD, "disabled",
		     "%s was started with LTT_APP_DISABLE: libltt does nothing there", g->what);
	doctor_repair(d, "env -u LTT_APP_DISABLE PROGRAM");
}

/* ---- is libltt in it? ---- */

/* Whether a process has a file mapped whose path contains @text. */
static bool inspected_maps(const struct inspected *g, const char *text)
{
	char *path AUTO_FREE = proc_path(g, "maps");
	char *maps AUTO_FREE = g->pid ? xalloc(MAPS_BYTES) : NULL;

	return maps && text_read(path, maps, MAPS_BYTES) && strstr(maps, text);
}

/* Return: whether libltt can't be loaded into it, and it can't be linked with libltt either. */
static bool doctor_process_alien(struct doctor *d, const struct inspected *g,
				 const struct elf_facts *facts)
{
	const char *remedy;
	char *obstacle AUTO_FREE =
		facts->dynamic || facts->foreign ? elf_obstacle(facts, &remedy) : NULL;

	if (!obstacle || (facts->foreign && facts->instrumented))
		return false;
	doctor_found(d, GRADE_BAD, "program", "%s %s: it can't be recorded", g->what, obstacle);
	doctor_repair(d, "lttctl record -k -- PROGRAM # what the kernel does for it");
	return true;
}

/* Built for LTTng-UST, and without our libraries of its names. */
static void doctor_process_foreign(struct doctor *d, const struct inspected *g)
{
	char *dir AUTO_FREE = own_library_dir("ltt/lttng/liblttng-ust.so.1");

	doctor_found(d, GRADE_BAD, "lttng",
		     "%s was built for LTTng-UST, and has the libraries of LTTng", g->what);
	doctor_repair(d, "LD_LIBRARY_PATH=%s/ltt/lttng PROGRAM # or: lttctl record -- PROGRAM",
		      dir ? dir : "LIBDIR");
}

/* A program that is started. */
static void doctor_process_check_lttng(struct doctor *d, const struct inspected *g,
				       const char *path)
{
	char *dir AUTO_FREE = own_library_dir("ltt/lttng/liblttng-ust.so.1");
	char *folder AUTO_FREE = dir ? xasprintf("%s/ltt/lttng", dir) : NULL;
	char *elsewhere AUTO_FREE = folder ? needed_lttng_elsewhere(path, folder) : NULL;

	if (elsewhere && !g->secure) {
		doctor_found(d, GRADE_BAD, "lttng",
			     "%s was built for LTTng-UST, and has %s by its RPATH, which the "
			     "dynamic linker searches before LD_LIBRARY_PATH",
			     g->what, elsewhere);
		doctor_repair(d, "patchelf --remove-rpath PROGRAM # or -Wl,--enable-new-dtags");
		return;
	}
	if (!g->secure) {
		doctor_found(d, GRADE_OK, "lttng",
			     "%s was built for LTTng-UST; 'lttctl record' records it", g->what);
		return;
	}
	doctor_found(d, GRADE_BAD, "lttng",
		     "%s was built for LTTng-UST and runs as another user (setuid): the dynamic "
		     "linker ignores LD_LIBRARY_PATH, so that it has LTTng's library",
		     g->what);
	doctor_repair(d, "sudo -u '#%u' lttctl record -- PROGRAM # as that user",
		      (unsigned int)g->uid);
}

static void no_libltt(struct doctor *d, const struct inspected *g, const struct elf_facts *facts)
{
	if (doctor_process_alien(d, g, facts))
		return;
	if (inspected_maps(g, "/liblttng-ust")) {
		doctor_process_foreign(d, g);
	} else if (!facts->dynamic && !facts->instrumented) {
		doctor_found(d, GRADE_BAD, "static",
			     "%s is linked statically, without libltt: nothing can be loaded into "
			     "it",
			     g->what);
		doctor_repair(d, "cc -o PROGRAM ... -lltt # link it again");
	} else if (facts->instrumented) {
		doctor_found(d, GRADE_BAD, "libltt",
			     "%s has instrumentation points, but is not linked with libltt",
			     g->what);
		doctor_repair(d, "LD_PRELOAD=libltt.so.1 PROGRAM # or link it with -lltt");
	} else {
		doctor_found(d, GRADE_BAD, "libltt",
			     "%s has no instrumentation: neither libltt nor points of its own",
			     g->what);
		doctor_repair(d, "lttctl record --wrap=libc,pthread,dl -- PROGRAM");
	}
}

struct own_points {
	uint32_t pid;
	unsigned int nr;
};

static void count_point(const struct ltt_ctl_point *point, void *data)
{
	struct own_points *own = data;

	own->nr += point->pid == own->pid && !*point->refused;
}

static unsigned int points_of(const struct doctor *d, pid_t pid)
{
	struct own_points own = { .pid = (uint32_t)pid };
	struct err ignored = { 0 };

	if (!d->pid || points_each(d->ctl, DOMAIN_USER, count_point, &own, &ignored) != 0)
		return 0;
	return own.nr;
}

static void check_registered(struct doctor *d, const struct inspected *g)
{
	char *exe AUTO_FREE = proc_path(g, "exe");
	struct elf_facts facts = { .dynamic = true };
	unsigned int points = points_of(d, g->pid);
	bool known = elf_read(exe, &facts) == 0;

	if (points) {
		doctor_found(d, GRADE_OK, "process", "%s has registered, with %u point%s", g->what,
			     points, points == 1 ? "" : "s");
	} else if (known && !inspected_maps(g, "/libltt.so.1") && !(facts.instrumented && !facts.dynamic)) {
		no_libltt(d, g, &facts);
	} else if (reach_find_obstacle(g->pid, d->rundir) == REACH_SECCOMP) {
		doctor_process_obstacle(d, g, REACH_SECCOMP, "seccomp");
	} else {
		doctor_found(d, GRADE_BAD, "process",
			     "%s has libltt, but the session daemon has received no point of it",
			     g->what);
		doctor_repair(d, "LTT_DEBUG=1 PROGRAM # libltt logs its actions");
	}
}

/* ---- a process ---- */

/* Read its user, and whether it is stopped. Return: false: no such process. */
static bool read_status(struct doctor *d, struct inspected *g)
{
	char *path AUTO_FREE = proc_path(g, "status");
	unsigned int real = 0, effective = 0;
	char status[4096], state = '?';
	const char *line;

	if (!text_read(path, status, sizeof(status)))
		return false;
	line = strstr(status, "\nState:");
	if (line && sscanf(line, "\nState: %c", &state) == 1 && strchr("Tt", state)) {
		doctor_found(d, GRADE_WARN, "stopped", "%s is stopped", g->what);
		doctor_repair(d, "kill -CONT %d", (int)g->pid);
	}
	line = strstr(status, "\nUid:");
	if (line && sscanf(line, "\nUid: %u %u", &real, &effective) == 2) {
		g->uid = effective;
		g->secure = real != effective;
	}
	return state != 'Z' && state != 'X';
}

static void doctor_process_check_process(struct doctor *d, struct inspected *g)
{
	char *environment AUTO_FREE = proc_path(g, "environ");

	if (!read_status(d, g)) {
		doctor_found(d, GRADE_BAD, "process", "there is no process %d", (int)g->pid);
		doctor_repair(d, "lttctl list -u # processes that have registered");
		return;
	}
	if (access(environment, R_OK) != 0) {
		doctor_found(d, GRADE_WARN, "process", "%s is user %u's: permission denied",
			     g->what, (unsigned int)g->uid);
		doctor_repair(d, "sudo lttctl doctor --pid=%d", (int)g->pid);
	} else {
		read_environment(g);
		check_disabled(d, g);
		if (d->pid)
			check_way(d, g);
	}
	if (!d->pid)
		return;
	check_owner(d, g);
	check_registered(d, g);
}

void doctor_process(struct doctor *d, pid_t pid)
{
	struct inspected g CLEANUP(inspected_fini) = { .pid = pid };
	char *comm AUTO_FREE = NULL;
	char name[32];

	snprintf(g.proc, sizeof(g.proc), "/proc/%d", (int)pid);
	comm = proc_path(&g, "comm");
	text_read(comm, name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	g.what = xasprintf("process %d (%s)", (int)pid, name);
	doctor_process_check_process(d, &g);
}

bool doctor_warn(struct ctl *ctl, pid_t pid, bool begin)
{
	const struct ltt_ctl_daemon_info *daemon = ltt_ctl_daemon(ctl->library);
	struct json_object *findings AUTO_RECORD = json_object_new_array();
	struct doctor d = {
		.ctl = ctl,
		.rundir = (char *)daemon->rundir,
		.pid = daemon->pid,
		.findings = findings,
	};
	unsigned int nr = 0;

	doctor_process(&d, pid);
	for (size_t i = 0; i < json_object_array_length(findings); i++) {
		struct json_object *finding = json_object_array_get_idx(findings, i);

		const char *subject = json_str(finding, "subject");

		if (strcmp(json_str(finding, "grade"), "ok") == 0 ||
		    (begin && (strcmp(subject, "process") == 0 || strcmp(subject, "seccomp") == 0)))
			continue;
		nr++;
		print_warning(ctl, "%s; 'lttctl doctor --pid=%d' has the remedy",
			      json_str(finding, "text"), (int)pid);
	}
	return nr > 0;
}

/* ---- a program ---- */

/* Return: whether the dynamic linker finds all of its libraries. */
static bool doctor_process_check_needed(struct doctor *d, const struct inspected *g,
					unsigned int bits, const struct needed *needed)
{
	char *dir AUTO_FREE = needed->missing ? own_library_dir_for(bits, needed->missing) : NULL;

	if (!needed->missing)
		return true;
	doctor_found(d, GRADE_BAD, "library",
		     "%s can't be loaded: the dynamic linker finds no %s, which it needs", g->what,
		     needed->missing);
	doctor_repair(d, "LD_LIBRARY_PATH=%s PROGRAM", dir ? dir : "DIRECTORY");
	return false;
}

static void doctor_process_check_file(struct doctor *d, struct inspected *g, const char *path)
{
	struct needed needed CLEANUP(needed_fini) = { NULL, NULL, false };
	struct elf_facts facts = { 0 };
	struct stat st;
	int ret = elf_read(path, &facts);

	if (ret == 0 && facts.dynamic && elf_has_glibc(&facts))
		needed = needed_find(path);

	if (stat(path, &st) == 0) {
		g->uid = st.st_mode & S_ISUID ? st.st_uid : g->uid;
		g->secure = g->uid != geteuid() || (st.st_mode & S_ISGID && st.st_gid != getegid());
	}
	if (ret == -ENOEXEC)
		doctor_found(d, GRADE_OK, "program",
			     "%s is a script; check its interpreter instead", g->what);
	else if (ret == 0 && doctor_process_alien(d, g, &facts))
		return;
	else if (!doctor_process_check_needed(d, g, facts.bits, &needed))
		return;
	else if (ret == 0 && (needed.lttng || needed_mentions_lttng(path)))
		doctor_process_check_lttng(d, g, path);
	else if (ret == 0 && facts.instrumented)
		doctor_found(d, GRADE_OK, "program", "%s has instrumentation points", g->what);
	else if (ret == 0 && facts.dynamic && env_of(g, "LD_PRELOAD") &&
		 strstr(env_of(g, "LD_PRELOAD"), "libltt"))
		doctor_found(d, GRADE_OK, "program", "libltt is preloaded into %s", g->what);
	else if (needed.instrumented)
		doctor_found(d, GRADE_OK, "program",
			     "%s needs %s, which has instrumentation points", g->what,
			     needed.instrumented);
	else if (ret == 0 && facts.dynamic) {
		doctor_found(d, GRADE_WARN, "program",
			     "%s has no instrumentation points of its own; libraries that it loads "
			     "may",
			     g->what);
		doctor_repair(d, "lttctl record --wrap=libc,pthread,dl -- PROGRAM");
	} else if (ret == 0) {
		no_libltt(d, g, &facts);
	}
}

void doctor_program(struct doctor *d, const char *program)
{
	struct inspected g CLEANUP(inspected_fini) = { .proc = "/proc/self", .uid = geteuid() };
	char *path AUTO_FREE = run_find(program), *word AUTO_FREE = text_shell_word(program);
	struct err err = { 0 };

	g.what = xasprintf("program '%s'", program);
	read_environment(&g);
	if (run_check(program, &err) != 0) {
		doctor_found(d, GRADE_BAD, "program", "%s", err.text);
		doctor_repair(d, "command -v %s", word);
		return;
	}
	doctor_process_check_file(d, &g, path);
	if (d->pid)
		check_way(d, &g);
}
