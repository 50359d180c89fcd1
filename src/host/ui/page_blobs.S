/*
 * The page of `limpet ui`, gzipped; the build gives the paths.
 */
	.section .rodata, "a", %progbits

	.macro blob name, path
	.balign 8
	.globl \name
	.globl \name\()_end
	.hidden \name
	.hidden \name\()_end
\name:
	.incbin "\path"
\name\()_end:
	.byte 0
	.endm

	blob page_html, HTML_PATH
	blob page_js, JS_PATH
	blob page_css, CSS_PATH

	.section .note.GNU-stack, "", %progbits
