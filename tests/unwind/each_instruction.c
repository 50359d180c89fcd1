/*
 * Runs a program instruction by instruction, keeps a list of its calls and returns beside it, and
 * compares limpet's walk with that list wherever the program stands: the truth comes from what the
 * processor does, and from no rules.
 *
 *   usage: each_instruction PROGRAM [ARGUMENT...]
 *
 * The program begins to be looked at where it stops itself (int3, brk) and ends where it does so
 * again.  Each address of its own file is judged at its first visits.  Prints one line for each
 * address with a stack that is not the truth, and a summary.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/arch/elf.h"

#include "host/unwind/arch/code.h"
#include "host/unwind/walk.h"

#define CALLS_MAX  4096u
#define VISITS_MAX 2u
#define PLACES     (1u << 20) /* addresses of the program's code that are told apart */
#define BYTES_MAX  16u
#define LINES_MAX  60u

#if defined(__x86_64__)
#define REGISTERS 27
#define PC_WORD   16
#define SP_WORD   19
#define FP_WORD   4
#define LR_WORD   15
#define MACHINE   EM_X86_64
#define PAST_TRAP 0u
static const unsigned char register_words[] = {
	10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0
};
#else
#define REGISTERS 34
#define PC_WORD   32
#define SP_WORD   31
#define FP_WORD   29
#define LR_WORD   30
#define MACHINE   EM_AARCH64
#define PAST_TRAP 4u
static const unsigned char register_words[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
						11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
						22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
#endif

enum verdict {
	VERDICT_RIGHT,
	VERDICT_WRONG, /* although it is called complete */
	VERDICT_INCOMPLETE,
	VERDICTS,
};

static const char *const verdict_names[] = { "right", "wrong", "incomplete" };

/* A function was called: where it returns to, and sp at its first instruction. */
struct call {
	uint64_t ra, sp;
};

struct run {
	pid_t pid;
	struct space *space;
	uint64_t words[REGISTERS];
	struct call calls[CALLS_MAX];
	unsigned count;
	struct frame_step step; /* the instruction before which the program stands */
	const struct module *own;
	unsigned char *visits;
	unsigned long steps, judged[VERDICTS];
	unsigned lines;
};

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	const struct run *run = context;
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(run->pid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static bool read_registers(struct run *run)
{
	struct iovec all = { run->words, sizeof(run->words) };

	return !ptrace(PTRACE_GETREGSET, run->pid, NT_PRSTATUS, &all);
}

/* True: the program has stopped again. */
static bool resume(struct run *run, int request)
{
	int status;

	return !ptrace(request, run->pid, 0, 0) && waitpid(run->pid, &status, 0) == run->pid &&
	       WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && read_registers(run);
}

/* Behind the instruction by which the program stopped itself. */
static bool skip_trap(struct run *run)
{
	struct iovec all = { run->words, sizeof(run->words) };

	run->words[PC_WORD] += PAST_TRAP;
	return !ptrace(PTRACE_SETREGSET, run->pid, NT_PRSTATUS, &all);
}

static bool read_step(struct run *run)
{
	unsigned char bytes[BYTES_MAX] = { 0 };
	size_t room = MIN(sizeof(bytes), 4096 - run->words[PC_WORD] % 4096);

	if (read_memory(run, run->words[PC_WORD], bytes, room))
		return false;
	if (room < sizeof(bytes))
		(void)read_memory(run, run->words[PC_WORD] + room, bytes + room,
				  sizeof(bytes) - room);
	return !unwind_machine_of(MACHINE)->code->read_step(&run->step, bytes, sizeof(bytes));
}

static bool is_trap(const struct run *run)
{
	uint32_t word = 0;

	(void)read_memory((void *)(uintptr_t)run, run->words[PC_WORD], &word, sizeof(word));
	return ARCH_RETURN_ON_STACK ? (word & 0xff) == 0xcc : (word & 0xffe0001f) == 0xd4200000;
}

/* What the last instruction did to the calls. */
static void follow_calls(struct run *run, const struct frame_step *step, uint64_t before)
{
	uint64_t sp = run->words[SP_WORD], pc = run->words[PC_WORD];

	if (step->flow == STEP_CALL && run->count < CALLS_MAX)
		run->calls[run->count++] = (struct call){ before + step->size, sp };
	else if (step->flow == STEP_RETURN)
		while (run->count && run->calls[--run->count].ra != pc)
			;
	else if (step->flow == STEP_JUMP) /* longjmp */
		while (run->count && run->calls[run->count - 1].sp < sp - ARCH_RETURN_ON_STACK * 8)
			run->count--;
}

static struct walk_result walk(struct run *run, __u64 *frames)
{
	const struct memory_reader reader = { read_memory, run };
	struct walk_registers registers = {
		.pc = run->words[PC_WORD],
		.sp = run->words[SP_WORD],
		.fp = run->words[FP_WORD],
		.lr = run->words[LR_WORD],
		.mask = (1ull << sizeof(register_words)) - 1,
	};

	for (size_t i = 0; i < sizeof(register_words); i++)
		registers.all[i] = run->words[register_words[i]];
	return stack_walk(run->space, &registers, &reader, frames, SAMPLE_FRAMES_MAX);
}

static enum verdict judge(const struct run *run, const struct walk_result *result,
			  const __u64 *frames)
{
	bool is_true = result->count > run->count;

	if (result->end != STACK_COMPLETE)
		return VERDICT_INCOMPLETE;
	for (unsigned i = 0; is_true && i < run->count; i++)
		is_true = frames[1 + i] == run->calls[run->count - 1 - i].ra;
	return is_true ? VERDICT_RIGHT : VERDICT_WRONG;
}

static void print_line(struct run *run, enum verdict verdict, uint64_t place,
		       const struct walk_result *result, const __u64 *frames)
{
	if (verdict == VERDICT_RIGHT || run->lines++ >= LINES_MAX)
		return;
	printf("%s at 0x%llx, end %u, %u frames of %u:", verdict_names[verdict],
	       (unsigned long long)place, result->end, result->count, run->count);
	for (unsigned i = 1; i < MIN(result->count, 4); i++)
		printf(" %llx", (unsigned long long)frames[i]);
	printf(", truth:");
	for (unsigned i = 0; i < MIN(run->count, 3); i++)
		printf(" %llx", (unsigned long long)run->calls[run->count - 1 - i].ra);
	putchar('\n');
}

static void judge_here(struct run *run)
{
	const struct space_range *range = space_find(run->space, run->words[PC_WORD]);
	__u64 frames[SAMPLE_FRAMES_MAX];
	struct walk_result result;
	enum verdict verdict;
	uint64_t place;

	if (!range || range->module != run->own)
		return;
	place = run->words[PC_WORD] - range->bias;
	if (run->visits[place % PLACES] >= VISITS_MAX)
		return;
	run->visits[place % PLACES]++;
	result = walk(run, frames);
	verdict = judge(run, &result, frames);
	run->judged[verdict]++;
	print_line(run, verdict, place, &result, frames);
}

static void run_to_end(struct run *run)
{
	struct frame_step step;
	uint64_t before;

	while (!is_trap(run) && read_step(run)) {
		judge_here(run);
		step = run->step;
		before = run->words[PC_WORD];
		if (!resume(run, PTRACE_SINGLESTEP))
			break;
		run->steps++;
		follow_calls(run, &step, before);
	}
}

static bool start(struct run *run, char **command)
{
	struct err err = { 0 };
	const struct space_range *range;

	run->pid = fork();
	if (!run->pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(command[0], command);
		_exit(127);
	}
	if (waitpid(run->pid, NULL, 0) != run->pid || !resume(run, PTRACE_CONT) ||
	    !skip_trap(run) || space_open(&run->space, run->pid, &err) < 0)
		return false;
	range = space_find(run->space, run->words[PC_WORD]);
	run->own = range ? range->module : NULL;
	return run->own;
}

int main(int argc, char **argv)
{
	static struct run run;
	bool is_done;

	setenv("XDG_CACHE_HOME", "/dev/null", /* overwrite */ 1); /* tables are made anew */
	run.visits = calloc(1, PLACES);
	if (argc < 2 || !run.visits || !start(&run, argv + 1)) {
		fprintf(stderr, "usage: each_instruction PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	run_to_end(&run);
	is_done = is_trap(&run);
	kill(run.pid, SIGKILL);
	printf("%lu instructions, %lu right, %lu wrong, %lu incomplete%s\n", run.steps,
	       run.judged[VERDICT_RIGHT], run.judged[VERDICT_WRONG], run.judged[VERDICT_INCOMPLETE],
	       is_done ? "" : ", not run to its end");
	space_close(run.space);
	free(run.visits);
	return !is_done || run.judged[VERDICT_WRONG] || run.judged[VERDICT_INCOMPLETE];
}
