/*
 * Kernels are known by their names: each name gets a number, which is said to the host once a
 * session.  Which handle has which name is remembered as long as nobody makes a kernel with that
 * handle.  Runs inside calls of the program's: no locks; each memory is a word of its own.
 */
#include "shared/arch/syscall.h"
#include "target/domains/opencl.h"
#include "target/runtime/text.h"

#include <sys/mman.h>

#define NAMES_MAX   4096u
#define PROBES_MAX  64u
#define CACHE_SIZE  4096u
#define NUMBER_BITS 16u
#define SHORT_NAME  1024u
#define HANDLE_MASK (UINT64_MAX >> NUMBER_BITS)
#define UNNUMBERED  (1ull << 63) /* beyond NAMES_MAX the hash is the number */

typedef int32_t get_kernel_info(opencl_object kernel, uint32_t name, size_t size, void *value,
				size_t *ret_size);

static uint64_t hashes[NAMES_MAX];         /* of names; their place is their number */
static uint32_t said[NAMES_MAX];           /* the session in which the host was told */
static uint64_t known_handles[CACHE_SIZE]; /* handle and number of its name, in one word */

void kernels_start(void)
{
	for (unsigned i = 0; i < CACHE_SIZE; i++)
		known_handles[i] = 0;
}

static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	return hash ? hash : 1;
}

/* The place of a name, made when it has none; NAMES_MAX when there is no room. */
static uint32_t place_of(uint64_t hash)
{
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		uint32_t place = (uint32_t)((hash >> 20) + i) % NAMES_MAX;
		uint64_t empty = 0;

		if (__atomic_load_n(&hashes[place], __ATOMIC_RELAXED) == hash ||
		    __atomic_compare_exchange_n(&hashes[place], &empty, hash, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    empty == hash)
			return place;
	}
	return NAMES_MAX;
}

static bool say(uint64_t number, const char *text, size_t length)
{
	writer_seal seal;
	struct writer *writer = writer_begin(&seal);
	bool is_said = writer && writer_name(writer, NAME_KERNEL, number, text, length);

	if (writer)
		writer_end(writer, &seal);
	return is_said;
}

uint64_t kernel_number_of_text(const char *text, size_t length)
{
	uint64_t hash = hash_of(text, length);
	uint32_t place = place_of(hash), session = writers_session();
	uint64_t number = place < NAMES_MAX ? OPENCL_FIRST_KERNEL + place : hash | UNNUMBERED;

	if (place < NAMES_MAX && __atomic_load_n(&said[place], __ATOMIC_RELAXED) == session)
		return number;
	if (say(number, text, length) && place < NAMES_MAX)
		__atomic_store_n(&said[place], session, __ATOMIC_RELAXED);
	return number;
}

static uint64_t *cache_of(opencl_object kernel)
{
	return &known_handles[(kernel * 0x9e3779b97f4a7c15u >> 40) % CACHE_SIZE];
}

static void remember(opencl_object kernel, uint64_t number)
{
	uint64_t place = number - OPENCL_FIRST_KERNEL;

	if (place < NAMES_MAX && !(kernel & ~HANDLE_MASK) &&
	    __atomic_load_n(&said[place], __ATOMIC_RELAXED) == writers_session())
		__atomic_store_n(cache_of(kernel), kernel << NUMBER_BITS | place, __ATOMIC_RELAXED);
}

static uint64_t number_of_long_name(get_kernel_info *ask, opencl_object kernel, size_t size)
{
	long r =
		raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *text = (char *)r;
	uint64_t number = 0;

	if (r < 0 && r > -4096)
		return 0;
	if (!ask(kernel, KERNEL_NAME, size, text, NULL))
		number = kernel_number_of_text(text, text_length(text));
	raw2(SYS_munmap, text, size);
	return number;
}

static uint64_t ask_number(const struct opencl_vendor *vendor, opencl_object kernel)
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
	return kernel_number_of_text(text, text_length(text));
}

uint64_t kernel_number(const struct opencl_vendor *vendor, opencl_object kernel)
{
	uint64_t known = __atomic_load_n(cache_of(kernel), __ATOMIC_RELAXED), number;

	if (known && known >> NUMBER_BITS == kernel)
		return OPENCL_FIRST_KERNEL + (known & ((1u << NUMBER_BITS) - 1));
	number = ask_number(vendor, kernel);
	remember(kernel, number);
	return number;
}

/* A handle that was given out just now is a new kernel. */
static void forget(opencl_object kernel)
{
	uint64_t *place = cache_of(kernel);
	uint64_t known = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (known >> NUMBER_BITS == kernel)
		__atomic_store_n(place, 0, __ATOMIC_RELAXED);
}

void kernel_after_create(struct hook_around *around, uint64_t end)
{
	(void)end;
	forget(around->frame.results[0]);
}

void kernel_after_create_all(struct hook_around *around, uint64_t end)
{
	uint32_t room = (uint32_t)hook_argument(around, 1);
	const opencl_object *made = (const opencl_object *)hook_argument(around, 2);

	(void)end;
	for (uint32_t i = 0; made && !(int32_t)around->frame.results[0] && i < room; i++)
		forget(made[i]);
}
