/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * providers.h - events that other modules bring (ltt_provider.h). One for the module.
 */
#ifndef KMOD_PROVIDERS_H
#define KMOD_PROVIDERS_H

/** Frees what was made for events; no provider is registered any more. */
void providers_fini(void);

#endif
