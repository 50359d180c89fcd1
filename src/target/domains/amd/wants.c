/*
 * Written before the first hook is installed, read by every traced call.
 */
#include "target/domains/amd/wants.h"

#include "target/hooks/wants.h"
#include "target/runtime/text.h"

static bool is_wanted[DOMAINS];

void amd_wants_start(const struct trace_request *request)
{
	for (unsigned i = 0; i < DOMAINS; i++)
		is_wanted[i] = request->is_wanted[i];
}

bool amd_wants(enum trace_domain domain)
{
	return __atomic_load_n(&is_wanted[domain], __ATOMIC_RELAXED);
}

bool amd_wants_work(void)
{
	return is_wanted[DOMAIN_KERNEL] || is_wanted[DOMAIN_COPY] || is_wanted[DOMAIN_MEMORY] ||
	       is_wanted[DOMAIN_SCRATCH] || is_wanted[DOMAIN_COUNTER] || is_wanted[DOMAIN_WINDOW];
}

bool imports_add(const struct import_pattern *patterns, size_t count, enum trace_domain domain)
{
	bool fits = true;

	for (size_t i = 0; i < count; i++) {
		const struct traced *traced = patterns[i].traced;

		fits &= wants_add_pattern(
			traced->domain == domain || is_wanted[traced->domain] ? traced : NULL,
			patterns[i].text, text_length(patterns[i].text));
	}
	return fits;
}
