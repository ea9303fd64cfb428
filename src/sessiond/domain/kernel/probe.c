/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe.c - rules about a place in the kernel: its address, the names and fields of its events,
 * and whether the module can put a probe there.
 */
#include "probe.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "fetch.h"
#include "io/confine.h"
#include "session.h"

uint32_t kernel_probe_parts(enum rule_kind kind)
{
	return kind == RULE_FUNCTION ? 2 : !rule_chooses(kind);
}

/* The end of the name, as LTTng has it. */
static const char *suffix(enum rule_kind kind, uint32_t part)
{
	return kind != RULE_FUNCTION ? "" : part ? "_exit" : "_entry";
}

/* --- places ------------------------------------------------------------------------ */

static bool kernel_probe_parse_number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* Of "MODULE:...", in the form that the kernel has. Return: false: that is no module's name. */
static bool kernel_probe_parse_module(char *symbol)
{
	char *end = strchr(symbol, ':');

	if (end == symbol || (end && end - symbol >= (ptrdiff_t)KERNEL_MODULE_MAX))
		return false;
	for (; end && symbol < end; symbol++) {
		if (*symbol == '-')
			*symbol = '_';
		if (!isalnum((unsigned char)*symbol) && *symbol != '_')
			return false;
	}
	return true;
}

bool kernel_module_is_loaded(const char *name)
{
	AUTO_FREE char *path = xasprintf("/sys/module/%s", name);

	return access(path, F_OK) == 0;
}

/* [MODULE:]SYMBOL, [MODULE:]SYMBOL+OFFSET or 0xADDRESS. */
static bool kernel_probe_parse(const char *location, struct ltt_kmod_probe *ret)
{
	const char *plus = strchr(location, '+');
	size_t len = plus ? (size_t)(plus - location) : strlen(location);

	if (*location >= '0' && *location <= '9')
		return kernel_probe_parse_number(location, &ret->address) && ret->address;
	if (len == 0 || len >= sizeof(ret->symbol))
		return false;
	memcpy(ret->symbol, location, len);
	return kernel_probe_parse_module(ret->symbol) &&
	       (!plus || kernel_probe_parse_number(plus + 1, &ret->offset));
}

/* Can this value be had there? */
static int kernel_probe_check_fetch(const struct kernel_fetch *fetch, enum rule_kind kind,
				    const char *location, struct err *err)
{
	bool inside = strchr(location, '+') || (*location >= '0' && *location <= '9');

	if (fetch->at_return && kind != RULE_FUNCTION)
		return err_set(err, ERR_INVALID,
			       "'%s': the return value does not exist at this place; use "
			       "--function",
			       fetch->name);
	if (fetch->at_entry && (fetch->at_return || inside))
		return err_set(err, ERR_INVALID,
			       "'%s': arguments exist only at the beginning of a function; use a "
			       "register (%%REGISTER) at this place",
			       fetch->name);
	return 0;
}

/* Of one part: the return value belongs to the exit, all else to the entry. Return: their number,
 * or negative with @err set. */
static int fetches_of(const struct kernel_place *place, uint32_t part, struct kernel_fetch *ret,
		      struct err *err)
{
	struct kernel_fetch all[LTT_KMOD_ARGS_MAX];
	int nr = kernel_fetch_parse(place->fetch, all, err), own = 0;

	for (int i = 0; i < nr; i++) {
		if (kernel_probe_check_fetch(&all[i], place->kind, place->location, err))
			return -(int)err->code;
		if (all[i].at_return == (part > 0))
			ret[own++] = all[i];
	}
	return nr < 0 ? nr : own;
}

struct kernel_place kernel_place_of(const struct rule *rule)
{
	return (struct kernel_place){
		.kind = rule->kind,
		.location = rule->location,
		.fetch = rule->fetch,
		.file = rule->file,
		.places = rule->places,
	};
}

/** The request to the module; @probe points into it. */
struct request {
	struct ltt_kmod_probe probe;
	struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX];
};

/* Return: 0, or the code set in @err. */
static int kernel_probe_make_request(const struct kernel_place *place, uint32_t part,
				     struct request *ret, struct err *err)
{
	struct kernel_fetch fetches[LTT_KMOD_ARGS_MAX];
	int nr;

