/*
 * The page of `limpet ui`, gzipped; the build gives the paths.
 */
#include "host/core/embed.S"

	.section .rodata, "a", %progbits

	embed page_html, HTML_PATH
	embed page_js, JS_PATH
	embed page_css, CSS_PATH

	.section .note.GNU-stack, "", %progbits
