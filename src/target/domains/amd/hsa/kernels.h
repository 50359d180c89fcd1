/*
 * What the kernels of HSA programs are called, by the address that packets have of them.
 */
#pragma once

#include "target/hooks/writer.h"

/* Forgets all, and asks the runtime for what is loaded.  On threads of ours. */
void hsa_kernels_begin(void);
void hsa_kernels_end(void);

/* An executable has come, or goes: on the thread that did it. */
void hsa_kernels_add(uint64_t executable);
void hsa_kernels_remove(uint64_t executable);

/* The number of the name, as work_kernel() has it. */
uint64_t hsa_kernel_name(struct writer *writer, uint64_t kernel);
