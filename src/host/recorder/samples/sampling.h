/*
 * Samples a process into a recording, on a thread of its own: finds the best sampler
 * that can be had here, and writes what it sees.
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
	const char *name;                /* only this sampler; NULL: the best that can be had */
	const struct sampler_kind *kind; /* instead: this one, that is in no table; NULL */
	bool java_names;                 /* a Java virtual machine is asked for the names of its
					    code, when sampling begins and at its end (jvm.h) */
	bool is_new;                     /* the program is just starting: it is asked at the end
					    only */
	bool is_python_unwatched;        /* nobody asks who holds the lock of Python, which is
					    looked at twenty times a second otherwise */
	/* Sees each sample too, on the sampler's thread; NULL: nobody does.  -ENOMEM ends it. */
	int (*observe)(void *context, const struct sample *sample, struct space *space);
	/* The same of processes: one came, or executed anew. */
	int (*observe_process)(void *context, const struct sampled_process *process);
	void *context; /* of both */
};

struct sampling_totals {
	const char *sampler;          /* its name; "" before the first start */
	const char *summary;          /* what it does, in a line */
	struct sampler_counts counts; /* of all starts */
	uint64_t threads;
	uint64_t processes_seen, processes_sampled; /* the second ones have a sample */
	struct naming naming;                       /* after sampling_finish() */
	char java_trouble[512]; /* why the names of Java's code are not the latest; "" */
};

struct sampling;

/* The programs of the process, for as long as it samples.  Without a recording (both NULL) samples
 * are only observed. */
int sampling_new(struct sampling **ret, struct recording *recording, struct programs *programs,
		 const struct sampling_options *options, struct err *err) MUST_CHECK;

/* Returns when the first sample can come.  Fails when no sampler can be had, and says of each why.
 */
int sampling_start(struct sampling *sampling, struct err *err) MUST_CHECK;

/* Between two starts: the pid and the further ones of these. */
void sampling_set_processes(struct sampling *sampling, const struct sampler_options *options);
/* Between two starts. */
void sampling_set_rate(struct sampling *sampling, unsigned hz);

/* False from the end of the process on, or of the thread. */
bool sampling_goes_on(struct sampling *sampling);

/* What its Python tells of a thread; false: nothing. */
bool sampling_python_thread(struct sampling *sampling, pid_t pid, pid_t tid,
			    struct watched_thread *ret);

/* Has the process ended, or with children the last one of them? */
bool sampling_has_ended(struct sampling *sampling);

/* 0, or what ended the thread. */
int sampling_check(struct sampling *sampling, struct err *err) MUST_CHECK;

/* Stops, and takes what is on its way. */
void sampling_pause(struct sampling *sampling);

/* Names of what was seen, and the totals. */
int sampling_finish(struct sampling *sampling, struct err *err) MUST_CHECK;

void sampling_totals(struct sampling *sampling, struct sampling_totals *ret);
/* Lines: why no better sampler could be had, and what this one cannot see, as far as it is known by
 * now; "" where there is nothing to say. */
void sampling_reasons(struct sampling *sampling, char *ret, size_t room);

void sampling_free(struct sampling *sampling);
