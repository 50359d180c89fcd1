/*
 * Writes the callers of a hooked call, inside the call: no libc, no lock; memory is probed first.
 */
#include "target/hooks/hook.h"
#include "target/hooks/python_stack.h"
#include "target/hooks/stack.h"
#include "target/hooks/thread.h"
#include "target/hooks/writer.h"
#include "target/runtime/readable.h"

#include "shared/arch/elf.h"

/* The kernel maps nothing within 128 MiB of the end of the main thread's stack. */
#define FIRST_STACK_MAX (64u << 20)
#define STACK_PAGE      4096u /* the smallest page size */

static uint8_t extents[DOMAINS]; /* enum callers_extent */

void writer_callers_use(enum trace_domain domain, enum callers_extent extent)
{
	extents[domain] = (uint8_t)extent;
}

static uint64_t find_stack_end(const struct writer *writer, uint64_t sp)
{
	uint64_t first = __atomic_load_n(&writer->rings->stack_end, __ATOMIC_RELAXED);

	return sp < first && first - sp < FIRST_STACK_MAX ? first : thread_stack_end(sp);
}

/*
 * A thread's own stack is mapped from its stack pointer to its end, and no other thread unmaps it,
 * but the application may protect pages of it: each is probed. Memory of other stacks (coroutines,
 * signal handlers) may be unmapped between the probe and the copy: it is not copied.
 */
static uint64_t copied_bytes(const struct writer *writer, uint64_t sp)
{
	uint64_t end = find_stack_end(writer, sp), bytes;

	if (!end)
		return 0;
	bytes = ALIGN_DOWN(MIN(end - sp, STACK_COPY_MAX), sizeof(uint64_t));
	for (uint64_t page = ALIGN_UP(sp, STACK_PAGE); page < sp + bytes; page += STACK_PAGE)
		if (!is_readable(page))
			return page - sp;
	return bytes;
}

/* The host unwinds the copy, and so finds callers without frame pointers, too. */
static bool write_copy(struct writer *writer, const struct call_site *site)
{
	struct record_stack_part caller = {
		.pc = site->record[1] & ARCH_ADDRESS_MASK,
		.sp = site->sp,
		.fp = site->record[0],
	};

	caller.bytes = (uint32_t)copied_bytes(writer, caller.sp);
	return caller.bytes && writer_stack_copy(writer, &caller);
}

static void write_callers(struct writer *writer, const struct call_site *site,
			  enum callers_extent extent)
{
	uint64_t frames[RECORD_FRAMES_MAX];

	if (extent == CALLERS_ALL)
		python_frames_write(writer);
	if (extent == CALLERS_LINKED || !write_copy(writer, site))
		writer_stack(writer, frames,
			     stack_collect(site->record, frames, RECORD_FRAMES_MAX));
}

bool writer_call_at(struct writer *writer, const struct record_call *call, const uint64_t *values,
		    enum trace_domain domain, const struct call_site *site)
{
	enum callers_extent extent = extents[domain];

	if (extent == CALLERS_NONE)
		return writer_call(writer, call, values);
	if (extent == CALLERS_DIRECT)
		return writer_call_from(writer, call, values, site->record[1] & ARCH_ADDRESS_MASK);
	if (!writer_call(writer, call, values))
		return false;
	write_callers(writer, site, extent);
	return true;
}

/* Skips hooked calls that tail-called this one: the application's caller lies further up. */
static struct call_site site_of(const struct hook_frame *frame)
{
	const struct hook_frame *outer;

	while ((outer = hook_outer(frame)) > frame)
		frame = outer;
	return (struct call_site){ &frame->link, hook_caller_sp(frame) };
}

void writer_callers(struct writer *writer, const struct hook_frame *frame,
		    enum callers_extent extent)
{
	struct call_site site = site_of(frame);

	write_callers(writer, &site, extent);
}

bool writer_call_in(struct writer *writer, const struct record_call *call, const uint64_t *values,
		    const struct hook_frame *frame)
{
	enum trace_domain domain = frame->hook->traced->domain;
	struct call_site site;

	if (extents[domain] == CALLERS_NONE)
		return writer_call(writer, call, values);
	site = site_of(frame);
	return writer_call_at(writer, call, values, domain, &site);
}
