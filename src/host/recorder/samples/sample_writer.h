/*
 * Samples on their way into a recording: each module, frame and stack is written once, when it is
 * first met.  One thread at a time.
 */
#pragma once

#include "host/recorder/programs.h"
#include "host/recorder/samples/naming.h"
#include "host/recorder/samples/python_watch.h"
#include "host/sampling/sampler.h"

#include <sys/types.h>

struct space;
struct sample_writer;

/* Of these processes, as far as they are in the recording already, and of those that they start. */
int sample_writer_new(struct sample_writer **ret, struct recording *recording,
		      struct programs *programs, struct err *err) MUST_CHECK;
void sample_writer_free(struct sample_writer *writer);
/* Names of threads and the locks of their interpreter are asked of this one, too. */
void sample_writer_use(struct sample_writer *writer, struct python_watch *watch);

/* The space is the process's as it was then. */
int sample_writer_take(struct sample_writer *writer, const struct sample *sample,
		       const struct space *space, struct err *err) MUST_CHECK;

/* A child came, or a process executed anew: samples with this pid are of another process. */
int sample_writer_process(struct sample_writer *writer, const struct sampled_process *process,
			  struct err *err) MUST_CHECK;

/* Writes what is not in the file yet. */
int sample_writer_flush(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* Before samples are taken: what runtimes have told of their code since the last time. */
void sample_writer_prepare(struct sample_writer *writer);

/* Now and then, while the processes live: names of threads, and where runtimes tell of their code.
 */
int sample_writer_look(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* Who had the locks of interpreters so far. */
int sample_writer_locks(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* Threads that had a sample. */
/* How many processes the sampler told of, and how many of these have a sample. */
void sample_writer_processes(const struct sample_writer *writer, uint64_t *ret_seen,
			     uint64_t *ret_sampled);
uint64_t sample_writer_threads(const struct sample_writer *writer);

/* At the end: see naming_write(). */
int sample_writer_names(struct sample_writer *writer, uint64_t lines_ns, struct naming *ret,
			struct err *err) MUST_CHECK;
