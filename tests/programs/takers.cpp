// Takes a known number of bytes in many ways when a line comes, gives all of them back, says "done" and waits.  With OWN_OPERATORS
// operator new is the program's, and it is the C++ library that calls it.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

static const int BLOCKS = 50000;
static const size_t BYTES = 200;
#ifndef OWN_OPERATORS
static const int LARGE_BLOCKS = 1000;
static const size_t LARGE_BYTES = 65536;
#endif

static void *volatile taken;

#ifdef OWN_OPERATORS
static volatile unsigned long news;

void *operator new(size_t size)
{
	void *memory = malloc(size);

	news = news + 1;
	if (!memory)
		abort();
	return memory;
}

void operator delete(void *memory) noexcept
{
	free(memory);
}

void operator delete(void *memory, size_t) noexcept
{
	free(memory);
}

static void take_all()
{
	std::string text(BYTES - 1, 'x'); // in the library: one more is for the end

	taken = &text[0];
}
#else
static void take_as_c()
{
	void *memory = nullptr;

	free(taken = malloc(BYTES));
	free(taken = calloc(BYTES / 8, 8));
	free(taken = realloc(nullptr, BYTES));
	free(taken = reallocarray(nullptr, BYTES / 8, 8));
	if (posix_memalign(&memory, 64, BYTES))
		abort();
	free(taken = memory);
}

static void take_as_cpp()
{
	operator delete(taken = operator new(BYTES));
	operator delete[](taken = operator new[](BYTES));
	operator delete(taken = operator new(BYTES, std::nothrow));
	operator delete[](taken = operator new[](BYTES, std::nothrow));
	operator delete(taken = operator new(BYTES, std::align_val_t(64)), std::align_val_t(64));
	operator delete[](taken = operator new[](BYTES, std::align_val_t(64)), std::align_val_t(64));
}

static void take_all()
{
	take_as_c();
	take_as_cpp();
}

// The next call is alike in every way: the same site, the same size.
static void take_again()
{
	void *memory = nullptr;

	for (int i = 0; i < LARGE_BLOCKS; i++)
		taken = memory = reallocarray(memory, LARGE_BYTES / 8, 8);
	free(memory);
}
#endif

int main()
{
	char line[16];

	take_all(); // bound before anybody looks
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < BLOCKS; i++)
		take_all();
#ifndef OWN_OPERATORS
	take_again();
#endif
	puts("done");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : 1;
}
