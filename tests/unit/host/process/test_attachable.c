/*
 * Every verdict about a process, from structs made by hand.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/process/inspect/attachable.h"

/* One that can be attached; each case spoils something. */
static struct process sample(void)
{
	struct process process = {
		.pid = 4242,
		.memory_tid = 4242,
		.status = { .name = "vllm",
			    .state = 'S',
			    .tgid = 4242,
			    .parent = 17,
			    .uid = 1000,
			    .euid = 1000,
			    .suid = 1000,
			    .threads = 3,
			    .has_memory = true },
		.libc = { .flavour = LIBC_GLIBC, .major = 2, .minor = 36 },
		.namespaces = { SAME_YES, SAME_YES, SAME_YES, SAME_YES },
		.rights = { .pid = 1, .uid = 1000, .yama_scope = -1 },
		.program = PROGRAM_OURS,
		.user = "alice",
		.executable = "/bin/vllm",
		.parent_name = "bash",
	};

	return process;
}

static void spoil_ourselves(struct process *process)
{
	process->rights.pid = process->pid;
}

static void spoil_thread(struct process *process)
{
	process->status.tgid = 4240;
}

static void spoil_kernel_thread(struct process *process)
{
	process->stat.is_kernel_thread = true;
}

static void spoil_zombie(struct process *process)
{
	process->has_ended = true;
}

static void spoil_core(struct process *process)
{
	process->status.is_dumping_core = true;
}

static void spoil_32_bit(struct process *process)
{
	process->program = PROGRAM_32_BIT;
}

static void spoil_machine(struct process *process)
{
	process->program = PROGRAM_FOREIGN;
}

static void spoil_static(struct process *process)
{
	process->libc.flavour = LIBC_NONE;
}

static void spoil_libc(struct process *process)
{
	process->libc.flavour = LIBC_OTHER;
}

static void spoil_old_glibc(struct process *process)
{
	process->libc.minor = 28;
	process->libc.has_libpthread = true;
}

static void spoil_no_libpthread(struct process *process)
{
	process->libc.minor = 31;
}

static void spoil_early(struct process *process)
{
	process->libc.flavour = LIBC_NOT_YET;
}

static void spoil_seccomp(struct process *process)
{
	process->status.seccomp = 1;
}

static void spoil_shadow_stack(struct process *process)
{
	process->status.has_shadow_stack = true;
}

static void spoil_traced(struct process *process)
{
	process->status.state = 't';
	process->status.tracer = 99;
	strcpy(process->tracer_name, "gdb");
}

static void spoil_stopped(struct process *process)
{
	process->status.state = 'T';
}

static void spoil_vfork(struct process *process)
{
	process->shares_memory_with_parent = true;
}

static void spoil_other_user(struct process *process)
{
	process->access = -EACCES;
	process->rights.uid = 1001;
}

static void spoil_setuid(struct process *process)
{
	process->access = -EACCES;
	process->status.suid = 0;
}

static void spoil_group(struct process *process)
{
	process->access = -EACCES;
	process->status.egid = 27;
	process->rights.yama_scope = 1;
}

static void spoil_dumpable(struct process *process)
{
	process->access = -EACCES;
	process->is_private = true;
}

static void spoil_capabilities(struct process *process)
{
	process->access = -EACCES;
	process->status.capabilities_permitted = 0x400;
}

static void spoil_yama_1(struct process *process)
{
	process->access = -EACCES;
	process->rights.yama_scope = 1;
}

static void spoil_yama_2(struct process *process)
{
	process->access = -EACCES;
	process->rights.yama_scope = 2;
}

static void spoil_yama_3(struct process *process)
{
	process->access = -EACCES;
	process->rights.yama_scope = 3;
	process->rights.capabilities = UINT64_MAX;
}

static void spoil_user_namespace(struct process *process)
{
	process->access = -EACCES;
	process->namespaces.user = SAME_NO;
}

static void spoil_outside(struct process *process)
{
	process->access = -EACCES;
	process->namespaces.user = SAME_UNKNOWN;
	process->rights.is_user_namespace = true;
	process->rights.capabilities = UINT64_MAX;
}

