/*
 * A picture once, as text: for scripts, and where there is no terminal.
 */
#pragma once

#include "host/top/picture.h"

#include <stdio.h>

/* rows: of each table at most. */
void top_text_print(const struct picture *picture, size_t rows, FILE *out);
