/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* words.h - the words of a .def table are empty unless the including file has defined
 * them. No guard. */
#ifndef MESSAGE
#define MESSAGE(name, number, who, doc)
#endif
#ifndef F
#define F(type, field, doc)
#endif
#ifndef L
#define L(record, field, doc)
#endif
#ifndef MESSAGE_END
#define MESSAGE_END(name)
#endif
#ifndef COMMAND
#define COMMAND(name, number, access, turn, doc)
#endif
#ifndef IN
#define IN(type, field, doc)
#endif
#ifndef OUT
#define OUT(type, field, doc)
#endif
#ifndef IN_LIST
#define IN_LIST(record, field, doc)
#endif
#ifndef OUT_LIST
#define OUT_LIST(record, field, doc)
#endif
#ifndef COMMAND_END
#define COMMAND_END(name)
#endif
