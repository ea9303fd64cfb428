/* SPDX-License-Identifier: GPL-2.0-only */
#include "exec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/sock.h"
#include "runner.h"

#define EXEC_MOST 32u /* of a user, at once */
#define EXEC_GRACE_US 5000000u /* for the runner's answer */

struct exec_request {
	struct list_node node;
	struct exec *exec;
	uint32_t serial;
	uid_t uid;
	char *trigger;
	exec_done done;
	void *data;
	struct loop_timer late;
};

static void exec_request_end(struct exec_request *request, const char *problem)
{
	request->done(request->data, problem);
	loop_timer_cancel(&request->late);
	list_remove(&request->node);
	free(request->trigger);
	free(request);
}

/* --- answers -------------------------------------------------------------------------- */

static const char *exec_problem(const struct runner_answer *answer, char buf[200])
{
	int status = answer->wait_status;

	if (answer->error)
		snprintf(buf, 200, "its command could not be started: %s", strerror(answer->error));
	else if (answer->late)
		snprintf(buf, 200, "its command was ended after %u s, which is the limit",
			 EXEC_SECONDS);
	else if (WIFSIGNALED(status))
		snprintf(buf, 200, "its command was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(buf, 200, "its command exited with status %d", WEXITSTATUS(status));
	else
		return NULL;
	return buf;
}

static void exec_log_output(const char *trigger, char *output)
{
	for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n"))
		log_warn("trigger '%s': %s", trigger, line);
}

static struct exec_request *exec_find(const struct exec *exec, uint32_t serial)
{
	struct exec_request *request;

	list_for_each(request, &exec->waiting, node)
		if (request->serial == serial)
			return request;
	return NULL;
}

static void exec_answered(struct exec *exec, const struct runner_answer *answer, char *output)
{
	struct exec_request *request = exec_find(exec, answer->serial);
	char problem[200];

	if (!request)
		return;
	exec_log_output(request->trigger, output);
	exec_request_end(request, exec_problem(answer, problem));
}

static void exec_lose_runner(struct exec *exec)
{
	struct exec_request *request;
	int fd = exec->source.fd;

	log_error("the process that runs the commands of triggers has ended");
	loop_fd_fini(&exec->source);
	exec->source.fd = close_fd(fd);
	while ((request = list_first(&exec->waiting, struct exec_request, node)))
		exec_request_end(request, "the process that runs its command has ended; restart "
					  "the session daemon");
}

static void exec_ready(struct loop_fd *source, uint32_t events)
{
	struct exec *exec = container_of(source, struct exec, source);
	struct {
		struct runner_answer head;
		char output[RUNNER_OUTPUT_BYTES + 1];
	} answer;
	ssize_t len = recv(source->fd, &answer, sizeof(answer) - 1, MSG_DONTWAIT);

	(void)events;
	if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR))
		exec_lose_runner(exec);
	if (len < (ssize_t)sizeof(answer.head))
		return;
	answer.output[(size_t)len - sizeof(answer.head)] = '\0';
	exec_answered(exec, &answer.head, answer.output);
}

/* --- requests -------------------------------------------------------------------------- */

struct exec_packet {
	char buf[RUNNER_BYTES];
	size_t len;
};

static void exec_packet_add(struct exec_packet *packet, const char *name, const char *value)
{
	size_t left = sizeof(packet->buf) - packet->len;
	int n = snprintf(packet->buf + packet->len, left, "%s%s%s", name, *name ? "=" : "", value);

	if (n >= 0 && (size_t)n < left)
		packet->len += (size_t)n + 1;
	else
		packet->buf[packet->len] = '\0';
}

static void exec_packet_number(struct exec_packet *packet, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	exec_packet_add(packet, name, text);
}

static const char *exec_value_text(const struct firing_value *value, char buf[40])
{
	switch (value->kind) {
	case CAPTURED_SIGNED:
		snprintf(buf, 40, "%" PRId64, value->number);
		return buf;
	case CAPTURED_UNSIGNED:
		snprintf(buf, 40, "%" PRIu64, value->bits);
		return buf;
	case CAPTURED_DOUBLE:
		snprintf(buf, 40, "%.17g", value->real);
		return buf;
	default:
		return value->text ? value->text : "";
	}
}

/* LTT_CAPTURE_ and the field or context, as far as a variable can be called so. */
static void exec_packet_captures(struct exec_packet *packet, const struct trigger *trigger,
				 const struct firing *firing)
{
	const char *names = trigger->captures;
	char name[300], buf[40];

	for (uint32_t i = 0; i < firing->nr_values && *names; i++) {
		size_t len = strcspn(names, ","), sigil = *names == '$';

		snprintf(name, sizeof(name), "LTT_CAPTURE_%.*s",
			 (int)MIN(len - sigil, (size_t)255), names + sigil);
		for (char *at = name; *at; at++)
			if (!isalnum((unsigned char)*at))
				*at = '_';
		exec_packet_add(packet, name, exec_value_text(&firing->values[i], buf));
		names += len + (names[len] == ',');
	}
}

