/*
 * Loads kernel programs with libbpf.  libbpf's messages are kept for the error.
 */
#include "host/sampling/bpf/kernel_session.h"

#include "shared/arch/elf.h"

#include "host/process/rights/rights.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The inode number that the first namespace of pids has on every Linux. */
#define FIRST_PID_SPACE 0xeffffffcu

extern const unsigned char kernel_object_sample[], kernel_object_sample_end[];
extern const unsigned char kernel_object_sched_switch[], kernel_object_sched_switch_end[];
extern const unsigned char kernel_object_threads[], kernel_object_threads_end[];
extern const unsigned char kernel_object_pid_namespace[], kernel_object_pid_namespace_end[];
extern const unsigned char kernel_object_syscalls[], kernel_object_syscalls_end[];

static const struct {
	const char *name;
	const unsigned char *bytes, *end;
} files[KERNEL_FILES] = {
	[KERNEL_SAMPLE] = { "limpet_sample", kernel_object_sample, kernel_object_sample_end },
	[KERNEL_SWITCH] = { "limpet_switch", kernel_object_sched_switch,
			    kernel_object_sched_switch_end },
	[KERNEL_THREADS] = { "limpet_threads", kernel_object_threads, kernel_object_threads_end },
	[KERNEL_NAMESPACE] = { "limpet_namespace", kernel_object_pid_namespace,
			       kernel_object_pid_namespace_end },
	[KERNEL_SYSCALLS] = { "limpet_syscalls", kernel_object_syscalls,
			      kernel_object_syscalls_end },
};

/* libbpf's default for output; see ../meson.build. */
extern FILE *const libbpf_stderr;
FILE *const libbpf_stderr = NULL;

/* libbpf's callback for messages has no context: keeps this thread's last warning. */
static _Thread_local char complaint[256];

static int keep_complaint(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char text[sizeof(complaint)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = 0;
	/* The verifier's whole log comes as one warning: its last lines have the reason, and are
	 * put first here. */
	if (!complaint[0] && !strstr(text, "BEGIN PROG LOAD LOG"))
		memcpy(complaint, text, sizeof(complaint));
	return 0;
}

static void keep_complaints(void)
{
	complaint[0] = 0;
	libbpf_set_print(keep_complaint);
}

static int session_error(struct err *err, int code, const char *doing)
{
	err_set(err, code, "%s: %s", doing, strerror(-code));
	if (complaint[0])
		err_why(err, "%s", complaint);
	return code;
}

static bool is_locked_down(void)
{
	char text[128] = "";
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = 0;
	fclose(file);
	return strstr(text, "[confidentiality]");
}

/* The purpose and the type of kernel programs. */
struct kernel_use {
	const char *words;
	enum bpf_prog_type type;
	const char *type_words;
};

static const struct kernel_use stack_use = { "walk stacks", BPF_PROG_TYPE_PERF_EVENT,
					     "programs for perf events are" };
static const struct kernel_use syscall_use = { "trace system calls", BPF_PROG_TYPE_RAW_TRACEPOINT,
					       "programs for tracepoints are" };

static int refuse_kernel(struct err *err, const struct kernel_use *use, const char *what,
			 const char *fix)
{
	struct utsname system;

	uname(&system);
	err_set(err, -EOPNOTSUPP, "this kernel (%s) cannot %s by BPF", system.release, use->words);
	err_why(err, "%s", what);
	return err_fix(err, "%s", fix);
}

/* Checks the rights, and the features that every program of limpet needs. */
static int probe_use(const struct kernel_use *use, struct err *err)
{
	struct bpf_prog_info info;
	__u32 size = sizeof(info);
	struct rights rights;
	char missing[64];
	int r, refused;

	rights_read(&rights);
	if (!rights_have(&rights, CAPABILITY_SYS_ADMIN) &&
	    !(rights_have(&rights, CAPABILITY_BPF) && rights_have(&rights, CAPABILITY_PERFMON))) {
		err_set(err, -EPERM, "BPF programs may not be loaded");
		err_why(err, "the capabilities CAP_BPF and CAP_PERFMON are missing");
		err_fix(err, "%s", rights_fix());
		return err_exit(err, EXIT_NOT_PERMITTED);
	}
	keep_complaints();
	r = libbpf_probe_bpf_prog_type(use->type, NULL);
	/* libbpf takes a refused call for an old kernel: this queries the kernel directly.  No
	 * descriptor has this number. */
	refused = r ? 0 : bpf_obj_get_info_by_fd(-1, &info, &size);
	if (refused == -EPERM || refused == -ENOSYS)
		r = -EPERM;
	if (r < 0 || (!r && is_locked_down())) {
		err_set(err, r < 0 ? r : -EPERM, "BPF programs are refused here");
		return err_why(
			err, "%s",
			is_locked_down()
				? "the kernel is locked down (confidentiality)"
				: "a container or a security module forbids the system call bpf");
	}
	snprintf(missing, sizeof(missing), "%s missing in it", use->type_words);
	if (!r)
		return refuse_kernel(err, use, missing,
				     "a kernel with CONFIG_BPF_EVENTS=y, as Debian's have it");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return refuse_kernel(err, use, "/sys/kernel/btf/vmlinux is missing",
				     "a kernel with CONFIG_DEBUG_INFO_BTF=y, as Debian's have it");
	return 0;
}

int kernel_session_probe(struct err *err)
{
	int r = probe_use(&stack_use, err);

	if (!r && libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, NULL) != 1)
		return refuse_kernel(err, &stack_use,
				     "it has no bpf_loop, which came with Linux 5.17",
				     "Linux 5.17 or newer");
	return r;
}

