/* SPDX-License-Identifier: GPL-2.0-only */
/* latency.h - the spans of a trace and the slowest of them, for the verbs latency and why. */
#ifndef CTL_VERB_LATENCY_H
#define CTL_VERB_LATENCY_H

#include "ctl/options.h"

extern const struct poptOption latency_options[];

enum status latency_verb_check(struct ctl *ctl);

/** As `latency`, whose record it makes, with the causes of each of the slowest spans. */
enum status latency_verb_explain(struct ctl *ctl);

#endif
