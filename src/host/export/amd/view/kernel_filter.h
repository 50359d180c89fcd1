/*
 * Which kernels are wanted: by name, and by how often one has run.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/table.h"

#include <regex.h>

/* NULL or "": no such filter. */
struct kernel_filter_options {
	const char *include,
		*exclude;       /* extended regular expressions, found anywhere in the name */
	const char *iterations; /* "[1-3],[7]", "4"; counted from 1 for each kernel */
};

struct iteration_range {
	uint64_t first, last;
};

struct kernel_filter {
	regex_t include, exclude;
	bool has_include, has_exclude;
	struct iteration_range *ranges;
	size_t range_count;
	struct table kernels; /* (process, name): verdict, times seen */
};

/* -EINVAL: with the reason in err. */
int kernel_filter_init(struct kernel_filter *ret, const struct kernel_filter_options *options,
		       struct err *err) MUST_CHECK;
void kernel_filter_done(struct kernel_filter *filter);

/* Counts from the beginning again. */
void kernel_filter_begin(struct kernel_filter *filter);

/* Once for each time that it ran, in their order: 1, 0, or -ENOMEM. */
int kernel_filter_takes(struct kernel_filter *filter, uint64_t process, uint64_t id,
			const char *name) MUST_CHECK;
