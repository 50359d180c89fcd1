/*
 * Samples on their way into a recording: each module, frame and stack is written once, at its first
 * use.  One thread at a time.
 */
#pragma once

#include "host/recorder/programs.h"
#include "host/recorder/samples/naming.h"
#include "host/recorder/samples/python_watch.h"
#include "host/sampling/sampler.h"

#include <sys/types.h>

struct space;
struct sample_writer;

/* For these processes, as far as they are in the recording already, and for their descendants. */
int sample_writer_new(struct sample_writer **ret, struct recording *recording,
		      struct programs *programs, struct err *err) MUST_CHECK;
void sample_writer_free(struct sample_writer *writer);
/* Also uses this one for names of threads and the locks of their interpreter. */
void sample_writer_use(struct sample_writer *writer, struct python_watch *watch);

/* space: that of the process at the time of the sample. */
int sample_writer_take(struct sample_writer *writer, const struct sample *sample,
		       const struct space *space, struct err *err) MUST_CHECK;

/* After a fork or an exec: later samples with this pid belong to another process. */
int sample_writer_process(struct sample_writer *writer, const struct sampled_process *process,
			  struct err *err) MUST_CHECK;

/* Writes what is not in the file yet. */
int sample_writer_flush(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* Before samples are drained: reads the names that runtimes have added since the last time. */
void sample_writer_prepare(struct sample_writer *writer);

/* Now and then, while the processes live: reads names of threads, and finds the files in which
 * runtimes name their code. */
int sample_writer_look(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* Writes how often each thread held its interpreter's lock so far. */
int sample_writer_locks(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* Threads that had a sample. */
/* The processes that the sampler reported, and how many of these have a sample. */
void sample_writer_processes(const struct sample_writer *writer, uint64_t *ret_seen,
			     uint64_t *ret_sampled);
uint64_t sample_writer_threads(const struct sample_writer *writer);

/* At the end: see naming_write(). */
int sample_writer_names(struct sample_writer *writer, uint64_t lines_ns, struct naming *ret,
			struct err *err) MUST_CHECK;
