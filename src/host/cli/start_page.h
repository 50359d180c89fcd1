/*
 * What `limpet` without arguments shows.
 */
#pragma once

#include "host/core/err.h"

enum exit_code start_page_print(void);