	memset(ret, 0, sizeof(*ret));
	ret->probe.size = sizeof(ret->probe);
	if (place->kind == RULE_FUNCTION)
		ret->probe.flags = part ? LTT_KMOD_PROBE_RETURN : LTT_KMOD_PROBE_CALL;
	if (!kernel_probe_parse(place->location, &ret->probe))
		return err_set(err, ERR_INVALID,
			       "'%.100s' is not a place in the kernel: [MODULE:]SYMBOL[+OFFSET] or "
			       "0xADDRESS",
			       place->location);
	if (place->kind == RULE_FUNCTION && ret->probe.offset)
		return err_set(err, ERR_INVALID,
			       "'%.100s' is not the beginning of a function: omit the offset, or "
			       "use --probe",
			       place->location);
	nr = fetches_of(place, part, fetches, err);
	if (nr < 0)
		return err->code;
	for (int i = 0; i < nr; i++)
		ret->args[i] = fetches[i].arg;
	ret->probe.nr_args = (uint32_t)nr;
	ret->probe.args = nr ? (uint64_t)(uintptr_t)ret->args : 0;
	return 0;
}

int kernel_probe_send(const struct kmod *kmod, int module, uint32_t id,
		      const struct kernel_place *place, uint32_t part,
		      struct kernel_probe_answer *answer, struct err *err)
{
	struct request request;
	const char *colon;
	int ret;

	*answer = (struct kernel_probe_answer){ 0 };
	if (place->kind == RULE_USER)
		return kernel_user_send(kmod, module, id, place, err);
	if (kernel_probe_make_request(place, part, &request, err))
		return -EINVAL;
	request.probe.id = id;
	request.probe.filter = (uint64_t)(uintptr_t)place->filter;
	request.probe.description = (uint64_t)(uintptr_t)place->description;
	request.probe.fire = (uint64_t)(uintptr_t)place->fire;
	ret = kmod_call(kmod, module, LTT_KMOD_PROBE, &request.probe);
	if (ret == -ERANGE)
		err_set(err, ERR_NO_EVENT,
			"can't place a probe at '%.100s': %.100s has %" PRIu64 " bytes",
			place->location, request.probe.symbol, request.probe.offset);
	colon = strchr(request.probe.symbol, ':');
	if (colon)
		snprintf(answer->module, sizeof(answer->module), "%.*s",
			 (int)(colon - request.probe.symbol), request.probe.symbol);
	answer->waits = request.probe.flags & LTT_KMOD_PROBE_WAITS;
	return ret;
}

const char *kernel_probe_why(int error)
{
	switch (error) {
	case ENOENT:
		return "the kernel has no such symbol, or rejects a probe there";
	case EINVAL:
	case EADDRNOTAVAIL:
		return "the kernel rejects a probe there";
	case EBUSY:
		return "functions are not traced while kernel.ftrace_enabled is 0 (sysctl)";
	case ESTALE:
		return "the program's file has changed since: enable the event again";
	case ERANGE:
		return "the function ends before this place";
	case EILSEQ:
		return "this is not the beginning of an instruction";
	case EOPNOTSUPP:
	case ENOSYS:
		return "this kernel was built without probes";
	}
	return kmod_refusal(error);
}

/* --- requests to the module ---------------------------------------------------------- */

int kernel_trial(const struct kmod *kmod, uint32_t flags)
{
	struct ltt_kmod_channel request = {
		.size = sizeof(request),
		.mode = LTT_RING_DISCARD,
		.num_subbuf = 2,
		.clock = LTT_CLOCK_MONOTONIC,
		.subbuf_size = LTT_RING_PAGE,
		.data_fd = -1,
		.ctl_fd = -1,
		.flags = flags,
	};
	int fd = kmod_call(kmod, kmod->fd, LTT_KMOD_CHANNEL, &request);

	close_fd(request.data_fd);
	close_fd(request.ctl_fd);
	return fd;
}

static int kernel_probe_try(const struct kernel_domain *kernel, const struct rule_spec *spec,
			    int trial, struct err *err)
{
	const struct kernel_place place = {
		.kind = spec->kind,
		.location = spec->location,
		.fetch = spec->fetch ? spec->fetch : "",
		.file = spec->file,
		.places = spec->places,
	};
	struct kernel_probe_answer answer;
	int ret;

	for (uint32_t i = 0; i < kernel_probe_parts(spec->kind); i++) {
		ret = kernel_probe_send(kernel->kmod, trial, i, &place, i, &answer, err);
		if (err->code)
			return err->code;
		if (answer.waits && kernel_module_is_loaded(answer.module))
			return err_set(err, ERR_NO_EVENT,
				       "can't place a probe at '%.100s': module %s has no such "
				       "function",
				       spec->location, answer.module);
		if (ret < 0)
			return err_set(err, ERR_NO_EVENT, "can't place a probe at '%.100s': %s",
				       spec->location, kernel_probe_why(-ret));
	}
	return 0;
}

int kernel_check_probe(struct kernel_domain *kernel, const struct rule_spec *spec, struct err *err)
{
	AUTO_FD int trial = kernel_trial(kernel->kmod, 0);

	if (trial == -EPERM)
		return err_set(err, ERR_UNSUPPORTED, "%s", kmod_refusal(EPERM));
	if (trial < 0)
		return err_errno(err, ERR_NO_MEMORY, -trial, "the kernel can't test the probe");
	return kernel_probe_try(kernel, spec, trial, err);
}

