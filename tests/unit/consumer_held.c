/* SPDX-License-Identifier: GPL-2.0-only */
/* The consumer hands over the descriptors that a keeper would have stored, and finds an output
 * directory by its path: that one or none, and only as its owner. */
#include "lib/consumer_client.h"
#include "io/dirid.h"

struct found {
	unsigned int nr;
	ino_t dir, data, ctl;
};

static ino_t inode(int fd)
{
	struct stat st;

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	return st.st_ino;
}

static void note_held(struct decoder *dec, void *data)
{
	struct found *found = data;
	struct msg_held msg;

	CHECK_IS(msg_held_decode(dec, &msg), ==, 0);
	found->nr++;
	CHECK(strcmp(msg.name, "output-1") == 0 || strcmp(msg.name, "ring-1") == 0);
	if (msg.name[0] == 'o') {
		found->dir = inode(msg.first);
		CHECK(inode(msg.second));
		CHECK_IS(msg.third, <, 0);
	} else {
		found->data = inode(msg.first);
		found->ctl = inode(msg.second);
		CHECK(fcntl(msg.second, F_GETFL) & O_RDWR);
		CHECK(inode(msg.third));
	}
	close(msg.first);
	close(msg.second);
	if (msg.third >= 0)
		close(msg.third);
}

static struct found ask_held(struct daemon *d)
{
	struct found found = { 0 };
	struct reply r;

	SEND(d, con_held);
	daemon_await(d, d->serial, &r, note_held, &found);
	CHECK_IS(r.code, ==, 0);
	return found;
}

static void hands_over(int dir)
{
	struct daemon d = daemon_start();
	struct found found = ask_held(&d);
	struct rings rings;

	CHECK_IS(found.nr, ==, 0);
	open_output(&d, 1, fcntl(dir, F_DUPFD_CLOEXEC, 3), 0);
	open_trace(&d, 1, 1, "held");
	rings = open_rings(&d, 1, 1, 4, 65536);
	found = ask_held(&d);
	CHECK(found.nr == 2 && found.dir == inode(dir));
	CHECK(found.data == inode(rings.data_fd) && found.ctl == inode(rings.ctl_fd));
	MUST(&d, con_ring_close, .ring = 1);
	CHECK_IS(ask_held(&d).nr, ==, 1);
	MUST(&d, con_output_close, .output = 1);
	CHECK_IS(ask_held(&d).nr, ==, 0);
	daemon_end(&d);
}

static void ask_path(struct daemon *d, struct reply *r, const struct dirid *id, uint64_t output,
		     uid_t uid)
{
	AUTO_FREE char *path = realpath("out", NULL);

	ASK(d, r, con_output_open, .output = output, .dir = -1, .doorbell = -1, .uid = uid,
	    .gid = uid, .path = path, .path_dev = id->dev, .path_ino = id->ino,
	    .path_born_ns = id->born_ns);
}

static void finds_by_path(int dir)
{
	struct rep_con_output_open rep = { -1, -1 };
	struct daemon d = daemon_start();
	struct dirid id, other;
	struct reply r;

	CHECK(dirid_of(dir, &id) == 0 && id.ino);
	ask_path(&d, &r, &id, 1, geteuid());
	CHECK(r.code == 0 && rep_con_output_open_decode(&r.dec, &rep) == 0);
	CHECK_IS(inode(rep.dir), ==, inode(dir));
	open_trace(&d, 1, 1, "found");
	CHECK_IS(faccessat(dir, "found/metadata", F_OK, 0), ==, 0);

	other = id;
	other.ino++;
	ask_path(&d, &r, &other, 2, geteuid());
	CHECK(r.code == ERR_OUTPUT && strstr(r.text, "another directory"));
	if (id.born_ns) { /* the number may be given again */
		other = id;
		other.born_ns++;
		ask_path(&d, &r, &other, 3, geteuid());
		CHECK(r.code == ERR_OUTPUT && strstr(r.text, "another directory"));
	}
	if (geteuid() == 0) {
		CHECK_IS(fchmod(dir, 0700), ==, 0);
		ask_path(&d, &r, &id, 4, 65534);
		CHECK(r.code == ERR_OUTPUT && strstr(r.text, "Permission denied"));
	}
	close(rep.dir);
	close(rep.doorbell);
	daemon_end(&d);
}

int main(void)
{
	int dir;

	need_rseq();
	enter_test_dir();
	CHECK_IS(mkdir("out", 0755), ==, 0);
	dir = open("out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_IS(dir, >=, 0);
	hands_over(dir);
	finds_by_path(dir);
	close(dir);
	return 0;
}
