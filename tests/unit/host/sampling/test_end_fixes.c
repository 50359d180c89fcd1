/*
 * What is advised about incomplete stacks: never the sampler, or the option, that is in use.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "host/sampling/sampler.h"

static void advises_no_sampler_in_use(void **state)
{
	char option[32];

	(void)state;
	for (unsigned i = 0; samplers[i]; i++)
		for (unsigned end = 0; end < STACK_ENDS; end++) {
			const char *fix = stack_end_fix(end, samplers[i]->name, false);

			snprintf(option, sizeof(option), "--sampler %s", samplers[i]->name);
			assert_null(strstr(fix, option));
			assert_true(end == STACK_COMPLETE ? !fix[0] : fix[0] != '\0');
			/* bpf and copy are offered together, to those who use neither. */
			if (!strcmp(samplers[i]->name, "copy"))
				assert_null(strstr(fix, "or copy"));
		}
}

static void advises_others_to_choose_a_process_only_with_all(void **state)
{
	(void)state;
	for (unsigned end = 0; end < STACK_ENDS; end++) {
		assert_null(strstr(stack_end_fix(end, "bpf", false), "-p "));
		assert_null(strstr(stack_end_fix(end, "bpf", true), "--sampler"));
	}
}

static void names_no_runtime_that_may_be_another(void **state)
{
	const char *fix = stack_end_fix(STACK_GENERATED, "bpf", false);

	(void)state;
	assert_null(strstr(fix, "java"));
	assert_null(strstr(fix, "erl"));
	assert_non_null(strstr(fix, "frame pointers"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advises_no_sampler_in_use),
		cmocka_unit_test(advises_others_to_choose_a_process_only_with_all),
		cmocka_unit_test(names_no_runtime_that_may_be_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
