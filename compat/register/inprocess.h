/*
 * Attaching tools to the process that this library is in.
 */
#pragma once

#include "rocprofiler-register/rocprofiler-register.h"

/* For the caller that is the first inside; see rocprofiler_abi.c. */
rocprofiler_register_error_code_t inprocess_attach(const char *environment, const char *tools);
rocprofiler_register_error_code_t inprocess_attach_again(void);
rocprofiler_register_error_code_t inprocess_detach(void);

/* Copies the reason of the last failure; its length. */
size_t inprocess_reason(char *text, size_t room);
