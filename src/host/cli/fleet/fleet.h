/*
 * What the verbs of `limpet fleet` share: the options that select ranks, and the request to a
 * fleet.
 */
#pragma once

#include "host/cli/common/command.h"
#include "host/fleet/job/fleet_job.h"

/* The options as typed. */
struct fleet_values {
	struct fleet_who who;
	const char *limpet;
	bool copy, is_json;
	uint64_t timeout_ns;
};

#define FLEET_TIMEOUT_NS 30000000000ull
#define FLEET_VALUES                           \
	{                                      \
		.timeout_ns = FLEET_TIMEOUT_NS \
	}

/* Lines of a table of options, for a struct fleet_values at this offset. */
/* clang-format off */
#define FLEET_OPTIONS(field)                                                                                              \
	{ 0, "slurm", "JOB[.STEP]", "look at this job of Slurm, which must be your own", (field) + offsetof(struct fleet_values, who.slurm),                  \
	  OPTION_ONCE },                                                           \
	{ 0, "k8s", "SELECTOR", "look at the pods that have these labels: app=train", (field) + offsetof(struct fleet_values, who.k8s),                      \
	  OPTION_ONCE },                                                             \
	{ 0, "namespace", "NAME", "of Kubernetes (default: kubectl's)", (field) + offsetof(struct fleet_values, who.namespace),                                    \
	  OPTION_ONCE },                                                       \
	{ 0, "mpirun", "PID", "look at the job of this mpirun, mpiexec or srun here", (field) + offsetof(struct fleet_values, who.mpirun),                     \
	  OPTION_ONCE },                                                          \
	{ 0, "foreign-launcher", NULL, "with --mpirun: trust another user's launcher, for processes of that user", (field) + offsetof(struct fleet_values, who.trusts_foreign) },                                                  \
	{ 0, "hosts", "LIST", "reach these nodes by ssh: n1,n2 or n[1-4]", (field) + offsetof(struct fleet_values, who.hosts), OPTION_ONCE }, \
	{ 0, "launcher", "CMD", "reach nodes by this command: 'pdsh -w {host}'", (field) + offsetof(struct fleet_values, who.launcher),                     \
	  OPTION_ONCE },                                                        \
	{ 0, "local", NULL, "look at the ranks on this machine", (field) + offsetof(struct fleet_values, who.is_local) }, \
	{ 'm', "match", "NAME", "ranks are processes called NAME, with * and ?", (field) + offsetof(struct fleet_values, who.match),                             \
	  OPTION_ONCE },                                                           \
	{ 'r', "ranks", "LIST", "only these ranks: 0,7,8-15", (field) + offsetof(struct fleet_values, who.ranks), OPTION_ONCE }, \
	{ 0, "rank-variable", "NAME", "read ranks from this variable (default: what launchers set)", (field) + offsetof(struct fleet_values, who.variable),        \
	  OPTION_ONCE },                                                        \
	{ 0, "top-level", NULL, "look at the topmost process of a rank, even a shell or wrapper", (field) + offsetof(struct fleet_values, who.top_level) },                                                       \
	{ 0, "descendants", NULL, "look at all processes of a rank", (field) + offsetof(struct fleet_values, who.descendants) },                                                     \
	{ 0, "limpet", "PATH", "limpet on the nodes (default: the same path as here)", (field) + offsetof(struct fleet_values, limpet),                      \
	  OPTION_ONCE },                                                              \
	{ 0, "copy", NULL, "copy limpet to the nodes, and remove it at the end", (field) + offsetof(struct fleet_values, copy) },                                                                \
	{ 0, "timeout", "TIME", "give up on nodes that are late by TIME (default: 30s)", (field) + offsetof(struct fleet_values, timeout_ns), \
	  OPTION_DURATION },                                                          \
	{ 'j', "json", NULL, "print one JSON object per line", (field) + offsetof(struct fleet_values, is_json) }
/* clang-format on */

#define FLEET_USAGE \
	"{--slurm JOB | --k8s SELECTOR | --mpirun PID | --hosts LIST | --launcher CMD | --local} [--match NAME] [--ranks LIST]"

/* Sends the request to the nodes; `time_ns`: the duration of the request itself.  *fleet, zero
 * before, is settled. */
int fleet_query(const struct fleet_values *values, const struct node_request *request,
		uint64_t time_ns, const struct fleet_job_listener *listener, struct fleet *fleet,
		struct err *err) MUST_CHECK;

/* For people: ranks that are not done, by state and reason, and nodes with remarks, on stderr.  For
 * programs: an object for each node and each rank. */
void fleet_show(const struct fleet *fleet, bool is_json);

/* As fleet_judge(), of a job that may still run. */
int fleet_judge_live(const struct fleet *fleet, struct err *err) MUST_CHECK;

/* "n1"; "?" where the node is unknown. */
const char *fleet_node_name(const struct fleet *fleet, const struct fleet_rank *rank);

/* "8 ranks on 4 nodes". */
#define FLEET_DESCRIBED_MAX 64u
const char *fleet_describe(const struct fleet *fleet, char ret[FLEET_DESCRIBED_MAX]);

/* Exactly one operand, a folder. */
extern const struct operand_rule fleet_folder_operand;

/* Reads the recordings of a folder with progress for a person, and shows their totals, so many rows
 * of each table.  Fails if none can be read; `ret_troubled`: how many ranks have a cut one, or
 * none. */
#define TOTALS_ROWS 20u
int totals_show(const struct fleet *fleet, const char *folder, uint64_t rows, bool is_json,
		uint64_t *ret_troubled, struct err *err) MUST_CHECK;
/* EXIT_PARTLY where there are such. */
int totals_judge(const struct fleet *fleet, uint64_t troubled, struct err *err) MUST_CHECK;

bool is_folder(const char *path);
/* Puts the samples of all ranks of a folder into one recording in it.  *ret, its path, is the
 * caller's to free. */
int fleet_merge_folder(const char *folder, char **ret, struct err *err) MUST_CHECK;
