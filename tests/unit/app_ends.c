/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that end without libc's knowledge, by a system call or by the kernel: the process
 * ends when the last of its own has ended, with the status that it has without libltt.
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <ltt/tracepoint.h>

#include "lib/app_fake.h"

LTT_TRACEPOINT(app_ends, tick, (int n), LTT_INFO, ltt_int(int, n, n))

/* The helper has begun to wait, or has seen that main() is gone. */
#define PAUSE_US (UNDER_ASAN ? 300000 : 30000)

/* --- the application ------------------------------------------------------------ */

static void end_thread(int status)
{
	syscall(SYS_exit, status);
}

/* Until main() has ended: on a busy machine that takes any time. */
static void await_main_gone(void)
{
	char text[512], *state;

	for (;;) {
		int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
		ssize_t len = read(fd, text, sizeof(text) - 1);

		close(fd);
		text[len > 0 ? len : 0] = '\0';
		state = strrchr(text, ')');
		if (state && state[1] && state[2] == 'Z')
			return;
		usleep(1000);
	}
}

static void *ends_later(void *arg)
{
	await_main_gone();
	usleep(PAUSE_US);
	ltt_trace(app_ends, tick, 1);
	if (arg)
		end_thread(8);
	return NULL;
}

static void start_thread(bool raw)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, ends_later, raw ? (void *)1 : NULL) != 0)
		_exit(99);
}

/* Ends by a return, just behind main(). */
static void *joins_main(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	return NULL;
}

static void *ends_at_once(void *arg)
{
	(void)arg;
	end_thread(8);
	return NULL;
}

/* A child of strict seccomp(), which may call read(), write() and SYS_exit alone. Its parent
 * ends with its status. */
static void strict_child(int (*end)(void))
{
	int status = -1;
	pid_t pid;

	if (UNDER_ASAN) /* fork() copies its allocator, which may be locked as the helper starts */
		usleep(PAUSE_US);
	pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
			_exit(99);
		ltt_enabled(app_ends, tick);
		end();
	}
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static int end_strictly(void)
{
	end_thread(7);
	return 0;
}

/* exit_group() is forbidden: the kernel ends the thread. */
static int end_forbidden(void)
{
	_exit(0);
}

static int application(char command)
{
	static pthread_t self;
	pthread_t thread;

	switch (command) {
	case 'm': /* main() alone */
		usleep(PAUSE_US);
		end_thread(7);
		break;
	case 'n': /* before the helper has done anything */
		end_thread(7);
		break;
	case 't': /* main(), then a thread that libc ends */
	case 'T': /* that ends in the same way */
		start_thread(command == 'T');
		end_thread(7);
		break;
	case 'j':
		self = pthread_self();
		if (pthread_create(&thread, NULL, joins_main, &self) != 0)
			_exit(99);
		usleep(PAUSE_US);
		end_thread(7);
		break;
	case 'p': /* libc ends main(), then a thread ends without it */
		start_thread(true);
		pthread_exit(NULL);
	case 'b': /* a thread, before libc ends main() */
		if (pthread_create(&thread, NULL, ends_at_once, NULL) != 0)
			_exit(99);
		pthread_join(thread, NULL);
		pthread_exit(NULL);
	case 's':
		strict_child(end_strictly);
		break;
	case 'k':
		strict_child(end_forbidden);
		break;
	case 'K':
		usleep(PAUSE_US);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		end_forbidden();
	}
	return 98;
}

/* --- the test ------------------------------------------------------------------- */

static const char *const cases[] = { "m", "n", "t", "T", "j", "p", "b", "s", "k", "K" };

/* Wait at most WAIT_MS, as all waits here. */
static int end_of(struct fake_child *c)
{
	int pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);

	CHECK(pidfd >= 0 && app_fake_readable(pidfd, WAIT_MS));
	close(pidfd);
	return app_fake_child_end(c);
}

static int status_without_helper(const char *command)
{
	struct fake_child c;

	setenv("LTT_APP_DISABLE", "1", 1);
	c = app_fake_child_start(command);
	unsetenv("LTT_APP_DISABLE");
	return end_of(&c);
}

/* A lock of AddressSanitizer's allocator that the helper holds just then is held for ever in a
 * child of fork(): its own helper can't begin. */
static bool forks_under_asan(const char *command)
{
	return UNDER_ASAN && strchr("sk", *command);
}

static void end_as_without_helper(const char *guise)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t start;
		struct fake_child c;
		int expected, status;

		if (forks_under_asan(cases[i]))
			continue;
		expected = status_without_helper(cases[i]);
		start = app_fake_now_us();
		c = app_fake_child_start(cases[i]);
		status = end_of(&c);
		printf("%s, %s: %d, %d without libltt; %.0f ms\n", guise, cases[i], status,
		       expected, (double)(app_fake_now_us() - start) / 1000);
		CHECK_IS(status, ==, expected);
	}
}

int main(int argc, char **argv)
{
	int listener;

	if (argc == 3)
		return application(argv[1][0]);
	if (UNDER_TSAN)
		SKIP("ThreadSanitizer has a thread of its own");
	app_fake_rundir();
	end_as_without_helper("without a daemon");
	listener = app_fake_listen();
	end_as_without_helper("with a daemon");
	close(listener);
	app_fake_rundir_end();
	return 0;
}
