// The note beside the pointer: one for the whole page. Its first line is a title.

import { h } from "./dom";

const element = h("div", { class: "tip", "aria-hidden": "true" });

export function tipShow(lines: readonly string[], event: { clientX: number; clientY: number }): void {
	if (!element.isConnected)
		document.body.append(element);
	element.replaceChildren(...lines.filter(Boolean).map((line, i) => h("div", { class: i ? "" : "title" }, line)));
	element.style.display = "block";
	const { width, height } = element.getBoundingClientRect();
	const x = event.clientX + 14 + width > innerWidth ? event.clientX - width - 10 : event.clientX + 14;
	const y = event.clientY + 16 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 16;
	element.style.left = `${Math.max(4, x)}px`;
	element.style.top = `${Math.max(4, y)}px`;
}

export function tipHide(): void {
	element.style.display = "none";
}
