/* SPDX-License-Identifier: GPL-2.0-only */
/* registers.h - registers by the numbers that DWARF gives them. */
#ifndef KMOD_REGISTERS_H
#define KMOD_REGISTERS_H

#include <linux/kernel.h>
#include <linux/ptrace.h>
#ifdef CONFIG_X86
#include <asm/segment.h>
#endif

#ifdef CONFIG_X86
#define REGISTER(name) offsetof(struct pt_regs, name)
static const u16 registers[] = {
	REGISTER(ax), REGISTER(dx), REGISTER(cx), REGISTER(bx), REGISTER(si), REGISTER(di),
	REGISTER(bp), REGISTER(sp), REGISTER(r8), REGISTER(r9), REGISTER(r10), REGISTER(r11),
	REGISTER(r12), REGISTER(r13), REGISTER(r14), REGISTER(r15), REGISTER(ip),
};
#undef REGISTER
#define REGISTERS      ARRAY_SIZE(registers)
#define REGISTERS_ARGS 6
#else
/* arm64: x0 to x30, then the stack pointer, then the instruction's address */
#define REGISTERS      33
#define REGISTERS_ARGS 8
#endif

static inline unsigned long register_value(const struct pt_regs *regs, u32 nr)
{
#ifdef CONFIG_X86
	return *(const unsigned long *)((const u8 *)regs + registers[nr]);
#else
	return ((const u64 *)regs)[nr];
#endif
}

static inline unsigned long register_argument(struct pt_regs *regs, u32 nr)
{
#ifdef CONFIG_X86
	static const u8 numbers[REGISTERS_ARGS] = { 5, 4, 1, 2, 8, 9 };

	return register_value(regs, numbers[nr]);
#else
	return register_value(regs, nr);
#endif
}

/* Of a 32-bit program. */
static inline bool registers_are_narrow(const struct pt_regs *regs)
{
#ifdef CONFIG_X86
	return IS_ENABLED(CONFIG_IA32_EMULATION) && regs->cs == __USER32_CS;
#else
	return compat_user_mode(regs);
#endif
}

/* At the first instruction of a function: where it returns to. */
static inline unsigned long register_caller(struct pt_regs *regs)
{
#ifdef CONFIG_X86
	return regs_get_kernel_stack_nth(regs, 0);
#else
	return register_value(regs, 30);
#endif
}

#endif
