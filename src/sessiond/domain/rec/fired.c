/* SPDX-License-Identifier: GPL-2.0-only */
#include "fired.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "io/memfile.h"
#include "sessiond/peers/admission.h"
#include "trace/clock.h"

#define FIRED_VERSION 2u
#define FIRED_FDS 3u
#define BATCH_NS 200000		    /* firings that follow so soon are one wake-up */
#define PAUSE_US 1000		    /* of the bell of the kernel */
#define AGAIN_US 100000		    /* claimed records are read again */
#define ABANDON_NS 1000000000ull    /* a process that takes so long was killed */
#define FORGOTTEN_NS 60000000000ull /* and so late it does not write any more */

static const struct recorder_config *fired_config(const struct fired *fired)
{
	return &fired->recorder->config;
}

/* --- the bell ----------------------------------------------------------------------- */

static bool fired_is_stopping(const struct fired *fired)
{
	return __atomic_load_n(&fired->stopping, __ATOMIC_ACQUIRE);
}

static void *fired_listen(void *data)
{
	struct fired *fired = data;
	uint32_t *bell = &fired->memory->bell, *sleeping = &fired->memory->sleeping;
	const struct timespec batch = { 0, BATCH_NS };

	while (!fired_is_stopping(fired)) {
		uint32_t now;

		__atomic_store_n(sleeping, 1, __ATOMIC_SEQ_CST);
		now = __atomic_load_n(bell, __ATOMIC_SEQ_CST);
		if (now == fired->heard) {
			syscall(SYS_futex, bell, FUTEX_WAIT, now, NULL, NULL, 0);
			continue;
		}
		__atomic_store_n(sleeping, 0, __ATOMIC_SEQ_CST);
		fired->heard = now;
		(void)!eventfd_write(fired->event_fd, 1);
		nanosleep(&batch, NULL);
	}
	return NULL;
}

static void fired_on_bell(struct loop_fd *source, uint32_t events)
{
	struct fired *fired = container_of(source, struct fired, rung);
	eventfd_t nr;

	(void)events;
	(void)!eventfd_read(fired->event_fd, &nr);
	fired_scan(fired);
}

/* The memory can be read until the pause is over, so that the loop has turns for all else while
 * events fire all the time. */
static void fired_on_poll(struct loop_fd *source, uint32_t events)
{
	struct fired *fired = container_of(source, struct fired, rung);

	(void)events;
	loop_fd_events(source, 0);
	loop_timer_set(&fired->pause, PAUSE_US);
	fired_scan(fired);
}

static void fired_on_pause_over(struct loop_timer *timer)
{
	struct fired *fired = container_of(timer, struct fired, pause);

	__atomic_store_n(&fired->memory->sleeping, 1, __ATOMIC_SEQ_CST);
	loop_fd_events(&fired->rung, EPOLLIN);
	fired_scan(fired);
}

static int fired_listen_start(struct fired *fired)
{
	int ret;

	if (fired->ops->polls)
		return loop_fd_init(&fired->rung, fired_config(fired)->loop, fired->fd, EPOLLIN,
				    fired_on_poll);
	fired->heard = __atomic_load_n(&fired->memory->bell, __ATOMIC_SEQ_CST);
	fired->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fired->event_fd < 0)
		return -errno;
	ret = loop_fd_init(&fired->rung, fired_config(fired)->loop, fired->event_fd, EPOLLIN,
			   fired_on_bell);
	if (ret == 0)
		ret = thread_start(&fired->thread, fired_listen, fired);
	if (ret < 0) {
		loop_fd_fini(&fired->rung);
		fired->event_fd = close_fd(fired->event_fd);
	}
	return ret;
}

