/*
 * A program of somebody who samples with liblimpet: one case each run, told by its first argument.
 * Says what it saw, a line each; a failed expectation ends it with 1.
 *
 *   usage: sampling CASE PID [PATH]
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <limpet/limpet.h>

#define EXPECT(condition)                                                                  \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "%d: not so: %s (%s; %s)\n", __LINE__, #condition, \
				error.what, error.why);                                    \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

static struct limpet_error error = LIMPET_ERROR_INIT;
static struct limpet *target;
static int pid;
static const char *path;

static struct limpet_sampler_status status_of(struct limpet_sampler *sampler)
{
	struct limpet_sampler_status status = LIMPET_SAMPLER_STATUS_INIT;

	EXPECT(!limpet_sampler_status(sampler, &status, &error));
	return status;
}

/* Whatever is slow is not broken: the caller has a time limit. */
static void await_samples(struct limpet_sampler *sampler, unsigned long count)
{
	while (status_of(sampler).samples < count)
		usleep(5000);
}

static struct limpet_sampler *open_with(const struct limpet_sampler_options *options)
{
	struct limpet_sampler *sampler = limpet_sampler_open(target, options, &error);

	EXPECT(sampler);
	return sampler;
}

static void show_stack(const struct limpet_stack *stack, size_t count)
{
	struct limpet_frame frame = LIMPET_FRAME_INIT;

	for (size_t i = 0; i < count; i++) {
		EXPECT(!limpet_stack_frame(stack, i, &frame, &error));
		EXPECT(frame.function[0] && frame.module[0] && frame.address);
		printf("%s%s", i ? ";" : "", frame.function);
	}
	EXPECT(limpet_stack_frame(stack, count, &frame, &error) == -ENOENT);
	printf("\n");
}

static void show_sample(const struct limpet_sample *sample, void *context)
{
	unsigned long *count = context;

	EXPECT(sample->struct_size == sizeof(*sample) && sample->stack);
	EXPECT(sample->pid && sample->tid && sample->time_ns && sample->weight_ns);
	printf("sample %d %c %s %s ", sample->kind, sample->state,
	       sample->thread_name[0] ? sample->thread_name : "-",
	       sample->is_complete ? "complete" : "incomplete");
	show_stack(sample->stack, sample->frame_count);
	(*count)++;
}

static void show_status(struct limpet_sampler *sampler)
{
	struct limpet_sampler_status status = status_of(sampler);

	printf("status running=%d rate=%u samples=%lu complete=%lu lost=%lu overwritten=%lu sampler=%s\n",
	       status.is_running, status.rate_hz, (unsigned long)status.samples,
	       (unsigned long)status.complete, (unsigned long)status.lost,
	       (unsigned long)status.overwritten, status.sampler);
}

/* Everything, once. */
static void case_samples(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_sampler *sampler;
	unsigned long count = 0;

	options.rate_hz = 499;
	sampler = open_with(&options);
	EXPECT(!status_of(sampler).is_running && !status_of(sampler).sampler[0]);
	EXPECT(!limpet_sampler_start(sampler, &error));
	EXPECT(status_of(sampler).is_running && status_of(sampler).sampler[0]);
	await_samples(sampler, 50);
	EXPECT(status_of(sampler).one_in >= 1);
	EXPECT(!limpet_sampler_stop(sampler, &error));
	EXPECT(limpet_sampler_read(sampler, 20, show_sample, &count, &error) == 20 && count == 20);
	show_status(sampler);
	EXPECT(!limpet_sampler_start(sampler, &error)); /* again */
	await_samples(sampler, status_of(sampler).samples + 5);
	limpet_sampler_close(sampler);
}

struct heard {
	unsigned long count, next;
	unsigned delay_us;
	struct limpet_sampler *sampler;
	int answer;
};

