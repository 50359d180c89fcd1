/*
 * Exceptions in flight through known frames, all the time.
 */
#define APART __attribute__((noinline, noipa))

static volatile unsigned sink;

APART void throw_level(unsigned level)
{
	struct guard {
		~guard()
		{
			sink = sink + 1;
		}
	} guarded;

	if (!level)
		throw level;
	throw_level(level - 1);
}

APART void catch_all()
{
	try {
		throw_level(12);
	} catch (unsigned) {
		sink = sink + 1;
	}
}

int main()
{
	for (;;)
		catch_all();
}
