/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of a daemon in the background: the journal gets a head and then lines; a file is cut to
 * its last whole lines when it is too long, and neither a link nor another user's file is written
 * to. Lines that a full disk rejects are lost and later ones are not; a daemon that is killed
 * leaves whole lines.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "check.h"
#include "io/logplace.h"

static void journal(void)
{
	static const char wanted[] = "ltt-test\n\n5\n0\n0\n0\n0\nline\n";
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "journal" };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd, peer;
	char got[100] = "";

	CHECK(logplace_journal("journal", "ltt-test") < 0);
	CHECK_IS(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), ==, 0);
	CHECK_IS(listen(listener, 1), ==, 0);
	fd = logplace_journal("journal", "ltt-test");
	CHECK_IS(fd, >=, 0);
	peer = accept(listener, NULL, NULL);
	CHECK_IS(write(fd, "line\n", 5), ==, 5);
	close(fd);
	CHECK_IS(recv(peer, got, sizeof(got) - 1, MSG_WAITALL), ==, sizeof(wanted) - 1);
	CHECK(strcmp(got, wanted) == 0);
	close(peer);
	close(listener);
}

static void file(void)
{
	char text[1200] = "";
	struct stat st;

	setenv("LTT_LOG_LIMIT", "1000", 1);
	CHECK_IS(symlink("target", "link.log"), ==, 0);
	logplace_use(".", "link.log", "ltt-test");
	CHECK(stat("target", &st) < 0);
	logplace_use(".", "test.log", "ltt-test");
	for (int i = 0; i < 1000; i++) {
		log_warn("number %d", i);
		CHECK(stat("test.log", &st) == 0 && st.st_size <= 1000);
	}
	CHECK_IS(pread(STDERR_FILENO, text, sizeof(text) - 1, 0), ==, st.st_size);
	CHECK(strncmp(text, "ltt: warning: number ", 21) == 0);
	CHECK(strstr(text, "number 998\nltt: warning: number 999\n"));
	CHECK_IS(st.st_mode & 0777, ==, 0600);
}

static void of_another_user(void)
{
	int fd = open("foreign.log", O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	struct stat st;

	if (fchown(fd, 12345, 12345) == 0) { /* else: only root can make one */
		logplace_use(".", "foreign.log", "ltt-test");
		log_warn("not here");
		CHECK(fstat(fd, &st) == 0 && st.st_size == 0);
	}
	close(fd);
}

static void full_disk(void)
{
	static char text[16384];
	int ballast;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir("disk", 0700) < 0 || mount("ltt", "disk", "tmpfs", 0, "size=16k") < 0)
		return; /* only root can */
	setenv("LTT_LOG_LIMIT", "100000", 1);
	logplace_use("disk", "full.log", "ltt-test");
	log_warn("before");
	ballast = open("disk/ballast", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	while (write(ballast, text, 4096) > 0)
		;
	for (int i = 0; i < 1000; i++)
		log_warn("number %d", i);
	CHECK_IS(ftruncate(ballast, 0), ==, 0);
	close(ballast);
	log_warn("after");
	CHECK_IS(pread(STDERR_FILENO, text, sizeof(text) - 1, 0), >, 0);
	CHECK(strncmp(text, "ltt: warning: before\n", 21) == 0 && !strstr(text, "number 999"));
	CHECK(strstr(text, "ltt: warning: after\n"));
	CHECK_IS(umount2("disk", MNT_DETACH), ==, 0);
}

/* Each line is whole, and there are not too many. */
static void check_lines(const char *path)
{
	char text[2000] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC), number;
	ssize_t len = read(fd, text, sizeof(text) - 1);

	close(fd);
	CHECK(len >= 0 && len <= 1100);
	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		CHECK(sscanf(at, "ltt: warning: number %d", &number) == 1 && strchr(at, '\n'));
}

static void killed(void)
{
	int status;

	setenv("LTT_LOG_LIMIT", "1000", 1);
	logplace_use(".", "killed.log", "ltt-test");
	for (unsigned int round = 0; round < 20; round++) {
		pid_t pid = fork();

		for (int i = 0; !pid; i++)
			log_warn("number %d", i);
		usleep(1000 + 97 * round);
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		check_lines("killed.log");
	}
}

int main(void)
{
	char dir[] = "/tmp/ltt-logplace-XXXXXX";
	int shown = dup(STDERR_FILENO);

	CHECK(mkdtemp(dir) && chdir(dir) == 0);
	journal();
	file();
	of_another_user();
	killed();
	full_disk();
	dup2(shown, STDERR_FILENO);
	for (const char *const *name = (const char *const[]){ "journal", "link.log", "test.log",
							      "foreign.log", "killed.log", NULL };
	     *name; name++)
		unlink(*name);
	rmdir("disk");
	return rmdir(dir) < 0;
}
