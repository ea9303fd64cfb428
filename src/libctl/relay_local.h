/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * relay_local.h - a relay on this machine for live sessions without a relay URL: the running
 * one, else one that is started as the caller's user. It keeps running when the caller ends.
 * Runs in the caller's thread.
 */
#ifndef LIBCTL_RELAY_LOCAL_H
#define LIBCTL_RELAY_LOCAL_H

#include "url.h"

/** @path: program ltt-relayd. Return: 0, or the code in @err. */
int relay_local(const char *path, struct relay_url *ret, struct err *err) MUST_CHECK;

#endif
