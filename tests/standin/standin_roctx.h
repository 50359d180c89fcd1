/*
 * STAND-IN, for tests only.  The functions of ROCTx that the stand-in libroctx64.so.4 exports.
 */
#pragma once

#include <stdint.h>

void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int roctxGetThreadId(uint64_t *ret);
int roctxProfilerPause(uint64_t tid);
int roctxProfilerResume(uint64_t tid);

/* The tables, after the first use. */
void standin_roctx_print(void);
