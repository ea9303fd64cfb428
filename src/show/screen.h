/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * screen.h - the terminal that shows the output of a program: its width, and a pager. Runs in the
 * program's only thread.
 */
#ifndef SHOW_SCREEN_H
#define SHOW_SCREEN_H

#include <stdbool.h>

/** Whether the output to @fd is shown by a terminal, by itself or through the pager. */
bool screen_has(int fd);
/** Its columns: COLUMNS, else those of the terminal; 0: no terminal shows it, or unknown. */
unsigned int screen_columns(int fd);
/** The number of columns that a text needs: characters, without escape sequences of colours. */
unsigned int screen_width(const char *text);
/**
 * screen_cut() - a copy of a text that needs at most @columns; allocated. "..." replaces the end,
 * or the begin of a path or URL, whose last parts matter more.
 */
char *screen_cut(const char *text, unsigned int columns);

/**
 * screen_page() - send the output, and errors that go to the same terminal, through a pager, if
 * stdout is a terminal: LTT_PAGER, else PAGER, else `less -FRX`, where it is installed. NO_PAGER,
 * an empty command and `cat` mean none. Ctrl-C and Ctrl-\ wait for the pager's end, with
 * status 0 if they didn't end it; other signals end both at once.
 */
void screen_page(void);
/** Wait until the user has left the pager, if there is one; stdout is closed then. @status: of the
 *  program, also if Ctrl-C ends it meanwhile.
 *  Return: NULL; else the command, which could not be run. */
const char *screen_page_end(int status);

#endif
