/*
 * Facts about a process: from its variables, its cgroup, and the file that Kubernetes puts into
 * every container.  Processes that may not be read have the name only.
 */
#include "host/push/labels.h"

#include "host/core/cleanup.h"
#include "host/fleet/find/rank_variables.h"
#include "host/process/foreign_file.h"
#include "host/process/procfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMESPACE_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

/* By which label, the most trustworthy first. */
static const struct {
	const char *label, *variable;
} told_by_variables[] = {
	{ "service_name", "OTEL_SERVICE_NAME" },
	{ "slurm_job", "SLURM_JOB_ID" },
};

static void rank_find(struct push_labels *labels, const struct variables *variables)
{
	uint32_t rank, size;
	char text[16];

	for (const struct rank_variable *variable = rank_variables; variable->name; variable++) {
		if (!rank_variable_read(variables, variable, &rank, &size))
			continue;
		snprintf(text, sizeof(text), "%u", rank);
		push_labels_add(labels, "rank", text);
	}
}

static bool is_in_pod(pid_t pid)
{
	CLEANUP(free) char *text = NULL;
	struct err ignored = { 0 };
	size_t size;

	return !proc_read(pid, "cgroup", &text, &size, &ignored) && strstr(text, "kubepods");
}

static void namespace_find(struct push_labels *labels, pid_t pid)
{
	CLEANUP(close) int fd = foreign_file_open(pid, NAMESPACE_FILE);
	char text[LABEL_VALUE_MAX] = "";
	ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[size < 0 ? 0 : size] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	push_labels_add(labels, "namespace", text);
}

void push_labels_find(struct push_labels *labels, pid_t pid, const char *name)
{
	CLEANUP(variables_done) struct variables variables = { 0 };

	if (!variables_read(&variables, pid) && variables.text) {
		for (size_t i = 0; i < ARRAY_SIZE(told_by_variables); i++)
			push_labels_add(labels, told_by_variables[i].label,
					variables_value(&variables, told_by_variables[i].variable));
		rank_find(labels, &variables);
		if (is_in_pod(pid)) {
			push_labels_add(labels, "pod", variables_value(&variables, "HOSTNAME"));
			namespace_find(labels, pid);
		}
	}
	push_labels_add(labels, "service_name", name[0] ? name : "unknown");
}
