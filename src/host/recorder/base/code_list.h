/*
 * Which code an address belongs to, numbered for the recording, and its names.
 */
#pragma once

#include "host/recording/pack_samples.h"
#include "host/recording/recording.h"

struct space;
struct code_list;

struct code_list *code_list_new(void); /* NULL: no memory */
void code_list_free(struct code_list *list);

/* Frames are resolved as of this time (CLOCK_MONOTONIC) from now on: runtimes reuse addresses.
 * Before the first call: as of now. */
void code_list_at(struct code_list *list, uint64_t time_ns);

/* The frame of an address of a process, whose number in the recording is `process`.  0 or -ENOMEM.
 */
int code_list_find(struct code_list *list, const struct space *space, uint32_t process,
		   uint64_t address, bool is_return, struct recorded_frame *ret) MUST_CHECK;
int code_list_kernel(struct code_list *list, uint64_t address, bool is_return,
		     struct recorded_frame *ret) MUST_CHECK;

/* The frames of a sample, innermost first, those of the kernel before those of the user; as many as
 * the sample has.  0 or -ENOMEM. */
int code_list_frames(struct code_list *list, const struct space *space, uint32_t process,
		     const struct sample *sample, struct recorded_frame *ret) MUST_CHECK;

size_t code_list_count(const struct code_list *list);
/* The number of texts that its names keep. */
size_t code_list_texts(const struct code_list *list);

/* Whether an address keeps this frame for as long as its mapping stays. */
bool code_is_lasting(const struct code_list *list, const struct recorded_frame *frame);

const struct recorded_code *code_list_code(const struct code_list *list, uint32_t number);

/* Whether frame i, of which 0 is the innermost, is a return address: all are but the first and the
 * kernel's trampolines; see struct sample for frames that a signal interrupted. */
bool code_is_return(const struct space *space, const uint64_t *frames, size_t i);

/* Whether it is a line of Python: its names must be resolved now, as the process may end. */
bool code_list_is_python(const struct code_list *list, const struct recorded_frame *frame);

/* Writes the entries that are not in the file yet. */
int code_list_write(struct code_list *list, struct recording *recording,
		    struct err *err) MUST_CHECK;

/* Finds the files in which runtimes name their code, and reads them. */
void code_list_follow(struct code_list *list);
/* Reads what runtimes have added to them since the last time. */
void code_list_read(struct code_list *list);

/* Code that belongs to one process is not found again, and has no more names than those that were
 * asked for: another process may have its number and its addresses.  Files stay. */
void code_list_forget_processes(struct code_list *list);

/* 0 or -ENOMEM.  Texts live as long as the list. */
int code_list_name(struct code_list *list, const struct recorded_frame *frame, bool wants_lines,
		   struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count,
		   bool *ret_is_named) MUST_CHECK;
