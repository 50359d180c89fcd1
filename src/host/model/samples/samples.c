/*
 * Reads samples.  Every number is checked against earlier ones; invalid ones are skipped.
 */
#include "host/model/samples/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/core/table.h"
#include "host/core/text/path.h"
#include "host/core/text/text.h"
#include "host/model/samples/languages.h"
#include "host/model/statistics.h"

struct samples *samples_new(void)
{
	struct samples *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->sampler = strdup("");
	self->reasons = strdup("");
	self->function_table = calloc(1, sizeof(*self->function_table));
	if (self->sampler && self->reasons && self->function_table)
		return self;
	samples_free(self);
	return NULL;
}

void samples_free(struct samples *samples)
{
	if (!samples)
		return;
	free(samples->sampler);
	free(samples->reasons);
	free(samples->codes);
	free(samples->frames);
	free(samples->stacks);
	free(samples->functions);
	free(samples->locations);
	free(samples->chunks);
	decoded_samples_done(&samples->decoded);
	free(samples->shown);
	free(samples->kept_counts);
	free(samples->kept_made);
	pool_done(&samples->texts);
	raw_stacks_free(samples->raw);
	if (samples->function_table)
		table_done(samples->function_table);
	free(samples->function_table);
	free(samples);
}

int samples_read_sampling(struct model *model, const struct chunk *chunk)
{
	struct samples *self = model->samples;
	struct cursor cursor = chunk->payload;
	struct recorded_sampling sampling;

	if (item_read(&cursor, CHUNK_SAMPLING, &sampling))
		return -EPROTO;
	self->hz = sampling.hz;
	self->flags = sampling.flags;
	self->lost = sampling.lost;
	return text_set(&self->sampler, sampling.sampler) ||
			       text_set(&self->reasons, sampling.reasons)
		       ? -ENOMEM
		       : 0;
}

int samples_read_gil(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	uint32_t count = cursor_u32(&cursor);
	struct recorded_gil gil;

	for (uint32_t i = 0; i < count; i++) {
		struct model_thread *thread;

		if (item_read(&cursor, CHUNK_GIL, &gil) || gil.thread >= model->thread_count)
			return -EPROTO;
		thread = model->threads[gil.thread];
		thread->gil_looks = gil.looks;
		thread->gil_held = MIN(gil.held, gil.looks);
		thread->gil_waited = MIN(gil.waited, gil.looks);
	}
	return 0;
}

/* The head of a list that continues the last one; an item has at least a byte. */
static int read_head(const struct model *model, struct cursor *cursor, size_t known,
		     struct numbered_head *ret)
{
	if (numbered_read(cursor, ret) || ret->first != known ||
	    ret->count > (size_t)(cursor->end - cursor->at))
		return -EPROTO;
	return known + ret->count > MIN(model->records_max, UINT32_MAX - 1) ? -EFBIG : 0;
}

static int add_code(struct model *model, const struct recorded_code *recorded)
{
	struct samples *self = model->samples;
	struct sample_code code = { .kind = (enum code_kind)recorded->kind,
				    .process = recorded->process,
				    .build_id_size = recorded->build_id_size,
				    .path = pool_keep(&self->texts, recorded->path) };

	if (recorded->kind >= CODE_KINDS ||
	    (recorded->process != PROCESS_NONE && recorded->process >= model->process_count))
		return -EPROTO;
	if (!code.path ||
	    make_room(&self->codes, self->code_count, &self->code_room, sizeof(*self->codes)))
		return -ENOMEM;
	memcpy(code.build_id, recorded->build_id, sizeof(code.build_id));
	code.name = path_base_name(language_path(code.path));
	self->codes[self->code_count++] = code;
	return 0;
}

int samples_read_codes(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct numbered_head head;
	struct recorded_code code;
	int r = read_head(model, &cursor, model->samples->code_count, &head);

	for (uint32_t i = 0; !r && i < head.count; i++) {
		r = item_read(&cursor, CHUNK_CODE, &code);
		if (!r)
			r = add_code(model, &code);
	}
	return r;
}

