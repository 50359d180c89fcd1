/*
 * A library for hostile_names.  Its symbol placeholder_function is overwritten by the test.
 */
__attribute__((noinline, visibility("hidden"))) void placeholder_function_______________(void);
void library_turn(void);

static volatile unsigned long turns;

void placeholder_function_______________(void)
{
	for (unsigned long i = 0; i < 100000; i++)
		turns += i;
}

void library_turn(void)
{
	placeholder_function_______________();
	turns++;
}
