/*
 * One mapping, never unmapped.
 */
#include "target/amd/hsa/code_store.h"

#include "shared/arch/syscall.h"
#include "target/amd/tables/threads.h"
#include "target/runtime/patience.h"
#include "target/runtime/text.h"

#include <sys/mman.h>

#define TEXT_EACH 65536u
#define LIMIT_NS  2000000000ull
#define PAUSE_NS  1000000

struct code_store *code_store;
static uint32_t is_busy;
static int32_t busy_thread;

/* A tool's callback may start contexts with the lock held: fails instead of deadlocking. */
bool code_store_lock(void)
{
	struct patience patience = { 0, 0 };

	if (__atomic_load_n(&busy_thread, __ATOMIC_RELAXED) == call_thread_number())
		return false;
	do {
		if (!__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE)) {
			__atomic_store_n(&busy_thread, call_thread_number(), __ATOMIC_RELAXED);
			return true;
		}
	} while (patience_pause(&patience, PAUSE_NS, LIMIT_NS));
	return false;
}

void code_store_unlock(void)
{
	__atomic_store_n(&busy_thread, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

/* In a forked child: the thread that held the lock does not exist. */
void code_store_adopt(void)
{
	is_busy = 0;
	busy_thread = 0;
}

bool code_store_open(void)
{
	long r;

	if (code_store)
		return true;
	r = raw6(SYS_mmap, 0, sizeof(*code_store), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	code_store = (struct code_store *)r;
	return true;
}

char *code_store_text(uint32_t length)
{
	char *text = code_store->text + code_store->text_used;

	if (length >= TEXT_EACH || code_store->text_used + length + 1 > TEXT_BYTES)
		return NULL;
	code_store->text_used += length + 1;
	return text;
}

static uint32_t *bucket_of(const char *name)
{
	uint32_t sum = 2166136261u;

	for (; *name; name++)
		sum = (sum ^ (unsigned char)*name) * 16777619u;
	return &code_store->buckets[(sum ^ sum >> 16) % BUCKETS];
}

struct code_kernel *code_store_add(const char *name, uint64_t code_object)
{
	struct code_kernel *kernel = &code_store->kernels[code_store->kernel_count];

	if (!name || code_store->kernel_count == KERNELS_MAX)
		return NULL;
	kernel->data = (struct code_kernel_data){ .size = sizeof(kernel->data),
						  .id = code_store->kernel_count + 1ull,
						  .code_object = code_object,
						  .name = name };
	kernel->next = *bucket_of(name);
	code_store->kernel_count++;
	/* Release: pairs with code_store_find(), which takes no lock. */
	__atomic_store_n(bucket_of(name), code_store->kernel_count, __ATOMIC_RELEASE);
	return kernel;
}

static uint32_t *object_bucket(uint64_t object)
{
	return &code_store->object_buckets[(object * 0x9e3779b97f4a7c15u >> 40) % BUCKETS];
}

void code_store_index(struct code_kernel *kernel)
{
	uint32_t *bucket = object_bucket(kernel->data.object);

	kernel->next_object = *bucket;
	/* Release: pairs with code_store_find_object(), which takes no lock. */
	__atomic_store_n(bucket, (uint32_t)kernel->data.id, __ATOMIC_RELEASE);
}

uint64_t code_store_find_object(uint64_t object)
{
	uint32_t at =
		code_store && object ? __atomic_load_n(object_bucket(object), __ATOMIC_ACQUIRE) : 0;

	while (at && (code_store->kernels[at - 1].is_gone ||
		      code_store->kernels[at - 1].data.object != object))
		at = code_store->kernels[at - 1].next_object;
	return at;
}

const char *code_store_name(uint64_t object)
{
	uint64_t id = code_store_find_object(object);

	return id ? code_store->kernels[id - 1].data.name : NULL;
}

uint64_t code_store_find(const char *name)
{
	uint32_t at = code_store ? __atomic_load_n(bucket_of(name), __ATOMIC_ACQUIRE) : 0;

	while (at && (code_store->kernels[at - 1].is_gone ||
		      !text_equal(code_store->kernels[at - 1].data.name, name)))
		at = code_store->kernels[at - 1].next;
	return at;
}
