/*
 * Lists of labels, and those of a process: from its variables, its cgroup, and the file that
 * Kubernetes puts into every container.  Processes that may not be read have the name only.
 */
#include "host/push/labels.h"

#include "host/core/cleanup.h"
#include "host/fleet/find/rank_variables.h"
#include "host/process/foreign_file.h"
#include "host/process/procfs.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define NAMESPACE_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

void push_labels_add(struct push_labels *labels, const char *name, const char *value)
{
	struct push_label *label = &labels->items[labels->count];

	if (!value || !value[0] || labels->count == LABELS_MAX)
		return;
	for (unsigned i = 0; i < labels->count; i++)
		if (!strcmp(labels->items[i].name, name))
			return;
	snprintf(label->name, sizeof(label->name), "%s", name);
	snprintf(label->value, sizeof(label->value), "%s", value);
	labels->count++;
}

/* Valid in stores of profiles; names beginning with __ are reserved. */
static bool is_name(const char *name, size_t size)
{
	if (!size || size >= LABEL_NAME_MAX || isdigit((unsigned char)name[0]) ||
	    (size > 1 && name[0] == '_' && name[1] == '_'))
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

static int label_refuse(const char *word, const char *why, struct err *err)
{
	err_set(err, -EINVAL, "--label: '%s' is no label", word);
	err_why(err, "%s", why);
	err_fix(err, "--label region=eu_west");
	return err_exit(err, EXIT_USAGE);
}

int push_labels_parse(struct push_labels *labels, const char *word, struct err *err)
{
	const char *equals = strchr(word, '=');
	char name[LABEL_NAME_MAX];

	if (!equals || !is_name(word, (size_t)(equals - word)))
		return label_refuse(word,
				    "a name has letters, digits and _, and does not begin with "
				    "a digit or with __",
				    err);
	if (!equals[1] || strlen(equals + 1) >= LABEL_VALUE_MAX)
		return label_refuse(word, "it has no value, or a long one", err);
	if (labels->count >= LABELS_MAX / 2)
		return label_refuse(word, "there are too many of them", err);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word);
	push_labels_add(labels, name, equals + 1);
	return 0;
}

bool push_labels_equal(const struct push_labels *left, const struct push_labels *right)
{
	if (left->count != right->count)
		return false;
	for (unsigned i = 0; i < left->count; i++)
		if (strcmp(left->items[i].name, right->items[i].name) ||
		    strcmp(left->items[i].value, right->items[i].value))
			return false;
	return true;
}

/* By which label, the most trustworthy first. */
static const struct {
	const char *label, *variable;
} variable_labels[] = {
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
		for (size_t i = 0; i < ARRAY_SIZE(variable_labels); i++)
			push_labels_add(labels, variable_labels[i].label,
					variables_value(&variables, variable_labels[i].variable));
		rank_find(labels, &variables);
		if (is_in_pod(pid)) {
			push_labels_add(labels, "pod", variables_value(&variables, "HOSTNAME"));
			namespace_find(labels, pid);
		}
	}
	push_labels_add(labels, "service_name", name[0] ? name : "unknown");
}
