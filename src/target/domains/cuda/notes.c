/*
 * Messages about CUDA.
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
	[SAY_CUDA_HAZARD] = { NOTE_DOMAINS, DEVICE_WORK,
			      "this process's CUPTI is that of CUDA 13.0 before Update 1, which can "
			      "hang or crash the process when tracing ends: install CUPTI 13.0 "
			      "Update 1 or later" },
	[SAY_CUDA_UNCHECKED] = { NOTE_END, 0,
				 "limpet was not checked against this release of CUPTI, which is "
				 "newer than CUDA 13.4 Update 1: every known precaution was taken" },
	[SAY_CUDA_STAYS] = { NOTE_END, 0,
			     "CUPTI is switched off but stays loaded until the process ends: removing it "
			     "can crash programs that use CUDA graphs. Until then a kernel launch "
			     "takes about 1 us longer and a graph launch 5 to 15 us; measured "
			     "programs kept 0.62 to 1.00 of their speed" },
	[SAY_CUDA_MISLED] = { NOTE_END, 0,
			      "CUPTI gave kernels of CUDA graphs the numbers of other calls, a "
			      "defect of CUPTI before CUDA 13.1 Update 1: those kernels have no "
			      "launch in the recording" },
	[SAY_CUDA_RENEWED] = { NOTE_END, 0,
			       "the CUPTI subscription was renewed, because CUPTI's times become "
			       "wrong in long traces: kernels of some milliseconds are missing each "
			       "time" },
	[SAY_CUDA_DROPPED] = { NOTE_END, 0,
			       "CUPTI itself has dropped records of what devices did, or no ring "
			       "was free for them: some of it is lost" },
};
