/*
 * Lists of labels.
 */
#include "host/push/labels.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

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