int samples_read_frames(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct samples *self = model->samples;
	struct sample_packer packer = { 0 };
	struct numbered_head head;
	struct recorded_frame frame;
	int r = read_head(model, &cursor, self->frame_count, &head);

	for (uint32_t i = 0; !r && i < head.count; i++) {
		if (frame_unpack(&cursor, &packer, &frame) || frame.code >= self->code_count)
			return -EPROTO;
		r = make_room(&self->frames, self->frame_count, &self->frame_room,
			      sizeof(*self->frames));
		if (!r)
			self->frames[self->frame_count++] = (struct sample_frame){
				.code = frame.code,
				.is_return = frame.is_return,
				.address = frame.address,
			};
	}
	return r;
}

static int add_stack(struct samples *self, const struct recorded_stack *stack)
{
	uint32_t depth = 1;

	if (stack->frame >= self->frame_count)
		return -EPROTO;
	if (stack->caller != STACK_NONE)
		depth += self->stacks[stack->caller].depth;
	if (depth > STACK_DEPTH_MAX)
		return -EPROTO;
	if (make_room(&self->stacks, self->stack_count, &self->stack_room, sizeof(*self->stacks)))
		return -ENOMEM;
	self->stacks[self->stack_count++] =
		(struct sample_stack){ stack->caller, stack->frame, depth };
	return 0;
}

int samples_read_stacks(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct samples *self = model->samples;
	struct sample_packer packer = { 0 };
	struct numbered_head head;
	struct recorded_stack stack;
	int r = read_head(model, &cursor, self->stack_count, &head);

	for (uint32_t i = 0; !r && i < head.count; i++) {
		r = stack_unpack(&cursor, &packer, (uint32_t)self->stack_count, &stack);
		if (!r)
			r = add_stack(self, &stack);
	}
	return r;
}

static bool is_sound(const struct model *model, const struct recorded_sample *sample)
{
	return sample->thread < model->thread_count &&
	       (sample->stack == STACK_NONE || sample->stack < model->samples->stack_count);
}

static void samples_count(struct samples *self, const struct recorded_sample *sample,
			  uint64_t end_ns)
{
	uint64_t begin_ns = end_ns - MIN(end_ns, sample->weight_ns);

	self->first_ns = self->count ? MIN(self->first_ns, begin_ns) : begin_ns;
	self->last_ns = MAX(self->last_ns, end_ns);
	self->count++;
	self->kinds[sample->kind]++;
	self->weights_ns[sample->kind] += sample->weight_ns;
	self->ends[sample->end]++;
	self->guessed += (sample->flags & SAMPLE_GUESSED) != 0;
}

static bool are_sound(const struct model *model, const struct decoded_samples *decoded)
{
	for (size_t i = 0; i < decoded->count; i++)
		if (!is_sound(model, &decoded->items[i]))
			return false;
	return true;
}

/* Counts them, and drops those of unknown kinds; returns the number kept. */
static size_t samples_keep_known(struct model *model, struct recorded_sample *items, size_t count)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		const struct recorded_sample *sample = &items[i];

		if (sample->kind >= SAMPLE_KINDS) {
			model->other_records++;
			continue;
		}
		samples_count(model->samples, sample, model_boot_ns(model, sample->time_ns));
		model->threads[sample->thread]->samples++;
		if (known != i)
			items[known] = *sample;
		known++;
	}
	return known;
}

/* All samples of a chunk, or none of them.  Validated once now, so that later readings need not. */
int samples_read_chunk(struct model *model, const struct chunk *chunk)
{
	struct samples *self = model->samples;
	struct decoded_samples *decoded = chunk->samples ? chunk->samples : &self->decoded;
	int r = chunk->samples ? decoded->result : samples_decode(chunk->payload, decoded);
	size_t known;

	if (r)
		return r;
	if (!are_sound(model, decoded))
		return -EPROTO;
	if (make_room(&self->chunks, self->chunk_count, &self->chunk_room, sizeof(*self->chunks)))
		return -ENOMEM;
	self->chunks[self->chunk_count++] = chunk->at;
	known = samples_keep_known(model, decoded->items, decoded->count);
	return self->watcher ? self->watcher->sampled(self->watcher->context, decoded->items, known)
			     : 0;
}

int samples_finish(struct model *model)
{
	struct samples *self = model->samples;
	int r = 0;

	decoded_samples_done(&self->decoded);
	for (size_t i = 0; !r && i < self->frame_count; i++)
		if (!self->frames[i].location_count)
			r = sample_name_by_location(self, &self->frames[i]);
	return r;
}

