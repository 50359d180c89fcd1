/*
 * What the verbs of `limpet fleet` share: the options that select ranks, and the request to a
 * fleet.
 */
#pragma once

#include "host/core/options.h"
#include "host/fleet/job/fleet_job.h"

/* As typed. */
struct fleet_values {
	struct fleet_who who;
	const char *limpet;
	bool copy, is_json;
	uint64_t timeout_ns;
};

#define FLEET_TIMEOUT_NS 30000000000ull
#define FLEET_VALUES     ((struct fleet_values){ .timeout_ns = FLEET_TIMEOUT_NS })

/* Lines of a table of options, for a struct fleet_values at this offset. */
/* clang-format off */
#define FLEET_OPTIONS(field)                                                                                              \
	{ 0, "slurm", "JOB[.STEP]", "look at this job of Slurm, which must be your own", OPTION_ONCE,                  \
	  (field) + offsetof(struct fleet_values, who.slurm) },                                                           \
	{ 0, "k8s", "SELECTOR", "look at the pods that have these labels: app=train", OPTION_ONCE,                      \
	  (field) + offsetof(struct fleet_values, who.k8s) },                                                             \
	{ 0, "namespace", "NAME", "of Kubernetes (default: kubectl's)", OPTION_ONCE,                                    \
	  (field) + offsetof(struct fleet_values, who.namespace) },                                                       \
	{ 0, "mpirun", "PID", "look at the job of this mpirun, mpiexec or srun here", OPTION_ONCE,                     \
	  (field) + offsetof(struct fleet_values, who.mpirun) },                                                          \
	{ 0, "foreign-launcher", NULL, "with --mpirun: trust another user's launcher, for processes of that user", OPTION_FLAG, \
	  (field) + offsetof(struct fleet_values, who.trusts_foreign) },                                                  \
	{ 0, "hosts", "LIST", "reach these nodes by ssh: n1,n2 or n[1-4]", OPTION_ONCE, (field) + offsetof(struct fleet_values, who.hosts) }, \
	{ 0, "launcher", "CMD", "reach nodes by this command: 'pdsh -w {host}'", OPTION_ONCE,                     \
	  (field) + offsetof(struct fleet_values, who.launcher) },                                                        \
	{ 0, "local", NULL, "look at the ranks on this machine", OPTION_FLAG, (field) + offsetof(struct fleet_values, who.is_local) }, \
	{ 'm', "match", "NAME", "ranks are processes called NAME, with * and ?", OPTION_ONCE,                             \
	  (field) + offsetof(struct fleet_values, who.match) },                                                           \
	{ 'r', "ranks", "LIST", "only these ranks: 0,7,8-15", OPTION_ONCE, (field) + offsetof(struct fleet_values, who.ranks) }, \
	{ 0, "rank-variable", "NAME", "read ranks from this variable (default: what launchers set)", OPTION_ONCE,        \
	  (field) + offsetof(struct fleet_values, who.variable) },                                                        \
	{ 0, "top-level", NULL, "look at the topmost process of a rank, even a shell or wrapper", OPTION_FLAG,  \
	  (field) + offsetof(struct fleet_values, who.top_level) },                                                       \
	{ 0, "descendants", NULL, "look at all processes of a rank", OPTION_FLAG,                                         \
	  (field) + offsetof(struct fleet_values, who.descendants) },                                                     \
	{ 0, "limpet", "PATH", "limpet on the nodes (default: the same path as here)", OPTION_ONCE,                      \
	  (field) + offsetof(struct fleet_values, limpet) },                                                              \
	{ 0, "copy", NULL, "copy limpet to the nodes, and remove it at the end", OPTION_FLAG,                             \
	  (field) + offsetof(struct fleet_values, copy) },                                                                \
	{ 0, "timeout", "TIME", "give up on nodes that are late by TIME (default: 30s)", OPTION_DURATION, \
	  (field) + offsetof(struct fleet_values, timeout_ns) },                                                          \
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, (field) + offsetof(struct fleet_values, is_json) }
/* clang-format on */

#define FLEET_USAGE \
	"{--slurm JOB | --k8s SELECTOR | --mpirun PID | --hosts LIST | --launcher CMD | --local} [--match NAME] [--ranks LIST]"

/* Sends the request to the nodes; `time_ns`: the duration of the request itself.  *fleet, zero
 * before, is settled. */
int fleet_ask(const struct fleet_values *values, const struct node_request *request,
	      uint64_t time_ns, const struct fleet_job_listener *listener, struct fleet *fleet,
	      struct err *err) MUST_CHECK;

/* Ranks that are not done, by state and reason; and nodes with remarks: on stderr. */
void fleet_tell_failures(const struct fleet *fleet);

/* As fleet_judge(), of a job that may still run. */
int fleet_judge_live(const struct fleet *fleet, struct err *err) MUST_CHECK;

/* "n1"; "?" where the node is unknown. */
const char *fleet_node_name(const struct fleet *fleet, const struct fleet_rank *rank);

/* An object for each node and each rank. */
void fleet_write_json(const struct fleet *fleet);

/* Exactly one operand, a folder; else wrong usage. */
int fleet_check_folder(int operands, char **argv, struct err *err) MUST_CHECK;
/* Exactly no operands; else wrong usage. */
int fleet_check_operands(int operands, char **argv, struct err *err) MUST_CHECK;
