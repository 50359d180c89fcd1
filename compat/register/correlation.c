/*
 * The shared thread-local words.  Nothing here reads them: runtimes and profilers do.
 */
#include "rocprofiler-register/correlation.h"

__thread uint64_t rocp_reg_active_corr_id;
__thread uint64_t rocp_reg_auto_stack_[ROCP_REG_AUTO_STACK_SIZE];
__thread int rocp_reg_auto_depth_;
