/*
 * Messages about OpenCL.
 */
#include "target/domains/opencl/opencl.h"

const struct note opencl_notes[OPENCL_NOTES] = {
	[NOT_REFUSED] = { NOTE_QUEUES, 0, "" },
#define REFUSAL(name, text) [REFUSED_##name] = { NOTE_QUEUES, 0, text },
#include "target/domains/opencl/refusals.def"
#undef REFUSAL
	[SAY_NO_DRIVER] = { NOTE_ABSENT, DOMAIN_BIT(OPENCL) | DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY),
			    "libOpenCL.so is there, but no driver that it has loaded; either the "
			    "program has not asked for one yet, or that library is the driver "
			    "itself, whose calls go through no table that could be hooked" },
	[SAY_MANY_QUEUES] = { NOTE_END, 0,
			      "the program has used more OpenCL queues than limpet can tell apart "
			      "(1024 in a recording): what the others did is recorded without "
			      "queue and device" },
	[SAY_NO_ORDER] = { NOTE_END, 0,
			   "an OpenCL driver refused limpet's marker when device times of a queue "
			   "ended: commands may have run out of order then; without "
			   "--opencl-device-time this cannot happen" },
};
