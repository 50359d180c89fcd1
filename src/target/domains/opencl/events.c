/*
 * Commands in flight. limpet has one reference of each command's event. The driver calls on_done()
 * on any thread, perhaps long after detach: the memory stays, and a late call only releases the
 * event. No locks.
 */
#include "target/domains/opencl/opencl.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/mapping.h"

#include <errno.h>

#define COMMANDS_MAX 65536u
#define PAUSE_NS     1000000
#define COMPLETE     0
#define ASK_TRIES    100u
#define NAP_NS       1000

/* State of limpet's reference to a command's event. */
enum holding {
	NOT_HELD,
	HELD,
	LETTING_GO, /* events_drain() releases it just now */
	LET_GO,     /* released; the driver has still to call */
	DONE,       /* the driver has called */
};

typedef void event_callback(opencl_object event, int32_t status, void *context);
typedef int32_t set_callback(opencl_object event, int32_t status, event_callback *callback,
			     void *context);

static struct opencl_command *commands;
static uint32_t fresh; /* number of slots that were ever used */
static uint64_t
	free_list; /* low half: number of the first slot plus one; high half: a count against ABA */
static uint64_t pending; /* high half: the session; low half: its commands in flight */
static uint32_t lost;

int events_start(void)
{
	__atomic_store_n(&pending, (uint64_t)writers_session() << 32, __ATOMIC_RELAXED);
	__atomic_store_n(&lost, 0, __ATOMIC_RELAXED);
	if (!commands)
		commands = memory_map(COMMANDS_MAX * sizeof(*commands), MAP_NORESERVE);
	return commands ? 0 : -ENOMEM;
}

/* In a forked child: the driver will never call. */
void events_forget(void)
{
	fresh = 0;
	free_list = 0;
}

