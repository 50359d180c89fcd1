/*
 * Filters kernels.  A kernel is compared with the expressions once, however often it runs.
 */
#include "host/export/amd/view/kernel_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/text/text.h"

enum { UNDECIDED, WANTED, UNWANTED };

static bool is_given(const char *option)
{
	return option && option[0];
}

static int kernel_filter_compile(regex_t *ret, const char *expression, struct err *err)
{
	char why[160];
	int code = regcomp(ret, expression, REG_EXTENDED | REG_NOSUB);

	if (!code)
		return 0;
	regerror(code, ret, why, sizeof(why));
	return err_usage(err, NULL, "invalid regular expression '%s': %s", expression, why);
}

/* "3" or "1-3", with brackets around it where people put them. */
static int take_range(struct kernel_filter *filter, struct text field)
{
	struct iteration_range *longer;
	uint64_t first, last;

	text_skip_blanks(&field);
	text_take_char(&field, '[');
	text_skip_blanks(&field);
	if (!text_take_number(&field, 10, &first))
		return -EINVAL;
	last = first;
	text_skip_blanks(&field);
	if (text_take_char(&field, '-')) {
		text_skip_blanks(&field);
		if (!text_take_number(&field, 10, &last))
			return -EINVAL;
	}
	text_skip_blanks(&field);
	text_take_char(&field, ']');
	text_skip_blanks(&field);
	if (field.at != field.end || !first || last < first)
		return -EINVAL;
	longer = reallocarray(filter->ranges, filter->range_count + 1, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	filter->ranges = longer;
	filter->ranges[filter->range_count++] = (struct iteration_range){ first, last };
	return 0;
}

static int take_ranges(struct kernel_filter *filter, const char *ranges, struct err *err)
{
	struct text rest = text_of(ranges), field;
	int r = 0;

	while (!r && text_take_field(&rest, ',', &field))
		r = take_range(filter, field);
	if (r == -EINVAL)
		return err_usage(err, "\"[1-3]\", \"[1,4-6]\" or \"7\"; the first time is 1",
				 "'%s' is not a range of iterations", ranges);
	return r ? err_set(err, r, "range of iterations: no memory") : 0;
}

int kernel_filter_init(struct kernel_filter *ret, const struct kernel_filter_options *options,
		       struct err *err)
{
	int r = 0;

	*ret = (struct kernel_filter){ 0 };
	if (is_given(options->include)) {
		r = kernel_filter_compile(&ret->include, options->include, err);
		ret->has_include = !r;
	}
	if (!r && is_given(options->exclude)) {
		r = kernel_filter_compile(&ret->exclude, options->exclude, err);
		ret->has_exclude = !r;
	}
	if (!r && is_given(options->iterations))
		r = take_ranges(ret, options->iterations, err);
	if (r)
		kernel_filter_done(ret);
	return r;
}

void kernel_filter_done(struct kernel_filter *filter)
{
	if (filter->has_include)
		regfree(&filter->include);
	if (filter->has_exclude)
		regfree(&filter->exclude);
	free(filter->ranges);
	table_done(&filter->kernels);
	*filter = (struct kernel_filter){ 0 };
}

void kernel_filter_begin(struct kernel_filter *filter)
{
	table_done(&filter->kernels);
	filter->kernels = (struct table){ 0 };
}

static bool is_wanted(const struct kernel_filter *filter, const char *name)
{
	if (filter->has_include && regexec(&filter->include, name, 0, NULL, 0))
		return false;
	return !filter->has_exclude || regexec(&filter->exclude, name, 0, NULL, 0);
}

static bool is_in_range(const struct kernel_filter *filter, uint64_t iteration)
{
	for (size_t i = 0; i < filter->range_count; i++)
		if (iteration >= filter->ranges[i].first && iteration <= filter->ranges[i].last)
			return true;
	return !filter->range_count;
}

int kernel_filter_takes(struct kernel_filter *filter, uint64_t process, uint64_t id,
			const char *name)
{
	struct table_entry *kernel;
	bool is_new;

	if (!filter->has_include && !filter->has_exclude && !filter->range_count)
		return 1;
	kernel = table_make(&filter->kernels, process, id, &is_new);
	if (!kernel)
		return -ENOMEM;
	if (kernel->value == UNDECIDED)
		kernel->value = is_wanted(filter, name) ? WANTED : UNWANTED;
	if (kernel->value == UNWANTED)
		return 0;
	return is_in_range(filter, ++kernel->more);
}