int kernel_session_probe_syscalls(struct err *err)
{
	int r = probe_use(&syscall_use, err);

	if (!r && libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) != 1)
		return refuse_kernel(err, &syscall_use,
				     "it has no rings for BPF programs, which came with Linux 5.8",
				     "Linux 5.11 or newer");
	if (!r && libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT,
					  BPF_FUNC_get_current_task_btf, NULL) != 1)
		return refuse_kernel(
			err, &syscall_use,
			"it has no bpf_get_current_task_btf, which came with Linux 5.11",
			"Linux 5.11 or newer");
	return r;
}

void kernel_session_unload(struct kernel_session *session, enum kernel_file file)
{
	bpf_object__close(session->files[file]);
	session->files[file] = NULL;
}

void kernel_session_done(struct kernel_session *session)
{
	for (int i = 0; i < KERNEL_FILES; i++)
		kernel_session_unload(session, i);
}

static uint32_t size_of_map(const struct kernel_sizes *sizes, const char *name)
{
	const struct {
		const char *name;
		uint32_t entries;
	} sized[] = {
		{ "rows", sizes->rows },           { "pages", sizes->pages },
		{ "ranges", sizes->ranges },       { "specials", sizes->specials },
		{ "ring", sizes->ring_bytes },     { "off_cpu_threads", sizes->off_cpu_threads },
		{ "processes", sizes->processes }, { "interpreters", sizes->processes },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sized); i++)
		if (!strcmp(sized[i].name, name))
			return sized[i].entries;
	return 0;
}

/* Sets the sizes of maps, and shares those of earlier files; maps with a dot in their name hold a
 * file's own data. */
static int prepare_maps(const struct kernel_session *session, struct bpf_object *object)
{
	struct bpf_map *map;
	int r = 0;

	bpf_object__for_each_map(map, object)
	{
		const char *name = bpf_map__name(map);
		uint32_t entries = size_of_map(&session->sizes, name);
		int shared = strchr(name, '.') ? -1 : kernel_session_map(session, name);

		if (shared >= 0)
			r = bpf_map__reuse_fd(map, shared);
		else if (entries)
			r = bpf_map__set_max_entries(map, entries);
		if (r)
			return r;
	}
	map = bpf_object__find_map_by_name(object, ".rodata.settings");
	return map ? bpf_map__set_initial_value(map, &session->settings, sizeof(session->settings))
		   : 0;
}

