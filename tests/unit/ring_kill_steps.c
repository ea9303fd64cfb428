// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process dies behind every single instruction of a record. However far the record came, it is
 * there and whole, or counted as lost, or not there at all, with all that was before it; and
 * another process goes on with the same ring.
 *
 * One that is stopped leaves the memory that a killed one leaves, and can continue to its next
 * instruction once its memory is as it was. SIGKILL, which needs a new process and all the
 * instructions before, follows some of them.
 */
#include "lib/tracer/ring_steps.h"

#define AFTER 3
#define KILL_STRIDE 13 /* instructions between two processes that are killed, in a full run */

/* The outcome of the ends of a scenario. */
struct result {
	unsigned int steps; /* that the record takes */
	unsigned int before, behind, lost;
};

/* Return: whether the child was still recording after @steps; it is dead now. */
static int kill_behind(struct ring_steps *b, unsigned int steps)
{
	int busy = 1;
	pid_t pid = ring_steps_child(b);

	for (unsigned int n = 0; busy && n < steps; n++)
		busy = step_child_once(pid);
	step_child_kill(pid);
	return busy;
}

/* @busy: the child had not returned. Return: the number of records that are there. */
static uint64_t check_end(const struct ring_scenario *s, struct ring_steps *b, unsigned int steps,
			  int busy, uint64_t lost_before, struct result *result)
{
	struct totals sum = testset_take_all(&b->t, NULL, NULL);
	uint64_t accounted = sum.count + testset_lost(&sum);

	CHECK(accounted == b->calls || accounted == b->calls + 1,
	      "%s, %u steps: %llu calls, %llu recorded, %llu lost", s->name, steps,
	      (unsigned long long)b->calls, (unsigned long long)sum.count,
	      (unsigned long long)testset_lost(&sum));
	CHECK(!sum.busy && !sum.size, "%s, %u steps: wrong loss", s->name, steps);
	CHECK(busy || accounted == b->calls + 1, "%s: returned and neither recorded nor lost",
	      s->name);
	result->before += accounted == b->calls;
	result->behind += accounted == b->calls + 1;
	result->lost += sum.full > lost_before;
	return sum.count;
}

/* Another process of the user continues to record: every call is in the ring. */
static void go_on(struct ring_steps *b, uint64_t count)
{
	for (int i = 0; i < AFTER; i++)
		ring_steps_record(b, RING_STEPS_LEN);
	struct totals sum = testset_take_all(&b->t, NULL, NULL);
	CHECK(sum.count == count + AFTER, "%llu of %d records afterwards",
	      (unsigned long long)(sum.count - count), AFTER);
}

static void go_on_apart(struct ring_steps *b, uint64_t count)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork");
	if (!pid) {
		go_on(b, count);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "another process: %x", status);
}

static int kill_once(const struct ring_scenario *s, unsigned int steps, struct result *result)
{
	struct ring_steps b;

	ring_steps_make(&b, s);
	uint64_t lost_before = testset_cut(&b.t, b.ring).lost_full;
	int busy = kill_behind(&b, steps);
	uint64_t count = check_end(s, &b, steps, busy, lost_before, result);
	if (!s->exclusive)
		go_on(&b, count);
	ring_steps_free(&b);
	return busy;
}

/* Memory that readers and other producers change, as the child has left it. */
struct left {
	struct testset *t;
	uint64_t data_bytes, ctl_bytes, track_bytes;
	char *data, *ctl, *track;
};

static void left_keep(struct testset *t, struct left *ret)
{
	*ret = (struct left){
		.t = t,
		.data_bytes = ltt_ring_data_bytes(&t->desc),
		.ctl_bytes = ltt_ring_ctl_bytes(&t->desc),
		.track_bytes = t->desc.nr_rings * sizeof(*t->track),
	};
	ret->data = malloc(ret->data_bytes + ret->ctl_bytes + ret->track_bytes);
	CHECK(ret->data, "memory");
	ret->ctl = ret->data + ret->data_bytes;
	ret->track = ret->ctl + ret->ctl_bytes;
	CHECK(pread(t->data_fd, ret->data, ret->data_bytes, 0) == (ssize_t)ret->data_bytes &&
		      pread(t->ctl_fd, ret->ctl, ret->ctl_bytes, 0) == (ssize_t)ret->ctl_bytes,
	      "read: %s", strerror(errno));
	memcpy(ret->track, t->track, ret->track_bytes);
}

static void left_restore(struct left *left)
{
	struct testset *t = left->t;

	CHECK(pwrite(t->data_fd, left->data, left->data_bytes, 0) == (ssize_t)left->data_bytes &&
		      pwrite(t->ctl_fd, left->ctl, left->ctl_bytes, 0) == (ssize_t)left->ctl_bytes,
	      "write: %s", strerror(errno));
	memcpy(t->track, left->track, left->track_bytes);
	free(left->data);
}

/* A child is stopped behind each @stride instructions. */
static void stop_all(const struct ring_scenario *s, unsigned int first, unsigned int stride,
		     struct result *result)
{
	struct ring_steps b;
	struct left left;
	int busy = 1;

	ring_steps_make(&b, s);
	uint64_t lost_before = testset_cut(&b.t, b.ring).lost_full;
	pid_t pid = ring_steps_child(&b);
	for (unsigned int n = 0; busy; n++) {
		CHECK(n < STEP_MAX, "%s: no end in %d steps", s->name, STEP_MAX);
		if (n)
			busy = step_child_once(pid);
		if (busy && n % stride != first)
			continue;
		left_keep(&b.t, &left);
		uint64_t count = check_end(s, &b, n, busy, lost_before, result);
		if (!s->exclusive)
			go_on_apart(&b, count);
		left_restore(&left);
		result->steps = n;
	}
	step_child_kill(pid);
	ring_steps_free(&b);
}

static void all_steps(const struct ring_scenario *s)
{
	struct result stopped = { 0 }, killed = { 0 };
	unsigned int stride = testset_stride();
	/* another part of them in each scenario */
	unsigned int at = (unsigned int)(s - ring_scenarios) % KILL_STRIDE;

	stop_all(s, at % stride, stride, &stopped);
	for (; kill_once(s, at, &killed); at += KILL_STRIDE * stride)
		;
	printf("%-28s ended at %3u steps: %3u before the record was there, %3u behind; killed %u\n",
	       s->name, stopped.steps, stopped.before, stopped.behind,
	       killed.before + killed.behind);
	CHECK(stopped.before * stride > 10 && stopped.behind && killed.before && killed.behind,
	      "%s: no commit between", s->name);
	CHECK((s->place == FULL) == (stopped.lost > 0) && (s->place == FULL) == (killed.lost > 0),
	      "%s: %u times full", s->name, stopped.lost + killed.lost);
}

int main(void)
{
	ring_steps_begin();
	for (size_t i = 0; i < NR_RING_SCENARIOS; i++)
		all_steps(&ring_scenarios[i]);
	return 0;
}
