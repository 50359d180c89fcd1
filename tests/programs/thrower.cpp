/*
 * C++ exceptions through traced calls: out of a callback that a traced function calls, and over
 * frames with destructors.  operator new and delete, too.
 */
extern "C" {
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
}
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static int destroyed;

struct guard {
	~guard()
	{
		destroyed++;
	}
};

static int compare(const void *, const void *)
{
	guard inner;

	throw std::runtime_error("out of a traced call");
}

static bool leave()
{
	guard outer;
	int numbers[4] = { 4, 3, 2, 1 };

	try {
		guard middle;

		qsort(numbers, 4, sizeof(int), compare);
	} catch (const std::runtime_error &error) {
		return std::string(error.what()) == "out of a traced call";
	}
	return false;
}

int main()
{
	printf("ready\n");
	fflush(stdout);
	for (long turn = 0;; turn++) {
		std::vector<std::unique_ptr<long>> many;

		destroyed = 0;
		if (!leave() || destroyed != 3)
			return 1;
		for (long i = 0; i < 100; i++)
			many.push_back(std::make_unique<long>(i));
		usleep(200);
	}
}
