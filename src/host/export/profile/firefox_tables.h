/*
 * Shared by all threads of a Firefox profile: names, functions, frames and stacks.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/model/samples/samples.h"

/* As they are listed in the file. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_GENERATED,
	FIREFOX_WAITING,
	FIREFOX_RUNNABLE,
};

struct firefox_tables {
	const struct samples *samples;
	struct pool texts;
	uint32_t *frame_of_location; /* LOCATION_UNUSED: no frame needs it */
	const char **file_of_function;
	uint32_t source_count; /* functions written so far that have a file */
	/* Of each stack of the model: its index in the file; a separate one for samples whose
	 * stacks are incomplete.  STACK_NONE: not needed. */
	uint32_t *stacks[2];
	uint32_t incomplete; /* the stack above those */
	bool has_failed;     /* no memory */
};

int firefox_tables_init(struct firefox_tables *ret, const struct samples *samples) MUST_CHECK;
void firefox_tables_done(struct firefox_tables *tables);

/* Must be called for every stack before the tables are written. */
void firefox_tables_need(struct firefox_tables *tables, uint32_t stack, enum stack_end end);

/* The index of a text in the list of texts, which is written last. */
uint32_t firefox_text(struct firefox_tables *tables, const char *text);

/* The number of a stack in the file; STACK_NONE: there is nothing of it.  After the tables are
 * written. */
uint32_t firefox_stack(const struct firefox_tables *tables, uint32_t stack, enum stack_end end);

/* The member "libs"; and the inside of the member "shared" but for the texts. */
void firefox_write_libs(struct json *json, const struct firefox_tables *tables);
void firefox_write_tables(struct json *json, struct firefox_tables *tables);
void firefox_write_texts(struct json *json, const struct firefox_tables *tables);
