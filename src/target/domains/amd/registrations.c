/*
 * Runs in a call that a runtime makes once for each kind of table, on an application thread: here
 * and in hsa/life.c only, such a thread waits for one of limpet's, up to a limit.
 */
#include "target/domains/amd/registrations.h"

#include "target/domains/amd/hsa/life.h"
#include "target/hooks/writer.h"
#include "target/runtime/text.h"

static registrations_take *take_table;
static void (*consult_watch)(void);

void registrations_use(registrations_take *take, void (*consult)(void))
{
	take_table = take;
	consult_watch = consult;
	hsa_life_use(consult);
}

/* rocprofiler_register_library_api_table(name, import, version, tables, count, id) */
static void on_registered(struct hook_around *around, uint64_t end)
{
	const struct hook_frame *frame = &around->frame;
	const char *name = (const char *)hook_argument(frame, 0);
	void **tables = (void **)hook_argument(frame, 3);
	uint64_t count = hook_argument(frame, 4);

	(void)end;
	if (!writers_are_on() || !take_table || !name || !tables)
		return;
	if (text_equal(name, "hsa") && count)
		hsa_life_registered((uint64_t)tables[0]);
	/* limpet's threads have no writer. */
	if (writer_mine() && !take_table(name, (uint32_t)hook_argument(frame, 2), 0, tables, count))
		consult_watch();
}

static void write_nothing(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	(void)writer, (void)hook, (void)frame, (void)end;
}

const struct traced registration = {
	.symbol = "rocprofiler_register_library_api_table",
	.is_only_called = true, /* a weak import: runtimes test its address, and call it */
	.domain = DOMAIN_FUNCTION,
	.way = HOOK_AROUND,
	.write = write_nothing,
	.after = on_registered,
};
