/*
 * Runs on threads of tools, on the thread that attaches and detaches tools, on the application
 * thread that shuts HSA down, and on the thread that calls exit().
 */
#include "target/amd/sinks/sdk/counters/device_counting.h"

#include "shared/arch/syscall.h"
#include "target/amd/counters/owner.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/device_queue.h"
#include "target/amd/sinks/sdk/counters/device_turn.h"
#include "target/amd/sinks/sdk/counters/driver_lock.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#include <sys/mman.h>

#define STEP_NS 1000000000ull
#define STOP_NS 500000000ull
#define LAST_NS 500000000ull /* for all, before their runtime or the process ends */

/* Static: aqlprofile keeps the address of each set until exit(). */
static struct device_counting {
	struct sdk_handle agent, config;
	uint32_t is_closing; /* its device has not answered */
	uint32_t beginning;
	struct driver_lock lock;
	struct device_queue queue;
} countings[COUNTINGS_MAX];

static struct device_scratch {
	struct packet_events events;
	struct counted_values values;
	char memory[EVALUATION_BYTES];
} * scratch;

bool device_counting_is_there(unsigned index)
{
	return device_queue_is_there(&countings[index].queue);
}

uint32_t device_counting_beginning(unsigned index)
{
	return countings[index].beginning;
}

