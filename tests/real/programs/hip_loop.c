/*
 * A program that calls an old HIP runtime (Debian's, without tables) when it is told to, and says
 * what came of it.  "go N" makes N rounds; answers are lines "did NAME RESULT COUNT" and "end".
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int hipInit(unsigned flags);
int hipGetDeviceCount(int *count);
int hipMalloc(void **memory, unsigned long size);
int hipFree(void *memory);
int hipRuntimeGetVersion(int *version);
const char *hipGetErrorString(int error);

struct did {
	const char *name;
	int result;
	unsigned long count;
};

static void print(const struct did *did)
{
	printf("did %s %d %lu\n", did->name, did->result, did->count);
}

static void go(unsigned long rounds)
{
	struct did init = { "hipInit", 0, rounds }, count = { "hipGetDeviceCount", 0, rounds };
	struct did take = { "hipMalloc", 0, rounds }, give = { "hipFree", 0, rounds };
	struct did version = { "hipRuntimeGetVersion", 0, rounds };
	int number;
	void *memory = NULL;

	for (unsigned long i = 0; i < rounds; i++) {
		init.result = hipInit(0);
		count.result = hipGetDeviceCount(&number);
		take.result = hipMalloc(&memory, 4096);
		give.result = hipFree(memory);
		version.result = hipRuntimeGetVersion(&number);
		if (!strlen(hipGetErrorString(take.result)))
			printf("no words for %d\n", take.result);
	}
	print(&init);
	print(&count);
	print(&take);
	print(&give);
	print(&version);
	printf("end\n");
	fflush(stdout);
}

int main(void)
{
	char line[64];
	unsigned long rounds;

	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		if (sscanf(line, "go %lu", &rounds) == 1)
			go(rounds);
	return 0;
}
