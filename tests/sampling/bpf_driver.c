/*
 * Samples a process by kernel programs and prints what came, one line each, for test_bpf.py:
 *
 *   refused CODE: what: why                 the rung cannot be had here
 *   open MICROSECONDS
 *   module NUMBER PATH
 *   process PID PARENT
 *   sample KIND PID TID TIME WEIGHT END STATE KERNEL_FRAMES FRAME...    FRAME: MODULE:ADDRESS or ?
 *   end SAMPLES LOST ENDS...
 */
#include "host/core/clock.h"
#include "host/sampling/sampler.h"
#include "host/sampling/snapshot.h"
#include "host/unwind/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void name_modules(void)
{
	static size_t named;

	for (; named < modules_count(); named++)
		printf("module %zu %s\n", named, module_at(named)->path);
}

/* Return addresses belong to the call before them. */
static void print_frame(const struct space *space, uint64_t address, bool is_innermost)
{
	uint64_t place = is_innermost ? address : address - 1;
	const struct space_range *range = space_find(space, place);

	if (range)
		printf(" %u:%lx", range->module->number, place - range->bias);
	else
		printf(" ?");
}

static void print_sample(void *context, const struct sample *sample, struct space *space)
{
	(void)context;
	name_modules();
	printf("sample %u %u %u %llu %llu %u %c %u", sample->kind, sample->pid, sample->tid,
	       sample->time_ns, sample->weight_ns, sample->end, sample->state ? sample->state : '-',
	       sample->kernel_count);
	for (unsigned i = 0; i < sample->user_count; i++)
		print_frame(space, sample->frames[sample->kernel_count + i], i == 0);
	putchar('\n');
}

static void print_process(void *context, pid_t pid, pid_t parent)
{
	(void)context;
	printf("process %d %d\n", pid, parent);
	fflush(stdout);
}

static const struct sampler_listener listener = { print_sample, print_process, NULL };

static void nap(void)
{
	const struct timespec period = { .tv_nsec = 25000000 };

	nanosleep(&period, NULL);
}

static int refused(const struct err *err)
{
	printf("refused %d: %s: %s\n", err->code, err->what, err->why);
	return 77;
}

static int sample_for(const struct sampler_options *options, double seconds)
{
	uint64_t start_ns = now_ns(), end_ns = start_ns + (uint64_t)(seconds * 1e9);
	struct sampler *sampler;
	struct sampler_counts counts;
	struct err err = { 0 };
	int r = sampler_bpf.open(&sampler, options, &err);

	if (r)
		return refused(&err);
	printf("open %lu\n", (now_ns() - start_ns) / 1000);
	fflush(stdout);
	while (now_ns() < end_ns && !r) {
		nap();
		r = sampler_bpf.drain(sampler, &listener, &err);
	}
	sampler_bpf.stop(sampler);
	if (!r)
		r = sampler_bpf.drain(sampler, &listener, &err);
	counts = sampler_bpf.counts(sampler);
	printf("end %lu %lu", counts.samples, counts.lost);
	for (int i = 0; i < STACK_ENDS; i++)
		printf(" %lu", counts.ends[i]);
	putchar('\n');
	sampler_bpf.close(sampler);
	return r && r != -ESRCH ? refused(&err) : 0;
}

static int dump(const struct sampler_options *options)
{
	uint64_t start_ns = now_ns();
	struct snapshot *snapshot;
	struct err err = { 0 };

	if (snapshot_take(&snapshot, options->pid, options->kernel_frames, &err))
		return refused(&err);
	printf("open %lu\n", (now_ns() - start_ns) / 1000);
	for (size_t i = 0; i < snapshot->count; i++)
		print_sample(NULL, snapshot->samples[i], snapshot->space);
	snapshot_free(snapshot);
	return 0;
}

static bool has(int argc, char **argv, const char *word)
{
	for (int i = 4; i < argc; i++)
		if (!strcmp(argv[i], word))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct sampler_options options = { 0 };

	if (argc < 4) {
		fprintf(stderr, "usage: bpf_driver PID HZ SECONDS [off] [only] [kernel] [children] "
				"[dump]\n");
		return 2;
	}
	options.pid = atoi(argv[1]);
	options.hz = (unsigned)atoi(argv[2]);
	options.off_cpu = has(argc, argv, "off") || has(argc, argv, "only");
	options.on_cpu = !has(argc, argv, "only");
	options.kernel_frames = has(argc, argv, "kernel");
	options.children = has(argc, argv, "children");
	return has(argc, argv, "dump") ? dump(&options) : sample_for(&options, atof(argv[3]));
}
