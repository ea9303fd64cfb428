/* SPDX-License-Identifier: GPL-2.0-only */
/* hits.h - a function of another module, called at one place of the kernel or of a program. Process
 * context only. */
#ifndef KMOD_HITS_H
#define KMOD_HITS_H

#include "ltt_probe.h"

struct hits;
struct module;

/** Have @call called from now on. Return: or ERR_PTR, as ltt_place_register(). */
struct hits *hits_new(const struct ltt_place *place, ltt_place_call *call, void *data);
/** On return it is not running any more. Return: NULL. */
struct hits *hits_free(struct hits *hits);
/** Whether the place is a function of the module, found by ftrace. */
bool hits_are_of(const struct hits *hits, const struct module *module);

#endif
