/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "guest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "clock.h"
#include "trace/clock_watch.h"
#include "read/view_priv.h"

/** The clock of a guest's trace, or of one of its CPUs. @vcpu: NULL: by @line to the host's
 *  counter. */
struct guest_clock {
	struct guest *guest;
	const struct guest_vcpu *vcpu;
	struct tsc_line line;
};

/** A trace of a guest. The clocks are those of its virtual CPUs, or one if it is
 *  CLOCK_MONOTONIC. */
struct guest_trace {
	struct guest *guest;
	struct ctf_clock *shown;
	struct guest_clock *clocks;
	size_t nr;
	uint64_t uncertainty_ns;
};

/* --- arguments ------------------------------------------------------------------------ */

/* DIR may contain colons. */
static const char *word_pid(const char *word, uint64_t *ret)
{
	const char *colon = strrchr(word, ':');

	if (!colon || colon == word || parse_u64(colon + 1, ret) != 0 || !*ret || *ret > INT32_MAX)
		return NULL;
	return colon;
}

int guest_check_word(const char *word, struct err *err)
{
	uint64_t pid;

	if (word_pid(word, &pid))
		return 0;
	return err_set(err, ERR_INVALID,
		       "--guest=%s: this is not DIR:PID, the directory of a guest's trace and the "
		       "process on the host that runs the guest",
		       word);
}

static void add_guest(struct guests *guests, const char *word)
{
	struct guest *guest = &guests->guests[guests->nr];
	const char *colon = word_pid(word, &guest->pid);

	if (!colon)
		return;
	guest->word = word;
	guest->dir = xasprintf("%.*s", (int)(colon - word), word);
	guests->nr++;
}

/* --- virtual CPUs --------------------------------------------------------------------- */

static struct guest_vcpu *find_vcpu(struct guest *guest, uint32_t number)
{
	for (size_t i = 0; i < guest->nr_vcpus; i++)
		if (guest->vcpus[i].number == number)
			return &guest->vcpus[i];
	return NULL;
}

static struct guest_vcpu *find_or_add_vcpu(struct guest *guest, uint32_t number)
{
	struct guest_vcpu *vcpu = find_vcpu(guest, number);
	size_t nr = guest->nr_vcpus;

	if (vcpu || nr == GUEST_VCPUS_MAX)
		return vcpu;
	if (!(nr & (nr - 1))) /* full at each power of two */
		guest->vcpus = xrealloc(guest->vcpus, MAX(2 * nr, (size_t)1) * sizeof(*vcpu));
	vcpu = &guest->vcpus[guest->nr_vcpus++];
	*vcpu = (struct guest_vcpu){ .number = number };
	return vcpu;
}

/* From an instant on; the one before was in force until @until. */
static void add_scale(struct guest *guest, struct guest_vcpu *vcpu, const struct tsc_scale *scale,
		      uint64_t until)
{
	size_t nr = vcpu->nr;

	if (nr == GUEST_SCALES_MAX) {
		guest->lost_scales = true;
		return;
	}
	if (nr)
		vcpu->scales[nr - 1].to = until;
	if (!(nr & (nr - 1))) /* full at each power of two */
		vcpu->scales = xrealloc(vcpu->scales, MAX(2 * nr, (size_t)1) * sizeof(*scale));
	vcpu->scales[nr] = *scale;
	vcpu->nr++;
}

static const struct tsc_scale *last_scale(const struct guest_vcpu *vcpu)
{
	return vcpu->nr ? &vcpu->scales[vcpu->nr - 1] : NULL;
}

/* The ratio of a guest that was changed before its first state dump is in that. */
static void assume_ratio(struct guest_vcpu *vcpu, const struct tsc_scale *scale)
{
	for (size_t i = 0; vcpu->assumed && i < vcpu->nr; i++) {
		vcpu->scales[i].ratio = scale->ratio;
		vcpu->scales[i].frac_bits = scale->frac_bits;
	}
	vcpu->assumed = false;
}

