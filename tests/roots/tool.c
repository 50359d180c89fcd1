/* A tool library that needs no libc at all, so that it loads into programs of every one. */
int limpet_test_tool(void);

int limpet_test_tool(void)
{
	return 42;
}