static void hear(const struct limpet_sample *sample, void *context)
{
	struct heard *heard = context;
	struct limpet_error ours = LIMPET_ERROR_INIT;

	EXPECT(sample->number >= heard->next);
	heard->next = sample->number + 1;
	heard->count++;
	if (heard->sampler)
		heard->answer = limpet_sampler_stop(heard->sampler, &ours);
	usleep(heard->delay_us);
}

static void case_callback(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct heard heard = { 0 };
	struct limpet_sampler *sampler;

	options.rate_hz = 999;
	options.on_sample = hear;
	options.context = &heard;
	sampler = open_with(&options);
	EXPECT(!limpet_sampler_start(sampler, &error));
	await_samples(sampler, 100);
	EXPECT(!limpet_sampler_stop(sampler, &error));
	EXPECT(heard.count + status_of(sampler).overwritten == status_of(sampler).samples);
	limpet_sampler_close(sampler);
	printf("heard %lu\n", heard.count);
}

/* It cannot follow, and nothing but samples is the price. */
static void case_slow(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct heard heard = { .delay_us = 20000 };
	struct limpet_sampler *sampler;
	unsigned long count = 0;

	options.rate_hz = 999;
	options.buffer_samples = 4;
	options.on_sample = hear;
	options.context = &heard;
	sampler = open_with(&options);
	EXPECT(!limpet_sampler_start(sampler, &error));
	while (status_of(sampler).overwritten < 50)
		usleep(5000);
	EXPECT(!limpet_sampler_stop(sampler, &error));
	EXPECT(heard.count + status_of(sampler).overwritten == status_of(sampler).samples);
	EXPECT(status_of(sampler).samples == heard.next);
	EXPECT(limpet_sampler_read(sampler, 1000, show_sample, &count, &error) == 4);
	limpet_sampler_close(sampler);
}

static void case_off_cpu(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_sampler *sampler;
	unsigned long count = 0;

	options.flags = LIMPET_OFF_CPU | LIMPET_NO_KERNEL;
	sampler = open_with(&options);
	EXPECT(!limpet_sampler_start(sampler, &error));
	await_samples(sampler, 100);
	EXPECT(!limpet_sampler_stop(sampler, &error));
	EXPECT(limpet_sampler_read(sampler, 1000, show_sample, &count, &error) >= 100);
	limpet_sampler_close(sampler);
}

static void case_file(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_sampler *sampler;

	options.rate_hz = 499;
	options.path = path;
	sampler = open_with(&options);
	EXPECT(!limpet_sampler_start(sampler, &error));
	await_samples(sampler, 50);
	EXPECT(!limpet_sampler_stop(sampler, &error));
	EXPECT(status_of(sampler).samples >= 50 && status_of(sampler).sampler[0]);
	EXPECT(limpet_sampler_start(sampler, &error) == -EALREADY);
	EXPECT(limpet_sampler_stop(sampler, &error) == -EALREADY);
	EXPECT(!limpet_sampler_set_rate(sampler, 10, &error));
	limpet_sampler_close(sampler);
}

static void ignore(const struct limpet_sample *sample, void *context)
{
	(void)sample;
	(void)context;
}

static void misuse_of_nobody(void)
{
	EXPECT(!limpet_sampler_open(NULL, NULL, &error) && error.code == -EINVAL);
	EXPECT(limpet_sampler_start(NULL, &error) == -EINVAL);
	EXPECT(limpet_sampler_stop(NULL, NULL) == -EINVAL);
	EXPECT(limpet_sampler_status(NULL, NULL, &error) == -EINVAL);
	EXPECT(limpet_sampler_read(NULL, 1, ignore, NULL, &error) == -EINVAL);
	EXPECT(limpet_stack_frame(NULL, 0, NULL, &error) == -ENOENT);
	EXPECT(limpet_threads(NULL, 0, NULL, NULL, &error) == -EINVAL);
	limpet_sampler_close(NULL);
}

