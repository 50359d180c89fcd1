/*
 * Puts the functions of an interpreter where they belong among native frames.  Each run of its loop
 * is a native frame, in place of which stand the functions that it runs: a group, of which the
 * outermost is the one that C code called.
 */
#include "host/interpreter/kind.h"
#include "host/interpreter/locations.h"

struct merged {
	__u64 location; /* 0: of a function of C, which is a native frame */
	bool is_entry;  /* the last one of its group */
};

struct merging {
	const struct interpreter *interpreter;
	const __u64 *native;
	size_t native_count;
	struct merged *frames;
	size_t frame_count, taken; /* of the frames */
	size_t compiled;           /* the native frame that was compiled from functions */
	__u64 *ret;
	size_t count;
};

static void add_frame(struct merging *self, struct interpreter *interpreter,
		      const struct interpreted_frame *frame)
{
	enum frame_role role = FRAME_ENTRY;
	uint64_t location = 0;

	if (frame->code == KERNEL_COMPILED)
		self->compiled = frame->at & ((1ull << INTERPRETED_MARK_SHIFT) - 1);
	if (!frame->code || frame->code == KERNEL_COMPILED)
		return;
	if (frame->code != KERNEL_NATIVE)
		role = interpreter_resolve(interpreter, frame, &location);
	if (role == FRAME_SHIM && self->frame_count)
		self->frames[self->frame_count - 1].is_entry = true;
	if (role == FRAME_CALLED || role == FRAME_ENTRY)
		self->frames[self->frame_count++] =
			(struct merged){ location, role == FRAME_ENTRY };
}

static bool is_loop(const struct merging *self, size_t i)
{
	uint64_t address = self->native[i] - (i > 0);

	for (size_t k = 0; k < ARRAY_SIZE(self->interpreter->loop); k++) {
		const struct code_range *loop = &self->interpreter->loop[k];

		if (address >= loop->start && address < loop->end)
			return true;
	}
	return i == self->compiled;
}

static size_t count_loops(const struct merging *self)
{
	size_t count = 0;

	for (size_t i = 0; i < self->native_count; i++)
		count += is_loop(self, i);
	return count;
}

static void put_group(struct merging *self)
{
	bool is_last = false;

	for (; !is_last && self->taken < self->frame_count; self->taken++) {
		if (self->frames[self->taken].location)
			self->ret[self->count++] = self->frames[self->taken].location;
		is_last = self->frames[self->taken].is_entry;
	}
}

/* Replaces each run of the loop by its functions; compiled code stays above them.  Complete stacks
 * have the same outermost frames on both sides: a loop without a group has just been entered.  Of
 * others, the innermost frames are the same. */
static void stack_merge(struct merging *self, bool is_complete)
{
	size_t loops = count_loops(self), groups = 0, bare, more, before;

	for (size_t i = 0; i < self->frame_count; i++)
		groups += self->frames[i].is_entry;
	bare = is_complete && loops > groups ? loops - groups : 0;
	more = is_complete && groups > loops ? groups - loops : 0;
	for (size_t i = 0; i < self->native_count; i++) {
		if (!is_loop(self, i) || bare || self->taken >= self->frame_count) {
			bare -= bare && is_loop(self, i);
			self->ret[self->count++] = self->native[i];
			continue;
		}
		before = self->count;
		if (i == self->compiled)
			self->ret[self->count++] = self->native[i];
		for (; more; more--)
			put_group(self);
		put_group(self);
		if (self->count == before)
			self->ret[self->count++] = self->native[i];
	}
	while (!is_complete && self->taken < self->frame_count)
		put_group(self);
}

size_t interpreter_merge(struct interpreter *interpreter, const struct sample *sample,
			 const struct interpreted_frame *frames, size_t count, __u64 *ret)
{
	struct merged known[INTERPRETED_FRAMES_MAX];
	struct merging self = { .interpreter = interpreter,
				.native = sample->frames + sample->kernel_count,
				.native_count = sample->user_count,
				.frames = known,
				.compiled = SIZE_MAX,
				.ret = ret };

	for (size_t i = 0; i < MIN(count, ARRAY_SIZE(known)); i++)
		add_frame(&self, interpreter, &frames[i]);
	if (interpreter->kind->is_outermost_entry && self.frame_count)
		known[self.frame_count - 1].is_entry = true;
	stack_merge(&self, sample->end == STACK_COMPLETE);
	return self.count;
}

bool interpreter_runs_in(const struct interpreter *interpreter, const struct sample *sample)
{
	const struct merging self = { .interpreter = interpreter,
				      .native = sample->frames + sample->kernel_count,
				      .native_count = sample->user_count,
				      .compiled = SIZE_MAX };

	return count_loops(&self) > 0;
}

bool sample_has_interpreted(const struct sample *sample)
{
	const __u64 *user = sample->frames + sample->kernel_count;

	for (size_t i = 0; i < sample->user_count; i++)
		if (is_language_location(user[i]))
			return true;
	return false;
}
