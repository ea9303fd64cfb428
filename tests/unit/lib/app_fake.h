/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * app_fake.h - a session daemon for tests of libltt: listens, makes ring sets as a consumer does,
 * and sends and receives the messages of app.def. Every wait has a time limit.
 *
 * A test program is both ends: run without arguments it is the daemon, and it runs itself with
 * arguments as the application, in a runtime directory of its own.
 */
#ifndef TESTS_APP_FAKE_H
#define TESTS_APP_FAKE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"
#include "ltt_ring.h"
#include "proto/app.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#define UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define UNDER_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#define UNDER_ASAN __has_feature(address_sanitizer)
#else
#define UNDER_ASAN 0
#endif

#define WAIT_MS 40000 /* ten thousand threads, on a busy machine, under a sanitizer */
#define MAX_POINTS 512

struct fake_point {
	uint32_t id;
	char name[64];
};

/** One application's connection. */
struct fake_app {
	int fd;
	struct msg_app_hello hello;
	char procname[64];
	struct fake_point points[MAX_POINTS];
	unsigned int nr_points, nr_removed;
	unsigned int nr_complete; /* complete announcements */
	unsigned int nr_synced;
	uint32_t last_synced;
	unsigned int nr_begun;
	struct msg_app_begun begun; /* the last one */
	int last_producer;	    /* -1: not reported */
	char channels[2048]; /* NAME EVENTS SIZE NUM of each in the last app_channels; lines */
};

struct fake_set {
	uint64_t ring, session;
	const char *channel;
	int exclusive;
	bool own;
	int data, ctl, ctl_ro, doorbell;
	struct ltt_ring_desc desc;
	uint8_t *data_map, *ctl_map;
	size_t data_bytes, ctl_bytes;
};

/** The runtime directory. */
extern char app_fake_dir[64];

/** The monotonic clock. */
int64_t app_fake_now_us(void);

/* --- the runtime directory ---------------------------------------------------------- */

/** Make a runtime directory and set LTT_RUNDIR. It is not directly in /tmp, where the files of
 * other programs would wake the helper thread. */
void app_fake_rundir(void);

/** Remove the runtime directory and its socket, but not the directory above. */
void app_fake_rundir_remove(void);

/** Remove the runtime directory and the directory above. */
void app_fake_rundir_end(void);

/** Listen as a daemon of @uid does, also over the socket of a daemon that was killed. */
int app_fake_listen_as(uid_t uid);

/** app_fake_listen_as() of this process's user. */
int app_fake_listen(void);

/* --- a ring set ---------------------------------------------------------------- */

/** Return: a sealed file of @bytes in memory. */
int app_fake_memfd(size_t bytes);

/** Set the state of all rings. */
void app_fake_enable(struct fake_set *set, uint32_t state);

/** Make a ring set as a consumer does; every ring is on. */
void app_fake_set_init(struct fake_set *set, uint64_t ring, uint64_t session, const char *channel,
		       int exclusive);

/** Unmap and close the ring set. */
void app_fake_set_fini(struct fake_set *set);

/** Events published in the set, or with 1 those that were refused because no ring was free. */
uint64_t app_fake_count(const struct fake_set *set, int what);

/** Events published in the set. */
uint64_t app_fake_recorded(const struct fake_set *set);

/* --- a connection ---------------------------------------------------------------- */

/** Whether @fd is readable within @ms. */
bool app_fake_readable(int fd, int ms);

/** Accept an application's connection. */
void app_fake_accept(int listener, struct fake_app *app);

/** Receive one message. Return: its type, 0 at the end of the connection, -1 after @ms. */
int app_fake_receive(struct fake_app *app, int ms);

/** Receive messages until the next announcement is complete. */
void app_fake_await_points(struct fake_app *app);

/** Return: the id of the announced point, or 0. */
uint32_t app_fake_point(const struct fake_app *app, const char *name);

/* --- messages of the daemon ---------------------------------------------------------- */

/** Begin a message of this type. */
void app_fake_begin(struct encoder *enc, uint16_t type);

/** Send the message with its descriptors. */
void app_fake_send(const struct fake_app *app, const struct encoder *enc);

/** Send the ring set's description and descriptors. */
void app_fake_send_buffer(const struct fake_app *app, const struct fake_set *set);

/** Send a message that arms or disarms @point with @event in the ring set. */
void app_fake_send_arming(const struct fake_app *app, uint16_t type, const struct fake_set *set,
			  uint32_t point, uint32_t event);

/** Arm the announced point. */
void app_fake_arm(const struct fake_app *app, const struct fake_set *set, const char *point);

/** Disarm the announced point. */
void app_fake_disarm(const struct fake_app *app, const struct fake_set *set, const char *point);

/** Withdraw the ring set. */
void app_fake_drop(const struct fake_app *app, const struct fake_set *set);

/** Send the end of the daemon's registration. */
void app_fake_ready(const struct fake_app *app);
void app_fake_ready_part(const struct fake_app *app, enum app_ready_part part);

/** Return once the application has applied all messages before. */
void app_fake_sync(struct fake_app *app);

/** Request a state dump, and return once it is recorded. */
void app_fake_statedump(struct fake_app *app, uint64_t session);

/** Answer the hello of an application that was accepted. */
void app_fake_welcome(const struct fake_app *app, uint64_t instance);
/** Accept an application, up to the end of its first announcement, as @instance. */
void app_fake_register(int listener, struct fake_app *app, uint64_t instance);

/* --- the application's process ------------------------------------------------------ */

struct fake_child {
	pid_t pid;
	int fd; /* commands to the child, one byte each, and its replies, one byte each */
};

/** Run this program as an application, with @role as its argument. */
struct fake_child app_fake_child_start(const char *role);

/** Return: the application's reply to a command. */
char app_fake_child_read(const struct fake_child *c);

/** Send the application a command. Return: its reply. */
char app_fake_child_command(const struct fake_child *c, char command);

/** Close the application's commands and wait for its end. Return: exit status or -signal. */
int app_fake_child_end(struct fake_child *c);

#endif
