/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mi.h - `--mi=xml`: the answers of verbs that LTTng has, too, as documents of its machine
 * interface, version 4.3. They are made of the records that --json prints, and of the sessions
 * before and after the verb where a document has more of them.
 */
#ifndef CTL_MI_MI_H
#define CTL_MI_MI_H

#include "ctl/ctl.h"

/** Check that the verb has such documents, with these words. Return: STATUS_OK, or a status with
 *  ctl->err set. */
enum status mi_check(struct ctl *ctl);
/** Call it before the verb runs, connected or not. */
void mi_begin(struct ctl *ctl);
/** Print the document of the verb. Return: 0 or the code in ctl->err. */
int mi_print(struct ctl *ctl, enum status status) MUST_CHECK;

#endif
