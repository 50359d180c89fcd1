/*
 * Runs on threads of the program's, before and after their calls: no lock, no waiting.  A place
 * goes from free to taken (somebody fills it in), to waiting, to taken (somebody has it), to free.
 * Keys are apart, since programs ask about signals all the time.
 */
#include "target/domains/hsa_pending.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <sys/mman.h>

#define PLACES_MAX 16384u
#define WINDOW     32u

enum state { FREE, TAKEN, WAITING };

struct memory {
	uint64_t keys[PLACES_MAX];
	uint32_t states[PLACES_MAX];
	struct hsa_command items[PLACES_MAX];
};
static struct memory *memory;
static uint32_t waiting;

int pending_open(void)
{
	long r = memory ? 0
			: raw6(SYS_mmap, 0, sizeof(struct memory), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (r < 0 && r > -4096)
		return -ENOMEM;
	if (!memory)
		__atomic_store_n(&memory, (struct memory *)r, __ATOMIC_RELEASE);
	pending_close();
	return 0;
}

/* The mapping stays: a thread may be on its way in. */
void pending_close(void)
{
	if (memory)
		raw3(SYS_madvise, memory, sizeof(*memory), MADV_DONTNEED);
	__atomic_store_n(&waiting, 0, __ATOMIC_RELAXED);
}

static uint32_t first_place(uint64_t signal)
{
	return (uint32_t)(signal * 0x9e3779b97f4a7c15u >> 40) % (PLACES_MAX - WINDOW);
}

static bool change(uint32_t place, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&memory->states[place], &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void set_free(uint32_t place)
{
	__atomic_store_n(&memory->keys[place], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->states[place], FREE, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
}

bool pending_add(const struct hsa_command *command)
{
	uint32_t first = first_place(command->signal);

	for (uint32_t i = first; memory && i < first + WINDOW; i++) {
		if (!change(i, FREE, TAKEN))
			continue;
		memory->items[i] = *command;
		__atomic_store_n(&memory->keys[i], command->signal, __ATOMIC_RELAXED);
		__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
		/* Release: who takes it finds it whole. */
		__atomic_store_n(&memory->states[i], WAITING, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

/* The next place from there on that waits for the signal; the end of the window. */
static uint32_t next_place(uint64_t signal, uint32_t from, uint32_t end)
{
	while (from < end && (__atomic_load_n(&memory->keys[from], __ATOMIC_RELAXED) != signal ||
			      __atomic_load_n(&memory->states[from], __ATOMIC_ACQUIRE) != WAITING))
		from++;
	return from;
}

/* Calls `fits` for those that wait for the signal, until one fits; that one is given: its number.
 */
typedef bool fits(const struct hsa_command *command, int64_t value, uint64_t cause);

static uint32_t take(uint64_t signal, fits *is_meant, int64_t value, uint64_t cause,
		     struct hsa_command *ret)
{
	uint32_t first = first_place(signal), end = first + WINDOW;

	if (!memory || !__atomic_load_n(&waiting, __ATOMIC_RELAXED))
		return 0;
	for (uint32_t i = next_place(signal, first, end); i < end;
	     i = next_place(signal, i + 1, end)) {
		if (!change(i, WAITING, TAKEN))
			continue;
		if (memory->items[i].signal == signal &&
		    is_meant(&memory->items[i], value, cause)) {
			*ret = memory->items[i];
			return i + 1;
		}
		__atomic_store_n(&memory->states[i], WAITING, __ATOMIC_RELEASE);
	}
	return 0;
}

static bool is_done(const struct hsa_command *command, int64_t value, uint64_t cause)
{
	(void)cause;
	return value <= command->done_at;
}

static bool is_of_call(const struct hsa_command *command, int64_t value, uint64_t cause)
{
	(void)value;
	return command->cause == cause;
}

uint32_t pending_take(uint64_t signal, int64_t value, struct hsa_command *ret)
{
	return take(signal, is_done, value, 0, ret);
}

bool pending_cancel(uint64_t signal, uint64_t cause)
{
	struct hsa_command unused;

	uint32_t number = take(signal, is_of_call, 0, cause, &unused);

	pending_give_back(number);
	return number != 0;
}

void pending_give_back(uint32_t number)
{
	if (number)
		set_free(number - 1);
}

bool pending_is_taken(uint64_t signal)
{
	uint32_t first = first_place(signal);

	for (uint32_t i = first; memory && i < first + WINDOW; i++)
		if (__atomic_load_n(&memory->keys[i], __ATOMIC_RELAXED) == signal &&
		    __atomic_load_n(&memory->states[i], __ATOMIC_ACQUIRE) == TAKEN)
			return true;
	return false;
}

unsigned pending_count_of(uint64_t signal)
{
	uint32_t first = first_place(signal), end = first + WINDOW;
	unsigned count = 0;

	for (uint32_t i = memory ? next_place(signal, first, end) : end; i < end;
	     i = next_place(signal, i + 1, end))
		count++;
	return count;
}

uint32_t pending_count(void)
{
	return __atomic_load_n(&waiting, __ATOMIC_RELAXED);
}