static void exec_packet_firing(struct exec_packet *packet, const struct trigger *trigger,
			       const struct firing *firing)
{
	exec_packet_add(packet, "LTT_TRIGGER", trigger->name);
	exec_packet_number(packet, "LTT_NUMBER", trigger->fired);
	exec_packet_number(packet, "LTT_TIME_NS", firing->at_ns);
	if (firing->event)
		exec_packet_add(packet, "LTT_EVENT", firing->event);
	if (firing->process)
		exec_packet_add(packet, "LTT_PROCESS", firing->process);
	if (firing->session)
		exec_packet_add(packet, "LTT_SESSION", firing->session);
	if (firing->pid)
		exec_packet_number(packet, "LTT_PID", (uint64_t)firing->pid);
	if (firing->tid)
		exec_packet_number(packet, "LTT_TID", (uint64_t)firing->tid);
	if (firing->duration_ns)
		exec_packet_number(packet, "LTT_DURATION_NS", firing->duration_ns);
	if (firing->value)
		exec_packet_number(packet, "LTT_VALUE", firing->value);
	exec_packet_captures(packet, trigger, firing);
}

static void exec_packet_begin(struct exec_packet *packet, const struct exec *exec,
			      const struct trigger *trigger, const struct trigger_action *action)
{
	const struct runner_request head = { exec->serial, trigger->uid, trigger->gid,
					     EXEC_SECONDS };
	const char *rundir = getenv("LTT_RUNDIR");

	memcpy(packet->buf, &head, sizeof(head));
	packet->len = sizeof(head);
	exec_packet_add(packet, "", action->text);
	exec_packet_add(packet, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	if (rundir)
		exec_packet_add(packet, "LTT_RUNDIR", rundir);
}

static unsigned int exec_running(const struct exec *exec, uid_t uid)
{
	const struct exec_request *request;
	unsigned int nr = 0;

	list_for_each(request, &exec->waiting, node)
		nr += request->uid == uid;
	return nr;
}

static void exec_request_late(struct loop_timer *timer)
{
	exec_request_end(container_of(timer, struct exec_request, late),
			 "the end of its command is not known");
}

void exec_begin(struct exec *exec, const struct trigger *trigger,
		const struct trigger_action *action, const struct firing *firing, exec_done done,
		void *data)
{
	struct exec_packet packet;
	struct exec_request *request;

	exec->serial++;
	exec_packet_begin(&packet, exec, trigger, action);
	exec_packet_firing(&packet, trigger, firing);
	if (exec->source.fd < 0)
		done(data, "commands are not run: the session daemon was started with --no-exec, "
			   "or the process that runs them has ended; start it again");
	else if (exec_running(exec, trigger->uid) >= EXEC_MOST)
		done(data, "too many commands of this user's triggers are running");
	else if (send(exec->source.fd, packet.buf, packet.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		done(data, "its command could not be passed on");
	else {
		request = xalloc(sizeof(*request));
		*request = (struct exec_request){ .exec = exec,
						  .serial = exec->serial,
						  .uid = trigger->uid,
						  .trigger = xstrdup(trigger->name),
						  .done = done,
						  .data = data };
		list_append(&exec->waiting, &request->node);
		loop_timer_init(&request->late, exec->source.loop, exec_request_late);
		loop_timer_set(&request->late, EXEC_SECONDS * 1000000u + EXEC_GRACE_US);
	}
}

/* --- the runner ------------------------------------------------------------------------- */

int exec_fork(void)
{
	int fds[2], ret = sock_pair(fds);
	pid_t pid = ret < 0 ? -1 : fork();

	if (ret < 0)
		return ret;
	if (pid == 0)
		runner_serve(fds[1]);
	ret = pid < 0 ? -errno : fds[0];
	close(fds[1]);
	if (pid < 0)
		close(fds[0]);
	return ret;
}

void exec_init(struct exec *exec, struct loop *loop, int fd)
{
	list_init(&exec->waiting);
	exec->source.fd = -1;
	if (fd >= 0 && loop_fd_init(&exec->source, loop, fd, EPOLLIN, exec_ready) < 0)
		exec->source.fd = close_fd(fd);
}

void exec_fini(struct exec *exec)
{
	struct exec_request *request;
	int fd = exec->source.fd;

	while ((request = list_first(&exec->waiting, struct exec_request, node)))
		exec_request_end(request, "the session daemon ends");
	loop_fd_fini(&exec->source);
	close_fd(fd);
}
