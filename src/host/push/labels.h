/*
 * Labels of a profile: names and values by which a store of profiles finds it.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/core/err.h"

#include <sys/types.h>

#define LABELS_MAX      24u /* stores accept 30 */
#define LABEL_NAME_MAX  64u
#define LABEL_VALUE_MAX 256u

struct push_label {
	char name[LABEL_NAME_MAX], value[LABEL_VALUE_MAX];
};

/* Zero is none; one of each name. */
struct push_labels {
	struct push_label items[LABELS_MAX];
	unsigned count;
};

/* An existing one keeps its value; an empty value is ignored; so is one without room. */
void push_labels_add(struct push_labels *labels, const char *name, const char *value);
/* "NAME=VALUE", as people type it. */
int push_labels_parse(struct push_labels *labels, const char *word, struct err *err) MUST_CHECK;
bool push_labels_equal(const struct push_labels *left, const struct push_labels *right);

/* The labels of a process: service_name, rank, slurm_job, namespace, pod.  name: of its program. */
void push_labels_find(struct push_labels *labels, pid_t pid, const char *name);
