/* SPDX-License-Identifier: GPL-2.0-only */
#include "sessiond.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sessiond/peers/apps.h"
#include "base/log.h"
#include "base/mem.h"
#include "sessiond/peers/clients.h"
#include "clock_check.h"
#include "sessiond/peers/consumers.h"
#include "core/orphaned.h"
#include "sessiond/domain/kernel/kernel.h"
#include "sessiond/domain/rec/recording.h"
#include "sessiond/domain/user/user.h"
#include "sessiond/peers/follow.h"
#include "sessiond/state/state.h"
#include "sessiond/state/triggers.h"
#include "sessiond/trigger/firing.h"
#include "sessiond/trigger/watchers.h"

#define END_WITHIN_US 1700000u

/* Rings are numbered by CPU: the highest number that can ever be, and one. */
static unsigned int possible_cpus(void)
{
	AUTO_FD int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	char line[256] = "";
	char *last;
	long n;

	if (fd >= 0 && read(fd, line, sizeof(line) - 1) > 0) {
		last = strrchr(line, '-');
		if (strrchr(line, ',') > last)
			last = strrchr(line, ',');
		n = strtol(last ? last + 1 : line, NULL, 10) + 1;
		configured = MAX(configured, n);
	}
	return (unsigned int)MAX(1, MIN(configured, 8192));
}

/* --- processes that outlive the daemon ------------------------------------------------- */

static struct sessiond *session_owner(const struct session *session)
{
	return container_of(run_sessions(session->run), struct sessiond, sessions);
}

static void in_trouble(struct session *session, enum trouble trouble, const char *text)
{
	if (text[0])
		log_error("session '%s': %s", session->name, text);
	session_trouble(session, trouble, text);
	follow_changed(session_owner(session), session);
}

static void sessiond_on_change(struct session *session)
{
	clock_check_begin(session_owner(session));
	follow_changed(session_owner(session), session);
}

static void sessiond_on_rotation(struct session *session, bool begun)
{
	conditions_rotation(&session_owner(session)->conditions, session, begun);
}

static void sessiond_on_fired(struct recorder *recorder, struct trigger *trigger,
			      const struct firing *firing, uint64_t nr)
{
	firing_happened(container_of(recorder, struct sessiond, recorder), trigger, firing, nr);
}

static void sessiond_on_interrupted(struct recorder *recorder, struct trigger *trigger, uint64_t nr)
{
	firing_interrupted(container_of(recorder, struct sessiond, recorder), trigger, nr);
}

static void sessiond_on_destroyed(struct session *session, const struct run_result *result)
{
	follow_destroyed(session_owner(session), session, result);
}

/* "2 sessions, 1 of them recording", all but @leaving. */
static const char *count_sessions(const struct sessiond *sd, const struct session *leaving,
				  char buf[64])
{
	unsigned int nr = 0, recording = 0;
	const struct session *session;

	list_for_each(session, &sd->sessions.list, node) {
		nr += session != leaving;
		recording += session != leaving && session->state == SESSION_RECORDING;
	}
	snprintf(buf, 64, "%u session%s, %u of them recording", nr, nr == 1 ? "" : "s", recording);
	return buf;
}

static void report_status(struct sessiond *sd, const struct session *leaving)
{
	char buf[64];

	if (sd->store)
		notify_status(sd->store->notify, "%s", count_sessions(sd, leaving, buf));
}

static void save(struct session *session)
{
	report_status(session_owner(session), NULL);
	state_save(session_owner(session), session);
}

static struct consumer *sessiond_consumer(const struct session *session, enum domain_id domain)
{
	return run_consumer(session->run, domain);
}

static void sessiond_prepare(struct session *session, enum domain_id domain)
{
	run_prepare(session->run, domain);
}

static struct consumer *sessiond_kernel_consumer(struct session *session)
{
	return consumers_get_kernel(&session_owner(session)->consumers);
}

static int sessiond_doorbell(const struct session *session)
{
	return run_doorbell(session->run);
}

static void discard(struct session *session)
{
	report_status(session_owner(session), session);
	state_discard(session_owner(session), session);
}

static void refill(struct keeper *keeper)
{
	struct sessiond *sd = container_of(keeper, struct sessiond, keeper);
	struct domain_tracer *domain;
	struct session *session;

	list_for_each(session, &sd->sessions.list, node) {
		run_keep(session->run);
		domains_keep(&sd->domains, session);
	}
	domains_each(domain, &sd->domains) domain->ops->triggers->keep(domain);
}

