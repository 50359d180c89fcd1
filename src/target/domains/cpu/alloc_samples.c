/*
 * Samples of allocations, by bytes. Each thread counts bytes down before it allocates. The
 * allocation that crosses zero is recorded with its call stack, and its address is remembered. Of
 * the calls that free memory, only those of remembered addresses are recorded, without a stack.
 * Every other call goes on to its original function, at the cost of a subtraction or of one table
 * lookup; no clock is read. The common functions do both in shared/arch/NAME/alloc_thunk.S, which
 * calls this file only where it cannot decide.
 *
 * The distance from one sample to the next is random, exponential with the requested mean. So each
 * byte has the same chance whatever the application does in turn, and the number of bytes that a
 * sample of a given size stands for is known exactly on average: size / (1 - exp(-size / mean)).
 * Equal distances would fall in step with loops and sample the same one of their allocations every
 * time. Exponential distances have no memory: a chosen allocation that fails costs others no
 * chance.
 */
#include "target/domains/cpu/alloc_samples.h"

#include "shared/arch/elf.h"
#include "target/domains/cpu/alloc_addresses.h"
#include "target/hooks/got/got.h"
#include "target/hooks/wants.h"
#include "target/hooks/writer.h"
#include "target/runtime/text.h"

#include <string.h>
#include <sys/mman.h>

#define OPERATORS_MAX 16u
#define SIZE_MOST     ((uint64_t)INT64_MAX / 2)
#define LN2_FIXED     45426u /* in parts of 1/65536 */

/* The value of hook_frame.choice. The bits above CHOSEN_LATER hold the thread's `sample_left`. */
enum choice {
	CHOSEN_NOT,
	CHOSEN,
	CHOSEN_OLD,   /* only because the freed address may be a sample */
	CHOSEN_LATER, /* decided after the call, unless a nested allocation was counted */
};
#define CHOICE_BITS 2

static uint64_t sample_bytes;

/* In parts of 1/65536, by squaring: the agent uses no floating point registers. */
static uint64_t log2_fixed(uint64_t value)
{
	unsigned zeros = (unsigned)__builtin_clzll(value);
	uint64_t mantissa = value << zeros, result = 63 - zeros;

	for (unsigned i = 0; i < 16; i++) {
		unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
		bool is_two = square >> 127;

		mantissa = (uint64_t)(square >> (is_two ? 64 : 63));
		result = result << 1 | is_two;
	}
	return result;
}

/* -ln(random in (0, 1]) times the mean, rounded up. */
static int64_t next_distance(struct writer *writer)
{
	unsigned __int128 distance;

	writer->random ^= writer->random << 13;
	writer->random ^= writer->random >> 7;
	writer->random ^= writer->random << 17;
	distance = (unsigned __int128)sample_bytes * ((64u << 16) - log2_fixed(writer->random)) *
		   LN2_FIXED;
	return (int64_t)MIN((uint64_t)(distance >> 32), SIZE_MOST) + 1;
}

/* True if the countdown crossed zero. A thread's first allocation sets up its countdown. */
static bool has_crossed(struct writer *writer)
{
	if (!writer->random) {
		writer->random = ALLOC_SPREAD(clock_ticks() ^ (uint64_t)writer) | 1;
		writer->sample_left += next_distance(writer);
		if (writer->sample_left > 0)
			return false;
	}
	writer->sample_left = next_distance(writer);
	return true;
}

/* True if this allocation is the sample. A signal handler that allocates during the subtraction
 * makes one of the two sizes uncounted, no more. */
static bool count_down(struct writer *writer, uint64_t size)
{
	writer->sample_left -= (int64_t)MIN(size, SIZE_MOST);
	return writer->sample_left <= 0 && has_crossed(writer);
}

/*
 * operator new calls malloc, and both are hooked. libstdc++ has no frame pointers, so a stack taken
 * inside it lacks the caller: the outer call is counted, and the inner one is recognized by its
 * return address. Only the C++ library's own operators are known to call another allocator.
 */
static struct code operators[OPERATORS_MAX];
static uint32_t operator_count;
struct alloc_known alloc_known __attribute__((aligned(64)));

static bool is_within(const struct code *code, uint64_t address)
{
	return address - code->begin < code->size;
}

static bool is_in_operator(uint64_t address)
{
	uint32_t count = __atomic_load_n(&operator_count, __ATOMIC_RELAXED);

	if (!is_within(&alloc_known.operators, address))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (is_within(&operators[i], address))
			return true;
	return false;
}

/* Identifies a tail call: both hooked calls then have the same frame address, caller and size. */
static uint64_t mark_of(const struct hook_frame *frame, uint64_t size)
{
	return ((uint64_t)frame ^ frame->address << 1 ^ size << 2) | 1;
}

