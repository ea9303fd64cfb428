/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracer_alone.h - for tests of libltt without its helper thread: stands in for
 * the file that would start it.
 */
#ifndef TESTS_TRACER_ALONE_H
#define TESTS_TRACER_ALONE_H

#ifdef __cplusplus
extern "C" {
#endif
void agent_sites_changed(void);
void agent_sites_changed(void)
{
}
void agent_names_added(void);
void agent_names_added(void)
{
}
#ifdef __cplusplus
}
#endif

#endif
