/*
 * Checks whether the stopped thread's filters allow attaching. They are read and interpreted, never
 * tried: a filter may kill the process for a forbidden call.
 */
#include "injector/injector.h"

#include "shared/arch/elf.h"
#include "shared/wire/needs.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

#define STEPS_MAX BPF_MAXINSNS

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	const struct seccomp_data *data;
};

static uint32_t value_compute(uint16_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	case BPF_XOR:
		return a ^ b;
	default:
		return -a;
	}
}

static bool value_compare(uint16_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b;
	}
}

static uint32_t word_load(const struct machine *self, const struct sock_filter *code)
{
	uint32_t word = 0;

	switch (BPF_MODE(code->code)) {
	case BPF_ABS:
		if (code->k <= sizeof(*self->data) - sizeof(word))
			memcpy(&word, (const char *)self->data + code->k, sizeof(word));
		return word;
	case BPF_MEM:
		return code->k < BPF_MEMWORDS ? self->memory[code->k] : 0;
	case BPF_LEN:
		return sizeof(*self->data);
	default:
		return code->k;
	}
}

static uint32_t code_jump(const struct machine *self, const struct sock_filter *code)
{
	uint32_t operand = BPF_SRC(code->code) == BPF_X ? self->x : code->k;

	if (BPF_OP(code->code) == BPF_JA)
		return code->k;
	return value_compare(BPF_OP(code->code), self->a, operand) ? code->jt : code->jf;
}

static void machine_step(struct machine *self, const struct sock_filter *code)
{
	switch (BPF_CLASS(code->code)) {
	case BPF_LD:
		self->a = word_load(self, code);
		break;
	case BPF_LDX:
		self->x = word_load(self, code);
		break;
	case BPF_ST:
	case BPF_STX:
		if (code->k < BPF_MEMWORDS)
			self->memory[code->k] = BPF_CLASS(code->code) == BPF_ST ? self->a : self->x;
		break;
	case BPF_ALU:
		self->a = value_compute(BPF_OP(code->code), self->a,
					BPF_SRC(code->code) == BPF_X ? self->x : code->k);
		break;
	default:
		if (BPF_MISCOP(code->code) == BPF_TAX)
			self->x = self->a;
		else
			self->a = self->x;
		break;
	}
}

/* Returns the filter's result; an unsupported filter counts as killing. */
static uint32_t filter_run(const struct sock_filter *code, unsigned count,
			   const struct seccomp_data *data)
{
	struct machine self = { .data = data };

	for (uint64_t at = 0, steps = 0; at < count && steps < STEPS_MAX; at++, steps++) {
		if (BPF_CLASS(code[at].code) == BPF_RET)
			return BPF_RVAL(code[at].code) == BPF_A ? self.a : code[at].k;
		/* At a division by zero the kernel ends the filter, with the result 0. */
		if (code[at].code == (BPF_ALU | BPF_DIV | BPF_X) && !self.x)
			return SECCOMP_RET_KILL_THREAD;
		if (BPF_CLASS(code[at].code) == BPF_JMP)
			at += code_jump(&self, &code[at]);
		else
			machine_step(&self, &code[at]);
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static bool is_allowed(uint32_t answer, bool may_fail)
{
	uint32_t action = answer & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
	       (may_fail && action == SECCOMP_RET_ERRNO);
}

static int check_filter(struct job *job, const struct sock_filter *code, unsigned count)
{
	for (size_t i = 0; i < needs_count; i++) {
		bool is_needed = needs[i].when & job->needs;
		struct seccomp_data data = { .nr = (int)needs[i].nr, .arch = ARCH_AUDIT };

		memcpy(data.args, needs[i].args, sizeof(data.args));
		if (!(needs[i].when & (job->needs | job->wishes)) ||
		    is_allowed(filter_run(code, count, &data), is_needed && needs[i].may_fail))
			continue;
		job->nr = needs[i].nr;
		if (is_needed)
			return job_fail(job, JOB_SECCOMP, 0);
		job->denied |= needs[i].when;
	}
	return 0;
}

static struct sock_filter instructions[BPF_MAXINSNS]; /* as the kernel returns it */

/* Unreadable filters forbid nothing here: seccomp_check() refuses these. */
bool seccomp_forbids_restart(const struct stopped *self)
{
	const struct seccomp_data data = { .nr = SYS_restart_syscall, .arch = ARCH_AUDIT };
	struct job *job = self->job;
	unsigned long i = 0;
	long count;

	while ((count = ptrace(PTRACE_SECCOMP_GET_FILTER, job->tid, i, instructions)) >= 0) {
		if (!is_allowed(filter_run(instructions, (unsigned)count, &data), false))
			return true;
		i++;
	}
	if (i && errno == ENOENT)
		job->facts.filters_known = job->filters;
	return false;
}

int seccomp_check(struct stopped *self)
{
	struct job *job = self->job;

	for (unsigned long i = 0;; i++) {
		long count = ptrace(PTRACE_SECCOMP_GET_FILTER, job->tid, i, instructions);

		if (count < 0 && (errno == ENOENT || errno == EINVAL))
			return 0; /* no more; none at all */
		if (count < 0 && job->has_filters)
			job->denied = job->wishes;
		if (count < 0)
			return job->facts.force || !job->has_filters
				       ? 0
				       : job_fail(job, JOB_SECCOMP_UNREADABLE, errno);
		if (check_filter(job, instructions, (unsigned)count))
			return -1;
	}
}