static void misuse_of_options(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_sampler *sampler;

	options.rate_hz = 5001;
	EXPECT(!limpet_sampler_open(target, &options, &error) && error.exit_code == 2);
	options.rate_hz = 0;
	options.buffer_samples = (size_t)-1;
	EXPECT(!limpet_sampler_open(target, &options, &error) && error.code == -EINVAL);
	options.buffer_samples = 0;
	options.sampler = "unheard";
	sampler = open_with(&options);
	EXPECT(limpet_sampler_start(sampler, &error) == -ENOENT && strstr(error.fix, "copy"));
	EXPECT(limpet_sampler_stop(sampler, &error) == -EALREADY);
	limpet_sampler_close(sampler);
}

static void misuse_of_order(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct heard heard = { 0 };
	struct limpet_sampler *sampler;

	options.rate_hz = 999;
	options.on_sample = hear;
	options.context = &heard;
	heard.sampler = sampler = open_with(&options);
	EXPECT(limpet_sampler_stop(sampler, &error) == -EALREADY);
	EXPECT(limpet_sampler_set_rate(sampler, 0, &error) == -EINVAL);
	EXPECT(limpet_sampler_read(sampler, 5, ignore, NULL, &error) == 0);
	EXPECT(limpet_sampler_read(sampler, 5, NULL, NULL, &error) == -EINVAL);
	EXPECT(!limpet_sampler_start(sampler, &error));
	EXPECT(limpet_sampler_start(sampler, &error) == -EALREADY);
	EXPECT(limpet_sampler_set_rate(sampler, 6000, &error) == -EINVAL);
	await_samples(sampler, 5);
	EXPECT(!limpet_sampler_stop(sampler, NULL));
	EXPECT(heard.answer == -EDEADLK);
	EXPECT(limpet_sampler_stop(sampler, NULL) == -EALREADY);
	limpet_sampler_close(sampler);
}

static void case_misuse(void)
{
	misuse_of_nobody();
	misuse_of_options();
	misuse_of_order();
}

static void count_sample(const struct limpet_sample *sample, void *context)
{
	(void)sample;
	__atomic_add_fetch((unsigned long *)context, 1, __ATOMIC_RELAXED);
}

static struct limpet_record_status recorded(struct limpet_recording *recording)
{
	struct limpet_record_status status = LIMPET_RECORD_STATUS_INIT;

	EXPECT(!limpet_record_status(recording, &status, &error));
	return status;
}

/* Calls and samples into one file, samples to a callback as well. */
static void case_record(void)
{
	static const char *const functions[] = { "libc.so*:nanosleep" };
	struct limpet_record_options options = LIMPET_RECORD_OPTIONS_INIT;
	struct limpet_record_status status = LIMPET_RECORD_STATUS_INIT;
	struct limpet_recording *recording;
	unsigned long heard = 0;

	options.path = path;
	options.functions = functions;
	options.function_count = 1;
	options.rate_hz = 999;
	options.on_sample = count_sample;
	options.context = &heard;
	recording = limpet_record_start(target, &options, &error);
	EXPECT(recording);
	while (recorded(recording).records < 20 || recorded(recording).samples < 20)
		usleep(5000);
	EXPECT(recorded(recording).is_running && recorded(recording).processes == 1);
	EXPECT(!limpet_record_stop(recording, &status, &error));
	EXPECT(!status.is_running && status.samples >= 20 && status.bytes && status.sampler[0]);
	EXPECT(heard && heard <= status.samples);
	printf("recorded %lu\n", (unsigned long)status.records);
}

static void case_record_misuse(void)
{
	static const char *const traces[] = { "nothing" };
	struct limpet_record_options options = LIMPET_RECORD_OPTIONS_INIT;

	EXPECT(!limpet_record_start(target, &options, &error) && error.code == -EINVAL);
	options.path = path;
	EXPECT(!limpet_record_start(NULL, &options, &error) && error.code == -EINVAL);
	options.traces = traces;
	options.trace_count = 1;
	EXPECT(!limpet_record_start(target, &options, &error) && error.code == -EINVAL);
	EXPECT(strstr(error.fix, "alloc"));
	options.trace_count = 0;
	options.rate_hz = 5001;
	EXPECT(!limpet_record_start(target, &options, &error) && error.code == -EINVAL);
	EXPECT(limpet_record_status(NULL, NULL, &error) == -EINVAL);
	EXPECT(limpet_record_stop(NULL, NULL, &error) == -EINVAL);
	EXPECT(access(path, F_OK));
}

