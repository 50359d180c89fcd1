/*
 * Reads the usage of processes.
 */
#include "host/recorder/usage_watch.h"

#include "host/core/clock.h"
#include "host/process/stat.h"
#include "host/recording/facts.h"

#define LOOK_NS       200000000u
#define FLUSH_NS      1000000000u
#define LOOKS_AT_ONCE 8u

static void program_look(struct usage_watch *self, struct programs *programs,
			 const struct program_number *program)
{
	struct process_usage usage;

	if (process_usage_read(program->pid, &usage)) {
		programs_set_gone(programs, program->pid);
		return;
	}
	if (!self->bytes.size)
		bytes_u32(&self->bytes, 0);
	item_put(&self->bytes, CHUNK_USAGE,
		 &(struct recorded_usage){ .process = program->number,
					   .threads = usage.threads,
					   .time_ns = now_ns(),
					   .cpu_ns = usage.cpu_ns,
					   .rss_bytes = usage.rss_bytes });
	self->count++;
}

int usage_watch_flush(struct usage_watch *self, struct recording *recording, struct err *err)
{
	int r = 0;

	if (self->count) {
		count_set(&self->bytes, self->count);
		r = recording_samples(recording, CHUNK_USAGE, &self->bytes, err);
	}
	usage_watch_done(self);
	return r;
}

int usage_watch_check(struct usage_watch *self, struct programs *programs, struct err *err)
{
	struct program_number some[LOOKS_AT_ONCE];
	uint64_t time_ns = now_ns();
	size_t count;

	if (time_ns - self->looked_ns < LOOK_NS)
		return 0;
	self->looked_ns = time_ns;
	count = programs_next(programs, &self->cursor, some, ARRAY_SIZE(some));
	for (size_t i = 0; i < count; i++)
		program_look(self, programs, &some[i]);
	if (time_ns - self->flushed_ns < FLUSH_NS)
		return 0;
	self->flushed_ns = time_ns;
	return usage_watch_flush(self, programs->recording, err);
}

void usage_watch_done(struct usage_watch *watch)
{
	bytes_done(&watch->bytes);
	watch->bytes = (struct bytes){ 0 };
	watch->count = 0;
}
