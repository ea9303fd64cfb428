/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * viewpast.h - streams that had ended before a viewer attached again to its session, after a
 * restart of the relay or the loss of its connection: no sender opens them any more, so they are
 * found by their files in the session's directory. Each viewer has its own, as each has read up to
 * another time. Runs in the viewers' thread.
 */
#ifndef RELAYD_VIEWER_VIEWPAST_H
#define RELAYD_VIEWER_VIEWPAST_H

#include "viewstream.h"

/** If the viewer may lack streams that have ended, find them once, as soon as the session's other
 *  streams are registered. Return: false: the viewer must wait for that. */
bool viewpast_find(struct vsession *vsession);
/** Whether the viewer lacks streams that can't be shown; true once only. */
bool viewpast_lacks(struct vsession *vsession);
/** Release the found streams that were not reported to the viewer. */
void viewpast_drop(struct vsession *vsession);

#endif
