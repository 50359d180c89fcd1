/*
 * STAND-IN, for tests only, of AMD's libroctx64.so.4: three tables (core, control, name),
 * registered together at the first call.
 */
#include "standin_roctx.h"

#include "standin.h"

#include <sys/syscall.h>
#include <unistd.h>

#define ROCTX_VERSION ROCPROFILER_REGISTER_COMPUTE_VERSION_3(4, 1, 0)

enum { CORE_SLOTS = 6, CONTROL_SLOTS = 2, NAME_SLOTS = 4 };
enum core_slot {
	SLOT_roctxMarkA,
	SLOT_roctxRangePushA,
	SLOT_roctxRangePop,
	SLOT_roctxRangeStartA,
	SLOT_roctxRangeStop,
	SLOT_roctxGetThreadId,
};

static __thread int depth;

static void do_mark(const char *message)
{
	(void)message;
}

static int do_push(const char *message)
{
	(void)message;
	return depth++;
}

static int do_pop(void)
{
	return depth ? --depth : -1;
}

static uint64_t do_start(const char *message)
{
	static uint64_t last;

	(void)message;
	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static void do_stop(uint64_t id)
{
	(void)id;
}

static int do_thread_id(uint64_t *ret)
{
	*ret = (uint64_t)syscall(SYS_gettid);
	return 0;
}

static struct {
	uint64_t size;
	void *slots[CORE_SLOTS];
} core = { sizeof(core),
	   { (void *)do_mark, (void *)do_push, (void *)do_pop, (void *)do_start, (void *)do_stop,
	     (void *)do_thread_id } };

static struct {
	uint64_t size;
	void *slots[CONTROL_SLOTS];
} control = { sizeof(control), { (void *)standin_nothing, (void *)standin_nothing } };

static struct {
	uint64_t size;
	void *slots[NAME_SLOTS];
} name_table = { sizeof(name_table),
		 { (void *)standin_nothing, (void *)standin_nothing, (void *)standin_nothing,
		   (void *)standin_nothing } };

ROCPROFILER_REGISTER_DEFINE_IMPORT(roctx, ROCTX_VERSION)

static struct standin_registration roctx = {
	.name = "roctx",
	.version = ROCTX_VERSION,
	.import = ROCPROFILER_REGISTER_IMPORT_FUNC(roctx),
	.part_count = 3,
	.parts = { &core, &control, &name_table },
	.slots = { CORE_SLOTS, CONTROL_SLOTS, NAME_SLOTS },
	.code = -1,
};

static void **slots(void)
{
	static int is_registered;

	if (!__atomic_exchange_n(&is_registered, 1, __ATOMIC_ACQ_REL))
		standin_register(&roctx);
	return core.slots;
}

#define NOW(name) ((__typeof__(&name))__atomic_load_n(&slots()[SLOT_##name], __ATOMIC_RELAXED))

STANDIN_EXPORT void roctxMarkA(const char *message)
{
	NOW(roctxMarkA)(message);
}

STANDIN_EXPORT int roctxRangePushA(const char *message)
{
	return NOW(roctxRangePushA)(message);
}

STANDIN_EXPORT int roctxRangePop(void)
{
	return NOW(roctxRangePop)();
}

STANDIN_EXPORT uint64_t roctxRangeStartA(const char *message)
{
	return NOW(roctxRangeStartA)(message);
}

STANDIN_EXPORT void roctxRangeStop(uint64_t id)
{
	NOW(roctxRangeStop)(id);
}

STANDIN_EXPORT int roctxGetThreadId(uint64_t *ret)
{
	return NOW(roctxGetThreadId)(ret);
}

/* The second table: pause, resume. */
static int call_control(unsigned slot, uint64_t tid)
{
	slots();
	return ((int (*)(uint64_t))__atomic_load_n(&control.slots[slot], __ATOMIC_RELAXED))(tid);
}

STANDIN_EXPORT int roctxProfilerPause(uint64_t tid)
{
	return call_control(0, tid);
}

STANDIN_EXPORT int roctxProfilerResume(uint64_t tid)
{
	return call_control(1, tid);
}

STANDIN_EXPORT void standin_roctx_print(void)
{
	standin_print(&roctx);
}
