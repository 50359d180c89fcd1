/*
 * What limpet record has to say: at its beginning, while it goes on, and at its end.
 */
#pragma once

#include "host/cli/record/visit.h"

/* Before the first attach: traces that use CUPTI leave it loaded in the process. */
void note_cupti(const struct visit *visit);
void print_attached(const struct visit *visit);
/* What was asked for and is not there, or not all of it. */
void warn_absent(struct visit *visit, const struct tracing *tracing);
/* What none of the programs that were started had. */
void warn_never_seen(const struct visit *visit);
/* For programs: one of several is traced from now on. */
void tell_joined(const struct visit *visit, const struct tracing *tracing);
/* One of the family is not traced. */
void tell_skipped(const struct visit *visit, pid_t pid, const struct err *err);
/* The process is the same, what it runs is not. */
void tell_program(struct visit *visit);
void warn_unfollowed(const struct tracing *tracing);
/* What the tracer has to say about the whole. */
void warn_notes(const struct tracing *tracing);
void warn_drops(const struct collect_totals *totals);
/* System calls at both ends. */
void warn_missed(const struct tracing_totals *totals);
void note_syscalls(const struct tracing_totals *totals);
void warn_work_left(const struct work_left *left);
/* Whose device times could not be had. */
void warn_queues(const struct trace_queues *queues);
void warn_words(const struct trace_words *words);
void print_totals(const struct visit *visit, const struct outcome *outcome);
/* Of a program that was started. */
void print_end(const struct launch *program, bool is_json);
