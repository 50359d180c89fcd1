/*
 * The messages of limpet record: at its beginning, meanwhile, and at its end.
 */
#pragma once

#include "host/cli/record/visit.h"

/* Before the first attach: what the traces leave loaded in the process. */
void note_what_stays(const struct visit *visit);
void print_attached(const struct visit *visit);
/* Selected domains that are missing, or incomplete. */
void warn_absent(struct visit *visit, const struct tracing *tracing);
/* Domains that none of the started programs had. */
void warn_never_seen(const struct visit *visit);
/* For programs: one of several is traced from now on. */
void tell_joined(const struct visit *visit, const struct tracing *tracing);
/* One of the family is not traced. */
void tell_skipped(const struct visit *visit, pid_t pid, const struct err *err);
/* The process runs another program. */
void tell_program(struct visit *visit);
void warn_unfollowed(const struct tracing *tracing);
/* The tracer's notes about the whole. */
void warn_notes(const struct tracing *tracing);
void warn_drops(const struct collect_totals *totals);
/* System calls at both ends. */
void warn_missed(const struct tracing_totals *totals);
void note_syscalls(const struct tracing_totals *totals);
void warn_work_left(const struct work_left *left);
/* Queues without device times. */
void warn_queues(const struct trace_queues *queues);
void warn_words(const struct trace_words *words);
void print_totals(const struct visit *visit, const struct outcome *outcome);
/* Of a program that was started. */
void print_end(const struct launch *program, bool is_json);
