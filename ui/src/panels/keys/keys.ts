// The action of each key: one table, for the help and for finding keys.

import { h } from "../../core/dom";

export interface Key {
	key: string;
	text: string;
	run: () => void;
}

function isTyping(target: EventTarget | null): boolean {
	return target instanceof HTMLInputElement && target.type !== "checkbox" || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

/** A button pressed with the pointer releases the focus, so that the next key is the page's. */
function focusReturn(event: MouseEvent): void {
	const pressed = event.target instanceof Element ? event.target.closest<HTMLElement>("button, input[type=checkbox]") : null;
	if (event.detail > 0 && !pressed?.closest("dialog"))
		pressed?.blur();
}

const ELSEWHERE: readonly (readonly [string, string])[] = [
	["arrows", "move in a flame graph, list, tree, heatmap or timeline"], ["Enter", "zoom in, open, select"], ["Tab", "next part of the page"], ["space on a button", "presses it, where Tab led to it"],
];
const WRITTEN: Record<string, string> = { " ": "space", Escape: "Esc" };

export class Keys {
	readonly element = h("dialog", { class: "dialog", "aria-label": "keys" });

	constructor(private readonly keys: readonly Key[]) {
		const close = h("button", { type: "button" }, "Close");
		close.addEventListener("click", () => this.element.close());
		const rows = [...keys.map(one => [WRITTEN[one.key] ?? one.key, one.text] as const), ...ELSEWHERE];
		this.element.append(h("h2", {}, "Keys"), h("dl", { class: "keys" }, ...rows.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])), close);
		document.addEventListener("keydown", event => this.pressed(event));
		document.addEventListener("click", event => focusReturn(event), true);
	}

	private pressed(event: KeyboardEvent): void {
		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]"))
			return;
		if (isTyping(event.target)) {
			if (event.key === "Escape")
				(event.target as HTMLElement).blur();
			return;
		}
		const isButton = event.target instanceof HTMLButtonElement || event.target instanceof HTMLInputElement;
		const found = this.keys.find(one => one.key === event.key);
		if (!found || isButton && event.key === " ")
			return;
		event.preventDefault();
		found.run();
	}

	open(): void {
		this.element.showModal();
	}
}
