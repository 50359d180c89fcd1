/*
 * Hooked entries are normally used for calls alone, so no application code can have stored a hook's
 * address. These are the exceptions. Runs on limpet's threads; on_close() on the closing thread.
 */
#include "target/tool/staying.h"

#include "target/agent/rings.h"
#include "target/domains/cpu/alloc_addresses.h"
#include "target/hooks/got/got.h"
#include "target/hooks/writer.h"
#include "target/runtime/forks.h"
#include "target/runtime/text.h"

#define REASON_MAX 160

/* Missing if another program than limpet has loaded this library. */
#pragma weak limpet_agent_is_unloading
#pragma weak limpet_agent_keep_tracer
#pragma weak limpet_agent_turn

/* Domains that hook only import entries, and register no callback with a library. */
static const uint32_t imports_only =
	1u << DOMAIN_ALLOC | 1u << DOMAIN_IO | 1u << DOMAIN_LOCK | 1u << DOMAIN_FUNCTION;

static void tracer_keep(const char *reason)
{
	if (limpet_agent_keep_tracer)
		limpet_agent_keep_tracer(reason);
}

void staying_judge_request(const struct trace_request *request)
{
	for (unsigned i = 0; i < DOMAINS; i++)
		if (request->is_wanted[i] && !(imports_only >> i & 1))
			tracer_keep(
				"a traced GPU or marker library may have kept the address of a hook");
	if (request->address_entries)
		tracer_keep("--address-entries: the program may have kept the address of a hook");
	if (!limpet_agent_turn || forks_turn() != limpet_agent_turn())
		tracer_keep("the program's forks call it");
}

/* A tool that has changed an entry after limpet may have stored limpet's stub. */
void staying_judge_words(const struct patches_left *left)
{
	char reason[REASON_MAX];
	size_t at;

	if (!left->foreign && !left->unwritable)
		return;
	at = text_add(reason, sizeof(reason), 0, "an import entry of ");
	at = text_add(reason, sizeof(reason), at, got_module_name(left->owner));
	text_add(
		reason, sizeof(reason), at,
		left->foreign
			? " was modified by another tool, which may have kept the address of a hook"
			: " leads to it and cannot be written any more");
	tracer_keep(reason);
}

/* At the process's end threads may still run hooks: frees only on unload. */
__attribute__((destructor)) static void on_close(void)
{
	if (!limpet_agent_is_unloading || !limpet_agent_is_unloading())
		return;
	writers_free();
	alloc_addresses_free();
}
