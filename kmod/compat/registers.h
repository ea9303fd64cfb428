/* SPDX-License-Identifier: GPL-2.0-only */
/* registers.h - the values of a task's registers, by their DWARF numbers. */
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
#define NR_REGISTERS      ARRAY_SIZE(registers)
#define NR_ARGUMENT_REGISTERS 6
#else
/* arm64: x0 to x30, then the stack pointer, then the instruction's address */
#define NR_REGISTERS      33
#define NR_ARGUMENT_REGISTERS 8
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
	static const u8 numbers[NR_ARGUMENT_REGISTERS] = { 5, 4, 1, 2, 8, 9 };

	return register_value(regs, numbers[nr]);
#else
	return register_value(regs, nr);
#endif
}

/* Whether the registers are those of a 32-bit program. */
static inline bool registers_are_32bit(const struct pt_regs *regs)
{
#ifdef CONFIG_X86
	return IS_ENABLED(CONFIG_IA32_EMULATION) && regs->cs == __USER32_CS;
#else
	return compat_user_mode(regs);
#endif
}

/* The return address of a function, at its first instruction. */
static inline unsigned long register_caller(struct pt_regs *regs)
{
#ifdef CONFIG_X86
	return regs_get_kernel_stack_nth(regs, 0);
#else
	return register_value(regs, 30);
#endif
}

#endif
