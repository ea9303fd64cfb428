/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay reads the files beside its keys: the first part of the input (two bytes of length)
 * is `psk`, the rest `viewers`. They are accepted or refused with a sentence; a viewer is
 * granted only hosts that its own lines name, and all hosts only by a star.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/fuzz_fds.h"
#include "lib/fuzz_top.h"
#include "must_hold.h"
#include "relayd/keyring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(const char *name, const uint8_t *data, size_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_top, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST_HOLD(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

static const uint8_t good[] = "peer:000102030405060708090a0b0c0d0e0f\n";

/* The library opens something when it is used first. */
static void set_up(void)
{
	struct keyring ring;
	struct err err = { 0 };

	fuzz_top_make();
	put(TLS_FILE_PSK, good, sizeof(good) - 1);
	MUST_HOLD(keyring_init(&ring, fuzz_top, &err) == 0);
	keyring_fini(&ring);
}

/* Up to the first NUL, as files of text are read. */
static bool names(const uint8_t *text, size_t size, const char *word)
{
	const uint8_t *end = memchr(text, 0, size);

	return memmem(text, end ? (size_t)(end - text) : size, word, strlen(word)) != NULL;
}

static void look(struct keyring *ring, const uint8_t *viewers, size_t size)
{
	struct view_acl view_acl;

	keyring_view_acl(ring, "peer", &view_acl);
	MUST_HOLD(view_acl.nr_hosts >= 1 && strcmp(view_acl.hosts[0], "peer") == 0);
	MUST_HOLD(!view_acl.all || (names(viewers, size, "*") && names(viewers, size, "peer")));
	for (unsigned int i = 1; i < view_acl.nr_hosts; i++) {
		MUST_HOLD(*view_acl.hosts[i] && !strpbrk(view_acl.hosts[i], " \t\r\n#"));
		MUST_HOLD(names(viewers, size, view_acl.hosts[i]));
	}
	view_acl_fini(&view_acl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct keyring ring;
	struct err err = { 0 };
	size_t len;
	int fds;

	if (!ready)
		set_up();
	ready = true;
	if (size < 2)
		return 0;
	len = data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	len = len < size ? len : size;
	fds = fuzz_open_fds();
	put(TLS_FILE_PSK, data, len);
	put("viewers", data + len, size - len);
	if (keyring_init(&ring, fuzz_top, &err) == 0) {
		look(&ring, data + len, size - len);
		/* invalid keys are rejected, and the earlier ones stay */
		put(TLS_FILE_PSK, (const uint8_t *)"x", 1);
		MUST_HOLD(keyring_reload(&ring, &err) != 0 && *err.text);
		look(&ring, data + len, size - len);
		keyring_fini(&ring);
	} else {
		MUST_HOLD(err.code && *err.text);
		err = (struct err){ 0 };
		put(TLS_FILE_PSK, good, sizeof(good) - 1);
		MUST_HOLD(keyring_init(&ring, fuzz_top, &err) == 0);
		look(&ring, data + len, size - len);
		keyring_fini(&ring);
	}
	MUST_HOLD(fuzz_open_fds() == fds);
	return 0;
}
