/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vcpu ROUNDS [TSC] - be a hypervisor: a machine of two virtual CPUs by /dev/kvm, whose program
 * reads its time stamp counter and returns. Writes "ready", and waits for a line. Each round is
 * then: a call of getpriority(2) for process number ROUND, which a kernel tracer records, and on
 * CPU 0, in odd rounds on CPU 1, one reading of the guest. TSC: after half of the rounds the
 * counters are set to it.
 *
 * Output: a line for each reading: CPU, the host's counter before, the guest's, the host's after.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <x86intrin.h>

#define MEMORY 65536u
#define CODE 0x1000u
#define STAMP 0x2000u
#define CPUS 2
#define MSR_TSC 0x10

/* Real mode: rdtsc; mov [STAMP], eax; mov [STAMP + 4], edx; out 0x10, al; jmp to the begin */
static const uint8_t program[] = { 0x0f, 0x31, 0x66, 0xa3, 0x00, 0x20, 0x66, 0x89,
				   0x16, 0x04, 0x20, 0xe6, 0x10, 0xeb, 0xf1 };

static uint8_t *memory;

struct vcpu {
	int fd;
	struct kvm_run *run;
};

static int call(int fd, unsigned long request, void *argument, const char *name)
{
	int ret = ioctl(fd, request, argument);

	if (ret < 0)
		err(1, "%s", name);
	return ret;
}
#define CALL(fd, request, argument) call(fd, request, (void *)(uintptr_t)(argument), #request)

static void *map(size_t bytes, int flags, int fd)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

static int make_machine(int kvm)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY };
	int vm = CALL(kvm, KVM_CREATE_VM, 0);

	memory = map(MEMORY, MAP_ANONYMOUS, -1);
	memcpy(memory + CODE, program, sizeof(program));
	region.userspace_addr = (uintptr_t)memory;
	CALL(vm, KVM_SET_USER_MEMORY_REGION, &region);
	return vm;
}

static struct vcpu make_vcpu(int kvm, int vm, int number)
{
	struct vcpu vcpu = { .fd = CALL(vm, KVM_CREATE_VCPU, number) };
	struct kvm_mp_state running = { .mp_state = KVM_MP_STATE_RUNNABLE };
	struct kvm_regs regs = { .rip = CODE, .rflags = 2 };
	struct kvm_sregs sregs;

	vcpu.run = map(CALL(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), 0, vcpu.fd);
	CALL(vcpu.fd, KVM_GET_SREGS, &sregs);
	sregs.cs.base = sregs.cs.selector = 0;
	CALL(vcpu.fd, KVM_SET_SREGS, &sregs);
	CALL(vcpu.fd, KVM_SET_REGS, &regs);
	CALL(vcpu.fd, KVM_SET_MP_STATE, &running);
	return vcpu;
}

static void set_tsc(const struct vcpu *vcpu, uint64_t tsc)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = { .head.nmsrs = 1, .entry = { .index = MSR_TSC, .data = tsc } };

	if (CALL(vcpu->fd, KVM_SET_MSRS, &msrs) != 1)
		errx(1, "the counter can't be set");
}

static void read_tsc(const struct vcpu *vcpu, int number)
{
	uint64_t before = __rdtsc(), after, stamp;

	CALL(vcpu->fd, KVM_RUN, 0);
	after = __rdtsc();
	if (vcpu->run->exit_reason != KVM_EXIT_IO)
		errx(1, "exit %u of the guest", vcpu->run->exit_reason);
	memcpy(&stamp, memory + STAMP, sizeof(stamp));
	printf("%d %llu %llu %llu\n", number, (unsigned long long)before,
	       (unsigned long long)stamp, (unsigned long long)after);
}

int main(int argc, char **argv)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, rounds = argc > 1 ? atoi(argv[1]) : 1;
	struct vcpu vcpus[CPUS];

	if (kvm < 0)
		err(1, "/dev/kvm");
	vm = make_machine(kvm);
	for (int i = 0; i < CPUS; i++)
		vcpus[i] = make_vcpu(kvm, vm, i);
	printf("ready\n");
	fflush(stdout);
	(void)!getchar();
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; argc > 2 && i == rounds / 2 && k < CPUS; k++)
			set_tsc(&vcpus[k], strtoull(argv[2], NULL, 0));
		(void)getpriority(PRIO_PROCESS, i);
		read_tsc(&vcpus[i % CPUS], i % CPUS);
	}
	return 0;
}
