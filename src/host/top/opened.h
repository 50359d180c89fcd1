/*
 * The page of one function: its callers, callees and lines.  Going back closes the functions opened
 * from there one by one.
 */
#pragma once

#include "host/top/picture.h"

#define OPENED_DEPTH 16u

/* Which function: the same name in the same module is the same one. */
struct function_id {
	char name[256], module[128];
};

struct opened {
	struct function_id path[OPENED_DEPTH]; /* the page is that of the last one */
	unsigned depth;                        /* 0: none is opened */
	size_t cursor;                         /* of callers, then callees */
};

bool function_id_is(const struct function_id *id, const char *name, const char *module);
void function_id_set(struct function_id *id, const char *name, const char *module);

/* "" where none is opened. */
const char *opened_name(const struct opened *opened);
const char *opened_module(const struct opened *opened);

void opened_push(struct opened *opened, const char *name, const char *module);
/* Callers and callees, of which `row` counts through both; NULL: there is none. */
const struct picture_neighbour *opened_row(const struct picture *picture, size_t row);
void opened_move(struct opened *opened, const struct picture *picture, long rows_down);
