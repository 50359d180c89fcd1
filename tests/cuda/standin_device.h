/*
 * STAND-IN, for tests only: what the files of its libcuda.so.1 share.  In no way NVIDIA's.
 */
#pragma once

#include "standin_cuda.h"

/* Around a call, for whoever instruments it. */
uint32_t standin_enter(uint32_t function);
int standin_leave(uint32_t function, uint32_t correlation, int result);
void standin_enqueue(void *stream, const struct standin_work *work, void *to, const void *from);
/* Memory of the instrument's that a graph which is launched now writes to; NULL: none. */
struct standin_patch *standin_patch(void);
/* A write went to memory that was freed: the device answers nothing any more. */
bool standin_has_failed(void);
