/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * provider.h - providers and modules of call sites, for those of both binary interfaces. Called
 * with the loader's lock, by constructors and destructors.
 */
#ifndef LTTNG_PROVIDER_H
#define LTTNG_PROVIDER_H

#include <stdbool.h>

#include "join.h"

#define PROVIDER_MAX_EVENTS 65536u
#define PROVIDER_OLDEST_MAJOR 3u

struct old_provider_desc;
struct provider;

/** @old: the description of which @desc is a translation (old/provider.c), or NULL. */
struct provider *provider_register(const struct lttng_ust_probe_desc *desc,
				   const struct old_provider_desc *old);
/** Return: whether @desc is not used any more. */
bool provider_unregister(struct provider *provider);

/**
 * A module is an array of addresses of call sites; @place_of describes one, with @names, of
 * MAX_NAME bytes, as memory for its names. Return: false: it is not valid.
 */
typedef bool (*place_of_fn)(const void *site, struct place *ret_place, char *names);
int module_register(const void *const *sites, int nr_sites, place_of_fn place_of);
int module_unregister(const void *const *sites);

#endif
