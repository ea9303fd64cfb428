/* SPDX-License-Identifier: GPL-2.0-only */
#include "tracking.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "target.h"

#define CGROUPS "/sys/fs/cgroup"

static struct {
	struct domain_options domain;
	char *session;
	int all;
	struct {
		int kind;
		char *ids; /* NULL: none were given */
	} sets[64];
	size_t nr;
} opt;

#define KIND(name, letter, number, text) \
	OPTION_EACH(name, letter, number, POPT_ARGFLAG_OPTIONAL, text, "ID[,...]")

const struct poptOption tracking_options[] = {
	OPTION_FLAG("kernel", 'k', &opt.domain.kernel, "kernel events"),
	OPTION_FLAG("userspace", 'u', &opt.domain.user, "events of applications"),
	OPTION_SESSION(&opt.session),
	KIND("pid", 'p', TRACK_PID, "processes"),
	KIND("vpid", 0, TRACK_VPID, "processes, as their own namespace numbers them"),
	KIND("tid", 0, TRACK_TID, "threads"),
	KIND("vtid", 0, TRACK_VTID, "threads, as their own namespace numbers them"),
	KIND("uid", 0, TRACK_UID, "users, by number or name"),
	KIND("vuid", 0, TRACK_VUID, "users, as their own namespace numbers them"),
	KIND("gid", 0, TRACK_GID, "groups, by number or name"),
	KIND("vgid", 0, TRACK_VGID, "groups, as their own namespace numbers them"),
	KIND("follow", 0, TRACK_FOLLOW, "processes of the kernel's events, and all that come of them"),
	OPTION_EACH("cgroup", 0, TRACK_CGROUP, POPT_ARGFLAG_OPTIONAL,
		    "control groups of the kernel's events, with those below them", "PATH[,...]"),
	OPTION_FLAG("all", 'a', &opt.all, "all ids of the kinds that are named"),
	POPT_TABLEEND,
};

enum status tracking_option(struct ctl *ctl, int number, const char *argument)
{
	if (opt.nr >= ARRAY_SIZE(opt.sets)) {
		err_set(&ctl->err, ERR_INVALID, "too many lists of ids; join them");
		return STATUS_ERROR;
	}
	opt.sets[opt.nr].kind = number;
	opt.sets[opt.nr++].ids = argument ? xstrdup(argument) : NULL;
	return STATUS_OK;
}

/* ---- ids ---- */

static bool tracking_is_user(int kind)
{
	return kind == TRACK_UID || kind == TRACK_VUID;
}

static bool is_group(int kind)
{
	return kind == TRACK_GID || kind == TRACK_VGID;
}

static int no_such(struct ctl *ctl, int kind, const char *text)
{
	return err_set(&ctl->err, ERR_INVALID,
		       tracking_is_user(kind) ? "there is no user '%s'" :
		       is_group(kind)	      ? "there is no group '%s'" :
						"'%s' is not the id of a process or thread",
		       text);
}

/* The inode of a folder: a path, or one below the place where the groups usually are. */
static int parse_cgroup(struct ctl *ctl, const char *text, uint32_t *ret)
{
	char *path AUTO_FREE = xasprintf("%s%s", *text == '/' ? "" : CGROUPS "/", text);
	struct statfs fs;
	struct stat st;

	if (statfs(path, &fs) != 0 || stat(path, &st) != 0)
		return err_errno(&ctl->err, ERR_INVALID, errno, "there is no cgroup %s", path);
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode) || st.st_ino > UINT32_MAX)
		return err_set(&ctl->err, ERR_INVALID,
			       "%s is not the folder of a cgroup of version 2", path);
	*ret = (uint32_t)st.st_ino;
	return 0;
}

/* A number, or the name of a user or group. */
static int parse_id(struct ctl *ctl, int kind, const char *text, uint32_t *ret)
{
	uint64_t limit = tracking_is_user(kind) || is_group(kind) ? UINT32_MAX - 1 : INT_MAX,
		 number;
	const struct passwd *user;
	const struct group *group;

	if (kind == TRACK_CGROUP)
		return parse_cgroup(ctl, text, ret);
	if (parse_u64(text, &number) == 0 && number <= limit) {
		*ret = (uint32_t)number;
		return 0;
	}
	user = tracking_is_user(kind) ? getpwnam(text) : NULL;
	group = is_group(kind) ? getgrnam(text) : NULL;
	if (!user && !group)
		return no_such(ctl, kind, text);
	*ret = user ? user->pw_uid : group->gr_gid;
	return 0;
}

struct ids {
	uint32_t *ids;
	size_t nr;
};

static void tracking_ids_fini(struct ids *ids)
{
	free(ids->ids);
}

static int tracking_take_ids(struct ctl *ctl, int kind, const char *list, struct ids *ret)
{
	struct names names CLEANUP(names_fini) = { 0 };

	names_split(list, &names);
	ret->ids = xalloc((names.nr + 1) * sizeof(*ret->ids));
	for (; ret->nr < names.nr; ret->nr++)
		if (parse_id(ctl, kind, names.names[ret->nr], &ret->ids[ret->nr]) != 0)
			return ctl->err.code;
	return 0;
}

/* ---- check ---- */

