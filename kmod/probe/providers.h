/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * providers.h - events that other modules register (ltt_provider.h). One for the module.
 */
#ifndef KMOD_PROVIDERS_H
#define KMOD_PROVIDERS_H

/** Frees the per-event data; no provider may be registered any more. */
void providers_fini(void);

#endif
