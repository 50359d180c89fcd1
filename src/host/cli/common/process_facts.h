/*
 * Prints processes: for `ps`, `doctor` and the start page.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/process/inspect/process.h"

/* {"event":"process",...} with the verdict, a line. */
void show_process_json(const struct process *process);

/* The facts about one process, a line each. */
void show_process_facts(const struct process *process);

/* Its threads: a line each, or one JSON object each. */
int show_threads(const struct process *process, bool is_json, struct err *err) MUST_CHECK;

/* The command line, or the name in brackets when there is none. */
const char *show_command(const struct process *process, char *buffer, size_t capacity);

/* The same with the program's name instead of its path: the arguments distinguish processes. */
char *show_short_command(const struct process *process, char *buffer, size_t capacity);
