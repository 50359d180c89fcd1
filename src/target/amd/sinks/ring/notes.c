/*
 * The texts of messages about AMD's runtimes.
 */
#include "target/amd/events/notes.h"

#include "target/amd/sinks/ring/ring.h"

#define COMMANDS (DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY))
#define COUNTERS DOMAIN_BIT(COUNTER)
#define WINDOWS  DOMAIN_BIT(WINDOW)

const struct note amd_notes[AMD_NOTES] = {
	[SAY_OTHER_TRACER] = { NOTE_DOMAINS, COMMANDS,
			       "roctracer is in the process, and HIP reports its devices to one "
			       "tracer only" },
	[SAY_NO_REPORTS] = { NOTE_DOMAINS, COMMANDS,
			     "this HIP runtime has no hipRegisterTracerCallback" },
	[SAY_NO_HSA_TIMES] = { NOTE_DOMAINS, COMMANDS,
			       "this HSA runtime lacks functions that report what its devices do" },
	[SAY_NO_AQLPROFILE] = { NOTE_DOMAINS, COUNTERS | WINDOWS,
				"libhsa-amd-aqlprofile64.so.1, AMD's library that writes packets for "
				"counters, cannot be loaded into the process" },
	[SAY_NO_COUNTER_FUNCTIONS] = { NOTE_DOMAINS, COUNTERS | WINDOWS,
				       "this HSA runtime has not all of the functions that counters "
				       "need" },
	[SAY_NO_COUNTER_AGENT] = { NOTE_DOMAINS, COUNTERS | WINDOWS,
				   "AMD's aqlprofile does not know the architecture of the device" },
	[SAY_NO_COUNTER_EVENT] = { NOTE_DOMAINS, COUNTERS | WINDOWS,
				   "AMD's aqlprofile does not know a block or event of the counters" },
	[SAY_NO_COUNTER_PACKETS] = { NOTE_DOMAINS, COUNTERS | WINDOWS,
				     "Request exceeds the capabilities of the hardware to collect" },
	[SAY_TOO_MANY_COUNTS] = { NOTE_DOMAINS, COUNTERS | WINDOWS,
				  "the device has more than 1,024 values of these counters, one for "
				  "each of its units: ask for fewer counters at once" },
	[SAY_NO_WINDOW_QUEUE] = { NOTE_DOMAINS, COUNTERS | WINDOWS,
				  "this HSA runtime could make no queue for reading counters" },
	[SAY_COUNTERS_TAKEN] = { NOTE_DOMAINS, COUNTERS | WINDOWS,
				 "a tool of AMD's SDK counts a device in this process, and one "
				 "can at a time: detach the tool, or stop its context" },
	[SAY_WINDOWS_LATE] = { NOTE_END, WINDOWS,
			       "the device took more than 20 ms to read its counters now and then: "
			       "windows around that are longer" },
	[SAY_SKIPPED_GROUP] = { NOTE_END, COUNTERS,
				"kernels of graphs, which ask for room for several packets at once, "
				"were not counted" },
	[SAY_SKIPPED_SINGLE] = { NOTE_END, COUNTERS,
				 "kernels in queues of one thread, or whose index the program sets "
				 "itself, were not counted" },
	[SAY_SKIPPED_FULL] = { NOTE_END, COUNTERS,
			       "kernels were not counted, since their queue had too little room or "
			       "too many were under way" },
};
