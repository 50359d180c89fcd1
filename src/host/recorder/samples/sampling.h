/*
 * Samples a process into a recording, on a thread of its own: chooses the best sampler available,
 * and writes its samples.
 *
 *   sampling_new, sampling_start, (sampling_check), sampling_pause, sampling_start, ...,
 *   sampling_finish, sampling_free
 */
#pragma once

#include "host/recorder/samples/sample_writer.h"
#include "host/sampling/sampler.h"

#define SAMPLING_HZ     99u
#define SAMPLING_HZ_MAX 5000u

#define SAMPLING_REASONS_MAX 4096u

struct sampling_options {
	struct sampler_options sampler;
	const char *name;                /* only this sampler; NULL: the best available */
	const struct sampler_kind *kind; /* instead: this one, which is in no table; NULL */
	bool java_names; /* requests the names of a JVM's compiled code, when sampling begins and at
			    its end (jvm.h) */
	bool is_new;     /* the program is just starting: requests them at the end only */
	bool is_python_unwatched; /* does not poll Python's lock, which otherwise happens forty
				     times a second */
	/* Gets each sample too, on the sampler's thread; may be NULL.  -ENOMEM ends sampling. */
	int (*observe)(void *context, const struct sample *sample, struct space *space);
	/* The same for processes: one is new, or has executed. */
	int (*observe_process)(void *context, const struct sampled_process *process);
	void *context; /* for both */
};

struct sampling_totals {
	const char *sampler;          /* its name; "" before the first start */
	const char *summary;          /* its description, in a line */
	struct sampler_counts counts; /* of all starts */
	uint64_t threads;
	uint64_t processes_seen, processes_sampled; /* processes_sampled: those with a sample */
	struct naming naming;                       /* after sampling_finish() */
	char java_trouble[512]; /* why the names of Java's code are outdated; "" */
	/* Lines: why no better sampler is available, and what this one cannot see, as far as
	 * known. */
	char reasons[SAMPLING_REASONS_MAX];
	bool is_running; /* false after the end of the process, or of the thread */
	bool has_ended;  /* the process has, or with children all of them */
};

struct sampling;

/* The programs of the process, which must outlive the sampling; NULL: nothing is recorded, and
 * samples only go to observe. */
int sampling_new(struct sampling **ret, struct programs *programs,
		 const struct sampling_options *options, struct err *err) MUST_CHECK;

/* Returns when sampling runs.  Fails when no sampler is available, with the reason of each. */
int sampling_start(struct sampling *sampling, struct err *err) MUST_CHECK;

/* Between two starts: takes the pid and the further processes of these options. */
void sampling_set_processes(struct sampling *sampling, const struct sampler_options *options);
/* Between two starts. */
void sampling_set_rate(struct sampling *sampling, unsigned hz);

/* What its Python knows of a thread; false: nothing. */
bool sampling_python_thread(struct sampling *sampling, pid_t pid, pid_t tid,
			    struct watched_thread *ret);

/* 0, or what ended the thread. */
int sampling_check(struct sampling *sampling, struct err *err) MUST_CHECK;

/* Stops, and drains what is in the buffers. */
void sampling_pause(struct sampling *sampling);

/* Writes names and totals. */
int sampling_finish(struct sampling *sampling, struct err *err) MUST_CHECK;

void sampling_totals(struct sampling *sampling, struct sampling_totals *ret);

void sampling_free(struct sampling *sampling);

/* The sampler that a process gets. */
struct sampling_trial {
	const struct sampler_kind *kind;    /* NULL: none, because of err */
	char reasons[SAMPLING_REASONS_MAX]; /* why no better one */
	struct err err;
};
/* Opens samplers, and closes them at once: nothing is stopped, nothing stays. */
void sampling_try(pid_t pid, struct sampling_trial *ret);
