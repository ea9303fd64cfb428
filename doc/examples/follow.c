/* SPDX-License-Identifier: MIT */
/*
 * follow.c - print the changes of a session until it is destroyed, by libltt-ctl(3).
 *
 *   cc -o follow follow.c $(pkg-config --cflags --libs libltt-ctl)
 *   ./follow SESSION
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <ltt/control.h>

static const char *state_name(enum ltt_ctl_state state)
{
	switch (state) {
	case LTT_CTL_NEW:
		return "new";
	case LTT_CTL_RECORDING:
		return "recording";
	case LTT_CTL_STOPPED:
		return "stopped";
	default:
		return "changing";
	}
}

static void print_news(const struct ltt_ctl_news *news)
{
	switch (news->kind) {
	case LTT_CTL_NEWS_STATE:
		printf("state: %s\n", state_name(news->state));
		break;
	case LTT_CTL_NEWS_PROBLEM:
		printf("problem: %s\n", news->text);
		break;
	case LTT_CTL_NEWS_SOLVED:
		printf("problem: none\n");
		break;
	case LTT_CTL_NEWS_LOSS:
		printf("lost: %" PRIu64 " events of channel %s\n", news->count, news->channel);
		break;
	case LTT_CTL_NEWS_CONSUMER_DIED:
		printf("consumer: died\n");
		break;
	case LTT_CTL_NEWS_CONSUMER_REPLACED:
		printf("consumer: replaced\n");
		break;
	case LTT_CTL_NEWS_DESTROYED:
		printf("destroyed: %" PRIu64 " events\n",
		       news->totals ? news->totals->recorded : 0);
		break;
	}
}

static void fail(const struct ltt_ctl *ctl)
{
	fprintf(stderr, "follow: %s\n", ltt_ctl_error(ctl));
	exit(1);
}

static void connect_and_follow(struct ltt_ctl *ctl, const char *session)
{
	if (ltt_ctl_connect(ctl, NULL) != 0 || ltt_ctl_follow(ctl, session) != 0)
		fail(ctl);
}

/* Print all news that has arrived. Return: 1: the session is destroyed. */
static int drain(struct ltt_ctl *ctl, const char *session)
{
	const struct ltt_ctl_news *news;
	int code;

	while ((code = ltt_ctl_next_news(ctl, &news)) == LTT_CTL_OK && news) {
		print_news(news);
		if (news->kind == LTT_CTL_NEWS_DESTROYED)
			return 1;
	}
	if (code == LTT_CTL_NO_DAEMON) { /* its successor has the same sessions */
		printf("daemon: replaced\n");
		connect_and_follow(ctl, session);
	} else if (code != LTT_CTL_OK) {
		fail(ctl);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct ltt_ctl *ctl = ltt_ctl_new();
	struct pollfd pfd = { -1, POLLIN, 0 };

	if (argc != 2 || !ctl) {
		fprintf(stderr, "Usage: follow SESSION\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	connect_and_follow(ctl, argv[1]);
	while (!drain(ctl, argv[1])) {
		pfd.fd = ltt_ctl_fd(ctl);
		poll(&pfd, 1, -1); /* a program has other descriptors here, too */
	}
	ltt_ctl_free(ctl);
	return 0;
}