static int check_sets(struct ctl *ctl)
{
	if (opt.nr == 0)
		return err_set(&ctl->err, ERR_INVALID,
			       "missing ids: use e.g. --pid=1234, --uid=alice, or --pid --all");
	for (size_t i = 0; i < opt.nr; i++) {
		struct ids ids CLEANUP(tracking_ids_fini) = { 0 };

		if (!!opt.all == !!opt.sets[i].ids)
			return err_set(&ctl->err, ERR_INVALID,
				       opt.all ? "--all and ids exclude each other" :
						 "missing ids: name them, or use --all");
		if (opt.sets[i].ids &&
		    tracking_take_ids(ctl, opt.sets[i].kind, opt.sets[i].ids, &ids) != 0)
			return ctl->err.code;
	}
	return 0;
}

enum status tracking_check(struct ctl *ctl)
{
	enum status status = domain_check(ctl, &opt.domain);

	if (status != STATUS_OK)
		return status;
	return check_sets(ctl) == 0 ? STATUS_OK : STATUS_ERROR;
}

/* ---- run ---- */

static const char *op_name(unsigned int op)
{
	static const char *const words[] = {
		[TRACK_ALL] = "all",
		[TRACK_NONE] = "none",
		[TRACK_ADD] = "add",
		[TRACK_REMOVE] = "remove",
	};

	return words[op];
}

static enum status tracking_request(struct ctl *ctl, const struct ltt_ctl_track_options *track)
{
	struct json_object *change;
	uint32_t changed;

	if (ctl_done(ctl, ltt_ctl_track(ctl->library, track, &changed), &ctl->err) != 0) {
		target_suggest(ctl, track->session, NULL, NULL);
		return STATUS_ERROR;
	}
	change = json_object_new_object();
	json_set_str(change, "kind", json_track_kind(track->kind));
	json_set_str(change, "op", op_name(track->op));
	json_set(change, "ids", json_object_new_array());
	for (size_t i = 0; i < track->nr_ids; i++)
		json_append(change, "ids", json_object_new_uint64(track->ids[i]));
	json_set_num(change, "changed", changed);
	json_append(ctl->record, "changes", change);
	if (changed == track->nr_ids)
		return STATUS_OK;
	print_warning(ctl, "%zu of these were %stracked before", track->nr_ids - changed,
		      track->op == LTT_CTL_TRACK_ADD ? "" : "not ");
	return STATUS_WARNING;
}

static enum status tracking_change(struct ctl *ctl, struct ltt_ctl_track_options *track,
				   const char *list)
{
	struct ids ids CLEANUP(tracking_ids_fini) = { 0 };

	if (list && tracking_take_ids(ctl, track->kind, list, &ids) != 0)
		return STATUS_ERROR;
	track->ids = ids.ids;
	track->nr_ids = ids.nr;
	return tracking_request(ctl, track);
}

enum status tracking_run(struct ctl *ctl, bool add)
{
	enum domain_id domain = domain_named(&opt.domain);
	char *session AUTO_FREE = target_begin(ctl, opt.session, domain, "changes");
	struct ltt_ctl_track_options track;
	enum status worst = STATUS_OK;

	if (!session)
		return STATUS_ERROR;
	ltt_ctl_track_options_init(&track);
	track.session = session;
	track.domain = (enum ltt_ctl_domain)domain;
	if (opt.all)
		track.op = add ? LTT_CTL_TRACK_ALL : LTT_CTL_TRACK_NONE;
	else
		track.op = add ? LTT_CTL_TRACK_ADD : LTT_CTL_TRACK_REMOVE;
	for (size_t i = 0; i < opt.nr && !ctl->err.code; i++) {
		track.kind = (enum ltt_ctl_track_kind)opt.sets[i].kind;
		worst = target_worse(worst, tracking_change(ctl, &track, opt.sets[i].ids));
	}
	return worst;
}

/* ---- text ---- */

static void print_ids(FILE *out, struct json_object *owner)
{
	for (size_t i = 0; i < json_len(owner, "ids"); i++)
		fprintf(out, "%s %" PRIu64, i ? "," : "",
			json_object_get_uint64(json_at(owner, "ids", i)));
}

void tracking_print(FILE *out, struct json_object *tracker)
{
	fputs(json_str(tracker, "kind"), out);
	print_ids(out, tracker);
	if (json_len(tracker, "ids") == 0)
		fputs(" none", out);
}

static void print_change(FILE *out, struct json_object *change, const char *session,
			 const char *domain)
{
	const char *kind = json_str(change, "kind"), *op = json_str(change, "op");

	if (strcmp(op, "all") == 0) {
		fprintf(out, "%s events of any %s are recorded in session %s\n", domain, kind,
			session);
	} else if (strcmp(op, "none") == 0) {
		fprintf(out, "%s events of no %s are recorded in session %s\n", domain, kind,
			session);
	} else {
		fprintf(out, "%s events of %s", domain, kind);
		print_ids(out, change);
		fprintf(out, " are recorded %s session %s\n",
			strcmp(op, "add") == 0 ? "in" : "no longer in", session);
	}
}

void tracking_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "changes"); i++)
		print_change(out, json_at(record, "changes", i), json_str(record, "session"),
			     domain_title(record));
}
