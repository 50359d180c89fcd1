/*
 * How limpet gets rights on a machine: prints the commands, never runs them.
 */
#pragma once

#include <stdbool.h>

void doctor_setup(bool is_json);
