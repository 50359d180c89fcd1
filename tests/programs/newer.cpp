// Takes a known number of blocks by operator new when a line comes, then says "done" and waits.
#include <cstdio>
#include <cstdlib>
#include <new>

static const int BLOCKS = 100000, BYTES = 200;

static char *volatile taken;

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void take_one()
{
	taken = new char[BYTES];
	taken = static_cast<char *>(operator new(BYTES));
}

__attribute__((optimize("no-omit-frame-pointer"))) int main()
{
	char line[16];

	taken = new char[1]; // bound before anybody looks
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < BLOCKS; i++)
		take_one();
	puts("done");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : 1;
}
