/*
 * Two libraries with the same function, and a plugin that means the second one.
 */
#ifdef TWIN
int twin_number(void);

int twin_number(void)
{
	return TWIN;
}
#else
int twin_number(void);
int plugin_number(void);

int plugin_number(void)
{
	return twin_number();
}
#endif
