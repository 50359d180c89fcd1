/*
 * Runs inside the target, on the thread whose registration found a tool; the tools themselves run
 * on threads of the profiler's, with a time limit for each call.
 */
#include "compat/register/startup.h"

#include "compat/register/process/libc_functions.h"
#include "compat/register/process/loader.h"
#include "compat/register/switches.h"

typedef int start_function(const struct boot_libc *libc, const char *tools, char *text,
			   size_t room);
typedef int start_configure_function(const struct boot_libc *libc, void *configure, char *text,
				     size_t room);

/* A tool that fails is written down in the agent's page; here it changes nothing. */
static void startup_start(const struct sdk *sdk, const struct boot_libc *libc)
{
	start_function *start_tools = (start_function *)sdk_function(sdk, "limpet_inprocess_start");
	start_configure_function *start_one =
		(start_configure_function *)sdk_function(sdk, "limpet_inprocess_start_function");
	void *configure = loader_symbol(RTLD_DEFAULT, "rocprofiler_configure");
	char reasons[512];

	if (start_tools && switch_tools())
		start_tools(libc, switch_tools(), reasons, sizeof(reasons));
	if (start_one && configure)
		start_one(libc, configure, reasons, sizeof(reasons));
}

void startup_run(const struct sdk *sdk)
{
	static uint32_t was_run;
	struct boot_libc libc;

	/* Set before: a tool that uses a runtime calls this again. */
	if (!__atomic_exchange_n(&was_run, 1, __ATOMIC_RELAXED) && libc_functions_find(&libc))
		startup_start(sdk, &libc);
}
