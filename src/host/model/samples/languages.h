/*
 * The language of a frame.  Frames of interpreted languages are in code whose path begins with the
 * language's name in brackets: "[python] /usr/lib/python3.11/threading.py".
 */
#pragma once

#include "host/model/samples/samples.h"

/* LANGUAGE_ALL, LANGUAGE_NATIVE, then the indexes of a table. */
enum language { LANGUAGE_ALL, LANGUAGE_NATIVE, LANGUAGE_FIRST };

/* LANGUAGE_NATIVE where it is in none of the table. */
unsigned language_of_path(const char *path);
/* The part after the brackets; the whole path if that is empty. */
const char *language_path(const char *path);
/* "native", "python"; "" for all. */
const char *language_name(unsigned language);
/* False: there is none of that name. */
bool language_find(const char *name, unsigned *ret);
/* "native, python": all that can be found. */
void languages_list(char *ret, size_t room);

/* Removes frames of other languages from the stacks, permanently; samples without any left are no
 * longer visited, except for native ones.  Returns how many are still visited; or -ENOMEM. */
int64_t model_show_only(struct model *model, unsigned language) MUST_CHECK;

/* Code is called by its whole path. */
void model_show_paths(struct model *model);
