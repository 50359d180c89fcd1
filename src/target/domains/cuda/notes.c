/*
 * What there may be to say about CUDA.
 */
#include "target/domains/cuda/cuda.h"

#define DEVICE_WORK (DOMAIN_BIT(CUDA) | DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY) | DOMAIN_BIT(MEMORY))

const struct note cuda_notes[CUDA_NOTES] = {
	[SAY_CUDA_NO_CUPTI] = { NOTE_DOMAINS, DEVICE_WORK,
				"CUDA is in the process, but no libcupti: neither mapped nor "
				"beside its runtime nor in /usr/local/cuda; install the CUPTI "
				"of its CUDA release" },
	[SAY_CUDA_UNKNOWN_CUPTI] = { NOTE_DOMAINS, DEVICE_WORK,
				     "the process has a libcupti of a release whose records "
				     "limpet does not know (it knows CUDA 11.0 to 13.x)" },
	[SAY_CUDA_HELD] = { NOTE_HELD, DEVICE_WORK,
			    "another profiler holds this process's CUPTI, which has room for one "
			    "(torch.profiler while it runs, Nsight, cuda-gdb): try again when it "
			    "has ended" },
	[SAY_CUDA_REFUSED] = { NOTE_DOMAINS, DEVICE_WORK, "this process's CUPTI refuses to begin" },
	[SAY_CUDA_STAYS] = { NOTE_END, 0,
			     "CUPTI was switched off and stays loaded, since it is older than CUDA "
			     "12.6 or still has memory of ours; launches may stay a little "
			     "slower" },
	[SAY_CUDA_DROPPED] = { NOTE_END, 0,
			       "CUPTI itself has dropped records of what devices did, or no ring "
			       "was free for them: some of it is lost" },
};
