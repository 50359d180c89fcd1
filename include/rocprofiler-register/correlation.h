/*
 * Thread-local words that runtimes and profilers share through this library: the id of the call
 * that is under way on this thread, 0 when there is none, and a stack of such ids.
 */
#ifndef ROCPROFILER_REGISTER_CORRELATION_H
#define ROCPROFILER_REGISTER_CORRELATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCP_REG_AUTO_STACK_SIZE 32

extern __attribute__((visibility("default"))) __thread uint64_t rocp_reg_active_corr_id;
extern __attribute__((
	visibility("default"))) __thread uint64_t rocp_reg_auto_stack_[ROCP_REG_AUTO_STACK_SIZE];
extern __attribute__((visibility("default"))) __thread int rocp_reg_auto_depth_;

#ifdef __cplusplus
}
#endif

#endif