static struct sample_event event_of(const struct model *model, const struct recorded_sample *sample)
{
	return (struct sample_event){
		.thread = model->threads[sample->thread],
		.stack = sample->stack,
		.time_ns = model_boot_ns(model, sample->time_ns),
		.weight_ns = sample->weight_ns,
		.count = 1,
		.cpu = sample->cpu,
		.kind = (enum sample_kind)sample->kind,
		.end = (enum stack_end)sample->end,
		.is_guessed = sample->flags & SAMPLE_GUESSED,
		.state = (char)sample->state,
	};
}

/* Keeps the part of its weight that is within the model's part; false when there is none. */
static bool sample_narrow(const struct model *model, struct sample_event *event)
{
	uint64_t begin_ns = event->time_ns - MIN(event->time_ns, event->weight_ns);
	uint64_t from_ns = MAX(begin_ns, model->from_ns), to_ns = MIN(event->time_ns, model->to_ns);

	if (!event->weight_ns)
		return event->time_ns >= model->from_ns && event->time_ns < model->to_ns;
	if (from_ns >= to_ns)
		return false;
	event->time_ns = to_ns;
	event->weight_ns = to_ns - from_ns;
	return true;
}

/* The shown part of its stack; 0 when nothing is shown. */
static int visit_sample(struct model *model, const struct recorded_sample *sample, uint64_t count,
			sample_visitor *visit, void *context)
{
	const struct samples *samples = model->samples;
	struct sample_event event = event_of(model, sample);

	event.count = count;
	if (samples->shown && event.stack != STACK_NONE)
		event.stack = samples->shown[event.stack];
	if (samples->shown && event.stack == STACK_NONE && !samples->is_bare_shown)
		return 0;
	/* Samples in place of calls were made from those in that part. */
	if (model->to_ns && sample->kind < SAMPLE_KINDS && !sample_narrow(model, &event))
		return 0;
	return visit(&event, context);
}

/* Checked once more: the file may have been changed since. */
static int visit_chunk(struct model *model, uint64_t at, sample_visitor *visit, void *context)
{
	struct sample_packer packer = { 0 };
	struct recorded_sample sample;
	struct numbered_head head;
	struct chunk chunk;
	int r = 0;

	if (reader_at(model->reader, at, &chunk) || chunk.kind != CHUNK_SAMPLES ||
	    numbered_read(&chunk.payload, &head))
		return 0;
	for (uint32_t i = 0; !r && i < head.count; i++) {
		if (sample_unpack(&chunk.payload, &packer, &sample) || !is_sound(model, &sample))
			return 0;
		if (sample.kind < SAMPLE_KINDS)
			r = visit_sample(model, &sample, 1, visit, context);
	}
	return r;
}

static int visit_kept(struct model *model, sample_visitor *visit, void *context)
{
	const struct samples *samples = model->samples;
	int r = 0;

	for (size_t i = 0; !r && i < samples->kept_count; i++)
		r = visit_sample(model, &samples->kept[i],
				 samples->kept_counts ? samples->kept_counts[i] : 1, visit,
				 context);
	return r;
}

int model_each_sample(struct model *model, sample_visitor *visit, void *context)
{
	int r = visit_kept(model, visit, context);

	for (size_t i = 0; !r && i < model->samples->chunk_count; i++)
		r = visit_chunk(model, model->samples->chunks[i], visit, context);
	return r;
}

static const char *const end_keys[STACK_ENDS] = {
	[STACK_COMPLETE] = "complete",
	[STACK_CUT] = "cut",
	[STACK_NO_MAP] = "no-map",
	[STACK_NO_TABLE] = "no-table",
	[STACK_NO_RULE] = "no-rule",
	[STACK_UNREADABLE] = "unreadable",
	[STACK_CIRCULAR] = "circular",
	[STACK_NO_USER] = "no-user",
	[STACK_GENERATED] = "jit",
	[STACK_ZERO] = "ended-in-zero",
	[STACK_SWITCHED] = "switched",
	[STACK_UNREAD] = "unread",
	[STACK_UNLINKED] = "no-frame-pointers",
	[STACK_CALLER] = "caller-only",
	[STACK_NO_PYTHON] = "no-python",
};

const char *stack_end_key(unsigned end)
{
	return end < STACK_ENDS && end_keys[end] ? end_keys[end] : "other";
}

uint64_t samples_complete(const struct samples *samples)
{
	return share_of(samples->ends[STACK_COMPLETE], samples->count);
}
