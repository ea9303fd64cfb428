/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe.c - rules about a place in the kernel: its address, the names and fields of its events,
 * and whether the module can put a probe there.
 */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fetch.h"
#include "session.h"
#include "user.h"

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

/* SYMBOL, SYMBOL+OFFSET or 0xADDRESS. */
static bool kernel_probe_parse(const char *location, struct ltt_kmod_probe *ret)
{
	const char *plus = strchr(location, '+');
	size_t len = plus ? (size_t)(plus - location) : strlen(location);

	if (*location >= '0' && *location <= '9')
		return kernel_probe_parse_number(location, &ret->address) && ret->address;
	if (len == 0 || len >= sizeof(ret->symbol))
		return false;
	memcpy(ret->symbol, location, len);
	return !plus || kernel_probe_parse_number(plus + 1, &ret->offset);
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
	return (struct kernel_place){ rule->kind, rule->location, rule->fetch,
				      rule->file, rule->places,	  NULL };
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
			       "'%.100s' is not a place in the kernel: SYMBOL, SYMBOL+OFFSET or "
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
		      const struct kernel_place *place, uint32_t part, struct err *err)
{
	struct request request;

	if (place->kind == RULE_USER)
		return kernel_user_send(kmod, module, id, place, err);
	if (kernel_probe_make_request(place, part, &request, err))
		return -EINVAL;
	request.probe.id = id;
	request.probe.filter = (uint64_t)(uintptr_t)place->filter;
	return kmod_call(kmod, module, LTT_KMOD_PROBE, &request.probe);
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
	case EILSEQ:
		return "this is not the beginning of an instruction";
	case EOPNOTSUPP:
	case ENOSYS:
		return "this kernel was built without probes";
	}
	return strerror(error);
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
		spec->kind, spec->location, spec->fetch ? spec->fetch : "",
		spec->file, spec->places,   NULL
	};
	int ret;

	for (uint32_t i = 0; i < kernel_probe_parts(spec->kind); i++) {
		ret = kernel_probe_send(kernel->kmod, trial, i, &place, i, err);
		if (err->code)
			return err->code;
		if (ret < 0)
			return err_set(err, ERR_NO_EVENT, "can't place a probe at '%.100s': %s",
				       spec->location, kernel_probe_why(-ret));
	}
	return 0;
}

int kernel_check_probe(struct kernel_domain *kernel, const struct rule_spec *spec, struct err *err)
{
	AUTO_FD int trial = kernel_trial(kernel->kmod, 0);

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
static struct layout *kernel_probe_make_layout(const struct rule *rule, uint32_t part)
{
	const struct kernel_place place = kernel_place_of(rule);
	struct kernel_fetch fetches[LTT_KMOD_ARGS_MAX];
	struct err ignored = { 0 };
	int nr = place.kind == RULE_USER ? kernel_user_fetches(&place, fetches, &ignored) :
					   fetches_of(&place, part, fetches, &ignored);
	struct layout *layout =
		nr < 0 ? NULL : layout_new(3 + (uint32_t)nr, 0, 64 + (size_t)nr * FETCH_NAME_MAX);
	bool fine = layout && add_own(layout, &place, part);

	for (int texts = 0; texts < 2; texts++)
		for (int i = 0; i < nr && fine; i++)
			if ((fetches[i].arg.kind != LTT_KMOD_ARG_NUMBER) == texts)
				fine = kernel_fetch_describe(&fetches[i], layout);
	return fine ? layout : layout_free(layout);
}

struct shape *kernel_probe_shape(struct kernel_domain *kernel, struct kernel_probe *probe,
				 uint32_t part)
{
	AUTO_FREE char *name =
		xasprintf("%s%s", probe->rule->pattern, suffix(probe->rule->kind, part));
	struct shape_facts facts = {
		.name = name,
		.kind = SHAPE_KERNEL,
		.loglevel = SHAPE_NO_LEVEL,
		.format = "",
	};
	const char *why;

	if (probe->shapes[part])
		return probe->shapes[part];
	facts.layout = kernel_probe_make_layout(probe->rule, part);
	if (facts.layout)
		probe->shapes[part] = shape_get(&kernel->recorder->shapes, &facts, &why);
	layout_free(facts.layout);
	return probe->shapes[part];
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
