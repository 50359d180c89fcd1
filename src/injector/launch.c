/*
 * Runs a program from its execve to its first instruction. The child is seized before execve; at
 * the stop in execve, when no code of the program has run, memory is mapped in it, and the one word
 * is changed by which the dynamic linker knows the program's entry (shared/arch/doorstep.h). Then
 * the child continues, and loads its libraries without the injector. A static program, which is
 * accepted if nothing will be loaded into it, begins at the doorstep itself.
 *
 * Until all of that is done the child dies with the injector (EXITKILL): a program that never
 * began, instead of one that begins with wrong registers. From then on it needs no other process.
 */
#include "injector/injector.h"

#include "shared/arch/doorstep.h"
#include "shared/arch/elf.h"
#include "shared/arch/epilogue.h"
#include "shared/elf/image.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define EXEC_LIMIT_NS 12000000000ull
#define WORDS_MAX     0x1000000u /* of arguments and environment; the kernel's limit is lower */
#define STACK_ROOM    0x20000u   /* as much as the kernel maps below few arguments */
#define AUXV_MAX      128u
#define CHUNK         1024u /* instructions */
#define OPTIONS       (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC)

/* Code of the dynamic linker, or of a static program and the vDSO: a syscall instruction; and the
 * code by which the doorstep is left, 0 if there is none. */
struct found_code {
	uint64_t syscall, syscall_return, epilogue;
	struct epilogue epilogue_is;
};

/* The new program's auxiliary vector. */
struct beginning {
	uint64_t entry, entry_word, base; /* base: of the dynamic linker, 0: none */
	uint64_t headers, vdso;
	bool is_secure;
};

static int program_seize(struct stopped *self)
{
	struct job *job = self->job;

	if (ptrace(PTRACE_SEIZE, job->tid, 0, OPTIONS | PTRACE_O_EXITKILL))
		return job_fail(job, errno == ESRCH ? JOB_GONE : JOB_NO_SEIZE, errno);
	/* Pairs with the acquire in the host's launch.c. */
	__atomic_store_n(&job->is_seized, 1, __ATOMIC_RELEASE);
	return 0;
}

/* Delivers signals; lets job control stop the child as without the injector. */
static int continue_child(pid_t tid, int status)
{
	bool is_stop = status >> 16 == PTRACE_EVENT_STOP;
	long r;

	if (is_stop && WSTOPSIG(status) != SIGTRAP)
		r = ptrace(PTRACE_LISTEN, tid, 0, 0);
	else
		r = ptrace(PTRACE_CONT, tid, 0, status >> 16 ? 0 : WSTOPSIG(status));
	return r ? -errno : 0;
}

static int await_exec(struct stopped *self)
{
	uint64_t deadline_ns = wait_clock_ns() + EXEC_LIMIT_NS;
	struct job *job = self->job;
	int status, r;

	do {
		r = wait_stop(job->tid, deadline_ns, &status);
		if (!r && status >> 16 == PTRACE_EVENT_EXEC)
			return 0;
		if (!r)
			r = continue_child(job->tid, status);
	} while (!r);
	if (job->execve_error)
		return job_fail(job, JOB_NOT_EXECUTED, job->execve_error);
	return job_fail(job, r == -ESRCH ? JOB_GONE : JOB_NO_STOP, -r);
}

/* The end of execve: from here on the registers are the program's. */
static int read_start(struct stopped *self)
{
	struct job *job = self->job;
	int r = remote_next_stop(self);

	if (!r)
		r = arch_take(job->tid, &self->state);
	if (!r &&
	    ptrace(PTRACE_GETSIGMASK, job->tid, sizeof(self->signal_mask), &self->signal_mask))
		r = -errno;
	if (r == -ESRCH) /* a signal killed the child first */
		return job_fail(job, JOB_GONE, ESRCH);
	if (r)
		return job_fail(job, r == -ENOEXEC ? JOB_NOT_64_BIT : JOB_BROKEN, -r);
	arch_plan_return(&self->state, &job->seen, &(struct blocked_call){ 0 }, -1, &self->back);
	self->escape.frame = arch_stack_pointer(&self->state.regs);
	return 0;
}

