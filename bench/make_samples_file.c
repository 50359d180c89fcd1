/*
 * Writes a recording of made-up samples, as many as one likes, for bench/ui.py and bench/fleet.py:
 * 16 threads on four processors, stacks of a tree with a given number of nodes, a sample each
 * millisecond and thread that runs.  With a seed, half of the functions are this recording's own,
 * of a hundred thousand, and its samples are others.
 *
 *   usage: make_samples_file FILE SAMPLES NODES [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/collect/facts.h"
#include "host/recording/pack_samples.h"
#include "host/recording/recording.h"

#define THREADS       16u
#define ITEMS_AT_ONCE 4096u
#define MILLISECOND   1000000u
#define BRANCHES      6u

struct writing {
	struct recording *file;
	struct err err;
	uint32_t nodes;
	uint64_t samples, random;
	uint32_t seed;
};

static uint32_t random_next(struct writing *self)
{
	self->random = self->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(self->random >> 33);
}

static void failed(const struct err *err)
{
	fprintf(stderr, "make_samples_file: %s\n", err->what);
	exit(1);
}

typedef void putter(struct writing *self, struct bytes *bytes, struct sample_packer *packer,
		    uint32_t i);

static void put_code(struct writing *self, struct bytes *bytes, struct sample_packer *packer,
		     uint32_t i)
{
	(void)self;
	(void)packer;
	(void)i;
	item_put(bytes, CHUNK_CODE,
		 &(struct recorded_code){ .process = PROCESS_NONE, .path = "/opt/app" });
}

static void put_frame(struct writing *self, struct bytes *bytes, struct sample_packer *packer,
		      uint32_t i)
{
	(void)self;
	frame_pack(bytes, packer, &(struct recorded_frame){ .address = 4096 + i * 16 });
}

/* A stack is the child of one with a smaller number: a tree with BRANCHES children a node. */
static void put_stack(struct writing *self, struct bytes *bytes, struct sample_packer *packer,
		      uint32_t i)
{
	(void)self;
	stack_pack(bytes, packer, i,
		   &(struct recorded_stack){ i ? (i - 1) / BRANCHES : STACK_NONE, i });
}

static void put_names(struct writing *self, struct bytes *bytes, struct sample_packer *packer,
		      uint32_t i)
{
	struct recorded_name name = { .file = "" };
	char text[64];

	(void)packer;
	snprintf(text, sizeof(text), "function_%u_of_the_program",
		 self->seed && i % 2 ? (i * 2654435761u ^ self->seed * 40503u) % 100000
				     : i % 20000);
	name.function = text;
	names_pack(bytes, i, &name, 1);
}

/* Deep stacks are as likely as all others together. */
static void put_sample(struct writing *self, struct bytes *bytes, struct sample_packer *packer,
		       uint32_t i)
{
	uint32_t stack = random_next(self) % self->nodes;

	if (random_next(self) % 4)
		stack = random_next(self) % (stack + 1);
	sample_pack(bytes, packer,
		    &(struct recorded_sample){ .thread = i % THREADS,
					       .stack = stack,
					       .time_ns = (uint64_t)(i / THREADS + 1) * MILLISECOND,
					       .weight_ns = MILLISECOND,
					       .cpu = i % 4 });
}

static void write_items(struct writing *self, enum chunk_kind kind, uint32_t count, putter *put)
{
	static const char head[NUMBERED_HEAD_BYTES];

	for (uint32_t first = 0; first < count; first += ITEMS_AT_ONCE) {
		uint32_t some = MIN(count - first, ITEMS_AT_ONCE);
		struct sample_packer packer = { 0 };
		struct bytes bytes = { 0 };

		bytes_put(&bytes, head, sizeof(head));
		for (uint32_t i = 0; i < some; i++)
			put(self, &bytes, &packer, first + i);
		numbered_set(&bytes, &(struct numbered_head){ first, some });
		if (recording_samples(self->file, kind, &bytes, &self->err))
			failed(&self->err);
		bytes_done(&bytes);
	}
}

static void write_threads(struct writing *self)
{
	struct recorded_process process = { .pid = 4711,
					    .name = "app",
					    .executable = "/opt/app",
					    .command = "app",
					    .folder = "/" };

	if (facts_session(self->file, "bench", "", &self->err) ||
	    recording_clock(self->file, &self->err) ||
	    recording_process(self->file, &process, &self->err))
		failed(&self->err);
	for (unsigned i = 0; i < THREADS; i++) {
		struct recorded_thread thread = { .tid = (int32_t)(4711 + i), .name = "worker" };

		if (recording_thread(self->file, &thread, &self->err))
			failed(&self->err);
	}
}

static void write_totals(struct writing *self)
{
	struct recorded_sampling sampling = { .sampler = "bpf",
					      .reasons = "",
					      .hz = 1000,
					      .flags = SAMPLING_ON_CPU,
					      .samples = self->samples };
	struct bytes bytes = { 0 };

	sampling.ends[STACK_COMPLETE] = self->samples;
	item_put(&bytes, CHUNK_SAMPLING, &sampling);
	if (recording_samples(self->file, CHUNK_SAMPLING, &bytes, &self->err) ||
	    recording_close(self->file, &(struct recorded_end){ .reason = RECORDING_COMPLETE },
			    &self->err))
		failed(&self->err);
	bytes_done(&bytes);
}

int main(int argc, char **argv)
{
	struct writing self = { .random = 1 };

	if (argc != 4 && argc != 5)
		return 2;
	self.seed = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	self.random += self.seed;
	self.samples = strtoull(argv[2], NULL, 10);
	self.nodes = (uint32_t)strtoul(argv[3], NULL, 10);
	if (recording_create(argv[1], &self.file, &self.err))
		failed(&self.err);
	write_threads(&self);
	write_items(&self, CHUNK_CODE, 1, put_code);
	write_items(&self, CHUNK_FRAMES, self.nodes, put_frame);
	write_items(&self, CHUNK_STACKS, self.nodes, put_stack);
	write_items(&self, CHUNK_SAMPLES, (uint32_t)self.samples, put_sample);
	write_items(&self, CHUNK_NAMES, self.nodes, put_names);
	write_totals(&self);
	return 0;
}
