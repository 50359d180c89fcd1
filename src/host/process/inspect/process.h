/*
 * All that can be known about a process without stopping it, in one struct.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/users.h"
#include "host/process/identity.h"
#include "host/process/libc/libc.h"
#include "host/process/maps.h"
#include "host/process/rights/rights.h"
#include "host/process/stat.h"
#include "host/process/status.h"

enum program_kind {
	PROGRAM_UNKNOWN, /* not enough rights to read */
	PROGRAM_OURS,    /* 64 bits, for the machine that limpet was built for */
	PROGRAM_32_BIT,
	PROGRAM_FOREIGN, /* for another machine */
};

struct process {
	pid_t pid;
	pid_t memory_tid; /* a thread whose memory can be read: pid, unless the first thread has
			     ended */
	struct process_status status; /* of the first thread */
	struct process_stat stat;     /* of all threads together */
	struct identity identity;
	struct maps maps;
	struct libc libc;
	struct namespaces namespaces;
	struct rights rights;
	enum program_kind program;
	unsigned runtimes;
	int access;      /* 0, or -errno: whether the kernel would allow an attach */
	bool has_ended;  /* no thread is left: a zombie */
	bool is_private; /* /proc/PID/mem does not belong to its user: it is not dumpable */
	bool shares_memory_with_parent; /* between vfork and exec */
	char user[64];
	char executable[256];
	char command[256]; /* arguments joined by blanks */
	char tracer_name[64];
	char parent_name[64];
};

/* Data that reading many processes needs only once. */
struct viewer {
	struct rights rights;
	unsigned machine; /* e_machine of limpet itself, 0 when unknown */
	struct users users;
	struct libc_cache libcs;
};

void viewer_init(struct viewer *ret);
void viewer_done(struct viewer *viewer);

DEFINE_STRUCT_CLEANUP(viewer, viewer_done)

/* Reads one process; what may not be read stays unknown.  -ESRCH when there is none, -EACCES when
 * hidden. */
int process_inspect(struct viewer *viewer, pid_t pid, struct process *ret,
		    struct err *err) MUST_CHECK;

/* Only status, times, executable, command and the names of other processes: a fraction of the
 * cost.  Nothing has to be released. */
int process_inspect_briefly(pid_t pid, struct process *ret, struct err *err) MUST_CHECK;

/* The first thread may have ended since: then memory_tid is another one. */
void process_refresh(struct process *process);

/* The same for a single process. */
int process_read(pid_t pid, struct process *ret, struct err *err) MUST_CHECK;
void process_done(struct process *process);

DEFINE_STRUCT_CLEANUP(process, process_done)

/*
 * Reads every process of /proc, ascending; those that end meanwhile are skipped.  The visitor's
 * struct is valid during the call; context is the caller's own.
 */
typedef void process_visitor(const struct process *process, void *context);
int process_each(struct viewer *viewer, process_visitor *visit, void *context,
		 struct err *err) MUST_CHECK;

/* The share of one processor it has used since it began, in tenths of a percent. */
unsigned process_cpu_permille(const struct process *process);

/* Writes the members that all tables of processes have in common. */
struct json;
void process_put_json(struct json *json, const struct process *process);
