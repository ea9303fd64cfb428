/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undef.h - undefines the words of a .def table at its end. No guard. */
#undef MESSAGE
#undef F
#undef L
#undef MESSAGE_END
#undef COMMAND
#undef IN
#undef OUT
#undef IN_LIST
#undef OUT_LIST
#undef COMMAND_END
