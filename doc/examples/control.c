/* SPDX-License-Identifier: MIT */
/*
 * control.c - record this user's programs while a command runs, by libltt-ctl(3).
 *
 *   cc -o control control.c $(pkg-config --cflags --libs libltt-ctl)
 *   ./control DIRECTORY PATTERN COMMAND [ARGUMENT]...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/control.h>

/* End the program if a call has failed; show its warnings otherwise. */
static void check(const struct ltt_ctl *ctl, const char *call, int code)
{
	if (code != LTT_CTL_OK) {
		fprintf(stderr, "%s: %s\n", call, ltt_ctl_error(ctl));
		exit(1);
	}
	if (*ltt_ctl_warning(ctl))
		fprintf(stderr, "%s: warning: %s\n", call, ltt_ctl_warning(ctl));
}

static void connect_and_start_daemon(struct ltt_ctl *ctl)
{
	struct ltt_ctl_connect_options options;

	ltt_ctl_connect_options_init(&options);
	options.start_daemon = 1;
	check(ctl, "connect", ltt_ctl_connect(ctl, &options));
	printf("daemon: %s\n", ltt_ctl_daemon(ctl)->version);
}

/* Return: the session's name, allocated. */
static char *create(struct ltt_ctl *ctl, const char *directory, const char *pattern)
{
	struct ltt_ctl_create_options request;
	struct ltt_ctl_channel_options channel;
	struct ltt_ctl_event_options event;
	char *name, *output;

	ltt_ctl_create_options_init(&request);
	request.output = directory;
	check(ctl, "create", ltt_ctl_create(ctl, &request, &name, &output));
	printf("trace: %s\n", output);
	free(output);

	ltt_ctl_channel_options_init(&channel);
	channel.session = name;
	channel.name = "example";
	channel.domain = LTT_CTL_USER;
	channel.subbuf_size = 256 * 1024;
	channel.num_subbuf = 4;
	check(ctl, "enable channel", ltt_ctl_enable_channel(ctl, &channel));

	ltt_ctl_event_options_init(&event);
	event.session = name;
	event.domain = LTT_CTL_USER;
	event.pattern = pattern;
	check(ctl, "enable event", ltt_ctl_enable_event(ctl, &event, NULL, NULL));
	return name;
}

static void run(char *const argv[])
{
	pid_t pid = fork();

	if (pid == 0) {
		/* else a short program ends before it is registered, see libltt(3) */
		setenv("LTT_REGISTER_TIMEOUT", "5000", 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static void show_sessions(struct ltt_ctl *ctl)
{
	struct ltt_ctl_sessions *list;

	check(ctl, "list", ltt_ctl_list(ctl, &list));
	for (size_t i = 0; i < list->nr; i++)
		printf("session: %s%s\n", list->sessions[i]->name,
		       list->sessions[i]->state == LTT_CTL_RECORDING ? ", recording" : "");
	ltt_ctl_sessions_free(list);
}

static void show_status(struct ltt_ctl *ctl, const char *session)
{
	struct ltt_ctl_session_status *status;

	check(ctl, "status", ltt_ctl_status(ctl, session, &status));
	for (size_t i = 0; i < status->nr_channels; i++) {
		const struct ltt_ctl_channel *c = status->channels[i];

		printf("channel: %s, %" PRIu32 " sub-buffers of %" PRIu64 " bytes\n", c->name,
		       c->num_subbuf, c->subbuf_size);
		for (size_t k = 0; k < c->nr_rules; k++)
			printf("rule: %s\n", c->rules[k]->pattern);
	}
	ltt_ctl_status_free(status);
}

int main(int argc, char **argv)
{
	struct ltt_ctl *ctl = ltt_ctl_new();
	struct ltt_ctl_totals *totals;
	char *session;

	if (argc < 4 || !ctl) {
		fprintf(stderr, "Usage: control DIRECTORY PATTERN COMMAND [ARGUMENT]...\n");
		return 2;
	}
	connect_and_start_daemon(ctl);
	session = create(ctl, argv[1], argv[2]);
	check(ctl, "start", ltt_ctl_start(ctl, session, NULL));
	show_sessions(ctl);
	run(argv + 3);
	show_status(ctl, session);
	check(ctl, "stop", ltt_ctl_stop(ctl, session, 0, &totals));
	if (totals)
		printf("events: %" PRIu64 ", lost: %" PRIu64 "\n", totals->recorded, totals->lost);
	ltt_ctl_totals_free(totals);
	check(ctl, "destroy", ltt_ctl_destroy(ctl, session, 0, NULL));
	free(session);
	ltt_ctl_free(ctl);
	return 0;
}
