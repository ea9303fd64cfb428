/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of a daemon in the background: the journal gets a head and then lines; a file is cut to
 * its last whole lines when it is too long, and a link is not followed.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

int main(void)
{
	char dir[] = "/tmp/ltt-logplace-XXXXXX";
	int shown = dup(STDERR_FILENO);

	CHECK(mkdtemp(dir) && chdir(dir) == 0);
	journal();
	file();
	dup2(shown, STDERR_FILENO);
	for (const char *const *name =
		     (const char *const[]){ "journal", "link.log", "test.log", NULL };
	     *name; name++)
		unlink(*name);
	return rmdir(dir) < 0;
}
