/*
 * Samples a process by one sampler, and prints what it hears as lines of JSON.  For
 * tests: frames are addresses with the module and the address in its file, names are theirs to
 * find.
 *
 *   usage: sampler_driver SAMPLER|best PID HZ SECONDS [off] [on] [cycles] [kernel] [children]
 *                         [max=SAMPLES] [wait]
 *          sampler_driver snapshot PID 0 0 [kernel]     one sample of each thread
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/core/clock.h"
#include "host/core/text/text.h"
#include "host/sampling/bpf/snapshot.h"
#include "host/sampling/sampler.h"
#include "host/unwind/space.h"

struct run {
	uint64_t heard, most;
	bool waits; /* for the end of its input, before it takes the first sample */
};

static void print_frame(const struct space *space, uint64_t address, int back)
{
	const struct space_range *range = space_find(space, address - (uint64_t)back);

	if (range)
		printf("[%u, %llu]", range->module->number,
		       (unsigned long long)(address - range->bias));
	else
		printf("[-1, %llu]", (unsigned long long)address);
}

static void hear_sample(void *context, const struct sample *sample, struct space *space)
{
	struct run *run = context;

	run->heard++;
	printf("{\"sample\": {\"time\": %llu, \"weight\": %llu, \"pid\": %u, \"tid\": %u, "
	       "\"kind\": %u, \"end\": \"%s\", \"guessed\": %s, \"state\": \"%c\", \"kernel\": %u, "
	       "\"frames\": [",
	       (unsigned long long)sample->time_ns, (unsigned long long)sample->weight_ns,
	       sample->pid, sample->tid, sample->kind, stack_end_name(sample->end),
	       sample->flags & SAMPLE_GUESSED ? "true" : "false",
	       sample->state ? sample->state : '?', sample->kernel_count);
	for (unsigned i = 0; i < sample->user_count; i++) {
		printf("%s", i ? ", " : "");
		print_frame(space, sample->frames[sample->kernel_count + i], i > 0);
	}
	printf("]}}\n");
}

static void hear_process(void *context, const struct sampled_process *process)
{
	(void)context;
	printf("{\"process\": {\"pid\": %d, \"parent\": %d}}\n", (int)process->pid,
	       (int)process->parent);
}

static void print_modules(void)
{
	for (size_t i = 0; i < modules_count(); i++) {
		const struct module *module = module_at(i);

		printf("{\"module\": {\"number\": %zu, \"path\": \"%s\", \"image\": \"%s\", "
		       "\"deleted\": %s, \"rows\": %u, \"complaint\": \"%s\"}}\n",
		       i, module->path, module->image_path ? module->image_path : "",
		       module->is_deleted ? "true" : "false",
		       module->table ? module->table->row_count : 0, module->complaint);
	}
}

static void print_counts(const struct sampler *sampler, double cpu_s)
{
	struct sampler_counts counts = sampler->kind->counts(sampler);

	printf("{\"counts\": {\"sampler\": \"%s\", \"limits\": \"%s\", \"samples\": %llu, "
	       "\"lost\": %llu, \"cpu_s\": %.4f, \"ends\": {",
	       sampler->kind->name, sampler->limits, (unsigned long long)counts.samples,
	       (unsigned long long)counts.lost, cpu_s);
	for (unsigned i = 0; i < STACK_ENDS; i++)
		printf("%s\"%s\": %llu", i ? ", " : "", stack_end_name(i),
		       (unsigned long long)counts.ends[i]);
	printf("}}}\n");
}

static void print_refusals(const struct sampler_refusals *refusals)
{
	for (unsigned i = 0; i < refusals->count; i++)
		printf("{\"refused\": {\"sampler\": \"%s\", \"what\": \"%s\", \"fix\": \"%s\"}}\n",
		       refusals->items[i].kind->name, refusals->items[i].err.what,
		       refusals->items[i].err.fix);
}

static double cpu_seconds(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

static int drain_until(struct sampler *sampler, double seconds, struct run *run, struct err *err)
{
	const struct sampler_listener listener = { hear_sample, hear_process, run };
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	int r = 0;

	while (!r && now_ns() < end && run->heard < run->most) {
		r = sampler->kind->drain(sampler, &listener, err);
		if (!sampler->is_prompt)
			usleep(20000);
	}
	sampler->kind->stop(sampler);
	if (!r)
		r = sampler->kind->drain(sampler, &listener, err);
	return r;
}

static void read_word(const char *word, struct sampler_options *options, struct run *run)
{
	options->off_cpu |= !strcmp(word, "off");
	options->on_cpu |= !strcmp(word, "on");
	options->kernel_frames |= !strcmp(word, "kernel");
	options->children |= !strcmp(word, "children");
	if (!strcmp(word, "cycles"))
		options->event = EVENT_CYCLES;
	run->waits |= !strcmp(word, "wait");
	if (!strncmp(word, "max=", 4))
		run->most = strtoull(word + 4, NULL, 10);
}

static void print_error(const struct err *err)
{
	printf("{\"error\": {\"what\": \"%s\", \"why\": \"%s\", \"fix\": \"%s\"}}\n", err->what,
	       err->why, err->fix);
}

static int take_snapshot(const struct sampler_options *options)
{
	struct snapshot *snapshot;
	struct run run = { 0 };
	struct err err = { 0 };

	if (snapshot_take(&snapshot, options->pid, options->kernel_frames, /* hook */ NULL, &err) <
	    0) {
		print_error(&err);
		return 1;
	}
	for (size_t i = 0; i < snapshot->count; i++)
		hear_sample(&run, snapshot->samples[i], snapshot->space);
	print_modules();
	snapshot_free(snapshot);
	return 0;
}

int main(int argc, char **argv)
{
	struct sampler_refusals refusals;
	struct sampler_options options = { 0 };
	struct run run = { .most = UINT64_MAX };
	struct sampler *sampler;
	struct err err = { 0 };
	int r;

	if (argc < 5) {
		fprintf(stderr, "usage: sampler_driver SAMPLER|best PID HZ SECONDS [off] [on] "
				"[kernel] [children] [max=SAMPLES] [wait]\n");
		return 2;
	}
	options.pid = atoi(argv[2]);
	options.hz = (unsigned)atoi(argv[3]);
	for (int i = 5; i < argc; i++)
		read_word(argv[i], &options, &run);
	options.on_cpu |= !options.off_cpu;
	if (!strcmp(argv[1], "snapshot"))
		return take_snapshot(&options);
	r = sampler_choose(&sampler, &options, strcmp(argv[1], "best") ? argv[1] : NULL, &refusals,
			   &err);
	print_refusals(&refusals);
	if (r < 0 || err.code) { /* no error is left of what was tried in vain */
		print_error(&err);
		return 1;
	}
	printf("{\"ready\": \"%s\"}\n", sampler->kind->name);
	fflush(stdout);
	while (run.waits && getchar() != EOF)
		;
	r = drain_until(sampler, atof(argv[4]), &run, &err);
	print_modules();
	print_counts(sampler, cpu_seconds());
	sampler_close(sampler);
	if (r < 0 && r != -ESRCH)
		print_error(&err);
	return r < 0 && r != -ESRCH;
}
