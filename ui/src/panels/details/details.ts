// The selection: a frame, a moment of a thread, a kernel; its stack, and its actions.

import type { App } from "../../core/app";
import { copyButton, h } from "../../core/dom";
import { Frame } from "../../core/types";
import { clean } from "../../core/text";
import { Transform } from "../../core/view";

export interface Detail {
	name: string;
	module: string;
	source: string;
	/** "self 1.2 s (12 %)", … */
	figures: string[];
	/** Outermost first. */
	stack: readonly Frame[];
	isFunction: boolean;
	zoom?: () => void;
}

function frameText(frame: Frame): string {
	const module = frame.module ? ` (${clean(frame.module)})` : "";
	const source = frame.file ? ` ${clean(frame.file)}${frame.line ? `:${frame.line}` : ""}` : "";
	return `${clean(frame.name)}${module}${source}`;
}

/** Innermost first, as debuggers print it. */
export function stackText(stack: readonly Frame[]): string {
	return [...stack].reverse().map((frame, i) => `#${i} ${frameText(frame)}`).join("\n");
}

export class Details {
	readonly element = h("section", { class: "details", "aria-label": "details", hidden: true });

	constructor(private readonly app: App) {
		app.on("view", changed => {
			if (changed.has("tab") || changed.has("session"))
				this.hide();
		});
	}

	hide(): void {
		this.element.hidden = true;
	}

	show(detail: Detail): void {
		const close = h("button", { type: "button", class: "close", "aria-label": "close details", title: "close (Esc)" }, "×");
		close.addEventListener("click", () => this.hide());
		this.element.replaceChildren(
			h("div", { class: "head" },
				h("strong", { class: "mono" }, detail.name), h("span", { class: "dim" }, detail.module), h("span", { class: "mono dim" }, detail.source),
				h("span", { class: "grow" }), close),
			h("div", { class: "figures" }, ...detail.figures.map(text => h("span", {}, text))),
			h("div", { class: "actions" }, ...this.actions(detail)),
			detail.stack.length ? this.stackList(detail.stack) : null as unknown as string);
		this.element.hidden = false;
		this.app.announce([detail.name, ...detail.figures].join(", "));
	}

	private stackList(stack: readonly Frame[]): HTMLElement {
		const rows = [...stack].reverse().map(frame => h("li", { class: frame.inlined ? "inlined" : "" },
			h("span", {}, clean(frame.name)), h("span", { class: "dim" }, frame.module ? ` ${clean(frame.module)}` : ""),
			h("span", { class: "dim" }, frame.file ? ` ${clean(frame.file)}${frame.line ? `:${frame.line}` : ""}` : "")));
		return h("ol", { class: "stack mono", start: "0", tabindex: "0", "aria-label": "stack, innermost first" }, ...rows);
	}

	private actions(detail: Detail): HTMLElement[] {
		const { app } = this, { name, module } = detail;
		const add = (what: Transform["what"]) => (): void =>
			app.show({ transforms: [...app.view.transforms, { what, name, module }] });
		const button = (text: string, title: string, action: () => void): HTMLElement => {
			const one = h("button", { type: "button", title }, text);
			one.addEventListener("click", action);
			return one;
		};
		const all: HTMLElement[] = [];
		if (detail.zoom)
			all.push(button("Zoom", "make it as wide as the picture (Enter)", detail.zoom));
		if (detail.isFunction) {
			all.push(
				button("Focus", "only stacks through this function", add("focus")),
				button("Hide", "leave out stacks with this function", add("drop")),
				button("Merge into caller", "count its time as its caller's", add("merge")),
				button("Collapse recursion", "functions that call themselves become one frame", add("recursion")));
			if (module)
				all.push(button("Collapse library", `one frame for all of ${module}`, add("library")));
			all.push(button("Sandwich", "its callers and callees", () => app.show({ tab: "sandwich", chosen: { name, module } })));
		}
		if (detail.stack.length)
			all.push(copyButton("Copy stack", () => stackText(detail.stack)));
		else
			all.push(copyButton("Copy name", () => name));
		return all;
	}
}