static void spoil_docker(struct process *process)
{
	process->access = -EACCES;
	process->rights.uid = 0;
	process->rights.container = "docker";
}

static void spoil_kubernetes(struct process *process)
{
	process->access = -EPERM;
	process->rights.uid = 0;
	process->rights.container = "kubernetes";
}

static void spoil_module(struct process *process)
{
	process->access = -EACCES;
	strcpy(process->rights.modules, "lockdown,selinux");
}

static void spoil_file_owner(struct process *process)
{
	process->access = -EACCES;
	process->rights.uid = 1001;
	process->rights.capabilities = 1 << CAPABILITY_SYS_PTRACE;
}

#define SUDO "sudo limpet attach 4242\nlimpet doctor --setup"

static const struct verdict {
	void (*spoil)(struct process *process);
	enum exit_code exit;
	const char *what; /* the few words */
	const char *why;  /* must be part of it */
	const char *fix;  /* all of it */
} verdicts[] = {
	{ spoil_ourselves, EXIT_NOT_ATTACHABLE, "that is limpet itself", "itself", "" },
	{ spoil_thread, EXIT_USAGE, "that is a thread, not a process", "4240",
	  "limpet attach 4240" },
	{ spoil_kernel_thread, EXIT_NOT_ATTACHABLE, "it is a kernel thread", "kernel", "" },
	{ spoil_zombie, EXIT_NO_PROCESS, "it has ended", "parent 17 (bash)", "" },
	{ spoil_core, EXIT_NO_PROCESS, "it is dying", "core file", "" },
	{ spoil_32_bit, EXIT_NOT_ATTACHABLE, "it is a 32-bit program", "64-bit", "" },
	{ spoil_machine, EXIT_NOT_ATTACHABLE, "it is a program for another machine", "/bin/vllm",
	  "use a limpet that was built for the same architecture" },
	{ spoil_static, EXIT_NOT_ATTACHABLE, "it is statically linked", "/bin/vllm", "" },
	{ spoil_libc, EXIT_NOT_ATTACHABLE, "its C library is not supported", "neither", "" },
	{ spoil_old_glibc, EXIT_NOT_ATTACHABLE, "its C library is too old", "2.28", "" },
	{ spoil_no_libpthread, EXIT_NOT_ATTACHABLE, "it has no thread library", "2.31",
	  "start it with LD_PRELOAD=libpthread.so.0" },
	{ spoil_early, EXIT_NOT_ATTACHABLE, "it has no C library", "still starting",
	  "try again in a moment" },
	{ spoil_seccomp, EXIT_NOT_ATTACHABLE, "it is in strict seccomp mode", "kills", "" },
	{ spoil_shadow_stack, EXIT_NOT_ATTACHABLE, "it has a shadow stack", "CPU",
	  "start it with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off" },
	{ spoil_traced, EXIT_BUSY, "it is being traced already", "99 (gdb)",
	  "let gdb detach, or end it: kill 99" },
	{ spoil_stopped, EXIT_BUSY, "it is stopped", "Ctrl-Z", "limpet attach 4242 --cont" },
	{ spoil_vfork, EXIT_BUSY, "it borrows the memory of its parent", "17 (bash)",
	  "try again in a moment, or: limpet attach 17" },
	{ spoil_other_user, EXIT_NOT_PERMITTED, "not permitted",
	  "alice (uid 1000); limpet runs as uid 1001", SUDO },
	{ spoil_setuid, EXIT_NOT_PERMITTED, "not permitted", "it belongs to alice", SUDO },
	{ spoil_group, EXIT_NOT_PERMITTED, "not permitted",
	  "the same user but another group (gid 0, 27, 0); limpet runs with gid 0",
	  "start limpet with that group: sg GROUP -c 'limpet attach 4242'\n" SUDO },
	{ spoil_dumpable, EXIT_NOT_PERMITTED, "not permitted", "not dumpable", SUDO },
	{ spoil_file_owner, EXIT_NOT_PERMITTED, "not permitted", "but not CAP_DAC_OVERRIDE", SUDO },
	{ spoil_capabilities, EXIT_NOT_PERMITTED, "not permitted", "mask 400", SUDO },
	{ spoil_yama_1, EXIT_NOT_PERMITTED, "not permitted",
	  "kernel.yama.ptrace_scope = 1 and 4242 is not a child of limpet",
	  SUDO "\nsudo sysctl kernel.yama.ptrace_scope=0" },
	{ spoil_yama_2, EXIT_NOT_PERMITTED, "not permitted", "ptrace_scope = 2",
	  SUDO "\nsudo sysctl kernel.yama.ptrace_scope=0" },
	{ spoil_yama_3, EXIT_NOT_PERMITTED, "not permitted", "until the next boot",
	  "set kernel.yama.ptrace_scope to 0 or 1 in /etc/sysctl.d and reboot" },
	{ spoil_user_namespace, EXIT_NOT_PERMITTED, "not permitted", "another user namespace",
	  "run limpet as root of the machine: sudo limpet attach 4242\n"
	  "run limpet inside that namespace: nsenter --user --target 4242 limpet attach 4242" },
	{ spoil_outside, EXIT_NOT_PERMITTED, "not permitted", "another user namespace",
	  "run limpet as root of the machine: sudo limpet attach 4242\n"
	  "run limpet inside that namespace: nsenter --user --target 4242 limpet attach 4242" },
	{ spoil_docker, EXIT_NOT_PERMITTED, "not permitted", "container (docker)",
	  "docker run --cap-add SYS_PTRACE ..." },
	{ spoil_kubernetes, EXIT_NOT_PERMITTED, "not permitted", "container (kubernetes)",
	  "securityContext: { capabilities: { add: [SYS_PTRACE] } }" },
	{ spoil_module, EXIT_NOT_PERMITTED, "not permitted", "lockdown,selinux",
	  "ask who runs this machine about its rules for ptrace: dmesg | grep -i denied" },
};

