/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * words.h - begins each table: expands its rows for one face. No guard.
 *
 * A table declares the attributes of an object, such as a session, once. Its rows are
 *
 *   GIVEN(type, name, default, "doc")    asked, saved, shown; another value: another object
 *   CHANGED(...)                         the same, but a second request replaces the value
 *   HIDDEN(...)                          asked and saved
 *   KEPT(...)                            saved and shown: set by other commands
 *
 * and the faces are ASKED, by a request; SAVED, for the next daemon; SHOWN, to clients; EACH, all
 * of them. CHANGING are the rows with CHANGED alone, UNASKED those with KEPT; REPEATED those that
 * are asked and shown, so that a client can request an object once more. The including file
 * defines one of these as a macro with the parameters of a row, and includes the table:
 *
 *   #define SHOWN(type, name, init, doc) .name = rule->name,
 *   #include "model/rule.def"
 *
 * types.h has the types. After the first release, rows of messages can only be appended
 * (proto/codec.h), so messages have the model's rows last.
 */
#if defined ASKED
#define GIVEN ASKED
#define CHANGED ASKED
#define HIDDEN ASKED
#define KEPT(type, name, init, doc)
#elif defined SAVED
#define GIVEN SAVED
#define CHANGED SAVED
#define HIDDEN SAVED
#define KEPT SAVED
#elif defined SHOWN
#define GIVEN SHOWN
#define CHANGED SHOWN
#define HIDDEN(type, name, init, doc)
#define KEPT SHOWN
#elif defined EACH
#define GIVEN EACH
#define CHANGED EACH
#define HIDDEN EACH
#define KEPT EACH
#elif defined CHANGING
#define GIVEN(type, name, init, doc)
#define CHANGED CHANGING
#define HIDDEN(type, name, init, doc)
#define KEPT(type, name, init, doc)
#elif defined UNASKED
#define GIVEN(type, name, init, doc)
#define CHANGED(type, name, init, doc)
#define HIDDEN(type, name, init, doc)
#define KEPT UNASKED
#elif defined REPEATED
#define GIVEN REPEATED
#define CHANGED REPEATED
#define HIDDEN(type, name, init, doc)
#define KEPT(type, name, init, doc)
#else
#error "define ASKED, SAVED, SHOWN, EACH, CHANGING, UNASKED or REPEATED before a table of fields is included"
#endif