/* The new stack: count, arguments, 0, environment, 0, then pairs. */
static int find_auxv(const struct stopped *self, uint64_t *ret)
{
	uint64_t at = arch_stack_pointer(&self->state.regs), word;

	if (memory_read(self, at, &word, sizeof(word)) || word > WORDS_MAX)
		return -EFAULT;
	at += (word + 2) * sizeof(word);
	for (unsigned i = 0; i < WORDS_MAX; i++, at += sizeof(word)) {
		if (memory_read(self, at, &word, sizeof(word)))
			return -EFAULT;
		if (!word) {
			*ret = at + sizeof(word);
			return 0;
		}
	}
	return -E2BIG;
}

static int read_beginning(const struct stopped *self, struct beginning *ret)
{
	uint64_t at, pair[2] = { 1 };
	int r = find_auxv(self, &at);

	*ret = (struct beginning){ 0 };
	for (unsigned i = 0; !r && pair[0] != AT_NULL && i < AUXV_MAX; i++, at += sizeof(pair)) {
		r = memory_read(self, at, pair, sizeof(pair));
		if (pair[0] == AT_ENTRY) {
			ret->entry = pair[1];
			ret->entry_word = at + sizeof(pair[0]);
		}
		if (pair[0] == AT_BASE)
			ret->base = pair[1];
		if (pair[0] == AT_SECURE)
			ret->is_secure = pair[1];
		if (pair[0] == AT_PHDR)
			ret->headers = pair[1];
		if (pair[0] == AT_SYSINFO_EHDR)
			ret->vdso = pair[1];
	}
	return !r && !ret->entry_word ? -ENOENT : r;
}

/* Under a tracer without CAP_SYS_PTRACE the kernel starts such a program without its file's
 * capabilities: it would not work as requested. */
static bool is_denied_rights(const struct job *job)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", job->pid);
	return job->is_unprivileged && getxattr(path, "security.capability", NULL, 0) > 0;
}

static int read_for_image(void *context, uint64_t address, void *into, size_t size)
{
	return memory_read(context, address, into, size);
}

static bool find_in_range(const struct stopped *self, struct elf_range range, uint64_t *ret,
			  struct epilogue *ret_epilogue)
{
	uint32_t code[CHUNK];

	for (uint64_t at = 0; at + sizeof(code) <= range.size;
	     at += sizeof(code) - EPILOGUE_MAX * sizeof(*code)) {
		if (memory_read(self, range.start + at, code, sizeof(code)))
			return false;
		for (unsigned i = 0; i + EPILOGUE_MAX <= CHUNK; i++) {
			*ret = range.start + at + i * sizeof(*code);
			if (epilogue_read(code + i, ret_epilogue))
				return true;
		}
	}
	return false;
}

/* The end of any function in a library, see shared/arch/epilogue.h. */
static bool epilogue_find(const struct stopped *self, const struct elf_image *image, uint64_t *ret,
			  struct epilogue *ret_epilogue)
{
	for (unsigned i = 0; i < image->code_count; i++)
		if (find_in_range(self, image->code[i], ret, ret_epilogue))
			return true;
	return false;
}

static void find_bytes(const struct elf_image *image, const char *bytes, size_t size, uint64_t *ret)
{
	uint64_t address;

	if (!*ret && !elf_image_find(image, bytes, size, &address))
		*ret = address;
}

/* Searches this image for code that is not found yet. */
static void search_image(struct stopped *self, uint64_t base, struct found_code *ret)
{
	struct memory_reader reader = { read_for_image, self };
	struct elf_image image;

	if (!base || elf_image_open(&image, &reader, base))
		return;
	find_bytes(&image, ARCH_SYSCALL, sizeof(ARCH_SYSCALL) - 1, &ret->syscall);
	find_bytes(&image, ARCH_SYSCALL_RETURN, sizeof(ARCH_SYSCALL_RETURN) - 1,
		   &ret->syscall_return);
	if (!ARCH_RETURN_ON_STACK && !ret->epilogue &&
	    !epilogue_find(self, &image, &ret->epilogue, &ret->epilogue_is))
		ret->epilogue = 0;
}

/* Without code to leave it, the doorstep stays mapped. A static program's headers lie in its first
 * page, where the image begins. */
static int find_code(struct stopped *self, const struct beginning *beginning,
		     struct found_code *ret)
{
	*ret = (struct found_code){ 0 };
	if (beginning->base) {
		search_image(self, beginning->base, ret);
	} else {
		search_image(self, beginning->vdso, ret);
		search_image(self, ALIGN_DOWN(beginning->headers, 4096), ret);
	}
	if (!ret->syscall_return)
		ret->epilogue = 0;
	return ret->syscall ? 0 : job_fail(self->job, JOB_BROKEN, ENOENT);
}