static void accepts_what_can_be_attached(void **state)
{
	struct process process = sample();
	struct err err;

	(void)state;
	assert_int_equal(process_judge(&process, &err), 0);
	process.libc = (struct libc){ .flavour = LIBC_MUSL, .major = 1, .minor = 2, .patch = 3 };
	assert_int_equal(process_judge(&process, &err), 0);
	process.libc = (struct libc){
		.flavour = LIBC_GLIBC, .major = 2, .minor = 31, .has_libpthread = true
	};
	assert_int_equal(process_judge(&process, &err), 0);
	process.libc = (struct libc){ .flavour = LIBC_GLIBC };
	assert_int_equal(process_judge(&process, &err), 0);
	process.status.seccomp = 2;
	assert_int_equal(process_judge(&process, &err), 0);
}

static void refuses_with_cause_and_cure(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		const struct verdict *verdict = &verdicts[i];
		struct process process = sample();
		struct err err = { 0 };
		char what[256];

		verdict->spoil(&process);
		snprintf(what, sizeof(what), "cannot attach to 4242 (vllm): %s", verdict->what);
		assert_true(process_judge(&process, &err) < 0);
		assert_string_equal(err.what, what);
		assert_string_equal(process_refusal(&process, &err), verdict->what);
		assert_int_equal(err.exit, verdict->exit);
		assert_non_null(strstr(err.why, verdict->why));
		assert_string_equal(err.fix, verdict->fix);
	}
}

/* sudo would not help against it, so it must not be recommended first. */
static void tells_what_can_never_work_before_what_a_right_mends(void **state)
{
	struct process process = sample();
	struct err err;

	(void)state;
	spoil_yama_1(&process);
	spoil_traced(&process);
	assert_true(process_judge(&process, &err) < 0);
	assert_int_equal(err.exit, EXIT_NOT_PERMITTED);
	spoil_static(&process);
	assert_true(process_judge(&process, &err) < 0);
	assert_int_equal(err.exit, EXIT_NOT_ATTACHABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_what_can_be_attached),
		cmocka_unit_test(refuses_with_cause_and_cure),
		cmocka_unit_test(tells_what_can_never_work_before_what_a_right_mends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
