/*
 * The files that limpet carries inside itself; the build gives their paths.  The last one is for
 * export/profile/flamegraph.c.
 */
#include "host/core/embed.S"

	.section .rodata, "a", %progbits

	embed blob_boot, BOOT_PATH
	embed blob_agent, AGENT_PATH
	embed blob_tracer, TRACER_PATH
	embed blob_tracer_id, TRACER_ID_PATH
	embed blob_injector, INJECTOR_PATH
	embed blob_nvml, NVML_PATH
	embed blob_flamegraph, FLAMEGRAPH_PATH

	.section .note.GNU-stack, "", %progbits
