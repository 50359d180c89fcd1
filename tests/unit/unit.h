/*
 * What every unit test includes: cmocka, which wants its system headers first.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* How long a thing may take that must happen: a machine may be slow, or stand still for seconds. */
#define PATIENCE_MS 60000u
