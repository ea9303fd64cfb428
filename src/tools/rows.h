/* SPDX-License-Identifier: GPL-2.0-only */
/* rows.h - defines the words of the next message table so that each makes a struct row. No
 * guard. */
#define MESSAGE(name, number, who, doc) { MESSAGE_ROW, #name, #who, number, doc },
#define COMMAND(name, number, access, turn, doc) \
	{ COMMAND_ROW, #name, #access ", " #turn, number, doc },
#define F(type, field, doc) { FIELD, #field, #type, 0, doc },
#define L(record, field, doc) { LIST_FIELD, #field, #record, 0, doc },
#define IN(type, field, doc) { INPUT, #field, #type, 0, doc },
#define OUT(type, field, doc) { OUTPUT, #field, #type, 0, doc },
#define IN_LIST(record, field, doc) { INPUT_LIST, #field, #record, 0, doc },
#define OUT_LIST(record, field, doc) { OUTPUT_LIST, #field, #record, 0, doc },
#define MESSAGE_END(name) { END, #name, "", 0, "" },
#define COMMAND_END(name) { END, #name, "", 0, "" },
