/* SPDX-License-Identifier: GPL-2.0-only */
/* document.h - writes a document of LTTng's machine interface, by libxml2. */
#ifndef CTL_MI_DOCUMENT_H
#define CTL_MI_DOCUMENT_H

#include <json-c/json.h>

#include "base/err.h"

/** mi_document() - the document of a command.
 *  @command: its name, output and success, as row.h describes elements. Characters that XML or a
 *  terminal does not allow are written as escapes.
 *  Return: allocated; NULL: @err is set. */
char *mi_document(struct json_object *command, struct err *err) MUST_CHECK;

#endif
