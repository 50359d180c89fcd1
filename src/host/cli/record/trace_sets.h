/*
 * The domains that options which name several of them mean.
 */
#pragma once

#include "shared/wire/record.h"

#define DOMAIN_BIT(name) (1u << DOMAIN_##name)

#define SET_HIP (DOMAIN_BIT(HIP_RUNTIME) | DOMAIN_BIT(HIP_COMPILER))
#define SET_HSA                                                               \
	(DOMAIN_BIT(HSA_CORE) | DOMAIN_BIT(HSA_AMD) | DOMAIN_BIT(HSA_IMAGE) | \
	 DOMAIN_BIT(HSA_FINALIZER))
#define SET_WORK (DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY) | DOMAIN_BIT(MEMORY) | DOMAIN_BIT(SCRATCH))

/* What AMD's options of these names mean, as far as limpet traces it, and OpenCL. */
#define SET_RUNTIME                                                                             \
	(DOMAIN_BIT(HIP_RUNTIME) | DOMAIN_BIT(MARKER) | DOMAIN_BIT(RCCL) | DOMAIN_BIT(OPENCL) | \
	 SET_WORK)
#define SET_SYSTEM (SET_RUNTIME | SET_HIP | SET_HSA)