/* A change that no event has was between the two dumps. */
static void take_dump(struct guest *guest, uint32_t number, const struct tsc_scale *scale)
{
	struct guest_vcpu *vcpu = find_or_add_vcpu(guest, number);
	const struct tsc_scale *last;
	struct tsc_scale next = *scale;

	if (!vcpu)
		return;
	assume_ratio(vcpu, scale);
	last = last_scale(vcpu);
	if (!last || last->offset != scale->offset || last->ratio != scale->ratio ||
	    last->frac_bits != scale->frac_bits) {
		if (last)
			next.from = vcpu->seen;
		add_scale(guest, vcpu, &next, scale->from);
	}
	vcpu->seen = scale->from;
}

static void take_write(struct guest *guest, uint32_t number, uint64_t before, uint64_t offset,
		       uint64_t now)
{
	struct guest_vcpu *vcpu = find_or_add_vcpu(guest, number);
	struct tsc_scale next = { .from = now, .to = UINT64_MAX, .offset = offset, .ratio = 1 };
	const struct tsc_scale *last;

	if (!vcpu)
		return;
	if (!vcpu->nr) {
		struct tsc_scale first = next;

		first.offset = before;
		vcpu->assumed = true;
		add_scale(guest, vcpu, &first, now);
	}
	last = last_scale(vcpu);
	vcpu->seen = now;
	if (!last || last->offset == offset)
		return;
	next.ratio = last->ratio;
	next.frac_bits = last->frac_bits;
	add_scale(guest, vcpu, &next, now);
}

/* --- the host's events ---------------------------------------------------------------- */

/** An event about a virtual CPU. @pid: 0: unknown. @before: the offset before a change. */
struct vcpu_event {
	uint64_t pid, number, before;
	bool is_dump;
	struct tsc_scale scale;
};

static bool take_number(const struct event *event, const char *name, uint64_t *ret)
{
	const struct value *value = value_member(event->fields, name);

	if (!value || value->type->kind != TYPE_INT)
		return false;
	*ret = value->u;
	return true;
}

/* Return: 0; -EINVAL: it is another event; -EDOM: its scale is impossible. */
static int read_vcpu_event(const struct event *event, struct vcpu_event *ret)
{
	struct tsc_scale *scale = &ret->scale;
	uint64_t bits = 0;

	*ret = (struct vcpu_event){ .scale = { .ratio = 1, .to = UINT64_MAX } };
	ret->is_dump = strcmp(event->ec->name, "lttng_statedump_kvm_vcpu") == 0;
	if (!ret->is_dump) {
		ret->pid = event->task.pid ? event->task.pid->u : 0;
		return take_number(event, "vcpu_id", &ret->number) &&
				       take_number(event, "previous_tsc_offset", &ret->before) &&
				       take_number(event, "next_tsc_offset", &scale->offset) ?
			       0 :
			       -EINVAL;
	}
	if (!take_number(event, "pid", &ret->pid) || !take_number(event, "vcpu", &ret->number) ||
	    !take_number(event, "tsc_offset", &scale->offset) ||
	    !take_number(event, "tsc_scaling_ratio", &scale->ratio) ||
	    !take_number(event, "tsc_scaling_ratio_frac_bits", &bits))
		return -EINVAL;
	scale->frac_bits = (uint32_t)MIN(bits, (uint64_t)UINT32_MAX);
	return scale->ratio && bits <= TSC_FRAC_BITS_MAX ? 0 : -EDOM;
}

/* Without the context pid a change is that of the CPU with this number and this offset. */
static bool is_of_guest(struct guest *guest, const struct vcpu_event *event)
{
	const struct guest_vcpu *vcpu;
	const struct tsc_scale *last;

	if (event->pid)
		return event->pid == guest->pid;
	vcpu = find_vcpu(guest, (uint32_t)event->number);
	last = vcpu ? last_scale(vcpu) : NULL;
	return last && last->offset == event->before;
}