/* A set mark is cleared here: the thread's next hooked allocation is the tail call, or the tail
 * call was not hooked. While a mark is set, alloc_thunk.S passes no call on. A function that may
 * tail-call is never itself the callee: a match is then a loop's next call, after a call whose mark
 * stayed. */
static bool is_handed_on(struct writer *writer, const struct hook_frame *frame, uint64_t size,
			 bool may_hand_on)
{
	uint64_t mark = writer->handing_on;

	if (!mark)
		return false;
	writer->handing_on = 0;
	return !may_hand_on && mark == mark_of(frame, size);
}

static uint64_t sample_distance(const struct writer *writer)
{
	return (uint64_t)writer->sample_left << CHOICE_BITS | CHOSEN_LATER;
}

static uint64_t sample_choose(const struct hook_frame *frame, uint64_t size, bool may_hand_on)
{
	const struct hook_frame *outer;
	struct writer *writer;

	/* Acquire: pairs with hook_announce(). */
	if (!__atomic_load_n(&frame->hook->is_on, __ATOMIC_ACQUIRE) ||
	    is_in_operator(frame->address))
		return CHOSEN_NOT;
	outer = hook_outer(frame);
	if (outer && outer->hook->traced->domain == DOMAIN_ALLOC)
		return CHOSEN_NOT;
	writer = writer_known();
	/* A thread without a writer gets one after the call (its `sample_left` is 0), or loses
	 * it. */
	if (!writer)
		return writers_are_on() ? CHOSEN_LATER : CHOSEN_NOT;
	if (is_handed_on(writer, frame, size, may_hand_on))
		return CHOSEN_NOT;
	if (!frame->hook->mark)
		return sample_distance(writer);
	if (may_hand_on)
		writer->handing_on = mark_of(frame, size);
	return count_down(writer, size) ? CHOSEN : CHOSEN_NOT;
}

static uint64_t choose_given(const struct hook_frame *frame)
{
	bool is_on = __atomic_load_n(&frame->hook->is_on, __ATOMIC_ACQUIRE);

	return is_on && alloc_may_be_out(frame->arguments[0]) ? CHOSEN : CHOSEN_NOT;
}

/* Decides again after the call returned: a nested allocation changes `sample_left`. */
static bool is_chosen(struct writer *writer, const struct hook_frame *frame, uint64_t size)
{
	unsigned choice = frame->choice & ((1u << CHOICE_BITS) - 1);

	return choice == CHOSEN ||
	       (choice == CHOSEN_LATER && frame->choice == sample_distance(writer) &&
		count_down(writer, size));
}

static void write_sample(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end, uint64_t address)
{
	alloc_remember(address);
	if (hook_write_call(writer, hook, frame, end))
		writer_callers(writer, frame, CALLERS_ALL);
}

static void write_taken(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end, uint64_t size,
			uint64_t address)
{
	if (address && is_chosen(writer, frame, size))
		write_sample(writer, hook, frame, end, address);
}

/* A record with a stack: the new address is a sample; without one: only the old address was. */
static void write_both(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end, uint64_t size)
{
	uint64_t address = frame->results[0];
	bool was_sample = (address || !size) && alloc_forget(frame->arguments[0]);

	if (address && is_chosen(writer, frame, size))
		write_sample(writer, hook, frame, end, address);
	else if (was_sample)
		(void)hook_write_call(writer, hook, frame, end);
}

static uint64_t choose_both(const struct hook_frame *frame, uint64_t size, bool may_hand_on)
{
	uint64_t choice = sample_choose(frame, size, may_hand_on);

	if (choice != CHOSEN_NOT || !choose_given(frame))
		return choice;
	return CHOSEN_OLD;
}

/* The function freed the address before this lookup: if another thread has already got the same
 * address as a new sample, that sample's entry is removed instead. */
static void write_given(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end)
{
	if (alloc_forget(frame->arguments[0]))
		(void)hook_write_call(writer, hook, frame, end);
}

/* The functions of each shape, by its size argument and its resulting address. */
#define ARGUMENT(index) (frame->arguments[index])
#define RESULT          (frame->results[0])
#define TAKEN_SHAPE(shape, size, may_hand_on, address)                            \
	static uint64_t choose_##shape(const struct hook_frame *frame)            \
	{                                                                         \
		return sample_choose(frame, size, may_hand_on);                   \
	}                                                                         \
	static void write_##shape(struct writer *writer, const struct hook *hook, \
				  const struct hook_frame *frame, uint64_t end)   \
	{                                                                         \
		write_taken(writer, hook, frame, end, size, address);             \
	}
#define MOVED_SHAPE(shape, size, may_hand_on)                                     \
	static uint64_t choose_##shape(const struct hook_frame *frame)            \
	{                                                                         \
		return choose_both(frame, size, may_hand_on);                     \
	}                                                                         \
	static void write_##shape(struct writer *writer, const struct hook *hook, \
				  const struct hook_frame *frame, uint64_t end)   \
	{                                                                         \
		write_both(writer, hook, frame, end, size);                       \
	}

