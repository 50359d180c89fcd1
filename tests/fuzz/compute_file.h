/*
 * Files of rocprof-compute's, which its readers open by name: a folder of the target's own, whose
 * files are written anew for each input.
 */
#pragma once

#include "fuzz.h"

/* The folder; made once, gone at the end. */
const char *compute_folder(void);
/* Bytes become a file of it; none where there are none. */
void compute_file(const char *name, const uint8_t *bytes, size_t size);