/* Ignores commands of an earlier session, which nothing waits for any more. */
static void pending_count(uint32_t session, int32_t change)
{
	uint64_t now = __atomic_load_n(&pending, __ATOMIC_RELAXED);

	/* Release: pairs with the acquire in count_pending(). */
	while (now >> 32 == session &&
	       !__atomic_compare_exchange_n(&pending, &now, now + (uint64_t)(int64_t)change, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static struct opencl_command *pop_free(void)
{
	uint64_t head = __atomic_load_n(&free_list, __ATOMIC_ACQUIRE);

	while ((uint32_t)head) {
		struct opencl_command *first = &commands[(uint32_t)head - 1];
		uint64_t next =
			((head >> 32) + 1) << 32 | __atomic_load_n(&first->next, __ATOMIC_RELAXED);

		if (__atomic_compare_exchange_n(&free_list, &head, next, true, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return first;
	}
	return NULL;
}

static struct opencl_command *command_allocate(void)
{
	struct opencl_command *used = pop_free();
	uint32_t index;

	if (used)
		return used;
	index = __atomic_load_n(&fresh, __ATOMIC_RELAXED);
	while (index < COMMANDS_MAX &&
	       !__atomic_compare_exchange_n(&fresh, &index, index + 1, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	return index < COMMANDS_MAX ? &commands[index] : NULL;
}

static void command_free(struct opencl_command *command)
{
	uint32_t number = (uint32_t)(command - commands) + 1;
	uint64_t head = __atomic_load_n(&free_list, __ATOMIC_RELAXED), next;

	if (command->shadow)
		shadow_drop(command->shadow);
	command->shadow = NULL;
	__atomic_store_n(&command->holding, NOT_HELD, __ATOMIC_RELEASE);
	do {
		__atomic_store_n(&command->next, (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | number;
	} while (!__atomic_compare_exchange_n(&free_list, &head, next, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
}

static bool write_kernel(struct writer *writer, const struct opencl_command *command,
			 const struct opencl_times *times)
{
	const struct opencl_work *work = &command->work;
	const struct opencl_queue *queue = command->queue;
	const uint64_t values[] = {
		work->kernel.name,         queue ? queue->device : 0,
		queue ? queue->number : 0, 0,
		command->thread,           command->begin,
		work->kernel.dispatch,     work->kernel.grid[0],
		work->kernel.grid[1],      work->kernel.grid[2],
		work->kernel.group[0],     work->kernel.group[1],
		work->kernel.group[2],     work->kernel.private_bytes,
		work->kernel.local_bytes,
	};

	return work_write(writer, DOMAIN_KERNEL, times->begin, times->end, values);
}

static bool write_copy(struct writer *writer, const struct opencl_command *command,
		       const struct opencl_times *times)
{
	const struct opencl_work *work = &command->work;
	uint64_t device = command->queue ? command->queue->device : 0;
	uint32_t direction = work->copy.direction;
	const uint64_t values[] = {
		work->copy.size,
		direction == COPY_DEVICE_TO_HOST ? 0 : device,
		direction == COPY_HOST_TO_DEVICE ? 0 : device,
		work->copy.to,
		work->copy.from,
		direction,
		command->queue ? command->queue->number : 0,
		0,
		command->thread,
		command->begin,
	};

	return work_write(writer, DOMAIN_COPY, times->begin, times->end, values);
}

static void record_write(const struct opencl_command *command, const struct opencl_times *times)
{
	writer_seal seal;
	struct writer *writer = writer_begin(&seal);

	if (!writer)
		return;
	if (command->work.domain == DOMAIN_KERNEL)
		(void)write_kernel(writer, command, times);
	else
		(void)write_copy(writer, command, times);
	writer_end(writer, &seal);
}

static void command_release(const struct opencl_command *command)
{
	vendor_call(command->vendor, ENTRY_clReleaseEvent, command->event);
}

/* The second of the two, the driver's call and release_reference(), frees the slot. */
static void command_end(struct opencl_command *command)
{
	uint32_t before = __atomic_exchange_n(&command->holding, DONE, __ATOMIC_ACQ_REL);

	if (before == HELD)
		command_release(command);
	if (before != LETTING_GO)
		command_free(command);
}

/* Times are read in any case: they are used to estimate other commands of the queue. */
static void command_record(const struct opencl_command *command)
{
	uint64_t now = clock_ticks();
	struct opencl_times times = { 0, 0 };

	if (now)
		times = times_of(command, now);
	if (!opencl_writes(command->work.domain))
		return;
	if (now)
		record_write(command, &times);
	else
		writer_count_lost();
}

/* A failed command has done nothing. */
static void on_done(opencl_object event, int32_t status, void *context)
{
	struct opencl_command *command = context;
	uint32_t session = command->session;

	(void)event;
	if (status >= 0 && session == writers_session() && writers_are_on())
		command_record(command);
	command_end(command);
	pending_count(session, -1);
}

void event_follow(const struct opencl_command *given)
{
	set_callback *set = (set_callback *)given->vendor->functions[ENTRY_clSetEventCallback];
	struct opencl_command *command = command_allocate();

	if (!command) {
		__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
		command_release(given);
		return;
	}
	*command = *given;
	if (command->shadow)
		shadow_keep(command->shadow);
	__atomic_store_n(&command->holding, HELD, __ATOMIC_RELEASE);
	pending_count(given->session, 1);
	if (!set(command->event, COMPLETE, on_done, command))
		return;
	command_end(command);
	__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
	pending_count(given->session, -1);
}

static void release_reference(struct opencl_command *command)
{
	uint32_t held = HELD, letting = LETTING_GO;

	if (!__atomic_compare_exchange_n(&command->holding, &held, LETTING_GO, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	command_release(command);
	if (!__atomic_compare_exchange_n(&command->holding, &letting, LET_GO, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		command_free(command);
}

/* Releases limpet's references; the driver keeps events of unfinished commands. */
static void release_all(void)
{
	uint32_t session = writers_session();
	uint32_t used = __atomic_load_n(&fresh, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < used; i++) {
		struct opencl_command *command = &commands[i];
		void *driver;

		if (command->session != session ||
		    __atomic_load_n(&command->holding, __ATOMIC_ACQUIRE) != HELD)
			continue;
		driver = vendor_keep(command->vendor);
		if (!driver)
			continue; /* the driver was unloaded with its events */
		release_reference(command);
		got_release(driver);
	}
}

static uint32_t count_pending(void)
{
	/* Acquire: pairs with pending_count(); the records of counted-down commands are written. */
	return (uint32_t)__atomic_load_n(&pending, __ATOMIC_ACQUIRE);
}

uint32_t events_drain(uint32_t deadline_ms)
{
	uint32_t left;

	for (uint32_t i = 0; i < deadline_ms && count_pending(); i++)
		sleep_ns(PAUSE_NS);
	left = count_pending();
	if (left)
		release_all();
	return left;
}

uint32_t events_lost(void)
{
	return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

/* Counts limpet's reference to an event. False: the reference is being released just now. */
static bool find_reference(opencl_object event, uint32_t *ret_count)
{
	uint32_t used = __atomic_load_n(&fresh, __ATOMIC_ACQUIRE);

	*ret_count = 0;
	for (uint32_t i = 0; i < used; i++) {
		uint32_t holding = __atomic_load_n(&commands[i].holding, __ATOMIC_ACQUIRE);

		if (holding == NOT_HELD || holding == LET_GO || commands[i].event != event)
			continue;
		if (holding != HELD)
			return false;
		*ret_count = 1;
	}
	return true;
}

/* Counts the references of the application and the driver. */
bool event_references(const struct opencl_vendor *vendor, opencl_object event, uint32_t *ret)
{
	uint32_t before, after;

	for (unsigned i = 0; i < ASK_TRIES; i++) {
		bool is_sure = find_reference(event, &before);

		if (!vendor_query(vendor, ENTRY_clGetEventInfo, event, EVENT_REFERENCES, ret,
				  sizeof(*ret)))
			return false;
		is_sure &= find_reference(event, &after);
		*ret -= before;
		if (is_sure && before == after)
			return true;
		sleep_ns(NAP_NS);
	}
	return true;
}
