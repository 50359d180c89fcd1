/*
 * Private to the files of the recorder.
 */
#pragma once

#include "host/collect/facts.h"
#include "host/recorder/programs.h"
#include "host/recorder/recorder.h"
#include "host/session/register_libraries.h"

struct recorder {
	pid_t pid;
	int pidfd;
	struct recorder_options given;
	struct session_options options;
	struct trace trace;
	int new_file; /* that recording will be in; -1: it is, or will be made */
	struct recording *file;
	struct collector *collector; /* NULL: nothing is traced */
	struct sampling *sampling;   /* NULL: nothing is sampled */
	struct target_threads threads;
	struct programs known_programs;
	uint32_t process;        /* its number in the file */
	const char *unused_path; /* of a file that nothing was recorded into yet */
	bool is_attached, is_finished;
	struct registers_watch watch;
	struct session session;

	/* Of programs that the process has left behind by exec. */
	unsigned programs; /* how many it has begun since */
	struct {
		struct collect_totals totals;
		struct work_left left;
	} earlier;
	bool is_cut_off;   /* it goes on without our agent */
	bool is_following; /* it executes another program, and we are not in yet */
	uint64_t follow_until_ns;
	/* Of times when the program changed its rights, and our agent left before. */
	struct recorder_changes changes;
	bool is_returning;           /* we are not in again yet */
	uint64_t left_ns, return_ns; /* since when; not before */
	char name[32];               /* of the program that was attached to last */
	struct err unfollowed;       /* why not, up to now; code 0: there is no such program */
};

/* The process as it is now begins in the file, with a collector for the trace if there is one. */
int recorder_begin_program(struct recorder *recorder, struct err *err) MUST_CHECK;

/* Notices that it executes another program, and attaches to that.  An error only where the file
 * cannot be written. */
int recorder_follow(struct recorder *recorder, struct err *err) MUST_CHECK;

/* True when the agent has left since the program changes its rights; counted.  Before the session
 * is closed. */
bool recorder_note_farewell(struct recorder *recorder);

/* After each attach. */
void recorder_keep_name(struct recorder *recorder);

void recorder_add_earlier(const struct recorder *recorder, struct collect_totals *totals);
