/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usdt.h - notes about USDT probes as sys/sdt.h of SystemTap makes them, for programs of the
 * tests: the format is documented, and one package less is needed.
 */
#ifndef USDT_H
#define USDT_H

/* @semaphore: a symbol, or 0. @args: of the note, with the operands that follow. */
#define USDT(provider, name, semaphore, args, ...)                                           \
	__asm__ volatile("990: nop\n"                                                        \
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"                       \
			 ".balign 4\n"                                                       \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                  \
			 "991: .asciz \"stapsdt\"\n"                                         \
			 "992: .balign 4\n"                                                  \
			 "993: .8byte 990b\n"                                                \
			 ".8byte _.stapsdt.base\n"                                           \
			 ".8byte " semaphore "\n"                                            \
			 ".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n" \
			 "994: .balign 4\n"                                                  \
			 ".popsection\n"                                                     \
			 ".ifndef _.stapsdt.base\n"                                          \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
			 ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                    \
			 "_.stapsdt.base: .space 1\n"                                        \
			 ".size _.stapsdt.base, 1\n.popsection\n.endif\n"                    \
			 :                                                                   \
			 : __VA_ARGS__)

#endif
