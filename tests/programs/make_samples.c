/*
 * Writes a recording of samples through the real thread, writer and names, from a sampler that
 * makes them up: stacks of functions of this very program.
 *
 *   usage: make_samples FILE ROUNDS [calm|twins|foreign|changed|uneven|limited|kill|refused]
 *
 *   calm     each round has the samples of `calm_plan`
 *   twins    as calm, each twice, at two places of its functions
 *   foreign  those of `foreign_plan`: nothing of this program itself
 *   changed  those of `changed_plan`, at half the rate
 *   uneven   those of `uneven_plan`
 *   limited  as calm; the sampler knows at once of one thing that it cannot see, of another later
 *   kill     as calm, and the program kills itself when all was taken, 0.3 s before it would end
 *   refused  the sampler may not be used
 *
 * The plan, for tests/sampling_files/test_samples.py:
 *   worker, running    outer > middle > inner          3 of 1 ms
 *   worker, running    outer > middle                  1 of 1 ms
 *   worker, running    outer > middle > middle         1 of 1 ms
 *   worker, blocked    outer > waits                   1 of 5 ms, state S
 *   worker, runnable   outer                           1 of 2 ms
 *   helper, running    (incomplete: no table) inner    1 of 1 ms
 * changed, for test_diff.py:
 *   worker, running    outer > middle > inner          1 of 2 ms
 *   worker, running    outer > middle                  1 of 2 ms
 *   worker, running    outer > fresh                   6 of 2 ms
 * uneven:
 *   worker, blocked    outer > waits                   1 of 900 ms, state S
 *   worker, blocked    outer > inner                   100 of 1 ms, state S
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host/collect/facts.h"
#include "host/core/clock.h"
#include "host/recorder/samples/sampling.h"
#include "host/symbols/symbol_file.h"
#include "host/unwind/space.h"

#define MILLISECOND 1000000u
#define DEPTH       4u

void outer(void);
void middle(void);
void inner(void);
void waits(void);
void fresh(void);

static volatile int sink;

__attribute__((noinline)) void inner(void)
{
	sink += 1;
}

__attribute__((noinline)) void waits(void)
{
	sink += 2;
}

__attribute__((noinline)) void fresh(void)
{
	sink += 7;
}

__attribute__((noinline)) void middle(void)
{
	sink += 3;
	inner();
	sink += 4;
}

__attribute__((noinline)) void outer(void)
{
	sink += 5;
	middle();
	waits();
	fresh();
	sink += 6;
}

typedef void function(void);

struct planned {
	unsigned thread, times;
	enum sample_kind kind;
	enum stack_end end;
	char state;
	uint64_t weight_ns;
	function *stack[DEPTH]; /* innermost first; ends with NULL */
};

static const struct planned calm_plan[] = {
	{ 0, 3, SAMPLE_RUNNING, STACK_COMPLETE, 'R', MILLISECOND, { inner, middle, outer } },
	{ 0, 1, SAMPLE_RUNNING, STACK_COMPLETE, 'R', MILLISECOND, { middle, outer } },
	{ 0, 1, SAMPLE_RUNNING, STACK_COMPLETE, 'R', MILLISECOND, { middle, middle, outer } },
	{ 0, 1, SAMPLE_BLOCKED, STACK_COMPLETE, 'S', 5 * MILLISECOND, { waits, outer } },
	{ 0, 1, SAMPLE_RUNNABLE, STACK_COMPLETE, 'R', 2 * MILLISECOND, { outer } },
	{ 1, 1, SAMPLE_RUNNING, STACK_NO_TABLE, 'R', MILLISECOND, { inner } },
};

static const struct planned changed_plan[] = {
	{ 0, 1, SAMPLE_RUNNING, STACK_COMPLETE, 'R', 2 * MILLISECOND, { inner, middle, outer } },
	{ 0, 1, SAMPLE_RUNNING, STACK_COMPLETE, 'R', 2 * MILLISECOND, { middle, outer } },
	{ 0, 6, SAMPLE_RUNNING, STACK_COMPLETE, 'R', 2 * MILLISECOND, { fresh, outer } },
};

static const struct planned uneven_plan[] = {
	{ 0, 1, SAMPLE_BLOCKED, STACK_COMPLETE, 'S', 900 * MILLISECOND, { waits, outer } },
	{ 0, 100, SAMPLE_BLOCKED, STACK_COMPLETE, 'S', MILLISECOND, { inner, outer } },
};

static const struct planned foreign_plan[] = {
	{ 0,
	  1,
	  SAMPLE_RUNNING,
	  STACK_COMPLETE,
	  'R',
	  MILLISECOND,
	  { (function *)(uintptr_t)getppid } },
};

static const struct planned *plan = calm_plan;
static size_t plan_count = ARRAY_SIZE(calm_plan);
static unsigned rounds;
static bool is_limited;
static unsigned twins = 1;

struct made_up {
	struct sampler sampler;
	struct space *space;
	struct sampler_counts counts;
	uint64_t time_ns;
	unsigned done;
};

static int refuse(struct sampler **ret, const struct sampler_options *options, struct err *err)
{
	(void)ret;
	(void)options;
	err_set(err, -EPERM, "no right for it");
	return err_fix(err, "sudo limpet");
}

static const struct sampler_kind refused_kind = { .name = "best",
						  .summary = "never there",
						  .open = refuse };
static const struct sampler_kind made_up_kind;

