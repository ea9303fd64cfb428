/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * large.h - a place for large arrays, away from other variables.
 */
#ifndef TRACER_BASE_LARGE_H
#define TRACER_BASE_LARGE_H

/* Of an array of 1 KiB or more that starts with zeros: between such arrays each small variable
 * would cost a page of every program that starts. To compilers and linkers the name means memory
 * without contents. */
#define TRACER_LARGE __attribute__((section(".sbss.large")))

#endif