TAKEN_SHAPE(size0, ARGUMENT(0), false, RESULT)
TAKEN_SHAPE(array, ARGUMENT(0), true, RESULT)
TAKEN_SHAPE(size1, ARGUMENT(1), false, RESULT)
TAKEN_SHAPE(product, ARGUMENT(0) * ARGUMENT(1), false, RESULT)
TAKEN_SHAPE(memalign, ARGUMENT(2), false, (int32_t)RESULT ? 0 : *(const uint64_t *)ARGUMENT(0))
TAKEN_SHAPE(mapping, ARGUMENT(1), false, RESULT == UINT64_MAX ? 0 : RESULT)
MOVED_SHAPE(moved, ARGUMENT(1), false)
MOVED_SHAPE(moved_array, ARGUMENT(1) * ARGUMENT(2), true)

/* Hooks are prepared while modules are walked under the loader's lock: dladdr cannot be called. */
static struct code find_code(const struct hook *hook)
{
	struct beside found = beside_find(hook->original, hook->traced->symbol);

	return (struct code){ hook->original, found.begin == hook->original ? found.size : 0 };
}

static void code_stretch(struct code *all, const struct code *by)
{
	uint64_t begin = all->size ? MIN(all->begin, by->begin) : by->begin;
	uint64_t end = all->size ? MAX(all->begin + all->size, by->begin + by->size)
				 : by->begin + by->size;

	*all = (struct code){ begin, end - begin };
}

static bool is_any(const char *const patterns[], const char *library)
{
	for (; *patterns; patterns++)
		if (pattern_matches(*patterns, text_length(*patterns), library))
			return true;
	return false;
}

/* The code of allocators whose functions call each other, or mmap, through hooked GOT entries. */
static struct code find_allocator(const struct hook *hook, const struct function_name *name)
{
	static const char *const allocators[] = { "libjemalloc.so*", "libtcmalloc*.so*",
						  "libmimalloc*.so*", NULL };
	struct code code = { 0, 0 };

	if (is_any(allocators, name->library))
		code.size = got_code(hook->original, &code.begin);
	return code;
}

/* Notes code whose own allocator calls are not counted. False: the list is full. */
static bool code_note(struct code code)
{
	if (!code.size || is_in_operator(code.begin))
		return code.size;
	if (operator_count == OPERATORS_MAX)
		return false;
	operators[operator_count] = code;
	code_stretch(&alloc_known.operators, &code);
	/* Release: is_in_operator() reads the count before the entries. */
	__atomic_store_n(&operator_count, operator_count + 1, __ATOMIC_RELEASE);
	return true;
}

/* libc's allocation functions do not call each other, except by tail calls. */
static void prepare_libc(struct hook *hook, const struct function_name *name)
{
	static const char *const libcs[] = { "libc.so*", "libc-*", NULL };

	hook->mark = is_any(libcs, name->library) || code_note(find_allocator(hook, name));
}

/* The application's own operator new may call an allocator that is not hooked. */
static void prepare_operator(struct hook *hook, const struct function_name *name)
{
	struct code code = find_allocator(hook, name);

	if (pattern_matches("lib*c++.so*", 11, name->library))
		code = find_code(hook);
	hook->mark = code_note(code);
}

bool alloc_samples_start(const struct trace_request *request)
{
	if (!alloc_addresses_start())
		return false;
	sample_bytes = request->alloc_sample;
	operator_count = 0;
	alloc_known.operators = (struct code){ 0, 0 };
	alloc_known.thunks = hook_thunks();
	alloc_known.writer = writer_path();
	return true;
}

/* Assembly fast paths of common shapes. Functions that are called seldom have none. */
#define ENTRY_size0       alloc_take_first
#define ENTRY_product     alloc_take_product
#define ENTRY_moved       alloc_move
#define ENTRY_given       alloc_give
#define ENTRY_array       NULL
#define ENTRY_size1       NULL
#define ENTRY_memalign    NULL
#define ENTRY_mapping     NULL
#define ENTRY_moved_array NULL

#define SAMPLED(symbol, name, shape, ...)              \
	{                                              \
		symbol,        name,                   \
		DOMAIN_ALLOC,  HOOK_CHOSEN,            \
		write_##shape, (void *)choose_##shape, \
		__VA_ARGS__,   .entry = ENTRY_##shape, \
	},
#define TAKES(symbol, name, shape, origin, ...) \
	SAMPLED(symbol, name, shape, __VA_ARGS__, .prepare = prepare_##origin)
/* The C++ library's operator delete only calls free. */
#define GIVES(symbol, name, ...) SAMPLED(symbol, name, given, __VA_ARGS__, .but_in = "lib*c++.so*")
const struct traced alloc_samples[] = {
#include "target/domains/cpu/alloc_calls.def"
};