/* Data first, then the code over its beginning: never writable and executable at once. */
static int map_doorstep(struct stopped *self, uint64_t code)
{
	uint64_t args[6] = {
		0, DOORSTEP_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1ull, 0
	};
	long region, ignored;
	int r = remote_do(self, code, SYS_mmap, args, &region);

	if (r)
		return r;
	self->job->ret_region = args[0] = (uint64_t)region;
	args[1] = DOORSTEP_DATA;
	args[2] = PROT_READ | PROT_EXEC;
	args[3] |= MAP_FIXED;
	return remote_do(self, code, SYS_mmap, args, &ignored);
}

static int write_doorstep(struct stopped *self, const struct beginning *beginning,
			  const struct found_code *code)
{
	uint64_t region = self->job->ret_region;
	struct doorstep doorstep = {
		.magic = DOORSTEP_MAGIC,
		.parent = self->job->parent,
		.entry = beginning->entry,
		.entry_word = beginning->entry_word,
		.region = region,
		.syscall_return = code->syscall_return,
		.epilogue = code->epilogue,
		.frame_size = code->epilogue_is.frame_size,
		.is_signed = code->epilogue_is.is_signed,
	};
	int r = memory_write(self, region, doorstep_begin, (size_t)(doorstep_end - doorstep_begin));

	if (!r)
		r = memory_write(self, region + DOORSTEP_DATA, &doorstep, sizeof(doorstep));
	if (!r && beginning->base)
		r = memory_write(self, beginning->entry_word, &region, sizeof(region));
	if (!beginning->base)
		arch_go_to(&self->back.regs, region);
	return r ? job_fail(self->job, JOB_BROKEN, -r) : 0;
}

/* Many arguments use up the stack mapped by the kernel, and the doorstep needs some of it. The
 * stack grows for a system call that writes there; if it may not grow, the call fails, and
 * attaching gives the reason. */
static int make_room(struct stopped *self, uint64_t code)
{
	uint64_t below = arch_stack_pointer(&self->state.regs) - STACK_ROOM;
	const uint64_t args[6] = { SIG_BLOCK, 0, below, sizeof(self->signal_mask) };
	long ignored;
	int r = remote_syscall(self, code, SYS_rt_sigprocmask, args, &ignored);

	return r ? job_fail(self->job, r == -ESRCH ? JOB_GONE : JOB_BROKEN, -r) : 0;
}

static int lay_doorstep(struct stopped *self)
{
	struct beginning beginning;
	struct found_code code = { 0 };
	int r = read_beginning(self, &beginning);

	if (r)
		return job_fail(self->job, JOB_BROKEN, -r);
	if (beginning.is_secure || is_denied_rights(self->job))
		return job_fail(self->job, JOB_PRIVILEGED, 0);
	if (!beginning.base && !self->job->takes_static)
		return job_fail(self->job, JOB_NO_LINKER, 0);
	r = find_code(self, &beginning, &code);
	if (!r)
		r = map_doorstep(self, code.syscall);
	if (!r)
		r = make_room(self, code.syscall);
	return r ? r : write_doorstep(self, &beginning, &code);
}

/* EXITKILL is removed last, just before the detach. */
static int release_child(struct stopped *self)
{
	pid_t tid = self->job->tid;

	if (ptrace(PTRACE_SETSIGMASK, tid, sizeof(self->signal_mask), &self->signal_mask) ||
	    arch_restore(tid, &self->state, &self->back, false) ||
	    ptrace(PTRACE_SETOPTIONS, tid, 0, OPTIONS) || ptrace(PTRACE_DETACH, tid, 0, 0))
		return job_fail(self->job, JOB_GONE, errno);
	return 0;
}

/* On any failure the injector ends, and the child with it. */
void launch(struct stopped *self)
{
	int r = program_seize(self);

	if (!r)
		r = await_exec(self);
	if (!r)
		r = memory_open(self);
	if (!r)
		r = read_start(self);
	if (!r)
		r = lay_doorstep(self);
	if (!r)
		r = release_child(self);
	if (!r)
		self->job->status = JOB_DONE;
}