static bool sessiond_is_wanted(struct keeper *keeper, const char *kind, uint64_t id)
{
	struct sessiond *sd = container_of(keeper, struct sessiond, keeper);
	struct domain_tracer *domain;
	struct domain_ring ring;
	struct session *session;

	if (strcmp(kind, "output") == 0)
		return session_by_id(&sd->sessions, id);
	domains_each(domain, &sd->domains) if (strcmp(kind, domain->ops->triggers->kind) == 0)
		return domain->ops->triggers->wants(domain, (uid_t)id);
	if (strcmp(kind, "trace") == 0) {
		domains_each(domain, &sd->domains) list_for_each(
			session, &sd->sessions.list,
			node) if (recording_has_trace(domain, session, id)) return true;
		return false;
	}
	if (strcmp(kind, "map") == 0) {
		domains_each(domain, &sd->domains) list_for_each(
			session, &sd->sessions.list,
			node) if (domain->ops->maps &&
				  domain->ops->maps->is_kept(domain, session, id)) return true;
		return false;
	}
	list_for_each(session, &sd->sessions.list, node)
		if (domains_find_ring(&sd->domains, session, id, &ring) && ring.open)
			return true;
	return false;
}

int sessiond_set_up(struct sessiond *sd, const char *rundir, const char *consumer,
		    const char *keeper)
{
	AUTO_FREE char *socket = xasprintf("%s/keeper.sock", rundir);

	consumers_place(&sd->consumers, rundir, consumer);
	keeper_init(&sd->keeper, sd->loop, socket, keeper, rundir, refill);
	sd->keeper.store = sd->store;
	state_load(sd, rundir);
	clock_check_restored(sd);
	clock_check_begin(sd);
	keeper_sweep(&sd->keeper, sessiond_is_wanted);
	report_status(sd, NULL);
	return consumers_start(&sd->consumers);
}

static void end_late(struct loop_timer *timer)
{
	struct sessiond *sd = container_of(timer, struct sessiond, end);

	log_error("ltt-consumerd did not end in time; it continues to write on its own");
	consumers_terminate(&sd->consumers); /* it may never read the message */
	loop_stop(sd->loop);
}

/* Defaults of --quota; ltt-sessiond(8) documents them. */
static void set_quotas(struct sessiond *sd)
{
	uint64_t *limits = sd->quotas.limits;

	quotas_init(&sd->quotas, geteuid());
	limits[QUOTA_APPS] = MAX(admission_fd_limit() / 4, 64u);
	limits[QUOTA_CLIENTS] = 64;
	limits[QUOTA_SESSIONS] = 256;
	limits[QUOTA_CHANNELS] = 1024;
	limits[QUOTA_PRESETS] = 256;
	limits[QUOTA_RULES] = 10000;
	limits[QUOTA_POINTS] = 1000000;
	limits[QUOTA_TEXT] = 256u << 20;
	limits[QUOTA_MEMORY] = MAX(sd->limits.memory / 8, (uint64_t)64 << 20);
	limits[QUOTA_DESCRIPTORS] = MAX(admission_fd_limit() / 4, 64u);
	limits[QUOTA_BACKLOG] = 64u << 20;
}

static uint64_t make_instance(void)
{
	uint64_t v = 0;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v) || v == 0)
		v = loop_now_ns() | 1;
	return v;
}

static int open_proto_log(void)
{
	const char *path = getenv("LTT_PROTO_LOG");

	return path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
}

static void log_clock(const struct trace_clock *clock)
{
	if (clock->refused)
		log_warn("clock: CLOCK_MONOTONIC, as the cycle counter can't be used: %s",
			 clock->why);
	else
		log_info("clock: %s: %s",
			 clock->kind == LTT_CLOCK_CYCLES ? "the cycle counter" : "CLOCK_MONOTONIC",
			 clock->why);
}

