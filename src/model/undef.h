/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undef.h - ends each table: undefines its words. No guard. */
#undef ASKED
#undef SAVED
#undef SHOWN
#undef EACH
#undef CHANGING
#undef UNASKED
#undef REPEATED
#undef GIVEN
#undef CHANGED
#undef HIDDEN
#undef KEPT
