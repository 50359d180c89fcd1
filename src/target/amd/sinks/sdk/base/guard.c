/*
 * The personality of guard_run() in shared/arch/NAME/api_call.S. An unwinder must be driven by its
 * own functions, so those are searched in the library that contains the calling unwinder. A tool
 * that has linked its C++ runtime statically exports none: then the thread escapes from the search
 * for a handler, and the tool's destructors do not run.
 */
#include "target/amd/sinks/sdk/base/guard.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/tables/threads.h"
#include "target/runtime/arena.h"
#include "target/runtime/libc_calls.h"

enum { SEARCH = 1, HANDLER = 4, FORCED = 8 };
enum { CAUGHT_BY_OTHER = 1, FOUND = 6, INSTALL = 7, GO_ON = 8 };
enum { FIRST_REGISTER = 0 };

#define CONTEXT_WORDS 128u

struct exception {
	uint64_t class;
	void (*cleanup)(int reason, struct exception *exception);
	uint64_t private[2];
};

typedef void set_register(void *context, int which, uint64_t value);
typedef void set_address(void *context, uint64_t value);
typedef void *begin_function(void *exception);
typedef void end_function(void);

static struct {
	set_register *set_register;
	set_address *set_address;
	begin_function *begin;
	end_function *end;
} known;

static bool (*is_runner)(int32_t tid);

extern const unsigned char guard_landing[];
int guard_personality(int version, int actions, uint64_t class, struct exception *exception,
		      void *context);
void guard_caught(struct exception *exception);
bool guard_run(void (*work)(void *argument), void *argument, uint64_t *place);
_Noreturn void guard_escape(uint64_t frame);

static void *guard_find(void *handle, const char *name)
{
	void *found = handle ? libc_symbol(handle, name) : NULL;

	return found ? found : libc_symbol(RTLD_DEFAULT, name);
}

void guard_learn(void *handle)
{
	known.set_register = (set_register *)guard_find(handle, "_Unwind_SetGR");
	known.set_address = (set_address *)guard_find(handle, "_Unwind_SetIP");
	known.begin = (begin_function *)guard_find(handle, "__cxa_begin_catch");
	known.end = (end_function *)guard_find(handle, "__cxa_end_catch");
}

void guard_know_runners(bool (*question)(int32_t tid))
{
	is_runner = question;
}

static bool is_own_thread(void)
{
	return (is_runner && is_runner((int32_t)raw0(SYS_gettid))) || delivery_is_mine();
}

/* Forced unwinding skips the code that parts the thread from its arena: do it here. */
static void thread_end(void)
{
	const struct boot_libc *libc = delivery_libc();

	if (libc && is_own_thread())
		arena_part(libc);
}

static bool is_same_library(const void *a, const void *b)
{
	Dl_info first, second;

	return libc_find_module(a, &first) && libc_find_module(b, &second) &&
	       first.dli_fbase == second.dli_fbase;
}

/* The unwinder's context of limpet's frame contains the frame's stack pointer; both lie on the
 * stack, one above the other. */
static bool context_is_at(const uint64_t *context, uint64_t frame)
{
	for (unsigned i = 0; i < CONTEXT_WORDS && (uint64_t)&context[i] < frame; i++)
		if (context[i] == frame)
			return true;
	return false;
}

/* Does not return if the unwinder is at a frame of guard_run(). */
static void frame_escape(struct exception *exception, const uint64_t *context)
{
	const struct call_thread *thread = call_thread_mine();

	for (uint32_t i = thread ? thread->guard_count : 0; i-- > 0;) {
		if (!context_is_at(context, thread->guards[i]))
			continue;
		if (exception->cleanup)
			exception->cleanup(CAUGHT_BY_OTHER, exception);
		guard_escape(thread->guards[i]);
	}
}

int guard_personality(int version, int actions, uint64_t class, struct exception *exception,
		      void *context)
{
	(void)version, (void)class;
	/* Thread cancellation and pthread_exit() are not errors of the tool. */
	if (actions & FORCED) {
		thread_end();
		return GO_ON;
	}
	if (!known.set_address || !known.set_register ||
	    !is_same_library(__builtin_return_address(0), (const void *)known.set_address)) {
		if (actions & SEARCH)
			frame_escape(exception, context);
		return GO_ON;
	}
	if (actions & SEARCH)
		return FOUND;
	if (!(actions & HANDLER))
		return GO_ON;
	known.set_register(context, FIRST_REGISTER, (uint64_t)exception);
	known.set_address(context, (uint64_t)guard_landing);
	return INSTALL;
}

void guard_caught(struct exception *exception)
{
	if (known.begin && known.end) {
		known.begin(exception);
		known.end();
	} else if (exception->cleanup) {
		exception->cleanup(CAUGHT_BY_OTHER, exception);
	}
}

/* Guards of frames that a jump has left are below this frame. */
bool guard_call(void (*work)(void *argument), void *argument)
{
	struct call_thread *thread = call_thread_mine();
	uint64_t unnoted, here = (uint64_t)__builtin_frame_address(0);
	uint32_t count = thread ? MIN(thread->guard_count, THREAD_GUARDS_MAX) : 0;
	bool is_noted, is_left;

	while (count && thread->guards[count - 1] <= here)
		count--;
	is_noted = thread && count < THREAD_GUARDS_MAX;
	if (is_noted)
		thread->guard_count = count + 1;
	is_left = guard_run(work, argument, is_noted ? &thread->guards[count] : &unnoted);
	if (thread)
		thread->guard_count = count;
	return is_left;
}
