/*
 * The sentences.
 */
#include "target/domains/amd/notes.h"

#define COMMANDS (DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY))

const struct note amd_notes[AMD_NOTES] = {
	[SAY_OTHER_TRACER] = { NOTE_DOMAINS, COMMANDS,
			       "roctracer is in the process, and HIP reports its devices to one "
			       "tracer only" },
	[SAY_NO_REPORTS] = { NOTE_DOMAINS, COMMANDS,
			     "this HIP runtime has no hipRegisterTracerCallback" },
	[SAY_NO_HSA_TIMES] = { NOTE_DOMAINS, COMMANDS,
			       "this HSA runtime lacks functions that report what its devices do" },
};