static int open_made_up(struct sampler **ret, const struct sampler_options *options,
			struct err *err)
{
	struct made_up *self = calloc(1, sizeof(*self));

	if (!self || space_open(&self->space, options->pid, err))
		return -ENOMEM;
	self->sampler.kind = &made_up_kind;
	self->time_ns = now_ns();
	if (is_limited)
		sampler_limit(&self->sampler, "%s is not seen", "this");
	*ret = &self->sampler;
	return 0;
}

static void send(struct made_up *self, const struct planned *planned,
		 const struct sampler_listener *listener, unsigned twin)
{
	_Alignas(struct sample) char room[sizeof(struct sample) + DEPTH * sizeof(uint64_t)] = { 0 };
	struct sample *sample = (struct sample *)room;

	*sample = (struct sample){ .time_ns = self->time_ns += planned->weight_ns,
				   .weight_ns = planned->weight_ns,
				   .pid = (uint32_t)getpid(),
				   .tid = (uint32_t)getpid() + planned->thread,
				   .cpu = planned->thread,
				   .kind = planned->kind,
				   .end = planned->end,
				   .state = (uint8_t)planned->state };
	for (unsigned i = 0; i < DEPTH && planned->stack[i]; i++)
		sample->frames[sample->user_count++] = (uintptr_t)planned->stack[i] + 4 + 4 * twin;
	self->counts.samples++;
	self->counts.ends[planned->end]++;
	listener->sample(listener->context, sample, self->space);
}

static int drain(struct sampler *sampler, const struct sampler_listener *listener, struct err *err)
{
	struct made_up *self = (struct made_up *)sampler;

	(void)err;
	for (unsigned n = 0; n < 100 && self->done < rounds; n++, self->done++)
		for (size_t i = 0; i < plan_count; i++)
			for (unsigned k = 0; k < plan[i].times * twins; k++)
				send(self, &plan[i], listener, k % twins);
	if (is_limited) {
		sampler_limit(&self->sampler, "that is not seen");
		sampler_limit(&self->sampler, "this is not seen");
	}
	return 0;
}

static void stop(struct sampler *sampler)
{
	(void)sampler;
}

static struct sampler_counts counts(const struct sampler *sampler)
{
	return ((const struct made_up *)sampler)->counts;
}

static void close_made_up(struct sampler *sampler)
{
	struct made_up *self = (struct made_up *)sampler;

	space_close(self->space);
	free(self);
}

static const struct sampler_kind made_up_kind = {
	.name = "made-up",
	.summary = "samples of a test",
	.open = open_made_up,
	.drain = drain,
	.stop = stop,
	.counts = counts,
	.close = close_made_up,
};

static int fail(const struct err *err)
{
	fprintf(stderr, "%s: %s\n", err->what, err->why);
	return 1;
}

static int begin(const char *path, struct recording **ret, struct programs *ret_programs,
		 struct err *err)
{
	uint32_t process;
	int r = recording_create(path, ret, err);

	if (!r)
		r = facts_session(*ret, "test", "", err);
	if (!r)
		r = programs_init(ret_programs, *ret, /* with_files */ false, /* variables */ NULL);
	if (!r)
		r = programs_number(ret_programs, getpid(), &process, err);
	return r ? r : recording_clock(*ret, err);
}

static uint64_t wanted(void)
{
	uint64_t all = 0;

	for (size_t i = 0; i < plan_count; i++)
		all += (uint64_t)plan[i].times * twins * rounds;
	return all;
}

static void await_all(struct sampling *sampling)
{
	struct sampling_totals totals = { 0 };

	while (totals.counts.samples < wanted()) {
		usleep(1000);
		sampling_totals(sampling, &totals);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[3] : "calm";
	struct sampling_options options = {
		.sampler = { .pid = getpid(), .hz = 1000, .on_cpu = true },
		.kind = strcmp(mode, "refused") ? &made_up_kind : &refused_kind
	};
	const struct recorded_end end = { .reason = RECORDING_COMPLETE };
	struct recording *recording;
	struct sampling *sampling;
	struct err err = { 0 };
	struct programs programs;

	if (argc < 3)
		return 2;
	if (!strcmp(mode, "changed")) {
		plan = changed_plan;
		plan_count = ARRAY_SIZE(changed_plan);
		options.sampler.hz = 500;
	}
	if (!strcmp(mode, "uneven")) {
		plan = uneven_plan;
		plan_count = ARRAY_SIZE(uneven_plan);
	}
	if (!strcmp(mode, "foreign")) {
		plan = foreign_plan;
		plan_count = ARRAY_SIZE(foreign_plan);
	}
	if (!strcmp(mode, "twins"))
		twins = 2;
	is_limited = !strcmp(mode, "limited");
	symbol_file_read_lines_by(&line_reader_libdw);
	rounds = (unsigned)atoi(argv[2]);
	prctl(PR_SET_NAME, "worker");
	outer();
	if (begin(argv[1], &recording, &programs, &err) ||
	    sampling_new(&sampling, &programs, &options, &err) || sampling_start(sampling, &err))
		return fail(&err);
	await_all(sampling);
	if (!strcmp(mode, "kill")) {
		usleep(300000);
		raise(SIGKILL);
	}
	sampling_pause(sampling);
	if (sampling_finish(sampling, &err))
		return fail(&err);
	sampling_free(sampling);
	return recording_close(recording, &end, &err) ? fail(&err) : 0;
}
