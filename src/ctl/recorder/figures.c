/* SPDX-License-Identifier: GPL-2.0-only */
#include "figures.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cost.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"

#define NS 1e9

struct sample {
	struct ltt_ctl_session_status *status;
	uint64_t at_ns;
};

static uint64_t figures_clock_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void sample_fini(struct sample *sample)
{
	ltt_ctl_status_free(sample->status);
}

/* The counters are read between the two times: in the middle, as far as can be known. */
static int sample_take(struct ctl *ctl, const char *session, struct sample *ret)
{
	uint64_t before = figures_clock_ns(CLOCK_MONOTONIC);
	int code = ltt_ctl_status(ctl->library, session, &ret->status);

	if (ctl_done(ctl, code, &ctl->err) != 0)
		return ctl->err.code;
	ret->at_ns = before + (figures_clock_ns(CLOCK_MONOTONIC) - before) / 2;
	for (size_t i = 0; i < ret->status->nr_channels; i++)
		if (!ret->status->channels[i]->totals)
			return err_set(&ctl->err, ERR_CONSUMER,
				       "the consumer daemon does not reply, so that its figures are "
				       "missing: use 'lttctl recorder status' again");
	return 0;
}

/* --- processor time of the daemons ---------------------------------------------------- */

static uint64_t figures_process_ns(uint32_t pid)
{
	clockid_t clock;

	return pid && clock_getcpuclockid((pid_t)pid, &clock) == 0 ? figures_clock_ns(clock) : 0;
}

static uint64_t figures_daemons_ns(uint32_t sessiond, const struct ltt_ctl_consumers *consumers)
{
	uint64_t sum = figures_process_ns(sessiond);

	for (size_t i = 0; i < consumers->nr; i++)
		sum += figures_process_ns(consumers->consumers[i]->pid);
	return sum;
}

/* --- rates ------------------------------------------------------------------------------ */

static const struct ltt_ctl_channel *figures_channel(const struct sample *sample,
						     const struct ltt_ctl_channel *like)
{
	for (size_t i = 0; i < sample->status->nr_channels; i++) {
		const struct ltt_ctl_channel *c = sample->status->channels[i];

		if (c->domain == like->domain && strcmp(c->name, like->name) == 0)
			return c;
	}
	return NULL;
}

/* Since @before; of a buffer that is new, all. */
static uint64_t figures_ring_bytes(const struct ltt_ctl_channel *before,
				   const struct ltt_ctl_ring *ring)
{
	for (size_t i = 0; before && i < before->nr_rings; i++) {
		const struct ltt_ctl_ring *old = before->rings[i];

		if (old->buffer == ring->buffer && old->cpu == ring->cpu)
			return (ring->bytes - old->bytes) % LTT_CTL_RING_BYTES;
	}
	return ring->bytes;
}

/* The buffer with the most events reaches back least. */
static struct json_object *figures_of_channel(const struct ltt_ctl_channel *before,
					      const struct ltt_ctl_channel *c, uint64_t ns)
{
	uint64_t size = c->subbuf_size * c->num_subbuf, bytes = 0, most = 0;
	uint64_t old = before ? before->totals->recorded : 0;
	uint64_t events = c->totals->recorded - MIN(c->totals->recorded, old);
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < c->nr_rings; i++) {
		uint64_t more = figures_ring_bytes(before, c->rings[i]);

		bytes += more;
		most = MAX(most, more);
	}
	json_set_str(o, "domain", json_domain(c->domain));
	json_set_num(o, "size", size);
	json_set_num(o, "memory", c->memory);
	json_set_num(o, "events", events);
	json_set_num(o, "bytes", bytes);
	json_set_num(o, "per_second", (uint64_t)((double)events * NS / (double)ns + 0.5));
	json_set_num(o, "bytes_per_second", (uint64_t)((double)bytes * NS / (double)ns + 0.5));
	json_set_num(o, "event_ns", cost_of(c->domain));
	json_set_num(o, "reach_ns",
		     most ? (uint64_t)((double)size * (double)ns / (double)most) : 0);
	return o;
}

static void figures_sleep(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

/* The daemons' answers to the two requests are outside of the time that is measured. */
int figures_measure(struct ctl *ctl, const char *session, uint64_t period_ns,
		    struct json_object *ret)
{
	struct sample before CLEANUP(sample_fini) = { 0 }, after CLEANUP(sample_fini) = { 0 };
	uint32_t sessiond = ltt_ctl_daemon(ctl->library)->pid;
	struct ltt_ctl_consumers *consumers;
	uint64_t memory = 0, daemons, used, begin, ns;

	if (ctl_done(ctl, ltt_ctl_list_consumers(ctl->library, &consumers), &ctl->err) != 0)
		return ctl->err.code;
	if (sample_take(ctl, session, &before) == 0) {
		begin = figures_clock_ns(CLOCK_MONOTONIC);
		daemons = figures_daemons_ns(sessiond, consumers);
		figures_sleep(period_ns);
		used = figures_daemons_ns(sessiond, consumers);
		ns = figures_clock_ns(CLOCK_MONOTONIC) - begin;
		json_set_num(ret, "period_ns", ns);
		/* one of them may have been killed */
		json_set_num(ret, "daemons_ns", used - MIN(used, daemons));
		(void)!sample_take(ctl, session, &after);
	}
	ltt_ctl_consumers_free(consumers);
	if (ctl->err.code)
		return ctl->err.code;
	for (size_t i = 0; i < after.status->nr_channels; i++) {
		const struct ltt_ctl_channel *c = after.status->channels[i];

		memory += c->memory;
		json_append(ret, "channels",
			    figures_of_channel(figures_channel(&before, c), c,
					       MAX(after.at_ns - before.at_ns, (uint64_t)1)));
	}
	json_set_num(ret, "memory", memory);
	return 0;
}