int kernel_session_load(struct kernel_session *session, enum kernel_file file, struct err *err)
{
	const struct bpf_object_open_opts options = { .sz = sizeof(options),
						      .object_name = files[file].name };
	struct bpf_object *object;
	int r;

	keep_complaints();
	object = bpf_object__open_mem(files[file].bytes,
				      (size_t)(files[file].end - files[file].bytes), &options);
	if (!object)
		return session_error(err, -errno, "opening kernel programs");
	r = prepare_maps(session, object);
	if (!r)
		r = bpf_object__load(object);
	if (r) {
		bpf_object__close(object);
		/* Most refusals by the kernel: another sampler may work. */
		return session_error(err, r == -EPERM || r == -ENOMEM ? r : -EOPNOTSUPP,
				     "loading kernel programs");
	}
	session->files[file] = object;
	return 0;
}

int kernel_session_map(const struct kernel_session *session, const char *name)
{
	for (int i = 0; i < KERNEL_FILES; i++) {
		struct bpf_map *map =
			session->files[i] ? bpf_object__find_map_by_name(session->files[i], name)
					  : NULL;

		if (map)
			return bpf_map__fd(map);
	}
	return -1;
}

int kernel_session_program(const struct kernel_session *session, enum kernel_file file,
			   const char *name)
{
	struct bpf_program *program =
		session->files[file] ? bpf_object__find_program_by_name(session->files[file], name)
				     : NULL;

	return program ? bpf_program__fd(program) : -1;
}

/* A program must find limpet's pid namespace only where its numbers differ from the machine's own.
 */
int kernel_session_init(struct kernel_session *ret, const struct kernel_settings *settings,
			const struct kernel_sizes *sizes, struct err *err)
{
	struct kernel_counts counts;
	struct stat status;
	uint32_t zero = 0;
	int r;

	*ret = (struct kernel_session){ .settings = *settings, .sizes = *sizes };
	ret->settings.address_mask = ARCH_ADDRESS_MASK;
	if (stat("/proc/self/ns/pid", &status) || status.st_ino == FIRST_PID_SPACE)
		return 0;
	r = kernel_session_load(ret, KERNEL_NAMESPACE, err);
	if (r)
		return r;
	r = bpf_prog_test_run_opts(kernel_session_program(ret, KERNEL_NAMESPACE, "host_namespace"),
				   NULL);
	if (!r)
		r = bpf_map_lookup_elem(kernel_session_map(ret, "counts"), &zero, &counts);
	kernel_session_unload(ret, KERNEL_NAMESPACE);
	if (r)
		return session_error(err, r, "finding our own namespace of pids");
	ret->settings.level = (uint32_t)counts.level;
	ret->settings.pid_space = (uint32_t)counts.pid_space;
	return 0;
}

struct ring_buffer *kernel_session_ring(const struct kernel_session *session,
					ring_buffer_sample_fn on_record, void *context,
					struct err *err)
{
	struct ring_buffer *ring =
		ring_buffer__new(kernel_session_map(session, "ring"), on_record, context, NULL);

	if (!ring)
		err_set(err, -errno, "opening the ring: %s", strerror(errno));
	return ring;
}

int kernel_session_start(const struct kernel_session *session, enum kernel_file file,
			 const char *name, struct bpf_link **ret, struct err *err)
{
	struct bpf_program *program = bpf_object__find_program_by_name(session->files[file], name);
	struct bpf_link *link;

	keep_complaints();
	link = program ? bpf_program__attach(program) : NULL;
	if (!link)
		return session_error(err, program ? -errno : -ENOENT, "starting kernel programs");
	*ret = link;
	return 0;
}