/* An application may reset the bell, so the thread is woken until it has ended. */
static void fired_listen_stop(struct fired *fired)
{
	const struct timespec pause = { 0, 100000 };

	if (fired->ops->polls) {
		loop_fd_fini(&fired->rung);
		loop_timer_cancel(&fired->pause);
	}
	if (fired->event_fd < 0)
		return;
	__atomic_store_n(&fired->stopping, true, __ATOMIC_RELEASE);
	do {
		__atomic_add_fetch(&fired->memory->bell, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &fired->memory->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
		nanosleep(&pause, NULL);
	} while (pthread_tryjoin_np(fired->thread, NULL) == EBUSY);
	loop_fd_fini(&fired->rung);
	fired->event_fd = close_fd(fired->event_fd);
}

/* --- slots -------------------------------------------------------------------------- */

static uint64_t fired_word(const struct fired *fired, uint32_t slot)
{
	return __atomic_load_n(&fired->memory->slot[slot].fired, __ATOMIC_SEQ_CST);
}

uint32_t fired_slot_find(const struct fired *fired, const struct trigger *trigger)
{
	for (uint32_t i = 0; i < LTT_FIRED_SLOTS; i++)
		if (fired->triggers[i] == trigger)
			return i;
	return FIRED_NO_SLOT;
}

static uint32_t fired_slot_known(const struct fired *fired, const struct trigger *trigger)
{
	for (uint32_t i = 0; i < LTT_FIRED_SLOTS; i++)
		if (!fired->triggers[i] && fired->journal->slot[i].trigger == trigger->id)
			return i;
	return FIRED_NO_SLOT;
}

static struct fired_ledger *fired_ledger(const struct fired *fired, uint32_t slot)
{
	struct fired_slot *journal = &fired->journal->slot[slot];

	return &journal->ledger[journal->current & 1];
}

static void fired_write_ledger(struct fired *fired, uint32_t slot, uint64_t done)
{
	struct fired_slot *journal = &fired->journal->slot[slot];
	const struct trigger *trigger = fired->triggers[slot];
	uint64_t next = journal->current + 1;
	struct fired_ledger *ledger = &journal->ledger[next & 1];

	ledger->done = done;
	ledger->fired = trigger->fired;
	ledger->delivered = trigger->delivered;
	ledger->suppressed = trigger->suppressed;
	ledger->unrecorded = trigger->unrecorded;
	for (uint32_t i = 0; i < trigger->nr_actions; i++) {
		const struct trigger_action *action = &trigger->actions[i];

		ledger->actions[i] = (struct fired_action){ action->ran, action->failed,
							    action->joined, action->busy };
	}
	__atomic_store_n(&journal->current, next, __ATOMIC_SEQ_CST);
}

/* The saved state of a daemon that was killed may be older. */
static void fired_restore_figures(const struct fired_ledger *ledger, struct trigger *trigger)
{
	if (ledger->fired <= trigger->fired)
		return;
	trigger->fired = ledger->fired;
	trigger->delivered = ledger->delivered;
	trigger->suppressed = ledger->suppressed;
	trigger->unrecorded = ledger->unrecorded;
	for (uint32_t i = 0; i < trigger->nr_actions; i++) {
		struct trigger_action *action = &trigger->actions[i];

		action->ran = ledger->actions[i].ran;
		action->failed = ledger->actions[i].failed;
		action->joined = ledger->actions[i].joined;
		if (ledger->actions[i].busy)
			action_interrupted(action);
	}
}

/* As late as possible, since an application may still add to the slot of a trigger that is gone. */
static uint32_t fired_slot_take(struct fired *fired, const struct trigger *trigger)
{
	for (uint32_t i = 0; i < LTT_FIRED_SLOTS; i++) {
		uint32_t at = (fired->next_slot + i) % LTT_FIRED_SLOTS;
		const struct ltt_fired_slot *counts = &fired->memory->slot[at];
		uint64_t count = fired_word(fired, at);

		if (fired->journal->slot[at].trigger)
			continue;
		fired->next_slot = at + 1;
		fired->journal->slot[at] = (struct fired_slot){
			.trigger = trigger->id,
			.generation = ++fired->journal->last,
			.base = count,
			.seen = count,
			.ledger = { { .done = count } },
			.base_evicted = __atomic_load_n(&counts->evicted, __ATOMIC_RELAXED),
			.base_missed = __atomic_load_n(&counts->missed, __ATOMIC_RELAXED),
		};
		return at;
	}
	return FIRED_NO_SLOT;
}

uint32_t fired_slot_get(struct fired *fired, struct trigger *trigger)
{
	uint32_t slot = fired_slot_find(fired, trigger);

	if (slot != FIRED_NO_SLOT)
		return slot;
	slot = fired_slot_known(fired, trigger);
	if (slot == FIRED_NO_SLOT)
		slot = fired_slot_take(fired, trigger);
	else if (condition_has_events(trigger->condition))
		fired_restore_figures(fired_ledger(fired, slot), trigger);
	else /* rates are of the time since */
		fired->journal->slot[slot].base = fired_word(fired, slot);
	if (slot == FIRED_NO_SLOT)
		return slot;
	fired->triggers[slot] = trigger;
	fired->nr_triggers++;
	return slot;
}

void fired_slot_release(struct fired *fired, uint32_t slot)
{
	fired->triggers[slot] = NULL;
	fired->journal->slot[slot].trigger = 0;
	fired->nr_triggers--;
}

uint64_t fired_count(const struct fired *fired, const struct trigger *trigger)
{
	uint32_t slot = fired_slot_find(fired, trigger);

	return slot == FIRED_NO_SLOT ?
		       0 :
		       fired_word(fired, slot) - fired->journal->slot[slot].base;
}

void fired_lost(const struct fired *fired, const struct trigger *trigger, uint64_t *evicted,
		uint64_t *missed)
{
	uint32_t slot = fired_slot_find(fired, trigger);
	const struct ltt_fired_slot *counts = &fired->memory->slot[slot % LTT_FIRED_SLOTS];

	if (slot == FIRED_NO_SLOT)
		return;
	*evicted += __atomic_load_n(&counts->evicted, __ATOMIC_RELAXED) -
		    fired->journal->slot[slot].base_evicted;
	*missed += __atomic_load_n(&counts->missed, __ATOMIC_RELAXED) -
		   fired->journal->slot[slot].base_missed;
}

/* --- firings ------------------------------------------------------------------------ */

/* The record is a copy, whose texts get an end. */
struct fired_copy {
	struct ltt_fired_record record;
	char comm[sizeof(((struct ltt_fired_record *)0)->comm) + 1];
	char event[LTT_FIRED_EVENT + 1];
	char text[LTT_FIRED_VALUES][LTT_FIRED_TEXT + 1];
};

static void fired_read_value(struct fired_copy *copy, uint32_t at, struct firing_value *ret)
{
	const struct ltt_fired_record *r = &copy->record;

	ret->kind = CAPTURED_NONE;
	switch (r->kind[at]) {
	case LTT_FIRED_SIGNED:
	case LTT_FIRED_UNSIGNED:
		ret->bits = r->value[at].bits;
		break;
	case LTT_FIRED_DOUBLE:
		ret->real = r->value[at].real;
		break;
	case LTT_FIRED_STRING:
	case LTT_FIRED_CUT:
		memcpy(copy->text[at], r->value[at].text, MIN(r->bytes[at], LTT_FIRED_TEXT));
		ret->text = copy->text[at];
		break;
	default:
		return;
	}
	ret->kind = (enum captured_kind)r->kind[at];
}

static uint64_t fired_ns(const struct fired *fired, uint64_t duration)
{
	struct trace_clock *clock = fired_config(fired)->clock;

	if (fired->ops->polls || !clock || clock->kind != LTT_CLOCK_CYCLES)
		return duration;
	return (uint64_t)clock_cycles_to_ns(clock_hz(clock), duration);
}

static void fired_read(const struct fired *fired, const struct trigger *trigger,
		       struct fired_copy *copy, struct firing *ret)
{
	const struct ltt_fired_record *r = &copy->record;

	memcpy(copy->comm, r->comm, sizeof(r->comm));
	memcpy(copy->event, r->event, sizeof(r->event));
	*ret = (struct firing){
		.at_ns = r->at_ns,
		.duration_ns =
			trigger->condition == CONDITION_PAIR ? fired_ns(fired, r->duration) : 0,
		.pid = fired->ops->pid(fired, r),
		.tid = (pid_t)r->tid,
		.process = copy->comm,
		.event = copy->event,
		.nr_values = MIN(r->nr_values, TRIGGER_MAX_CAPTURES),
	};
	_Static_assert(TRIGGER_MAX_CAPTURES == LTT_FIRED_VALUES, "values of a record");
	for (uint32_t i = 0; i < ret->nr_values; i++)
		fired_read_value(copy, i, &ret->values[i]);
}

/* A firing that is seen and not in the ledger was interrupted, for a successor. */
static void fired_pass(struct fired *fired, uint32_t slot, const struct firing *firing, uint64_t nr)
{
	struct fired_slot *journal = &fired->journal->slot[slot];
	struct trigger *trigger = fired->triggers[slot];

	__atomic_store_n(&journal->seen, journal->seen + nr, __ATOMIC_SEQ_CST);
	fired_config(fired)->fired(fired->recorder, trigger, firing, nr);
	if (fired->triggers[slot] == trigger) /* it was not removed */
		fired_write_ledger(fired, slot, journal->seen);
}

/* A record that is ready. */
struct fired_ready {
	uint64_t number, state;
	uint32_t at;
};

static int fired_compare(const void *a, const void *b)
{
	const struct fired_ready *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* The record is free before the firing counts as seen: so none is passed on twice. */
static void fired_pass_record(struct fired *fired, const struct fired_ready *ready)
{
	uint32_t slot = LTT_FIRED_SLOT(ready->state);
	struct trigger *trigger = fired->triggers[slot];
	uint64_t state = ready->state;
	struct fired_copy copy = { 0 };
	struct firing firing;

	copy.record = fired->memory->record[ready->at];
	if (!__atomic_compare_exchange_n(&fired->memory->state[ready->at], &state, 0, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) ||
	    !trigger || !condition_has_events(trigger->condition) ||
	    copy.record.generation != (uint32_t)fired->journal->slot[slot].generation ||
	    fired->journal->slot[slot].seen == fired_word(fired, slot))
		return;
	fired_read(fired, trigger, &copy, &firing);
	fired_pass(fired, slot, &firing, 1);
}

static uint32_t fired_find_ready(const struct fired *fired, struct fired_ready *ready)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < LTT_FIRED_RECORDS; i++) {
		uint64_t state = __atomic_load_n(&fired->memory->state[i], __ATOMIC_SEQ_CST);

		if (LTT_FIRED_STEP(state) == LTT_FIRED_READY)
			ready[nr++] = (struct fired_ready){ LTT_FIRED_NUMBER(state), state, i };
	}
	if (nr)
		qsort(ready, nr, sizeof(*ready), fired_compare);
	return nr;
}

