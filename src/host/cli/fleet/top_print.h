/*
 * A picture of fleet top, for people or for programs.
 */
#pragma once

#include "host/fleet/top/fleet_top.h"

#include <stdio.h>

/* "5"; "n1:4711" where nothing numbers ranks. */
#define RANK_LABEL_MAX 48u
const char *rank_label(const struct fleet *fleet, size_t rank, char ret[RANK_LABEL_MAX]);

/* Functions and ranks, so many rows of each at most. */
void top_print_text(const struct top_view *view, const struct fleet *fleet, size_t rows, FILE *out);
/* One line. */
void top_print_json(const struct top_view *view, const struct fleet *fleet, size_t rows, FILE *out);