static bool scratch_make(void)
{
	long address;

	if (scratch)
		return true;
	address = raw6(SYS_mmap, 0, sizeof(*scratch), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (address < 0 && address > -4096)
		return false;
	scratch = (struct device_scratch *)address;
	return true;
}

/* A device has one set of counters: a second queue that starts them would reset the first one's. */
static bool agent_is_taken(const struct device_counting *self, struct sdk_handle agent)
{
	for (unsigned i = 0; i < COUNTINGS_MAX; i++)
		if (&countings[i] != self && device_counting_is_there(i) &&
		    countings[i].agent.handle == agent.handle)
			return true;
	return false;
}

/* Block SQ does not count waves of queues without the profiling bit, unless the driver sets it for
 * all queues. If it does not, the value would be a wrong 0. */
static bool config_counts_waves(const struct counter_config *config)
{
	const struct catalog_event *events = catalog_list(config->catalog, CATALOG_EVENTS);

	for (uint32_t i = 0; i < config->event_count; i++)
		if (text_equal(catalog_text(config->catalog, events[config->events[i]].block),
			       "SQ"))
			return true;
	return false;
}

/* While the device may count, the driver lock keeps other profilers out. */
static bool counting_note_close(struct device_counting *self, bool is_closed)
{
	self->is_closing = !is_closed;
	if (is_closed)
		driver_lock_release(&self->lock);
	return is_closed;
}

static bool counting_close(struct device_counting *self, uint64_t limit_ns)
{
	return counting_note_close(self, device_queue_close(&self->queue, limit_ns));
}

/* A device that was late once is not waited for again. */
bool device_counting_end(unsigned index)
{
	struct device_counting *self = &countings[index];

	if (device_counting_is_there(index) &&
	    !counting_close(self, self->is_closing ? 0 : STOP_NS))
		return false;
	device_queue_let_go(&self->queue);
	return true;
}

static bool exit_watches[2]; /* indexed by has_set */
static void (*before_end)(uint64_t limit_ns);

void device_countings_before_end(void (*work)(uint64_t limit_ns))
{
	before_end = work;
}

/* aqlprofile and HSA are still up: their exit handlers run after this one. */
static void on_exit_of_program(void *unused)
{
	uint64_t limit_ns = LAST_NS;

	(void)unused;
	if (!page_is_own())
		return;
	before_end(LAST_NS);
	if (device_turn_enter(LAST_NS)) {
		for (unsigned i = 0; i < COUNTINGS_MAX; i++)
			if (device_counting_is_there(i) && !counting_close(&countings[i], limit_ns))
				limit_ns = 0;
		device_turn_leave();
	}
	device_queues_end();
	packet_sets_end();
}

/* Registered before a set is made, since exit() may run meanwhile, and after it: exit() calls
 * handlers in reverse order, and aqlprofile may register its own as late as that. */
bool device_countings_watch_exit(bool has_set)
{
	static char dso_handle; /* its address identifies the handlers to libc */

	if (!exit_watches[has_set])
		exit_watches[has_set] = !libc_at_exit(on_exit_of_program, NULL, &dso_handle);
	return exit_watches[has_set];
}

bool device_countings_exit_is_watched(void)
{
	return exit_watches[false] || exit_watches[true];
}

static int counting_begin(struct device_counting *self)
{
	enum device_answer answer;

	if (!device_countings_watch_exit(true)) {
		(void)counting_close(self, 0);
		return SDK_NOT_AVAILABLE;
	}
	answer = device_queue_step(&self->queue, STEP_START, STEP_NS);
	if (answer == DEVICE_DONE) {
		self->beginning += self->beginning == UINT32_MAX ? 2 : 1; /* never 0 */
		return SDK_SUCCESS;
	}
	(void)counting_close(self, 0);
	return answer == DEVICE_GONE || answer == DEVICE_SHUT ? SDK_HSA_NOT_LOADED : SDK_ERROR;
}

static int counting_open(struct device_counting *self, const struct counter_config *config)
{
	int r = device_countings_watch_exit(false)
			? device_queue_open(&self->queue, config, &scratch->events)
			: SDK_NOT_AVAILABLE;

	if (!r)
		return counting_begin(self);
	driver_lock_release(&self->lock);
	return r;
}

static int counting_prepare(struct device_counting *self, struct sdk_handle id)
{
	struct counter_config config;
	int r;

	if (!config_copy(id, &config))
		return SDK_PROFILE_NOT_FOUND;
	if (agent_is_taken(self, config.agent))
		return SDK_CONTEXT_CONFLICT;
	if (!scratch_make())
		return SDK_OUT_OF_RESOURCES;
	r = driver_lock_acquire(&self->lock, config.device->node, /* all_queues */ true);
	if (r == SDK_CONTEXT_CONFLICT || (r && config_counts_waves(&config)))
		return r;
	self->agent = config.agent;
	self->config = id;
	return counting_open(self, &config);
}

/* A late step may be done by now, or its runtime shut down. */
static bool counting_is_usable(struct device_counting *self, struct sdk_handle config)
{
	enum device_answer answer = device_queue_step(&self->queue, STEP_NONE, 0);

	return !self->is_closing && self->config.handle == config.handle && answer != DEVICE_GONE &&
	       answer != DEVICE_BROKEN;
}

int device_counting_start(unsigned index, struct sdk_handle config)
{
	struct device_counting *self = &countings[index];

	if (device_queues_are_over())
		return SDK_FINALIZED;
	if (device_counting_is_there(index) && counting_is_usable(self, config))
		return SDK_SUCCESS;
	if (!device_counting_end(index))
		return SDK_ERROR;
	return config.handle ? counting_prepare(self, config) : SDK_SUCCESS;
}

static int status_of(enum device_answer answer)
{
	switch (answer) {
	case DEVICE_DONE:
		return SDK_SUCCESS;
	case DEVICE_SHUT:
		return SDK_CONTEXT_ERROR;
	case DEVICE_GONE:
		return SDK_HSA_NOT_LOADED;
	default:
		return SDK_ERROR;
	}
}

/* Incomplete values are not shown. */
int device_counting_read(unsigned index, struct counter_records *ret)
{
	struct device_counting *self = &countings[index];
	enum device_answer answer = device_queue_step(&self->queue, STEP_READ, STEP_NS);

	if (answer == DEVICE_GONE || answer == DEVICE_BROKEN)
		(void)counting_close(self, 0);
	if (answer)
		return status_of(answer);
	if (!device_queue_values(&self->queue, &scratch->values) ||
	    !counters_evaluate(&self->queue.packets.config, &scratch->values, scratch->memory, ret))
		return SDK_ERROR;
	return SDK_SUCCESS;
}

void device_countings_end_queues(void)
{
	uint64_t limit_ns = LAST_NS;

	if (!owner_queues() || !page_is_own() || !device_turn_enter(LAST_NS))
		return;
	for (unsigned i = 0; i < COUNTINGS_MAX; i++) {
		struct device_counting *self = &countings[i];

		if (!device_counting_is_there(i))
			continue;
		if (!counting_note_close(self, device_queue_close_alone(&self->queue, limit_ns)))
			limit_ns = 0;
	}
	device_turn_leave();
}

void device_countings_adopt(void)
{
	for (unsigned i = 0; i < COUNTINGS_MAX; i++) {
		countings[i].queue.queue = NULL;
		countings[i].is_closing = 0;
		driver_lock_adopt(&countings[i].lock);
	}
	owner_adopt();
	packet_sets_forget_parent();
}
