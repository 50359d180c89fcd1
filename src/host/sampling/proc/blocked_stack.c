/*
 * Reads the stacks of waiting threads; stops nothing.  The thread may go on meanwhile: its call is
 * read again afterwards, and must be the same.
 */
#include "host/sampling/proc/blocked_stack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "shared/arch/blocked_call.h"
#include "shared/arch/elf.h"

#include "host/core/clock.h"
#include "host/core/text/text.h"
#include "host/process/memory.h"
#include "host/unwind/walk.h"

#define COPY_SIZE (64u << 10)
#define PIECE     4096u
#define PIECES    (COPY_SIZE / PIECE + 1)
#define GUESSES   512u /* words above the stack pointer that may be a saved frame pointer */
#define WORD      sizeof(uint64_t)

struct copy {
	uint64_t base, size;
	unsigned char bytes[COPY_SIZE];
};

static int read_copy(void *context, uint64_t address, void *into, size_t size)
{
	const struct copy *copy = context;
	uint64_t skip = address - copy->base;

	if (address < copy->base || skip >= copy->size || size > copy->size - skip)
		return -EFAULT;
	memcpy(into, copy->bytes + skip, size);
	return 0;
}

/* Page by page, so that at the end of the stack only what lies behind it is missing. */
static int copy_stack(struct copy *copy, pid_t tid, uint64_t base)
{
	struct iovec local = { copy->bytes, COPY_SIZE }, remote[PIECES];
	uint64_t at = base, end = base + COPY_SIZE;
	unsigned count = 0;
	ssize_t n;

	for (; at < end && count < PIECES; count++) {
		uint64_t next = MIN(ALIGN_DOWN(at, PIECE) + PIECE, end);

		remote[count] = (struct iovec){ (void *)(uintptr_t)at, next - at };
		at = next;
	}
	n = memory_copy(tid, &local, 1, remote, count);
	copy->base = base;
	copy->size = n > 0 ? (uint64_t)n : 0;
	return n < 0 ? -errno : 0;
}

static int read_call(pid_t pid, pid_t tid, struct blocked_call *ret)
{
	char path[64], text[256];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	size = text_read_small(path, text, sizeof(text));
	if (size < 0)
		return size == -ENOENT ? -ESRCH : (int)size;
	blocked_call_parse(text, ret);
	return ret->is_known ? 0 : -EAGAIN;
}

/* The first address that may be a saved frame pointer and leads to the outermost frame. */
static bool guess_fp(const struct space *space, const struct copy *copy,
		     struct walk_registers *registers, struct sample *ret,
		     struct walk_result *result)
{
	const struct memory_reader reader = { read_copy, (void *)(uintptr_t)copy };

	registers->is_fp_unknown = false;
	for (unsigned i = 0; i < GUESSES; i++) {
		struct walk_result attempt;
		uint64_t code;

		registers->fp = copy->base + i * WORD;
		if (read_copy((void *)(uintptr_t)copy, registers->fp + WORD, &code, WORD) ||
		    !space_find(space, code & ARCH_ADDRESS_MASK))
			continue;
		attempt = stack_walk(space, registers, &reader, ret->frames, SAMPLE_FRAMES_MAX);
		if (attempt.end != STACK_COMPLETE)
			continue;
		*result = attempt;
		return true;
	}
	registers->is_fp_unknown = true;
	*result = stack_walk(space, registers, &reader, ret->frames, SAMPLE_FRAMES_MAX);
	return false;
}

static void walk_blocked(struct sample *ret, const struct space *space, struct copy *copy,
			 const struct blocked_call *call)
{
	const struct memory_reader reader = { read_copy, copy };
	struct walk_registers registers = {
		.pc = call->ip,
		.sp = call->stack,
		.is_fp_unknown = true,
		.is_lr_unknown = true,
	};
	struct walk_result result =
		stack_walk(space, &registers, &reader, ret->frames, SAMPLE_FRAMES_MAX);
	bool is_guessed = result.needs_fp && guess_fp(space, copy, &registers, ret, &result);

	ret->kernel_count = 0;
	ret->user_count = (uint16_t)result.count;
	ret->end = (uint8_t)result.end;
	ret->flags = is_guessed || result.is_guessed ? SAMPLE_GUESSED : 0;
}

int blocked_stack_read(struct sample *ret, uint64_t *ret_ns, const struct space *space, pid_t tid,
		       struct outside_frames *outside)
{
	struct blocked_call call = { 0 }, again = { 0 };
	struct copy copy;
	int r = read_call(space->pid, tid, &call);

	if (!r)
		r = copy_stack(&copy, tid, call.stack);
	if (!r)
		outside_frames_read(outside, space->pid, tid);
	if (!r)
		r = read_call(space->pid, tid, &again);
	if (r < 0)
		return r;
	if (again.stack != call.stack || again.ip != call.ip || again.nr != call.nr)
		return -EAGAIN;
	*ret_ns = now_ns();
	walk_blocked(ret, space, &copy, &call);
	return 0;
}
