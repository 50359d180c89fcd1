/*
 * The body of POST /api/sessions: JSON into a wish.  Runs in the HTTP process.
 */
#pragma once

#include "host/ui/command.h"

#define WISH_HZ_USUAL 99u

/* 0, or -EINVAL: it is no JSON, has a member that is not known, or a value that makes no sense. */
int wish_parse(const char *text, size_t size, struct ui_wish *ret) MUST_CHECK;

/* The body of .../start: {}, which keeps the options, or the new options of sampling.  `hz` is 0 if
 * not given. */
int wish_parse_start(const char *text, size_t size, struct ui_wish *ret) MUST_CHECK;

/* 0 if the text is an empty object, as the body of other POST requests. */
int wish_parse_empty(const char *text, size_t size) MUST_CHECK;
