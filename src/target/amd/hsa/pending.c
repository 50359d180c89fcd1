/*
 * Runs on application threads, before and after their calls: no lock, no waiting. A slot's states
 * are: free, taken (being filled), waiting, taken (being handled), free. Each taker has a unique
 * ticket: its changes fail after another thread has dropped the slot, or after the session. Keys
 * are a separate array, because applications read signals often; they stay in free slots.
 */
#include "target/amd/hsa/pending.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <sys/mman.h>

#define SLOTS_MAX 16384u
#define WINDOW    32u

/* A slot's state, or a ticket. */
enum { FREE, WAITING, FIRST_TICKET };

struct memory {
	uint64_t keys[SLOTS_MAX];
	uint32_t states[SLOTS_MAX];
	struct hsa_command items[SLOTS_MAX];
};
static struct memory *memory;
static uint32_t last_ticket;

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

/* The mapping stays: a thread may be using it. */
void pending_close(void)
{
	if (memory)
		raw3(SYS_madvise, memory, sizeof(*memory), MADV_DONTNEED);
}

static uint32_t first_slot(uint64_t signal)
{
	return (uint32_t)(signal * 0x9e3779b97f4a7c15u >> 40) % (SLOTS_MAX - WINDOW);
}

static uint32_t new_ticket(void)
{
	uint32_t ticket = __atomic_add_fetch(&last_ticket, 1, __ATOMIC_RELAXED);

	return ticket < FIRST_TICKET ? ticket + FIRST_TICKET : ticket;
}

/* A token for callers: slot number and ticket. */
static uint64_t token_of(uint32_t slot, uint32_t ticket)
{
	return (uint64_t)ticket << 32 | (slot + 1);
}

static uint32_t slot_in(uint64_t token)
{
	return (uint32_t)token - 1;
}

