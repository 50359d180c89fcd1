/*
 * Prints processes: for `ps`, `doctor` and the start page.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/process/inspect/process.h"

/* Opens {"event":"process",...}, with the verdict, and leaves it open for further members. */
void show_process_json(struct json *json, const struct process *process);

/* The facts about one process, a line each. */
void show_process_facts(const struct process *process, FILE *out);

/* Its threads: a line each, or one JSON object each. */
int show_threads(const struct process *process, bool is_json, FILE *out,
		 struct err *err) MUST_CHECK;

/* The command line, or the name in brackets when there is none. */
const char *show_command(const struct process *process, char *buffer, size_t capacity);

/* The same with the program's name instead of its path: the arguments distinguish processes. */
char *show_short_command(const struct process *process, char *buffer, size_t capacity);
