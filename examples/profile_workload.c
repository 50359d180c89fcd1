/*
 * limpet from C: runs a program, samples it and all that it starts, and tells where the time went.
 *
 *   cc profile_workload.c $(pkg-config --cflags --libs limpet) -o profile_workload
 *   ./profile_workload PROGRAM [ARGUMENT]...
 *
 * Where the variable RECORDING names a file, that becomes a recording, for `limpet report` and
 * `limpet export`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limpet/limpet.h>

#define FUNCTIONS_MAX 2000
#define SHOWN_MAX     15
#define RATE_HZ       499

struct profile {
	unsigned long samples, unnamed;
	size_t count;
	struct entry {
		char name[160];
		unsigned long samples;
	} functions[FUNCTIONS_MAX];
};

static int complain(const struct limpet_error *error)
{
	fprintf(stderr, "profile_workload: %s\n", error->what);
	if (error->why[0])
		fprintf(stderr, "  why: %s\n", error->why);
	if (error->fix[0])
		fprintf(stderr, "  fix: %s\n", error->fix);
	return error->exit_code;
}

/* The innermost function has the time.  On a thread of the library's. */
static void count_sample(const struct limpet_sample *sample, void *context)
{
	struct limpet_frame frame = LIMPET_FRAME_INIT;
	struct profile *profile = context;
	size_t i = 0;

	profile->samples++;
	if (limpet_stack_frame(sample->stack, 0, &frame, NULL)) {
		profile->unnamed++;
		return;
	}
	while (i < profile->count && strncmp(profile->functions[i].name, frame.function,
					     sizeof(profile->functions[i].name) - 1))
		i++;
	if (i == FUNCTIONS_MAX)
		return;
	if (i == profile->count)
		snprintf(profile->functions[profile->count++].name,
			 sizeof(profile->functions[i].name), "%s", frame.function);
	profile->functions[i].samples++;
}

static int compare_samples(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return (a->samples < b->samples) - (a->samples > b->samples);
}

static void print_profile(struct profile *profile, struct limpet_sampler *sampler)
{
	struct limpet_sampler_status status = LIMPET_SAMPLER_STATUS_INIT;

	limpet_sampler_status(sampler, &status, NULL);
	qsort(profile->functions, profile->count, sizeof(profile->functions[0]), compare_samples);
	printf("%lu samples by %s, %llu lost, %llu not looked at in time\n", profile->samples,
	       status.sampler, (unsigned long long)status.lost,
	       (unsigned long long)status.overwritten);
	for (size_t i = 0; i < profile->count && i < SHOWN_MAX; i++)
		printf("%5.1f %%  %s\n",
		       100 * (double)profile->functions[i].samples / (double)profile->samples,
		       profile->functions[i].name);
}

/* A program that waits to be let go; it tells through a pipe why it could not begin. */
struct workload {
	pid_t pid;
	int go, trouble;
	int error; /* why it could not begin; 0 */
};

static _Noreturn void run_program(char **command, const int go[2], const int trouble[2])
{
	char byte;
	int code;

	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(127);
	execvp(command[0], command);
	code = errno;
	(void)!write(trouble[1], &code, sizeof(code));
	_exit(127);
}

static int workload_start(struct workload *ret, char **command)
{
	int go[2], trouble[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(trouble, O_CLOEXEC))
		return -errno;
	ret->error = 0;
	ret->pid = fork();
	if (ret->pid < 0)
		return -errno;
	if (ret->pid == 0)
		run_program(command, go, trouble);
	close(go[0]);
	close(trouble[1]);
	ret->go = go[1];
	ret->trouble = trouble[0];
	return 0;
}

/* Closing it without a word ends a program that was not let go. */
static int workload_run(struct workload *workload, int is_let_go)
{
	int status = 0;

	if (is_let_go)
		(void)!write(workload->go, "g", 1);
	close(workload->go);
	if (read(workload->trouble, &workload->error, sizeof(workload->error)) <= 0)
		workload->error = 0;
	waitpid(workload->pid, &status, 0);
	return status;
}

static struct limpet_sampler *begin(struct limpet *target, struct profile *profile,
				    struct limpet_error *error)
{
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_sampler *sampler;

	options.rate_hz = RATE_HZ;
	options.flags = LIMPET_CHILDREN;
	options.on_sample = count_sample;
	options.context = profile;
	options.path = getenv("RECORDING");
	sampler = limpet_sampler_open(target, &options, error);
	if (sampler && limpet_sampler_start(sampler, error)) {
		limpet_sampler_close(sampler);
		sampler = NULL;
	}
	return sampler;
}

static int profile_it(struct workload *workload, const char *name, struct limpet_error *error)
{
	static struct profile profile;
	struct limpet *target = limpet_open(workload->pid, error);
	struct limpet_sampler *sampler = target ? begin(target, &profile, error) : NULL;
	int r = 0, status = workload_run(workload, sampler != NULL);

	limpet_close(target);
	if (!sampler)
		return complain(error);
	if (limpet_sampler_stop(sampler, error))
		r = complain(error);
	if (workload->error) {
		fprintf(stderr, "profile_workload: %s: %s\n", name, strerror(workload->error));
		r = 1;
	} else {
		print_profile(&profile, sampler);
		printf("%s ended with %d\n", name,
		       WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	}
	limpet_sampler_close(sampler);
	return r;
}

int main(int argc, char **argv)
{
	struct limpet_error error = LIMPET_ERROR_INIT;
	struct workload workload = { .pid = -1, .go = -1, .trouble = -1 };

	if (argc < 2) {
		fprintf(stderr, "usage: %s PROGRAM [ARGUMENT]...\n", argv[0]);
		return 2;
	}
	if (workload_start(&workload, argv + 1)) {
		perror("profile_workload");
		return 1;
	}
	return profile_it(&workload, argv[1], &error);
}