/* The clock of the trace then goes on, so it is no longer the counter. */
static void note_went_back(struct guest *guest, const struct metadata_remarks *remarks)
{
	for (size_t i = 0; i < remarks->nr_clocks; i++)
		guest->went_back = guest->went_back || clock_went_back(&remarks->clocks[i]);
}

static int set_host(struct guest *guest, const struct source *source, struct err *err)
{
	const char *clock = source->tc->clocks ? source->tc->clocks->name : "";
	const struct metadata_remarks *remarks = &source->remarks;

	guest->source = source;
	note_went_back(guest, remarks);
	if (strcmp(clock, "tsc") == 0)
		return 0;
	if (strcmp(clock, "monotonic") != 0)
		return err_set(err, ERR_INVALID,
			       "--guest=%s: the clock of the host's trace is '%s'; times of guests "
			       "follow from 'tsc' and 'monotonic' only",
			       guest->word, clock);
	guest->line.pairs = xalloc((remarks->nr_pairs + 1) * sizeof(*guest->line.pairs));
	if (remarks->nr_pairs)
		memcpy(guest->line.pairs, remarks->pairs,
		       remarks->nr_pairs * sizeof(*guest->line.pairs));
	guest->line.nr = tsc_line_tidy(guest->line.pairs, remarks->nr_pairs);
	if (guest->line.nr >= 2)
		return 0;
	return err_set(
		err, ERR_INVALID,
		"--guest=%s: the host's trace does not compare its clock with the time stamp "
		"counter; record it by a session daemon of this version, on x86-64",
		guest->word);
}

static bool is_same_host(const struct source *a, const struct source *b)
{
	const char *x = trace_class_env(a->tc, "hostname"), *y = trace_class_env(b->tc, "hostname");

	return a == b || (strcmp(x ? x : "", y ? y : "") == 0 && b->tc->clocks &&
			  strcmp(a->tc->clocks->name, b->tc->clocks->name) == 0);
}

static int take_vcpu_event(struct guest *guest, const struct source *source, uint64_t value,
			   const struct vcpu_event *event, bool is_possible, struct err *err)
{
	struct tsc_scale scale = event->scale;

	if (!is_of_guest(guest, event))
		return 0;
	if (!is_possible)
		return err_set(err, ERR_INVALID,
			       "--guest=%s: the host's trace has %s for the counter of virtual CPU "
			       "%" PRIu64,
			       guest->word, scale.ratio ? "an impossible ratio" : "the ratio 0",
			       event->number);
	if (!guest->source && set_host(guest, source, err) != 0)
		return err->code;
	if (!is_same_host(guest->source, source))
		return err_set(err, ERR_INVALID,
			       "--guest=%s: several hosts have a process %" PRIu64
			       " with virtual CPUs; view the trace of one host",
			       guest->word, guest->pid);
	scale.from = tsc_line_counter(&guest->line, value);
	if (event->is_dump)
		take_dump(guest, (uint32_t)event->number, &scale);
	else
		take_write(guest, (uint32_t)event->number, event->before, scale.offset, scale.from);
	return 0;
}

/* --- processes that were seen, for a message ------------------------------------------- */

#define PIDS_SHOWN 16u

struct seen_pids {
	uint64_t pids[PIDS_SHOWN];
	size_t nr;
	bool more;
};

static void note_pid(struct seen_pids *seen, uint64_t pid)
{
	for (size_t i = 0; i < seen->nr; i++)
		if (seen->pids[i] == pid)
			return;
	if (!pid || seen->nr == PIDS_SHOWN)
		seen->more = seen->more || pid;
	else
		seen->pids[seen->nr++] = pid;
}

