/*
 * The output of `limpet` without arguments.
 */
#pragma once

#include "host/core/err.h"

enum exit_code start_page_print(void);
