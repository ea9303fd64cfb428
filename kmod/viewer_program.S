/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes of the program that the module carries with it, if any; see viewer.h and Kbuild. */
	.section .rodata, "a"
	.balign 8
	.globl viewer_program
viewer_program:
#ifdef LTT_VIEWER
	.incbin "viewer.bin"
#endif
1:	.balign 8
	.globl viewer_bytes
viewer_bytes:
	.quad 1b - viewer_program
