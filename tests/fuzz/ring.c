/*
 * Fuzzes the rings: the bytes are the head of a ring, its data and the functions that a target
 * describes.  They are drained into a recording, which must then be sound.  Bits of the first byte:
 * the ring's words are nearly right; stacks are numbered.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/core/cleanup.h"
#include "host/model/model.h"

#define RING_SIZE 4096u
#define SLOTS     2u
#define FUNCTIONS 4u

static bool is_alive(void *context, int32_t tid)
{
	(void)context;
	return tid % 2;
}

static size_t take(const uint8_t **bytes, size_t *size, void *into, size_t room)
{
	size_t taken = MIN(*size, room);

	memcpy(into, *bytes, taken);
	*bytes += taken;
	*size -= taken;
	return taken;
}

static uint64_t bytes_add(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += at[i];
	return sum;
}

static struct record_stack_number number_of(size_t count, uint64_t sum)
{
	return (struct record_stack_number){
		.head = { sizeof(struct record_stack_number), RECORD_STACK_NUMBER,
			  (uint8_t)(count % STACK_ENDS) },
		.stack = (uint32_t)sum,
	};
}

/* Every byte is there, and no more than a target may say. */
static uint64_t stack_add(const struct collect_stack *stack)
{
	must(stack->frame_count <= RECORD_FRAMES_MAX &&
	     stack->python_count <= INTERPRETED_FRAMES_MAX);
	must(!stack->copy || (stack->caller->bytes <= STACK_COPY_MAX &&
			      stack->size < STACK_COPY_MAX + RECORD_MAX_BYTES));
	return bytes_add(stack->frames, stack->frame_count * sizeof(*stack->frames)) +
	       bytes_add(stack->copy, stack->size) +
	       bytes_add(stack->python, stack->python_count * sizeof(*stack->python));
}

static int number_stack(void *context, const struct collect_stack *stack,
			struct record_stack_number *ret, struct err *err)
{
	(void)err;
	must(!context);
	*ret = number_of(stack->frame_count, stack_add(stack));
	return 0;
}

static int number_caller(void *context, uint64_t address, struct record_stack_number *ret,
			 struct err *err)
{
	(void)err;
	must(!context);
	*ret = number_of(1, address);
	return 0;
}

/* Half of the time the words of the ring are nearly right: then its records are looked at. */
static uint8_t fill(struct rings *rings, const uint8_t *bytes, size_t size)
{
	uint8_t form = 0;

	take(&bytes, &size, &form, 1);
	take(&bytes, &size, &rings->function_count, sizeof(rings->function_count));
	if (form % 2)
		rings->function_count %= FUNCTIONS + 2;
	take(&bytes, &size, rings_functions(rings), sizeof(struct trace_function));
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct ring *ring = rings_slot(rings, i);

		ring->state = RING_USED;
		if (form % 2) {
			take(&bytes, &size, &ring->tid, sizeof(ring->tid));
			take(&bytes, &size, &ring->tail, 2);
			ring->tail &= ~7ull;
			ring->head =
				ring->tail + ALIGN_UP(size / (SLOTS - i), 8) % (RING_SIZE + 16);
		} else {
			take(&bytes, &size, ring, sizeof(*ring));
		}
		take(&bytes, &size, rings_data(rings, i), RING_SIZE);
	}
	return form;
}

static void collect(struct recording *recording, struct rings *rings, size_t size, bool has_callers)
{
	struct collect_source source = { rings, size, 0, is_alive, NULL, NULL };
	struct collector *collector;
	struct collect_totals totals;
	struct err err = { 0 };

	if (has_callers)
		source.callers =
			(struct collect_callers){ number_stack, number_caller, number_stack, NULL };
	must(!collector_new(recording, &source, &collector, &err));
	for (unsigned i = 0; i < 3; i++)
		must(collector_drain(collector, &err) >= 0);
	must(!collector_finish(collector, &err));
	collector_totals(collector, &totals);
	must(totals.functions <= FUNCTIONS && totals.records <= 16 * SLOTS * RING_SIZE);
	collector_free(collector);
}

static int visit(const struct call *call, void *context)
{
	++*(uint64_t *)context;
	must(call->value_count <= RECORD_VALUES_MAX);
	return 0;
}

static void check_file(int fd)
{
	CLEANUP(model_free) struct model *model = NULL;
	struct err err = { 0 };
	uint64_t calls = 0;

	must(!model_open_fd(fd, "fuzz", &model, &err));
	must(model->damaged == 0 && model->end.reason == RECORDING_COMPLETE);
	must(!model_each_call(model, visit, &calls) && calls == model->calls);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct recorded_end end = { .reason = RECORDING_COMPLETE };
	struct recorded_process process = { .name = "", .executable = "", .command = "" };
	struct rings head;
	size_t rings_size = rings_layout(SLOTS, RING_SIZE, FUNCTIONS, &head);
	CLEANUP(free) struct rings *rings = aligned_alloc(4096, rings_size);
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct recording *recording;
	struct err err = { 0 };
	uint8_t form;
	char path[32];

	must(rings && fd >= 0);
	memset(rings, 0, rings_size);
	*rings = head;
	form = fill(rings, bytes, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(!recording_create(path, &recording, &err));
	must(!recording_process(recording, &process, &err));
	collect(recording, rings, rings_size, form >> 1 & 1);
	must(!recording_close(recording, &end, &err));
	check_file(fd);
	return 0;
}
