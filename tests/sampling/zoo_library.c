/*
 * The library of zoo.c: linked to it, and under another name loaded and unloaded.
 */
typedef void (*leaf_function)(unsigned);

__attribute__((visibility("default"))) void zoo_library_step(unsigned value);
__attribute__((visibility("default"))) void zoo_library_call(leaf_function function,
							     unsigned value);

static volatile unsigned sink;

void zoo_library_step(unsigned value)
{
	sink += value;
}

void zoo_library_call(leaf_function function, unsigned value)
{
	function(value);
	sink++;
}