/* --- of a channel ------------------------------------------------------------------- */

static bool has_probe(const struct kernel_channel *kc, const struct rule *rule)
{
	for (uint32_t i = 0; i < kc->nr_probes; i++)
		if (kc->probes[i]->rule == rule)
			return true;
	return false;
}

void kernel_probes_add(struct kernel_channel *kc, enum slot_state state)
{
	struct kernel_probe *probe;
	struct rule *rule;

	list_for_each(rule, &kc->channel->rules, node) {
		if (rule_chooses(rule->kind) || has_probe(kc, rule))
			continue;
		probe = xalloc(sizeof(*probe));
		probe->rule = rule;
		for (uint32_t i = 0; i < PROBE_PARTS; i++)
			probe->slots[i].state = (uint8_t)state;
		kc->probes = xrealloc(kc->probes, (kc->nr_probes + 1) * sizeof(*kc->probes));
		kc->probes[kc->nr_probes++] = probe;
	}
}

void kernel_probes_free(struct kernel_domain *kernel, struct kernel_channel *kc)
{
	for (uint32_t i = 0; i < kc->nr_probes; i++) {
		replaced_forget(&kernel->replaced, kc->probes[i]);
		for (uint32_t part = 0; part < PROBE_PARTS; part++)
			shape_unref(&kernel->recorder->shapes, kc->probes[i]->shapes[part]);
		free(kc->probes[i]);
	}
	free(kc->probes);
}

static bool kernel_probe_add_field(struct layout *layout, const char *name, uint8_t base,
				   uint32_t flags)
{
	const struct layout_field field = {
		.name = name,
		.kind = LTT_KIND_INT,
		.size_bits = 64,
		.base = base,
		.flags = flags,
	};

	return layout_add_field(layout, &field);
}

static bool add_own(struct layout *layout, const struct kernel_place *place, uint32_t part)
{
	bool returns = place->kind == RULE_USER ? kernel_user_returns(place) : part > 0;

	return kernel_probe_add_field(layout, "ip", 16, 0) &&
	       (!(returns || place->kind == RULE_FUNCTION) ||
		kernel_probe_add_field(layout, "parent_ip", 16, 0)) &&
	       (!returns || kernel_probe_add_field(layout, "ret", 10, LTT_FIELD_SIGNED));
}

/* As abi/ltt_kmod.h requires: numbers before texts. */
static struct layout *kernel_probe_make_layout(const struct kernel_place *place, uint32_t part)
{
	struct kernel_fetch fetches[LTT_KMOD_ARGS_MAX];
	struct err ignored = { 0 };
	int nr = place->kind == RULE_USER ? kernel_user_fetches(place, fetches, &ignored) :
					    fetches_of(place, part, fetches, &ignored);
	struct layout *layout =
		nr < 0 ? NULL : layout_new(3 + (uint32_t)nr, 0, 64 + (size_t)nr * FETCH_NAME_MAX);
	bool fine = layout && add_own(layout, place, part);

	for (int texts = 0; texts < 2; texts++)
		for (int i = 0; i < nr && fine; i++)
			if ((fetches[i].arg.kind != LTT_KMOD_ARG_NUMBER) == texts)
				fine = kernel_fetch_describe(&fetches[i], layout);
	return fine ? layout : layout_free(layout);
}

/* Return: a reference; NULL: it can't be described. */
static struct shape *kernel_probe_make_shape(struct kernel_domain *kernel, const struct rule *rule,
					     const struct kernel_place *place, uint32_t part)
{
	AUTO_FREE char *name =
		xasprintf("%s%s", rule->pattern, suffix(rule->kind, part));
	struct shape *shape = NULL;
	struct shape_facts facts = {
		.name = name,
		.kind = SHAPE_KERNEL,
		.loglevel = SHAPE_NO_LEVEL,
		.format = "",
	};
	const char *why;

	facts.layout = kernel_probe_make_layout(place, part);
	if (facts.layout)
		shape = shape_get(&kernel->recorder->shapes, &facts, &why);
	layout_free(facts.layout);
	return shape;
}

struct shape *kernel_probe_shape(struct kernel_domain *kernel, struct kernel_probe *probe,
				 uint32_t part)
{
	const struct kernel_place place = kernel_place_of(probe->rule);

	if (!probe->shapes[part])
		probe->shapes[part] = kernel_probe_make_shape(kernel, probe->rule, &place, part);
	return probe->shapes[part];
}

