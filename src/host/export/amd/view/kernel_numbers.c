/*
 * Numbers kernels.
 */
#include "host/export/amd/view/kernel_numbers.h"

#include <errno.h>
#include <stdlib.h>

static int by_id(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static int kernel_list_init(struct kernel_list *ret, const struct names *names)
{
	ret->ids = calloc(MAX(names->count, (size_t)1), sizeof(*ret->ids));
	if (!ret->ids)
		return -ENOMEM;
	for (size_t i = 0; i < names->room; i++)
		if (names->items[i].text && names->items[i].space == NAME_KERNEL)
			ret->ids[ret->count++] = names->items[i].id;
	qsort(ret->ids, ret->count, sizeof(*ret->ids), by_id);
	return 0;
}

int kernel_numbers_init(struct kernel_numbers *ret, const struct model *model)
{
	int r = 0;

	*ret = (struct kernel_numbers){ .count = model->process_count };
	ret->processes = calloc(MAX(ret->count, 1u), sizeof(*ret->processes));
	if (!ret->processes)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < ret->count; i++)
		r = kernel_list_init(&ret->processes[i], &model->processes[i]->names);
	if (r)
		kernel_numbers_done(ret);
	return r;
}

void kernel_numbers_done(struct kernel_numbers *numbers)
{
	for (uint32_t i = 0; numbers->processes && i < numbers->count; i++)
		free(numbers->processes[i].ids);
	free(numbers->processes);
	*numbers = (struct kernel_numbers){ 0 };
}

uint64_t kernel_number(const struct kernel_numbers *numbers, const struct model_process *process,
		       uint64_t id)
{
	const struct kernel_list *list = &numbers->processes[process->number];
	const uint64_t *found = bsearch(&id, list->ids, list->count, sizeof(id), by_id);

	return found ? (uint64_t)(found - list->ids) + 1 : 0;
}
