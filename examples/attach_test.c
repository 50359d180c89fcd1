/*
 * limpet from C: looks at a running process for five seconds, ten times a second, and prints its
 * threads and the first samples of each: thread, state, stack.  The process is not stopped, nothing
 * is loaded into it.
 *
 *   cc attach_test.c $(pkg-config --cflags --libs limpet) -o attach_test
 *   ./attach_test PID [SECONDS]
 *
 * Returns what the command line would.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <limpet/limpet.h>

#define SECONDS   5
#define SHOWN_MAX 64
#define EACH_MAX  2 /* samples of a thread, of one kind, that are shown */

static const char *const kinds[] = {
	[LIMPET_RUNNING] = "running",
	[LIMPET_BLOCKED] = "waiting",
	[LIMPET_RUNNABLE] = "wants a processor",
};

/* How many samples of a thread were shown, of each kind. */
struct shown {
	size_t count;
	struct {
		int tid, samples;
		enum limpet_sample_kind kind;
	} items[SHOWN_MAX];
};

static int complain(const struct limpet_error *error)
{
	fprintf(stderr, "attach_test: %s\n", error->what);
	if (error->why[0])
		fprintf(stderr, "  why: %s\n", error->why);
	if (error->fix[0])
		fprintf(stderr, "  fix: %s\n", error->fix);
	return error->exit_code;
}

static int is_one_of_the_first(struct shown *shown, const struct limpet_sample *sample)
{
	size_t i = 0;

	while (i < shown->count &&
	       (shown->items[i].tid != sample->tid || shown->items[i].kind != sample->kind))
		i++;
	if (i == SHOWN_MAX)
		return 0;
	if (i == shown->count) {
		shown->items[i].tid = sample->tid;
		shown->items[i].kind = sample->kind;
		shown->count++;
	}
	return shown->items[i].samples++ < EACH_MAX;
}

static void print_stack(const struct limpet_sample *sample)
{
	struct limpet_frame frame = LIMPET_FRAME_INIT;

	for (size_t i = 0; i < sample->frame_count; i++)
		if (limpet_stack_frame(sample->stack, i, &frame, NULL) == 0)
			printf("    #%-2zu %s  (%s)\n", i, frame.function, frame.module);
	if (!sample->is_complete)
		printf("    incomplete: %s\n", sample->end);
}

/* On a thread of the library's. */
static void on_sample(const struct limpet_sample *sample, void *context)
{
	if (!is_one_of_the_first(context, sample))
		return;
	printf("thread %d (%s), %s, state %c, %.1f ms\n", sample->tid, sample->thread_name,
	       kinds[sample->kind], sample->state, (double)sample->weight_ns / 1e6);
	print_stack(sample);
}

static void print_thread(const struct limpet_thread *thread, void *context)
{
	(void)context;
	printf("  %7d  %-15s  %-10s %s\n", thread->tid, thread->name, thread->state_name,
	       thread->call);
}

static void print_totals(struct limpet_sampler *sampler)
{
	struct limpet_sampler_status status = LIMPET_SAMPLER_STATUS_INIT;

	limpet_sampler_status(sampler, &status, NULL);
	if (status.reasons[0])
		printf("no better way to sample, or not all of it:\n%s", status.reasons);
	printf("%llu samples, %llu lost, %.1f %% of the stacks complete, by %s\n",
	       (unsigned long long)status.samples, (unsigned long long)status.lost,
	       status.samples ? 100 * (double)status.complete / (double)status.samples : 0,
	       status.sampler);
}

static int look(struct limpet *target, unsigned seconds, struct limpet_error *error)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_sampler *sampler;
	struct shown shown = { 0 };
	int r = limpet_threads(target, 0, print_thread, NULL, error);

	if (r)
		return r;
	options.rate_hz = 10;
	options.flags = LIMPET_OFF_CPU; /* also threads that wait */
	options.on_sample = on_sample;
	options.context = &shown;
	sampler = limpet_sampler_open(target, &options, error);
	r = sampler ? limpet_sampler_start(sampler, error) : -1;
	if (r == 0) {
		sleep(seconds);
		r = limpet_sampler_stop(sampler, error);
		print_totals(sampler);
	}
	limpet_sampler_close(sampler);
	return r;
}

int main(int argc, char **argv)
{
	struct limpet_error error = LIMPET_ERROR_INIT;
	struct limpet *target;
	int r;

	if (argc < 2) {
		fprintf(stderr, "usage: %s PID [SECONDS]\n", argv[0]);
		return 2;
	}
	target = limpet_open((int)strtol(argv[1], NULL, 10), &error);
	r = target ? look(target, argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : SECONDS, &error)
		   : -1;
	limpet_close(target);
	return r ? complain(&error) : 0;
}
