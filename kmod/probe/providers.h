/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * providers.h - the registry of events of other modules, which they register by ltt_provider.h.
 */
#ifndef KMOD_PROVIDERS_H
#define KMOD_PROVIDERS_H

/** Frees the per-event data. All providers must have been unregistered. */
void providers_fini(void);

#endif
