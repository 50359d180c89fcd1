/*
 * The files that limpet carries inside itself; the build gives their paths.  The last one is for
 * export/profile/flamegraph.c.
 */
	.section .rodata, "a", %progbits

	.macro blob name, path
	.balign 64
	.globl \name
	.globl \name\()_end
	.hidden \name
	.hidden \name\()_end
\name:
	.incbin "\path"
\name\()_end:
	.byte 0
	.endm

	blob blob_boot, BOOT_PATH
	blob blob_agent, AGENT_PATH
	blob blob_tracer, TRACER_PATH
	blob blob_injector, INJECTOR_PATH
	blob blob_flamegraph, FLAMEGRAPH_PATH

	.section .note.GNU-stack, "", %progbits
