/*
 * Merges Python frames into native ones.  Each run of the interpreter's loop is a native frame; it
 * has one Python frame up to 3.10, and since 3.11 all those called within the loop.  Those are a
 * group: the outermost of them is the one that C code called.
 */
#include "host/python/locations.h"
#include "host/python/python_private.h"

struct merging {
	struct python *python;
	const __u64 *native;
	size_t native_count;
	const struct kernel_python_frame *frames;
	size_t frame_count, taken; /* of the frames */
	__u64 *ret;
	size_t count;
};

static unsigned mark_of(const struct kernel_python_frame *frame)
{
	return (unsigned)(frame->at >> KERNEL_PYTHON_MARK_SHIFT);
}

bool python_is_shim(const struct python *python, const struct kernel_python_frame *frame)
{
	return python->layout.entry == PYTHON_ENTRY_SHIM && mark_of(frame) == PYTHON_SHIM;
}

static bool is_shim(const struct merging *self, size_t i)
{
	return python_is_shim(self->python, &self->frames[i]);
}

/* Whether a group ends with this frame. */
static bool is_entry(const struct merging *self, size_t i)
{
	enum python_entry entry = self->python->layout.entry;

	if (i + 1 >= self->frame_count || entry == PYTHON_ENTRY_ALL)
		return true;
	if (entry == PYTHON_ENTRY_SHIM)
		return is_shim(self, i + 1);
	return mark_of(&self->frames[i]) != 0;
}

static bool is_loop(const struct merging *self, size_t i)
{
	uint64_t address = self->native[i] - (i > 0);

	for (size_t k = 0; k < ARRAY_SIZE(self->python->binary.loop); k++) {
		const struct python_part *part = &self->python->binary.loop[k];

		if (address >= part->start && address < part->end)
			return true;
	}
	return false;
}

static size_t count_loops(const struct merging *self)
{
	size_t count = 0;

	for (size_t i = 0; i < self->native_count; i++)
		count += is_loop(self, i);
	return count;
}

static size_t count_groups(const struct merging *self)
{
	size_t count = 0;

	for (size_t i = 0; i < self->frame_count; i++)
		count += !is_shim(self, i) && is_entry(self, i);
	return count;
}

static void merge_put(struct merging *self, uint64_t address)
{
	if (address)
		self->ret[self->count++] = address;
}

static void put_group(struct merging *self)
{
	bool is_last = false;

	for (; !is_last && self->taken < self->frame_count; self->taken++) {
		if (is_shim(self, self->taken))
			continue;
		merge_put(self, python_location_of(self->python, &self->frames[self->taken]));
		is_last = is_entry(self, self->taken);
	}
}

/* Complete stacks have the same outermost frames on both sides: a loop without a group has just
 * been entered.  Of others, the innermost frames are the same. */
size_t python_merge(struct python *python, const struct sample *sample,
		    const struct kernel_python_frame *frames, size_t count, __u64 *ret)
{
	struct merging self = { .python = python,
				.native = sample->frames + sample->kernel_count,
				.native_count = sample->user_count,
				.frames = frames,
				.frame_count = count,
				.ret = ret };
	size_t loops = count_loops(&self), groups = count_groups(&self);
	bool is_complete = sample->end == STACK_COMPLETE;
	size_t bare = is_complete && loops > groups ? loops - groups : 0;
	size_t more = is_complete && groups > loops ? groups - loops : 0;

	for (size_t i = 0; i < self.native_count; i++) {
		if (!is_loop(&self, i) || bare || self.taken >= count) {
			bare -= bare && is_loop(&self, i);
			merge_put(&self, self.native[i]);
			continue;
		}
		for (; more; more--)
			put_group(&self);
		put_group(&self);
	}
	while (!is_complete && self.taken < count)
		put_group(&self);
	return self.count;
}

bool python_runs_in(struct python *python, const struct sample *sample)
{
	const struct merging self = { .python = python,
				      .native = sample->frames + sample->kernel_count,
				      .native_count = sample->user_count };

	return count_loops(&self) > 0;
}

bool sample_has_python(const struct sample *sample)
{
	const __u64 *user = sample->frames + sample->kernel_count;

	for (size_t i = 0; i < sample->user_count; i++)
		if (python_is_location(user[i]))
			return true;
	return false;
}