/* Until it stops by itself, and the file is finished all the same. */
static void case_record_duration(void)
{
	struct limpet_record_options options = LIMPET_RECORD_OPTIONS_INIT;
	struct limpet_recording *recording;

	options.path = path;
	options.flags = LIMPET_OFF_CPU;
	options.period_ns = options.delay_ns = 100000000;
	options.repeat = 2;
	recording = limpet_record_start(target, &options, &error);
	EXPECT(recording);
	while (recorded(recording).is_running)
		usleep(5000);
	EXPECT(!limpet_record_stop(recording, NULL, &error));
}

static void case_rate(void)
{
	struct limpet_sampler *sampler = open_with(NULL);
	unsigned long before;

	EXPECT(status_of(sampler).rate_hz == 99);
	EXPECT(!limpet_sampler_set_rate(sampler, 50, &error));
	EXPECT(!limpet_sampler_start(sampler, &error) && status_of(sampler).rate_hz == 50);
	await_samples(sampler, 5);
	before = status_of(sampler).samples;
	EXPECT(!limpet_sampler_set_rate(sampler, 999, &error));
	EXPECT(status_of(sampler).rate_hz == 999 && status_of(sampler).is_running);
	await_samples(sampler, before + 100);
	limpet_sampler_close(sampler);
}

static void await_line(void)
{
	char line[16];

	printf("ready\n");
	fflush(stdout);
	EXPECT(fgets(line, sizeof(line), stdin));
}

/* The process ends between limpet_open() and the start. */
static void case_dead(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_sampler *sampler;

	options.path = path;
	sampler = open_with(&options);
	await_line();
	EXPECT(limpet_sampler_start(sampler, &error) == -ESRCH && error.exit_code == 4);
	EXPECT(!status_of(sampler).is_running);
	EXPECT(access(path, F_OK) != 0);
	limpet_sampler_close(sampler);
	EXPECT(!limpet_open(pid, &error));
}

/* It ends while it is sampled. */
static void case_ends(void)
{
	struct limpet_sampler *sampler = open_with(NULL);

	EXPECT(!limpet_sampler_start(sampler, &error));
	await_samples(sampler, 5);
	await_line();
	while (status_of(sampler).is_running)
		usleep(5000);
	EXPECT(status_of(sampler).samples >= 5);
	EXPECT(limpet_sampler_set_rate(sampler, 10, &error) == -ESRCH);
	EXPECT(!limpet_sampler_stop(sampler, &error));
	EXPECT(limpet_sampler_read(sampler, 5, ignore, NULL, &error) == 5);
	EXPECT(limpet_sampler_start(sampler, &error) == -ESRCH);
	limpet_sampler_close(sampler);
}

static void case_two(void)
{
	struct limpet_sampler *one = open_with(NULL), *other = open_with(NULL);

	EXPECT(!limpet_sampler_start(one, &error) && !limpet_sampler_start(other, &error));
	await_samples(one, 10);
	await_samples(other, 10);
	limpet_sampler_close(one);
	await_samples(other, status_of(other).samples + 10);
	limpet_close(target); /* the sampler does not need it any more */
	target = NULL;
	await_samples(other, status_of(other).samples + 10);
	limpet_sampler_close(other);
}

static void case_detach(void)
{
	struct limpet_sampler *sampler = open_with(NULL);

	EXPECT(!limpet_attach(target, NULL, NULL, &error));
	EXPECT(!limpet_sampler_start(sampler, &error));
	await_samples(sampler, 10);
	EXPECT(!limpet_detach(target, LIMPET_UNLOAD, &error));
	await_samples(sampler, status_of(sampler).samples + 10);
	EXPECT(!limpet_sampler_stop(sampler, &error));
	EXPECT(limpet_detach(target, 0, &error) == -ENOTCONN);
	limpet_sampler_close(sampler);
}

