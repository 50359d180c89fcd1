/*
 * Numbers stacks of addresses.  Once the recording is open nothing is added any more: a thread that
 * visits its calls may do so while others read its samples.
 */

#include "host/model/samples/samples.h"

#include "host/core/room.h"
#include "host/core/table.h"
#include "host/core/text/path.h"
#include "host/recording/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A program that is not relocated is below this: its addresses are those of the file. */
#define FIXED_BELOW (UINT64_C(1) << 32)

struct raw_stacks {
	struct table codes;  /* (process, address of its beginning): number */
	struct table frames; /* (process, address): number */
	struct table stacks; /* (caller, frame): number */
};

void raw_stacks_free(struct raw_stacks *stacks)
{
	if (!stacks)
		return;
	table_done(&stacks->codes);
	table_done(&stacks->frames);
	table_done(&stacks->stacks);
	free(stacks);
}

static int code_add(struct samples *samples, uint32_t process, const struct recorded_module *module)
{
	const char *path = pool_keep(&samples->texts, module ? module->path : "[unknown]");
	struct sample_code code = { .kind = module ? CODE_FILE : CODE_UNKNOWN,
				    .process = module ? PROCESS_NONE : process,
				    .path = path,
				    .name = path ? path_base_name(path) : NULL };

	if (!path || make_room(&samples->codes, samples->code_count, &samples->code_room,
			       sizeof(*samples->codes)))
		return -ENOMEM;
	if (module) {
		code.build_id_size = module->build_id_size;
		memcpy(code.build_id, module->build_id, module->build_id_size);
	}
	samples->codes[samples->code_count++] = code;
	return 0;
}

static int code_number(struct samples *samples, uint32_t process,
		       const struct recorded_module *module, uint32_t *ret)
{
	bool is_new;
	struct table_entry *entry = table_make(&samples->raw->codes, process,
					       module ? module->base : UINT64_MAX, &is_new);

	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = samples->code_count;
		if (code_add(samples, process, module))
			return -ENOMEM;
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

static bool is_fixed(const struct model_process *process, const struct recorded_module *module)
{
	return module->base < FIXED_BELOW && strcmp(module->path, process->executable) == 0;
}

static int frame_add(struct samples *samples, const struct model_process *process, uint64_t address)
{
	const struct recorded_module *module = process_module(process, address - 1);
	struct sample_frame frame = { .is_return = true, .address = address };

	if (module && !is_fixed(process, module))
		frame.address = address - module->base + module->offset;
	if (code_number(samples, process->number, module, &frame.code) ||
	    make_room(&samples->frames, samples->frame_count, &samples->frame_room,
		      sizeof(*samples->frames)))
		return -ENOMEM;
	samples->frames[samples->frame_count++] = frame;
	return 0;
}

static int frame_number(struct samples *samples, const struct model_process *process,
			uint64_t address, uint32_t *ret)
{
	bool is_new;
	struct table_entry *entry =
		table_make(&samples->raw->frames, process->number, address, &is_new);

	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = samples->frame_count;
		if (frame_add(samples, process, address))
			return -ENOMEM;
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

/* A stranger's file must not stand for more than it holds: the stacks beyond have no number. */
static bool is_full(const struct model *model)
{
	uint64_t most = MIN(model->records_max, UINT32_MAX - 1);

	return model->samples->stack_count >= most || model->samples->frame_count >= most;
}

static int raw_stack_add(struct model *model, const struct model_process *process,
			 const uint64_t *frames, unsigned count)
{
	uint32_t stack = STACK_NONE, frame;
	int r = 0;

	while (!r && count-- > 0 && !is_full(model)) {
		r = frame_number(model->samples, process, frames[count], &frame);
		if (!r)
			r = samples_stack(model->samples, &model->samples->raw->stacks, frame,
					  &stack);
	}
	return r;
}

uint32_t raw_stack_find(const struct model *model, const struct model_process *process,
			const uint64_t *frames, unsigned count)
{
	const struct raw_stacks *raw = model->samples->raw;
	uint32_t stack = STACK_NONE;

	while (raw && count-- > 0) {
		const struct table_entry *frame =
			table_find(&raw->frames, process->number, frames[count]);
		const struct table_entry *entry =
			frame ? table_find(&raw->stacks, stack, frame->value) : NULL;

		if (!entry)
			return STACK_NONE;
		stack = (uint32_t)entry->value;
	}
	return stack;
}

static int number_chunk(struct model *model, const struct model_thread *thread, uint64_t at)
{
	struct packer packer = { 0 };
	_Alignas(uint64_t) unsigned char record[RECORD_MAX_BYTES];
	const struct record_stack *stack = (const void *)record;
	struct records_head head;
	struct chunk chunk;
	int r = 0;

	if (reader_at(model->reader, at, &chunk) || records_read(&chunk.payload, &head))
		return 0;
	while (!r && unpack(&packer, &chunk.payload, record) > 0)
		if (stack->head.kind == RECORD_STACK)
			r = raw_stack_add(model, thread->process, (const uint64_t *)(stack + 1),
					  stack->head.count);
	return r;
}

int raw_stacks_number(struct model *model)
{
	int r = 0;

	model->samples->raw = calloc(1, sizeof(*model->samples->raw));
	if (!model->samples->raw)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++)
		for (size_t j = 0; !r && j < model->threads[i]->location_count; j++)
			r = number_chunk(model, model->threads[i],
					 model->threads[i]->locations[j].at);
	return r;
}