int sessiond_init(struct sessiond *sd)
{
	int ret;

	memset(sd, 0, sizeof(*sd));
	list_init(&sd->clients);
	list_init(&sd->apps);
	list_init(&sd->followers);
	list_init(&sd->watchers);
	triggers_init(&sd->triggers);
	list_init(&sd->orphaned);
	sd->next_client = 1;
	sd->instance = make_instance();
	sd->proto_log = open_proto_log();
	sd->limits.nr_cpus = possible_cpus();
	sd->limits.memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	sd->trace_format = TRACE_FORMAT_CTF_1_8;
	if (gethostname(sd->hostname, sizeof(sd->hostname) - 1) < 0)
		strcpy(sd->hostname, "?");
	clock_init(&sd->clock);
	log_clock(&sd->clock);
	sessions_init(&sd->sessions, &sd->quotas);
	ret = loop_new(&sd->loop);
	if (ret < 0)
		return ret;
	admission_init(&sd->admission, sd->loop);
	set_quotas(sd);
	loop_timer_init(&sd->end, sd->loop, end_late);
	clock_check_init(sd);
	conditions_init(&sd->conditions, sd);
	exec_init(&sd->exec, sd->loop, -1);
	state_init(sd);
	state_triggers_init(sd);
	consumers_init(&sd->consumers, sd->loop, &sd->sessions);
	sd->keeper.fd = -1;
	sd->recorder = (struct recorder){
		.config = {
			.loop = sd->loop,
			.consumer = sessiond_consumer,
			.prepare = sessiond_prepare,
			.nr_cpus = sd->limits.nr_cpus,
			.hostname = sd->hostname,
			.trouble = in_trouble,
			.save = save,
			.doorbell = sessiond_doorbell,
			.keeper = &sd->keeper,
			.quotas = &sd->quotas,
			.fired = sessiond_on_fired,
			.interrupted = sessiond_on_interrupted,
			.clock = &sd->clock,
		},
		.next_id = 1,
		.long_ns = 1000000,
		.late_us = 10000000,
		.slice = 500,
	};
	sd->domains.of[DOMAIN_USER] = user_domain_new(&sd->recorder);
	kmod_init(&sd->kmod, "this session daemon was started without the kernel tracer; start "
			     "another one without --no-kernel");
	sd->domains.of[DOMAIN_KERNEL] = kernel_domain_new(&sd->recorder, &sd->kmod);
	sd->run = (struct run_config){ .loop = sd->loop,
				       .domains = &sd->domains,
				       .clock = &sd->clock,
				       .keeper = &sd->keeper,
				       .save = save,
				       .discard = discard,
				       .changed = sessiond_on_change,
				       .destroyed = sessiond_on_destroyed,
				       .rotated = sessiond_on_rotation,
				       .kernel_consumer = sessiond_kernel_consumer,
				       .released = consumer_slot_release };
	return 0;
}

void sessiond_fini(struct sessiond *sd)
{
	struct session *session;
	struct app_conn *conn;
	struct client *client;

	if (!sd->loop)
		return;
	sd->recorder.config.fired = NULL; /* firings from now on are for a successor */
	if (!sd->ending) { /* after a failure, descriptors that others hold are for a successor */
		free(TAKE(sd->state_dir));
		keeper_fini(&sd->keeper);
		consumers_drop(&sd->consumers);
	}
	while ((client = list_first(&sd->clients, struct client, node)))
		client_conn_free(client);
	while ((conn = app_conn_first(sd)))
		app_conn_free(conn);
	while ((session = list_first(&sd->sessions.list, struct session, node)))
		run_free(session->run);
	sd->domains.of[DOMAIN_USER] = user_domain_free(sd->domains.of[DOMAIN_USER]);
	sd->domains.of[DOMAIN_KERNEL] = kernel_domain_free(sd->domains.of[DOMAIN_KERNEL]);
	kmod_fini(&sd->kmod);
	consumers_fini(&sd->consumers);
	loop_timer_cancel(&sd->end);
	clock_check_fini(sd);
	exec_fini(&sd->exec);
	conditions_fini(&sd->conditions);
	state_fini(sd);
	state_triggers_fini(sd);
	triggers_fini(&sd->triggers);
	admission_fini(&sd->admission);
	if (sd->ending)
		state_clear(sd);
	keeper_fini(&sd->keeper);
	free(sd->state_dir);
	orphaned_fini(&sd->orphaned);
	sd->proto_log = close_fd(sd->proto_log);
	quotas_fini(&sd->quotas);
	sd->loop = loop_free(sd->loop);
}

int sessiond_backlog(struct sessiond *sd, uid_t uid, ssize_t bytes)
{
	const struct account_id account = { .uid = uid };

	if (bytes < 0) {
		quota_give(&sd->quotas, account, QUOTA_BACKLOG, (uint64_t)-bytes);
		return 0;
	}
	if (quota_take(&sd->quotas, account, QUOTA_BACKLOG, (uint64_t)bytes) == 0)
		return 0;
	log_warn_some("peers of user %u do not receive their messages; one is disconnected", uid);
	return -ENOBUFS;
}

void sessiond_end(struct sessiond *sd)
{
	struct session *session;
	char buf[64];

	if (sd->ending)
		return;
	if (!list_empty(&sd->sessions.list))
		log_warn("ending %s; SIGUSR1 instead of SIGTERM leaves them to the next daemon",
			 count_sessions(sd, NULL, buf));
	sd->ending = true;
	follow_end(sd);
	watchers_end(sd);
	list_for_each(session, &sd->sessions.list, node)
		run_halt(session->run);
	if (!consumers_end(&sd->consumers))
		loop_stop(sd->loop);
	loop_timer_set(&sd->end, END_WITHIN_US);
}