static bool slot_change(uint32_t slot, uint32_t from, uint32_t to)
{
	/* Seq_cst: the thread that destroys a signal sees the slot, or the slot's holder sees
	 * that. */
	return __atomic_compare_exchange_n(&memory->states[slot], &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

uint64_t pending_hold(uint64_t signal)
{
	uint32_t first = first_slot(signal), ticket = new_ticket();

	for (uint32_t i = first; memory && i < first + WINDOW; i++) {
		if (__atomic_load_n(&memory->states[i], __ATOMIC_RELAXED) != FREE ||
		    !slot_change(i, FREE, ticket))
			continue;
		__atomic_store_n(&memory->keys[i], signal, __ATOMIC_SEQ_CST);
		return token_of(i, ticket);
	}
	return 0;
}

bool pending_fill(uint64_t token, const struct hsa_command *command)
{
	uint32_t slot = slot_in(token);

	if (__atomic_load_n(&memory->states[slot], __ATOMIC_ACQUIRE) != token >> 32)
		return false;
	memory->items[slot] = *command;
	return pending_put_back(token);
}

bool pending_put_back(uint64_t token)
{
	return slot_change(slot_in(token), (uint32_t)(token >> 32), WAITING);
}

void pending_release(uint64_t token)
{
	if (token)
		(void)slot_change(slot_in(token), (uint32_t)(token >> 32), FREE);
}

bool pending_add(const struct hsa_command *command)
{
	uint64_t token = pending_hold(command->signal);

	return token && pending_fill(token, command);
}

/* The next slot from `from` on that waits for the signal, else `end`. */
static uint32_t next_slot(uint64_t signal, uint32_t from, uint32_t end)
{
	while (from < end && (__atomic_load_n(&memory->keys[from], __ATOMIC_RELAXED) != signal ||
			      __atomic_load_n(&memory->states[from], __ATOMIC_ACQUIRE) != WAITING))
		from++;
	return from;
}

/* Takes the first command that waits for the signal and for which `is_meant` is true. */
typedef bool fits(const struct hsa_command *command, int64_t value, uint64_t cause);

static uint64_t command_handle(uint64_t signal, fits *is_meant, int64_t value, uint64_t cause,
			       struct hsa_command *ret)
{
	uint32_t first = first_slot(signal), end = first + WINDOW, ticket = 0;

	for (uint32_t i = memory ? next_slot(signal, first, end) : end; i < end;
	     i = next_slot(signal, i + 1, end)) {
		if (!ticket)
			ticket = new_ticket();
		if (!slot_change(i, WAITING, ticket))
			continue;
		if (memory->items[i].signal == signal &&
		    is_meant(&memory->items[i], value, cause)) {
			*ret = memory->items[i];
			return token_of(i, ticket);
		}
		(void)slot_change(i, ticket, WAITING);
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

uint64_t pending_acquire(uint64_t signal, int64_t value, struct hsa_command *ret)
{
	return command_handle(signal, is_done, value, 0, ret);
}

bool pending_cancel(uint64_t signal, uint64_t cause)
{
	struct hsa_command unused;

	uint64_t token = command_handle(signal, is_of_call, 0, cause, &unused);

	pending_release(token);
	return token != 0;
}

void pending_each_ours(bool (*is_over)(const struct hsa_command *command))
{
	uint32_t ticket = new_ticket();

	for (uint32_t i = 0; memory && i < SLOTS_MAX; i++) {
		struct hsa_command command;
		bool is_ours;

		if (__atomic_load_n(&memory->states[i], __ATOMIC_RELAXED) != WAITING ||
		    !slot_change(i, WAITING, ticket))
			continue;
		/* The pages may be freed, and read as zero, at any time. */
		command = memory->items[i];
		is_ours = command.signal && command.has_our_signal;
		(void)slot_change(i, ticket, is_ours && is_over(&command) ? FREE : WAITING);
	}
}

bool pending_has(uint64_t signal)
{
	uint32_t first = first_slot(signal);

	for (uint32_t i = first; memory && i < first + WINDOW; i++)
		if (__atomic_load_n(&memory->keys[i], __ATOMIC_SEQ_CST) == signal &&
		    __atomic_load_n(&memory->states[i], __ATOMIC_SEQ_CST) != FREE)
			return true;
	return false;
}

void pending_drop(uint64_t signal)
{
	uint32_t first = first_slot(signal);

	for (uint32_t i = first; memory && i < first + WINDOW; i++) {
		uint32_t state = __atomic_load_n(&memory->states[i], __ATOMIC_ACQUIRE);

		/* The slot may have another signal by now. */
		if (__atomic_load_n(&memory->keys[i], __ATOMIC_RELAXED) == signal)
			(void)slot_change(i, state, FREE);
	}
}

unsigned pending_count_of(uint64_t signal)
{
	uint32_t first = first_slot(signal), end = first + WINDOW;
	unsigned count = 0;

	for (uint32_t i = memory ? next_slot(signal, first, end) : end; i < end;
	     i = next_slot(signal, i + 1, end))
		count++;
	return count;
}

uint32_t pending_count(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; memory && i < SLOTS_MAX; i++)
		count += __atomic_load_n(&memory->states[i], __ATOMIC_RELAXED) != FREE;
	return count;
}

uint32_t pending_count_ours(uint64_t before)
{
	uint32_t count = 0;

	for (uint32_t i = 0; memory && i < SLOTS_MAX; i++)
		count += __atomic_load_n(&memory->states[i], __ATOMIC_ACQUIRE) != FREE &&
			 memory->items[i].has_our_signal &&
			 (int64_t)(before - memory->items[i].asked) >= 0;
	return count;
}

struct dispatch_event hsa_kernel_event(const struct hsa_command *command)
{
	struct dispatch_event event = { .name = command->name,
					.ring_name = command->ring_name,
					.object = command->object,
					.dispatch = command->dispatch,
					.device = command->device,
					.queue = command->queue,
					.thread = command->thread,
					.cause = command->cause,
					.private_bytes = command->private_bytes,
					.group_bytes = command->group_bytes };

	for (unsigned i = 0; i < 3; i++) {
		event.grid[i] = command->grid[i];
		event.group[i] = command->group[i];
	}
	return event;
}
