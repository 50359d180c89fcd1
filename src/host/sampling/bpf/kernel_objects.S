/*
 * The kernel programs in the form for libbpf; the build gives their paths.
 */
	.section .rodata, "a", %progbits

	.macro object name, path
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

	object kernel_object_sample, SAMPLE_PATH
	object kernel_object_sched_switch, SCHED_SWITCH_PATH
	object kernel_object_threads, THREADS_PATH
	object kernel_object_pid_namespace, PID_NAMESPACE_PATH
	object kernel_object_syscalls, SYSCALLS_PATH

	.section .note.GNU-stack, "", %progbits