static void show_thread(const struct limpet_thread *thread, void *context)
{
	unsigned long *count = context;

	printf("thread %c %s %s %s %s ", thread->state, thread->state_name, thread->name,
	       thread->call[0] ? thread->call : "-",
	       thread->has_stack ? thread->is_complete ? "complete" : "incomplete" : "no-stack");
	show_stack(thread->stack, thread->frame_count);
	(*count)++;
}

static void case_threads(void)
{
	unsigned long count = 0;

	EXPECT(!limpet_threads(target, 0, show_thread, &count, &error) && count == 3);
	EXPECT(!limpet_threads(target, LIMPET_STACKS | LIMPET_NO_KERNEL, show_thread, &count,
			       &error));
	EXPECT(count == 6);
}

/* What was built with a header that knew less. */
static void case_older(void)
{
	struct {
		size_t struct_size;
		unsigned rate_hz;
	} options = { sizeof(options), 500 };
	struct {
		size_t struct_size;
		int is_running;
		unsigned rate_hz, canary;
	} status = { offsetof(struct limpet_sampler_status, samples), 0, 0, 4711 };
	struct limpet_sampler *sampler =
		open_with((const struct limpet_sampler_options *)(const void *)&options);

	EXPECT(!limpet_sampler_status(sampler, (struct limpet_sampler_status *)(void *)&status,
				      &error));
	EXPECT(status.rate_hz == 500 && status.canary == 4711);
	limpet_sampler_close(sampler);
}

static void *read_much(void *context)
{
	struct limpet_error ours = LIMPET_ERROR_INIT;
	struct limpet_sampler_status status = LIMPET_SAMPLER_STATUS_INIT;

	for (int i = 0; i < 120; i++) {
		limpet_sampler_read(context, 50, ignore, NULL, &ours);
		limpet_sampler_status(context, &status, &ours);
		if (i % 40 == 0)
			limpet_sampler_set_rate(context, 500 + (unsigned)i, &ours);
		if (i % 60 == 30) {
			limpet_sampler_stop(context, &ours);
			limpet_sampler_start(context, &ours);
		}
	}
	return NULL;
}

static void case_crowd(void)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct heard heard = { 0 };
	pthread_t threads[4];
	struct limpet_sampler *sampler;

	options.rate_hz = 999;
	options.buffer_samples = 64;
	options.on_sample = hear;
	options.context = &heard;
	sampler = open_with(&options);
	EXPECT(!limpet_sampler_start(sampler, &error));
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, read_much, sampler);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	limpet_sampler_close(sampler);
	printf("heard %lu\n", heard.count);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "samples", case_samples },
	{ "callback", case_callback },
	{ "slow", case_slow },
	{ "off-cpu", case_off_cpu },
	{ "file", case_file },
	{ "misuse", case_misuse },
	{ "rate", case_rate },
	{ "dead", case_dead },
	{ "ends", case_ends },
	{ "two", case_two },
	{ "detach", case_detach },
	{ "threads", case_threads },
	{ "older", case_older },
	{ "crowd", case_crowd },
	{ "record", case_record },
	{ "record-misuse", case_record_misuse },
	{ "record-duration", case_record_duration },
};

int main(int argc, char **argv)
{
	size_t i = 0, count = sizeof(cases) / sizeof(cases[0]);

	if (argc < 3)
		return 2;
	pid = atoi(argv[2]);
	path = argc > 3 ? argv[3] : NULL;
	while (i < count && strcmp(cases[i].name, argv[1]))
		i++;
	if (i == count)
		return 2;
	target = limpet_open(pid, &error);
	EXPECT(target);
	cases[i].run();
	limpet_close(target);
	return 0;
}
