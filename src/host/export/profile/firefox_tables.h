/*
 * What all threads of a Firefox profile share: names, functions, frames and stacks.
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
	uint32_t *frame_of_location; /* and of nobody's locations: LOCATION_UNUSED */
	const char **file_of_function;
	uint32_t source_count; /* of the functions written so far, those that have a file */
	/* Of each stack of the model: where it is in the file; apart for samples whose stacks are
	 * incomplete.  STACK_NONE: nobody needs it. */
	uint32_t *stacks[2];
	uint32_t incomplete; /* the stack that stands above those */
	bool has_failed;     /* no memory */
};

int firefox_tables_init(struct firefox_tables *ret, const struct samples *samples) MUST_CHECK;
void firefox_tables_done(struct firefox_tables *tables);

/* To be said of every stack before the tables are written. */
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
