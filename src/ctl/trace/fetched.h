/* SPDX-License-Identifier: GPL-2.0-only */
/* fetched.h - traces of an archive, made plain by ltt-archive, which alone is linked with a client
 * of stores. */
#ifndef CTL_TRACE_FETCHED_H
#define CTL_TRACE_FETCHED_H

#include "ctl/ctl.h"
#include "read/view.h"

struct show_options;

/** Whether a word is the URL of an archive, and no path or session. */
bool fetched_is_url(const char *word);
/** Fetch the sessions below @url into a new directory. @times: begin and end: only the packets with
 *  events of this time; NULL: all. @ret: an array of them, with their paths; may be NULL. Return: 0
 *  or the code in @ctl->err. */
int fetched_into(struct ctl *ctl, const char *url, const char *dir, const struct view_select *times,
		 struct json_object **ret) MUST_CHECK;
/** Fetch them into a directory that is removed when this process has ended, in any way. Return: its
 *  path, allocated; NULL with ctl->err set. */
char *fetched_path(struct ctl *ctl, const char *url);
/** The same of the packets with events of the time that the options select, which gets absolute. */
char *fetched_part(struct ctl *ctl, const char *url, struct show_options *options);
/** The times of the options, for which the beginning of the sessions is read if these need it.
 *  Return: 0 or the code in @ctl->err. */
int fetched_times(struct ctl *ctl, const char *url, const struct show_options *options,
		  struct view_select *ret) MUST_CHECK;

#endif
