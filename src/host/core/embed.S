/*
 * For assembly: `embed NAME, PATH` lays a file into the program, hidden, from NAME to NAME_end.
 */
#pragma once

	.macro embed name, path
	.balign 64
	.globl \name
	.globl \name\()_end
	.hidden \name
	.hidden \name\()_end
\name:
	.incbin "\path"
\name\()_end:
	.byte 0
	.endm
