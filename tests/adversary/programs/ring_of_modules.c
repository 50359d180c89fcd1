/*
 * ring_of_modules: its dynamic linker's list of modules leads into an entry that is none, and from
 * there to the same again.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <unistd.h>

static struct link_map ring;

int main(void)
{
	ring.l_name = (char[]){ "" };
	ring.l_next = &ring;
	_r_debug.r_map->l_next = &ring;
	puts("ready");
	fflush(stdout);
	while (pause())
		;
}