/* Since when the record has had the state. */
static uint64_t fired_age_ns(struct fired *fired, uint32_t at, uint64_t state, uint64_t now)
{
	struct fired_pending *pending = &fired->pending[at];

	if (pending->state != state)
		*pending = (struct fired_pending){ state, now };
	return now - pending->since_ns;
}

/* Count the records of each slot that are not free; abandon those whose process was killed. */
static bool fired_count_pending(struct fired *fired, uint32_t *nr_of)
{
	uint64_t now = loop_now_ns();
	bool any = false;

	for (uint32_t i = 0; i < LTT_FIRED_RECORDS; i++) {
		uint64_t *word = &fired->memory->state[i];
		uint64_t state = __atomic_load_n(word, __ATOMIC_SEQ_CST);
		uint32_t step = LTT_FIRED_STEP(state), slot = LTT_FIRED_SLOT(state);
		bool ends = step == LTT_FIRED_CLAIMED ?
				    fired_age_ns(fired, i, state, now) > ABANDON_NS :
			    step == LTT_FIRED_ABANDONED ?
				    fired_age_ns(fired, i, state, now) > FORGOTTEN_NS :
				    step > LTT_FIRED_ABANDONED;

		if (ends)
			__atomic_compare_exchange_n(
				word, &state,
				step == LTT_FIRED_CLAIMED ?
					LTT_FIRED_STATE(LTT_FIRED_ABANDONED, slot,
							LTT_FIRED_NUMBER(state)) :
					0,
				false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
		else if (step == LTT_FIRED_CLAIMED || step == LTT_FIRED_READY)
			nr_of[slot]++;
		any |= !ends && step == LTT_FIRED_CLAIMED;
	}
	return any;
}

/* Firings for which there is no record: @counts is older than @pending. */
static void fired_pass_rest(struct fired *fired, const uint64_t *counts, const uint32_t *pending)
{
	for (uint32_t slot = 0; slot < LTT_FIRED_SLOTS; slot++) {
		struct trigger *trigger = fired->triggers[slot];
		struct fired_slot *journal = &fired->journal->slot[slot];
		uint64_t left = counts[slot] - journal->seen;

		if (!trigger || !condition_has_events(trigger->condition))
			continue;
		if ((int64_t)left < 0) { /* an application has overwritten the count */
			journal->seen = counts[slot];
			fired_write_ledger(fired, slot, journal->seen);
		} else if (left > pending[slot])
			fired_pass(fired, slot, NULL, left - pending[slot]);
	}
}

static void fired_report_interrupted(struct fired *fired)
{
	for (uint32_t slot = 0; slot < LTT_FIRED_SLOTS; slot++) {
		struct fired_slot *journal = &fired->journal->slot[slot];
		struct trigger *trigger = fired->triggers[slot];
		uint64_t nr = journal->seen - fired_ledger(fired, slot)->done;

		if (!trigger && journal->trigger) { /* it was removed while there was no daemon */
			journal->trigger = 0;
			if (fired->ops->orphaned)
				fired->ops->orphaned(fired, slot);
		}
		if (!trigger || !nr)
			continue;
		if (fired_config(fired)->interrupted)
			fired_config(fired)->interrupted(fired->recorder, trigger, nr);
		if (fired->triggers[slot] == trigger)
			fired_write_ledger(fired, slot, journal->seen);
	}
}

void fired_scan(struct fired *fired)
{
	static struct fired_ready ready[LTT_FIRED_RECORDS]; /* one loop */
	uint32_t nr = fired_find_ready(fired, ready);
	uint64_t counts[LTT_FIRED_SLOTS];
	uint32_t pending[LTT_FIRED_SLOTS] = { 0 };
	bool claimed;

	if (!fired_config(fired)->fired)
		return;
	if (fired->adopted) {
		fired->adopted = false;
		fired_report_interrupted(fired);
	}
	for (uint32_t slot = 0; slot < LTT_FIRED_SLOTS; slot++)
		counts[slot] = fired_word(fired, slot);
	for (uint32_t i = 0; i < nr; i++)
		fired_pass_record(fired, &ready[i]);
	claimed = fired_count_pending(fired, pending);
	fired_pass_rest(fired, counts, pending);
	if (claimed && !fired->again.at_ns)
		loop_timer_set(&fired->again, AGAIN_US);
}

static void fired_scan_again(struct loop_timer *timer)
{
	fired_scan(container_of(timer, struct fired, again));
}

static void fired_scan_adopted(struct loop_work *work)
{
	fired_scan(container_of(work, struct fired, scan));
}

/* --- memory ------------------------------------------------------------------------- */

static void *fired_map(int fd, size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return map == MAP_FAILED ? NULL : map;
}

static bool fired_open(struct fired *fired, const int fds[KEEPER_FDS])
{
	if ((!fired->ops->polls && memfile_check(fds[0], sizeof(*fired->memory)) < 0) ||
	    memfile_check(fds[1], sizeof(*fired->journal)) < 0)
		return false;
	fired->memory = fired_map(fds[0], sizeof(*fired->memory));
	fired->journal = fired_map(fds[1], sizeof(*fired->journal));
	if (!fired->memory || !fired->journal || fired->journal->version != FIRED_VERSION)
		return false;
	fired->fd = fds[0];
	fired->journal_fd = fds[1];
	return true;
}

static void fired_unmap(struct fired *fired)
{
	if (fired->memory)
		munmap(fired->memory, sizeof(*fired->memory));
	if (fired->journal)
		munmap(fired->journal, sizeof(*fired->journal));
	fired->memory = NULL;
	fired->journal = NULL;
}

static bool fired_adopt(struct fired *fired)
{
	struct keeper *keeper = fired_config(fired)->keeper;
	int fds[KEEPER_FDS] = { -1, -1, -1 };

	if (!keeper || keeper_get(keeper, fired->uid, fired->ops->kind, fired->uid, fds) < 0)
		return false;
	fired->adopted = fired_open(fired, fds);
	for (uint32_t i = fired->adopted ? 2 : 0; i < KEEPER_FDS; i++)
		close_fd(fds[i]);
	if (!fired->adopted)
		fired_unmap(fired);
	return fired->adopted;
}

static int fired_make(struct fired *fired, struct err *err)
{
	int fds[KEEPER_FDS] = { -1, -1, -1 };
	int ret = fired->ops->make(fired);

	fds[0] = ret < 0 ? -1 : ret;
	if (ret >= 0)
		ret = memfile_new("ltt-fired-journal", sizeof(*fired->journal), &fds[1]);
	if (ret == 0) {
		fired->journal = fired_map(fds[1], sizeof(*fired->journal));
		if (fired->journal)
			fired->journal->version = FIRED_VERSION;
		if (fired->journal)
			munmap(fired->journal, sizeof(*fired->journal));
		if (admission_has_room(fds[1], ADMISSION_KEPT) && fired_open(fired, fds))
			return 0;
		ret = -ENOMEM;
	}
	fired_unmap(fired);
	close_fd(fds[0]);
	close_fd(fds[1]);
	return err_errno(err, ERR_NO_MEMORY, -ret, "no memory for triggers");
}

static int fired_charge(const struct fired *fired, struct err *err)
{
	struct quotas *quotas = fired_config(fired)->quotas;

	if (quota_take_or_explain(quotas, fired->account, QUOTA_MEMORY, sizeof(*fired->memory),
				  err))
		return err->code;
	if (quota_take_or_explain(quotas, fired->account, QUOTA_DESCRIPTORS, FIRED_FDS, err)) {
		quota_give(quotas, fired->account, QUOTA_MEMORY, sizeof(*fired->memory));
		return err->code;
	}
	return 0;
}

static void fired_give_back(const struct fired *fired)
{
	struct quotas *quotas = fired_config(fired)->quotas;

	quota_give(quotas, fired->account, QUOTA_MEMORY, sizeof(*fired->memory));
	quota_give(quotas, fired->account, QUOTA_DESCRIPTORS, FIRED_FDS);
}

static void fired_close(struct fired *fired)
{
	fired_listen_stop(fired);
	fired_unmap(fired);
	fired->fd = close_fd(fired->fd);
	fired->journal_fd = close_fd(fired->journal_fd);
	loop_work_cancel(&fired->scan);
	loop_timer_cancel(&fired->again);
	fired_give_back(fired);
	free(fired);
}

struct fired *fired_new(struct recorder *recorder, const struct fired_ops *ops, void *owner,
			struct account_id account, bool adopt, struct err *err)
{
	struct fired *fired = xalloc(sizeof(*fired));
	int ret;

	fired->recorder = recorder;
	fired->ops = ops;
	fired->owner = owner;
	fired->uid = account.uid;
	fired->account = account;
	fired->fd = fired->journal_fd = fired->event_fd = -1;
	loop_work_init(&fired->scan, fired_scan_adopted);
	loop_timer_init(&fired->again, fired_config(fired)->loop, fired_scan_again);
	loop_timer_init(&fired->pause, fired_config(fired)->loop, fired_on_pause_over);
	if (fired_charge(fired, err)) {
		free(fired);
		return NULL;
	}
	if (!(adopt && fired_adopt(fired)) && fired_make(fired, err)) {
		fired_close(fired);
		return NULL;
	}
	ret = fired_listen_start(fired);
	if (ret < 0) {
		err_errno(err, ERR_NO_MEMORY, -ret, "the session daemon can't wait for triggers");
		fired_close(fired);
		return NULL;
	}
	if (fired->adopted)
		loop_defer(fired_config(fired)->loop, &fired->scan);
	else
		fired_keep(fired);
	return fired;
}

void fired_keep(const struct fired *fired)
{
	const int fds[KEEPER_FDS] = { fired->fd, fired->journal_fd, -1 };

	if (fired_config(fired)->keeper)
		keeper_put(fired_config(fired)->keeper, fired->ops->kind, fired->uid, fds);
}

void fired_free(struct fired *fired)
{
	if (fired_config(fired)->keeper)
		keeper_drop(fired_config(fired)->keeper, fired->ops->kind, fired->uid);
	fired_close(fired);
}
