/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chain.h - the archives of a session, and its traces that are in none yet, are one trace in
 * pieces: each stream goes on with the number after its last packet. For view_verify().
 */
#ifndef READ_CHAIN_H
#define READ_CHAIN_H

struct view;

/** After all packets were read: report events that are missing between two pieces, or are in both.
 *  Archives before the first one that is there, and those that were cleared, are not missed. */
void chain_check(struct view *view);

/** Note which archives are not there, by their numbers, also those before the first one, but not
 *  those that were cleared. */
void chain_note_missing(struct view *view);

#endif
