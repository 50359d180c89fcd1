/*
 * Finds the missing right when the kernel would refuse an attach.  The kernel's own answer is in
 * process->access; the causes below only explain it, the most lasting one first.
 */
#include <errno.h>
#include <string.h>

#include "host/process/inspect/attachable.h"

/* Each answers false when it is not the cause; else it has set why and fix. */
typedef bool explanation(const struct process *process, struct err *err);

static bool lacks_ptrace(const struct process *process)
{
	return !rights_have(&process->rights, CAPABILITY_SYS_PTRACE);
}

static bool is_of_other_user(const struct process *process)
{
	const struct process_status *status = &process->status;
	uid_t uid = process->rights.uid;

	return status->uid != uid || status->euid != uid || status->suid != uid;
}

static void fix_with_root(const struct process *process, struct err *err)
{
	err_fix(err, "sudo limpet attach %d\n" RIGHTS_SETUP, (int)process->pid);
}

static bool explain_yama_locked(const struct process *process, struct err *err)
{
	if (process->rights.yama_scope != 3)
		return false;
	err_why(err,
		"kernel.yama.ptrace_scope = 3: no process may attach to another until the next boot");
	err_fix(err, "set kernel.yama.ptrace_scope to 0 or 1 in /etc/sysctl.d and reboot");
	return true;
}

static const struct container_fix {
	const char *container;
	const char *fix;
} container_fixes[] = {
	{ "docker", "docker run --cap-add SYS_PTRACE ..." },
	{ "podman", "podman run --cap-add SYS_PTRACE ..." },
	{ "kubernetes", "securityContext: { capabilities: { add: [SYS_PTRACE] } }" },
	{ "container", "start the container with the capability CAP_SYS_PTRACE" },
};

/* Root without the capability: sudo would not help. */
static bool explain_container(const struct process *process, struct err *err)
{
	const struct rights *rights = &process->rights;

	if (!rights->container || rights->uid != 0 || !lacks_ptrace(process))
		return false;
	err_why(err, "root in this container (%s) lacks the capability CAP_SYS_PTRACE",
		rights->container);
	for (size_t i = 0; i < ARRAY_SIZE(container_fixes); i++)
		if (strcmp(container_fixes[i].container, rights->container) == 0)
			err_fix(err, "%s", container_fixes[i].fix);
	return true;
}

/* From inside a namespace, the namespaces of outside processes cannot even be read. */
static bool explain_user_namespace(const struct process *process, struct err *err)
{
	bool is_outside = process->namespaces.user == SAME_UNKNOWN &&
			  process->rights.is_user_namespace && !lacks_ptrace(process);

	if (process->namespaces.user != SAME_NO && !is_outside)
		return false;
	err_why(err,
		"it lives in another user namespace, where limpet's rights (uid %u) do not count",
		process->rights.uid);
	err_fix(err,
		"run limpet as root of the machine: sudo limpet attach %d\n"
		"run limpet inside that namespace: nsenter --user --target %d limpet attach %d",
		(int)process->pid, (int)process->pid, (int)process->pid);
	return true;
}

static bool explain_other_user(const struct process *process, struct err *err)
{
	if (!lacks_ptrace(process) || !is_of_other_user(process))
		return false;
	err_why(err,
		"it belongs to %s (uid %u); limpet runs as uid %u without the capability CAP_SYS_PTRACE",
		process->user, process->status.euid, process->rights.uid);
	fix_with_root(process, err);
	return true;
}

/* ptrace compares groups as well as users: newgrp, sg and setgid programs make them differ. */
static bool explain_other_group(const struct process *process, struct err *err)
{
	const struct process_status *status = &process->status;
	gid_t gid = process->rights.gid;

	if (!lacks_ptrace(process) ||
	    (status->gid == gid && status->egid == gid && status->sgid == gid))
		return false;
	err_why(err,
		"it has the same user but another group (gid %u, %u, %u); limpet runs with gid %u "
		"without the capability CAP_SYS_PTRACE, and ptrace compares both",
		status->gid, status->egid, status->sgid, gid);
	err_fix(err,
		"start limpet with that group: sg GROUP -c 'limpet attach %d'\n"
		"sudo limpet attach %d\n" RIGHTS_SETUP,
		(int)process->pid, (int)process->pid);
	return true;
}

/* With cap_sys_ptrace alone: ptrace would work, but memory is also a file with an owner. */
static bool explain_file_owner(const struct process *process, struct err *err)
{
	if (lacks_ptrace(process) || rights_have(&process->rights, CAPABILITY_DAC_OVERRIDE) ||
	    (!process->is_private && !is_of_other_user(process)))
		return false;
	err_why(err,
		"/proc/%d/mem belongs to another user, and limpet has CAP_SYS_PTRACE but not CAP_DAC_OVERRIDE",
		(int)process->pid);
	fix_with_root(process, err);
	return true;
}

static bool explain_not_dumpable(const struct process *process, struct err *err)
{
	if (!lacks_ptrace(process) || !process->is_private)
		return false;
	err_why(err,
		"it is not dumpable: it changed its user, has file capabilities, or asked for it "
		"with prctl(PR_SET_DUMPABLE)");
	fix_with_root(process, err);
	return true;
}

static bool explain_capabilities(const struct process *process, struct err *err)
{
	uint64_t more = process->status.capabilities_permitted & ~process->rights.capabilities;

	if (!lacks_ptrace(process) || !more)
		return false;
	err_why(err, "it has capabilities that limpet has not (mask %llx)",
		(unsigned long long)more);
	fix_with_root(process, err);
	return true;
}

static bool explain_yama(const struct process *process, struct err *err)
{
	int scope = process->rights.yama_scope;

	if (scope < 1 || !lacks_ptrace(process))
		return false;
	if (scope == 1)
		err_why(err, "kernel.yama.ptrace_scope = 1 and %d is not a child of limpet",
			(int)process->pid);
	else
		err_why(err, "kernel.yama.ptrace_scope = %d: only CAP_SYS_PTRACE may attach",
			scope);
	err_fix(err,
		"sudo limpet attach %d\n" RIGHTS_SETUP "\n"
		"sudo sysctl kernel.yama.ptrace_scope=0",
		(int)process->pid);
	return true;
}

static bool explain_module(const struct process *process, struct err *err)
{
	const char *modules = process->rights.modules;

	err_why(err, "users and capabilities would allow it, so a security module refuses%s%s%s",
		modules[0] ? " (active: " : "", modules, modules[0] ? ")" : "");
	err_fix(err,
		"ask who runs this machine about its rules for ptrace: dmesg | grep -i denied");
	return true;
}

static explanation *const explanations[] = {
	explain_yama_locked, explain_container,  explain_user_namespace, explain_other_user,
	explain_other_group, explain_file_owner, explain_not_dumpable,   explain_capabilities,
	explain_yama,        explain_module,
};

int permission_judge(const struct process *process, struct err *err)
{
	if (process->access != -EACCES && process->access != -EPERM)
		return 0;
	refuse(process, EXIT_NOT_PERMITTED, "not permitted", err);
	for (size_t i = 0; i < ARRAY_SIZE(explanations); i++)
		if (explanations[i](process, err))
			break;
	return err->code;
}
