/*
 * How limpet gets rights on a machine: said, never done.
 */
#pragma once

#include <stdbool.h>

void doctor_setup(bool is_json);