static int unknown_pid(const struct guest *guest, const struct seen_pids *seen, struct err *err)
{
	char text[PIDS_SHOWN * 24] = "";
	size_t len = 0;

	for (size_t i = 0; i < seen->nr; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%" PRIu64, i ? ", " : "",
					seen->pids[i]);
	if (!seen->nr)
		return err_set(
			err, ERR_INVALID,
			"--guest=%s: the host's trace has no virtual CPUs; record "
			"lttng_statedump_kvm_vcpu of its kernel (x86-64) while the guest runs",
			guest->word);
	return err_set(err, ERR_INVALID,
		       "--guest=%s: process %" PRIu64 " has no virtual CPUs in the host's trace; "
		       "those that have: %s%s",
		       guest->word, guest->pid, text, seen->more ? " and others" : "");
}

/* --- the pass over the host's trace ---------------------------------------------------- */

static const struct view_select vcpu_events = {
	.names = "lttng_statedump_kvm_vcpu,kvm_write_tsc_offset",
	.names_only = true,
};

/* Programs may give any name to their events. */
static bool is_of_kernel(const struct event *event)
{
	const char *domain = trace_class_env(event->source->tc, "domain");

	return domain && strcmp(domain, "kernel") == 0;
}

static int read_vcpus(struct guests *guests, struct seen_pids *seen, struct err *err)
{
	struct vcpu_event one;
	struct event event;
	int r;

	while ((r = event_next(guests->host, &vcpu_events, &event)) > 0) {
		uint64_t value = guests->host->current->reader.clock;
		int read = is_of_kernel(&event) ? read_vcpu_event(&event, &one) : -EINVAL;

		if (read == -EINVAL)
			continue;
		note_pid(seen, one.pid);
		for (size_t i = 0; i < guests->nr; i++)
			if (take_vcpu_event(&guests->guests[i], event.source, value, &one, !read,
					    err) != 0)
				return err->code;
	}
	return r < 0 ? err_errno(err, ERR_OUTPUT, -r, "can't read the host's trace") : 0;
}

/* Called before and after the pass. */
static void span_host(struct guests *guests, bool is_begin)
{
	for (size_t i = 0; i < guests->host->nr_sources; i++) {
		const struct source *source = guests->host->sources[i];

		for (uint32_t k = 0; k < source->nr_feeds; k++) {
			const struct feed *feed = source->feeds[k];

			if (is_begin && feed->window.limit)
				guests->begin_ns = MIN(guests->begin_ns, feed->ns);
			else if (!is_begin && feed->clock && feed->last_clock)
				guests->end_ns = MAX(guests->end_ns,
						     clock_ns(feed->clock, feed->last_clock));
		}
		guests->end_ns = MAX(guests->end_ns, source->until_ns);
	}
}

/* If the CPUs have one counter, it doesn't matter by which of them a clock is read. */
static void compare_vcpus(struct guest *guest)
{
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		const struct guest_vcpu *vcpu = &guest->vcpus[i];

		if (!vcpu->nr || last_scale(vcpu)->offset != last_scale(guest->vcpus)->offset)
			guest->differ = true;
	}
}

static int read_host(struct guests *guests, struct err *err)
{
	struct seen_pids seen = { .nr = 0 };
	int r = view_peek(guests->host, NULL);

	if (r < 0)
		return err_errno(err, ERR_OUTPUT, -r, "can't read the host's trace");
	span_host(guests, true);
	if (read_vcpus(guests, &seen, err) != 0)
		return err->code;
	span_host(guests, false);
	for (size_t i = 0; i < guests->nr; i++) {
		if (!guests->guests[i].source)
			return unknown_pid(&guests->guests[i], &seen, err);
		compare_vcpus(&guests->guests[i]);
	}
	return 0;
}

int guests_open(const char *host_dir, bool relay_clock, char *const *words, struct guests **ret,
		struct err *err)
{
	struct guests *guests = xalloc(sizeof(*guests));
	size_t nr = 0;
	int rc;

