/*
 * The names of HSA kernels, by the address that packets contain.
 */
#pragma once

#include "target/hooks/writer.h"

/* Empties the table, and queries the runtime for loaded executables. On limpet's threads. */
void hsa_kernels_begin(void);
void hsa_kernels_end(void);

/* An executable was loaded, or is being destroyed: on the thread that does it. */
void hsa_kernels_add(uint64_t executable);
void hsa_kernels_remove(uint64_t executable);

/* The number of the name, from work_kernel(). */
uint64_t hsa_kernel_name(struct writer *writer, uint64_t kernel);
