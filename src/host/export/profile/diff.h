/*
 * Two recordings as one red and blue flame graph.
 */
#pragma once

#include "host/model/diff/comparison.h"

#include <stdio.h>

/* A page with search, zoom, threads; a picture.  0, -ENOMEM, or why it could not be written. */
int diff_page_write(const struct comparison *comparison, FILE *out) MUST_CHECK;
int diff_svg_write(const struct comparison *comparison, FILE *out) MUST_CHECK;