static void kernel_probe_describe_field(struct ltt_kmod_field *ret,
					const struct layout_field *field)
{
	ret->size = sizeof(*ret);
	ret->kind = field->kind;
	ret->size_bits = field->size_bits;
	ret->base = field->base;
	ret->flags = field->flags;
	snprintf(ret->name, sizeof(ret->name), "%s", field->name);
}

struct ltt_kmod_description *kernel_probe_describe(const struct shape *shape)
{
	const struct layout *layout = shape->layout;
	struct ltt_kmod_description *description =
		xalloc(sizeof(*description) + layout->nr_fields * sizeof(struct ltt_kmod_field));
	struct ltt_kmod_field *fields = (struct ltt_kmod_field *)(description + 1);

	description->size = sizeof(*description);
	description->nr_fields = layout->nr_fields;
	description->fields = (uint64_t)(uintptr_t)fields;
	snprintf(description->name, sizeof(description->name), "%s", shape->name);
	for (uint32_t i = 0; i < layout->nr_fields; i++)
		kernel_probe_describe_field(&fields[i], &layout->fields[i]);
	return description;
}

static bool same_name(const struct rule *a, uint32_t part_a, const struct rule *b, uint32_t part_b)
{
	AUTO_FREE char *x = xasprintf("%s%s", a->pattern, suffix(a->kind, part_a));
	AUTO_FREE char *y = xasprintf("%s%s", b->pattern, suffix(b->kind, part_b));

	return strcmp(x, y) == 0;
}

int kernel_check_rule_in(struct domain_tracer *domain, const struct channel *channel,
			 const struct rule_spec *spec, struct err *err)
{
	const struct rule asked = { .pattern = (char *)spec->pattern, .kind = spec->kind };
	const struct rule *rule;

	(void)domain;
	list_for_each(rule, &channel->rules, node)
		for (uint32_t i = 0; i < 4; i++)
			if (rule->enabled && !rule_is(rule, spec) &&
			    !rule_is_outdated(rule, spec) &&
			    i / 2 < kernel_probe_parts(rule->kind) &&
			    i % 2 < kernel_probe_parts(spec->kind) &&
			    same_name(rule, i / 2, &asked, i % 2))
				return err_set(
					err, ERR_INVALID,
					"channel '%s' has an event of that name, at '%.100s': "
					"choose another name",
					channel->name, rule->location);
	return 0;
}

bool kernel_probe_shared(struct kernel_domain *kernel, const struct kernel_channel *kc,
			 struct kernel_probe *probe, uint32_t part)
{
	const struct shape *shape = kernel_probe_shape(kernel, probe, part);

	for (uint32_t i = 0; i < kc->nr_probes; i++) {
		struct kernel_probe *other = kc->probes[i];

		for (uint32_t p = 0; p < kernel_probe_parts(other->rule->kind); p++)
			if (other != probe && other->rule->enabled &&
			    kernel_probe_shape(kernel, other, p) == shape)
				return true;
	}
	return false;
}

/*
 * Rules about places in a program. The client finds the places, as the daemon reads no
 * program; they are valid for the same version of the file only.
 */

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
	       stat_mtime_ns(&st) == identity->mtime_ns;
}

int kernel_user_send(const struct kmod *kmod, int module, uint32_t id,
		     const struct kernel_place *place, struct err *err)
{
	struct user_request *request AUTO_FREE = xalloc(sizeof(*request));
	struct identity identity;
	AUTO_FD int fd = -1;

	if (kernel_user_make_request(place, request, &identity, err))
		return -EINVAL;
	fd = confine_open(place->file, O_RDONLY);
	if (fd == -ENOENT)
		return -ESTALE;
	if (fd < 0)
		return fd;
	if (!kernel_user_is_same(fd, &identity))
		return -ESTALE;
	request->probe.fd = fd;
	request->probe.id = id;
	request->probe.filter = (uint64_t)(uintptr_t)place->filter;
	request->probe.description = (uint64_t)(uintptr_t)place->description;
	request->probe.fire = (uint64_t)(uintptr_t)place->fire;
	return kmod_call(kmod, module, LTT_KMOD_USER_PROBE, &request->probe);
}

bool kernel_probe_fits(struct kernel_domain *kernel, struct kernel_probe *probe, const char *places)
{
	struct user_request *request AUTO_FREE = xalloc(sizeof(*request));
	struct kernel_place place = kernel_place_of(probe->rule);
	struct identity ignored;
	struct err err = { 0 };
	struct shape *shape;

	place.places = places;
	if (kernel_user_make_request(&place, request, &ignored, &err))
		return false;
	shape = kernel_probe_make_shape(kernel, probe->rule, &place, 0);
	shape_unref(&kernel->recorder->shapes, shape);
	return shape && shape == kernel_probe_shape(kernel, probe, 0);
}