	while (words[nr])
		nr++;
	guests->begin_ns = INT64_MAX;
	guests->end_ns = INT64_MIN;
	guests->guests = xalloc((nr + 1) * sizeof(*guests->guests));
	for (size_t i = 0; i < nr; i++)
		add_guest(guests, words[i]);
	rc = (relay_clock ? view_open_relay : view_open)(host_dir, NULL, NULL, &guests->host);
	if (rc)
		view_open_failed(host_dir, rc, err);
	if (rc || read_host(guests, err) != 0) {
		guests_free(guests);
		return err->code;
	}
	*ret = guests;
	return 0;
}

void guests_free(struct guests *guests)
{
	if (!guests)
		return;
	for (size_t i = 0; i < guests->nr; i++) {
		struct guest *guest = &guests->guests[i];

		for (size_t k = 0; k < guest->nr_vcpus; k++)
			free(guest->vcpus[k].scales);
		free(guest->vcpus);
		free(guest->line.pairs);
		free(guest->dir);
	}
	free(guests->guests);
	view_free(guests->host);
	free(guests);
}

/* --- traces of a guest ------------------------------------------------------------------ */

int64_t guest_clock_ns(const struct guest_clock *clock, uint64_t value)
{
	struct guest *guest = clock->guest;
	uint64_t counter = clock->vcpu ?
				   tsc_to_host_by(clock->vcpu->scales, clock->vcpu->nr, value) :
				   tsc_line_counter(&clock->line, value);
	int64_t ns = clock_ns(guest->source->tc->clocks, tsc_line_value(&guest->line, counter));

	guest->first_ns = guest->any ? MIN(guest->first_ns, ns) : ns;
	guest->last_ns = guest->any ? MAX(guest->last_ns, ns) : ns;
	guest->any = true;
	return ns;
}

/* By how many ns of the host the counters of two of its CPUs differ. */
static uint64_t apart_ns(const struct guest *guest)
{
	const struct ctf_clock *clock = guest->source->tc->clocks;
	uint64_t least = UINT64_MAX, most = 0, base = last_scale(guest->vcpus)->offset;

	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		uint64_t offset = last_scale(&guest->vcpus[i])->offset - base + INT64_MAX;

		least = MIN(least, offset);
		most = MAX(most, offset);
	}
	return (uint64_t)clock_cycles_to_ns(clock->freq,
					    tsc_line_value(&guest->line, most - least) -
						    tsc_line_value(&guest->line, 0));
}

static void add_clock_by_vcpu(struct guest_trace *trace, const struct guest_vcpu *vcpu,
			      const struct ctf_clock *own)
{
	size_t i = trace->nr++;

	trace->clocks[i] = (struct guest_clock){ .guest = trace->guest, .vcpu = vcpu };
	trace->shown[i] = *own;
	trace->shown[i].indirect = true;
	trace->shown[i].guest = &trace->clocks[i];
}

/* The pairs, by the host's counter. Which CPU read the guest's is unknown. */
static bool set_line(struct guest_trace *trace, const struct metadata_remarks *remarks)
{
	const struct guest_vcpu *vcpu = trace->guest->vcpus;
	struct tsc_line *line = &trace->clocks[0].line;

	trace->clocks[0].vcpu = NULL;
	line->pairs = xalloc((remarks->nr_pairs + 1) * sizeof(*line->pairs));
	for (size_t i = 0; i < remarks->nr_pairs; i++) {
		line->pairs[i] = remarks->pairs[i];
		line->pairs[i].counter =
			tsc_to_host_by(vcpu->scales, vcpu->nr, remarks->pairs[i].counter);
	}
	line->nr = tsc_line_tidy(line->pairs, remarks->nr_pairs);
	return line->nr >= 2;
}

