/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.c - rules about places in a program. The client finds the places, as the daemon reads no
 * program; they are valid for the same version of the file only.
 */
#include "user.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "io/confine.h"
#include "probe.h"

struct user_request {
	struct ltt_kmod_user_probe probe;
	struct ltt_kmod_user_place more[LTT_KMOD_PLACES_MAX - 1];
	struct ltt_kmod_arg args[LTT_KMOD_PLACES_MAX][LTT_KMOD_ARGS_MAX];
};

/** Which file it was. */
struct identity {
	uint64_t device, inode, size, mtime_ns;
};

bool kernel_user_returns(const struct kernel_place *place)
{
	return strncmp(place->location, "return:", 7) == 0;
}

/* --- places that were found ---------------------------------------------------------- */

static int not_understood(struct err *err, const char *at)
{
	return err_set(err, ERR_INVALID, "'%.60s' is not a valid location in a program", at);
}

static bool kernel_user_take_number(const char **at, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(*at, &end, 0);
	if (**at < '0' || **at > '9' || errno)
		return false;
	*at = end;
	return true;
}

static bool kernel_user_take(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static bool take_identity(const char **at, struct identity *ret)
{
	return kernel_user_take_number(at, &ret->device) && kernel_user_take(at, ',') &&
	       kernel_user_take_number(at, &ret->inode) && kernel_user_take(at, ',') &&
	       kernel_user_take_number(at, &ret->size) && kernel_user_take(at, ',') &&
	       kernel_user_take_number(at, &ret->mtime_ns);
}

/* Behind the identity: ";OFFSET[@SEMAPHORE][ FETCH...]". @ret_fetch: to be freed. */
static bool kernel_user_take_place(const char **at, struct ltt_kmod_user_place *ret,
				   char **ret_fetch)
{
	size_t len;

	*ret = (struct ltt_kmod_user_place){ 0 };
	if (!kernel_user_take(at, ';') || !kernel_user_take_number(at, &ret->offset) ||
	    (kernel_user_take(at, '@') && !kernel_user_take_number(at, &ret->semaphore)))
		return false;
	len = strcspn(*at, ";");
	if (len && **at != ' ')
		return false;
	*ret_fetch = xasprintf("%.*s", (int)len, *at);
	*at += len;
	return true;
}

/* --- recorded fields ----------------------------------------------------------------- */

/* All memory is the program's, as in ftrace's uprobe_events; but the name of a task. */
static void make_users(struct ltt_kmod_arg *arg)
{
	for (uint32_t i = 0; i < arg->nr_steps; i++)
		if (arg->steps[i].op == LTT_KMOD_STEP_READ)
			arg->steps[i].op = LTT_KMOD_STEP_READ_USER;
	if (arg->kind == LTT_KMOD_ARG_TEXT && arg->steps[0].op != LTT_KMOD_STEP_COMM)
		arg->kind = LTT_KMOD_ARG_TEXT_USER;
}

static int kernel_user_check_fetch(const struct kernel_place *place,
				   const struct kernel_fetch *fetch, struct err *err)
{
	bool is_usdt = strncmp(place->location, "sdt:", 4) == 0;

	if (fetch->at_return && !kernel_user_returns(place))
		return err_set(
			err, ERR_INVALID,
			"'%s': the return value of a function is available only at its return: use "
			"--userspace-probe=return:PATH:SYMBOL",
			fetch->name);
	if (fetch->at_entry && (is_usdt || kernel_user_returns(place)))
		return err_set(err, ERR_INVALID,
			       "'%s': the arguments of a function are known at its beginning",
			       fetch->name);
	return 0;
}

/* @own: of that place; behind it those of the whole request. */
static int fetches_at(const struct kernel_place *place, const char *own, struct kernel_fetch *ret,
		      struct err *err)
{
	char *text AUTO_FREE = xasprintf("%s %s", own, place->fetch);
	int nr = kernel_fetch_parse(text, ret, err);

	for (int i = 0; i < nr; i++) {
		if (kernel_user_check_fetch(place, &ret[i], err))
			return -(int)err->code;
		make_users(&ret[i].arg);
	}
	return nr;
}

int kernel_user_fetches(const struct kernel_place *place, struct kernel_fetch *ret, struct err *err)
{
	char *own AUTO_FREE = NULL;
	const char *at = place->places;
	struct ltt_kmod_user_place first;
	struct identity identity;

	if (!take_identity(&at, &identity) || !kernel_user_take_place(&at, &first, &own))
		return -not_understood(err, at);
	return fetches_at(place, own, ret, err);
}

/* --- requests to the module ---------------------------------------------------------- */

/* The first place describes the event, and all others must equal it. */
static int add_place(const struct kernel_place *place, const char **at,
		     const struct kernel_fetch *first, int nr, uint32_t index,
		     struct user_request *ret, struct err *err)
{
	struct kernel_fetch fetches[LTT_KMOD_ARGS_MAX];
	char *own AUTO_FREE = NULL;
	struct ltt_kmod_user_place here;

	if (!kernel_user_take_place(at, &here, &own))
		return not_understood(err, *at);
	if (fetches_at(place, own, fetches, err) != nr)
		return err->code ? (int)err->code : not_understood(err, own);
	for (int i = 0; i < nr; i++) {
		if (strcmp(fetches[i].name, first[i].name) != 0 ||
		    fetches[i].is_signed != first[i].is_signed)
			return not_understood(err, own);
		ret->args[index][i] = fetches[i].arg;
	}
	here.args = nr ? (uint64_t)(uintptr_t)ret->args[index] : 0;
	if (index) {
		ret->more[index - 1] = here;
		ret->probe.nr_more = index;
		return 0;
	}
	ret->probe.offset = here.offset;
	ret->probe.semaphore = here.semaphore;
	ret->probe.args = here.args;
	ret->probe.nr_args = (uint32_t)nr;
	return 0;
}

static int kernel_user_make_request(const struct kernel_place *place, struct user_request *ret,
				    struct identity *ret_identity, struct err *err)
{
	struct kernel_fetch first[LTT_KMOD_ARGS_MAX];
	const char *at = place->places;
	int nr = kernel_user_fetches(place, first, err);

	if (nr < 0 || !take_identity(&at, ret_identity))
		return -nr;
	ret->probe.size = sizeof(ret->probe);
	ret->probe.flags = kernel_user_returns(place) ? LTT_KMOD_PROBE_RETURN : 0;
	ret->probe.more = (uint64_t)(uintptr_t)ret->more;
	for (uint32_t i = 0; *at; i++) {
		if (i == LTT_KMOD_PLACES_MAX)
			return err_set(err, ERR_INVALID, "a probe has at most %u places",
				       LTT_KMOD_PLACES_MAX);
		if (add_place(place, &at, first, nr, i, ret, err))
			return err->code;
	}
	return 0;
}

static bool kernel_user_is_same(int fd, const struct identity *identity)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == identity->device &&
	       st.st_ino == identity->inode && (uint64_t)st.st_size == identity->size &&
	       (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec ==
		       identity->mtime_ns;
}

int kernel_user_send(const struct kmod *kmod, int module, uint32_t id,
		     const struct kernel_place *place, struct err *err)
{
	struct user_request *request AUTO_FREE = xalloc(sizeof(*request));
	struct identity identity;
	AUTO_FD int fd = -1;

	if (kernel_user_make_request(place, request, &identity, err))
		return -EINVAL;
	fd = confine_open(place->file);
	if (fd == -ENOENT)
		return -ESTALE;
	if (fd < 0)
		return fd;
	if (!kernel_user_is_same(fd, &identity))
		return -ESTALE;
	request->probe.fd = fd;
	request->probe.id = id;
	request->probe.filter = (uint64_t)(uintptr_t)place->filter;
	return kmod_call(kmod, module, LTT_KMOD_USER_PROBE, &request->probe);
}
