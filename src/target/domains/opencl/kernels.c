/*
 * Kernels are identified by their names, see work_kernel(). A cache maps handles to numbers of
 * names, until the driver returns the same handle for a new kernel. Runs inside application calls:
 * no locks; each cache entry is one word.
 */
#include "target/domains/opencl/opencl.h"
#include "target/runtime/mapping.h"
#include "target/runtime/text.h"

#define CACHE_SIZE  4096u
#define NUMBER_BITS 16u
#define SHORT_NAME  1024u
#define HANDLE_MASK (UINT64_MAX >> NUMBER_BITS)
#define NUMBER_MASK ((1ull << NUMBER_BITS) - 1)

typedef int32_t get_kernel_info(opencl_object kernel, uint32_t name, size_t size, void *value,
				size_t *ret_size);

static uint64_t known_handles[CACHE_SIZE]; /* a handle and the number of its name, in one word */

void kernels_start(void)
{
	for (unsigned i = 0; i < CACHE_SIZE; i++)
		known_handles[i] = 0;
}

uint64_t kernel_number_of_text(const char *text)
{
	writer_seal seal;
	struct writer *writer = writer_begin(&seal);
	uint64_t number = writer ? work_kernel(writer, text) : 0;

	if (writer)
		writer_end(writer, &seal);
	return number;
}

static uint64_t *cache_of(opencl_object kernel)
{
	return &known_handles[(kernel * 0x9e3779b97f4a7c15u >> 40) % CACHE_SIZE];
}

static void kernel_remember(opencl_object kernel, uint64_t number)
{
	if (number <= NUMBER_MASK && kernel <= HANDLE_MASK)
		__atomic_store_n(cache_of(kernel), kernel << NUMBER_BITS | number,
				 __ATOMIC_RELAXED);
}

static uint64_t number_of_long_name(get_kernel_info *ask, opencl_object kernel, size_t size)
{
	char *text = memory_map(size, 0);
	uint64_t number = 0;

	if (text && !ask(kernel, KERNEL_NAME, size, text, NULL))
		number = kernel_number_of_text(text);
	memory_unmap(text, size);
	return number;
}

static uint64_t query_number(const struct opencl_vendor *vendor, opencl_object kernel)
{
	get_kernel_info *ask = (get_kernel_info *)vendor->functions[ENTRY_clGetKernelInfo];
	char text[SHORT_NAME];
	size_t size = 0;

	if (!ask || ask(kernel, KERNEL_NAME, 0, NULL, &size) || !size)
		return 0;
	if (size > sizeof(text))
		return number_of_long_name(ask, kernel, size);
	if (ask(kernel, KERNEL_NAME, size, text, NULL))
		return 0;
	text[size - 1] = 0;
	return kernel_number_of_text(text);
}

uint64_t kernel_number(const struct opencl_vendor *vendor, opencl_object kernel)
{
	uint64_t known = __atomic_load_n(cache_of(kernel), __ATOMIC_RELAXED);
	uint64_t number = known & NUMBER_MASK;

	if (known >> NUMBER_BITS == kernel && work_kernel_is_named(number))
		return number;
	number = query_number(vendor, kernel);
	kernel_remember(kernel, number);
	return number;
}

/* The driver has just returned this handle for a new kernel. */
static void kernel_forget(opencl_object kernel)
{
	uint64_t *entry = cache_of(kernel);
	uint64_t known = __atomic_load_n(entry, __ATOMIC_RELAXED);

	if (known >> NUMBER_BITS == kernel)
		__atomic_store_n(entry, 0, __ATOMIC_RELAXED);
}

void kernel_after_create(struct hook_around *around, uint64_t end)
{
	(void)end;
	kernel_forget(around->frame.results[0]);
}

void kernel_after_create_all(struct hook_around *around, uint64_t end)
{
	uint32_t room = (uint32_t)hook_argument(&around->frame, 1);
	const opencl_object *made = (const opencl_object *)hook_argument(&around->frame, 2);

	(void)end;
	for (uint32_t i = 0; made && !(int32_t)around->frame.results[0] && i < room; i++)
		kernel_forget(made[i]);
}