static int refuse_trace(struct guests *guests, const struct guest *guest,
			const struct source *source, const char *why)
{
	err_set(&guests->err, ERR_INVALID, "--guest=%s: %s: %s", guest->word, source->label, why);
	return -EPROTO;
}

/* Rounding: of the counter's value, of the host's, and of the time. */
#define ROUNDING_NS 2u

static int set_clocks(struct guests *guests, struct guest_trace *trace, const struct source *source)
{
	const struct ctf_clock *own = source->tc->clocks;
	struct guest *guest = trace->guest;

	trace->uncertainty_ns = ROUNDING_NS + tsc_line_error_ns(&guest->line);
	note_went_back(guest, &source->remarks);
	if (!own || own->next ||
	    (strcmp(own->name, "tsc") != 0 && strcmp(own->name, "monotonic") != 0))
		return refuse_trace(guests, guest, source,
				    "its clock is neither 'tsc' nor 'monotonic'; times of other "
				    "clocks can't be converted to the host's");
	if (strcmp(own->name, "tsc") == 0) {
		for (size_t i = 0; i < guest->nr_vcpus; i++)
			add_clock_by_vcpu(trace, &guest->vcpus[i], own);
		return 0;
	}
	add_clock_by_vcpu(trace, guest->vcpus, own);
	if (!set_line(trace, &source->remarks))
		return refuse_trace(guests, guest, source,
				    "it does not compare its clock with the time stamp counter; "
				    "record it by a session daemon of this version, on x86-64");
	trace->uncertainty_ns +=
		tsc_line_error_ns(&trace->clocks[0].line) + (guest->differ ? apart_ns(guest) : 0);
	return 0;
}

int guest_trace_new(struct guests *guests, struct guest *guest, struct source *source)
{
	struct guest_trace *trace = xalloc(sizeof(*trace));
	char *host = source->host;
	int r;

	trace->guest = guest;
	trace->clocks = xalloc((guest->nr_vcpus + 1) * sizeof(*trace->clocks));
	trace->shown = xalloc((guest->nr_vcpus + 1) * sizeof(*trace->shown));
	source->guest = trace;
	r = set_clocks(guests, trace, source);
	if (r < 0)
		return r;
	guest->uncertainty_ns = MAX(guest->uncertainty_ns, trace->uncertainty_ns);
	source->host = xasprintf("guest(%" PRIu64 ")%s%s", guest->pid, *host ? ":" : "", host);
	free(host);
	return 0;
}

void guest_trace_free(struct guest_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->nr; i++)
		free(trace->clocks[i].line.pairs);
	free(trace->clocks);
	free(trace->shown);
	free(trace);
}

static const struct value *packet_cpu(const struct packet *packet)
{
	const struct value *at = packet->context.at, *end = at + packet->context.nr;

	for (; at < end; at++)
		if (at->field && at->type->kind == TYPE_INT &&
		    strcmp(at->field->shown, "cpu_id") == 0)
			return at;
	return NULL;
}

/* The CPUs of a guest have the numbers of its virtual CPUs. */
const struct ctf_clock *guest_trace_clock(const struct guest_trace *trace,
					  const struct packet *packet)
{
	struct guest *guest = trace->guest;
	const struct value *cpu = packet_cpu(packet);

	if (!packet->sc->clock)
		return NULL;
	for (size_t i = 0; cpu && i < trace->nr; i++)
		if (trace->clocks[i].vcpu && trace->clocks[i].vcpu->number == cpu->u)
			return &trace->shown[i];
	if (trace->clocks[0].vcpu && !guest->unmatched) {
		guest->unmatched = true;
		guest->unmatched_cpu = cpu ? (uint32_t)cpu->u : UINT32_MAX;
	}
	return &trace->shown[0];
}

uint64_t guest_trace_pid(const struct guest_trace *trace)
{
	return trace->guest->pid;
}

uint64_t guest_trace_uncertainty_ns(const struct guest_trace *trace)
{
	return trace->uncertainty_ns;
}
