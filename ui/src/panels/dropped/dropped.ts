// A file dropped into the page: limpet reads no file that a page names or sends, so the page shows how to open it.
// Without this, the browser would replace the page by the file.

import { copyButton, h } from "../../core/dom";
import { clean } from "../../core/text";

/** As one word of a shell. */
function quoted(name: string): string {
	return /^[\w.,:+@%/-]+$/.test(name) && !name.startsWith("-") ? name : `'./${name.replace(/'/g, "'\\''")}'`;
}

export class Dropped {
	readonly element = h("dialog", { class: "dialog", "aria-label": "open a recording" });

	constructor() {
		document.addEventListener("dragover", event => event.preventDefault());
		document.addEventListener("drop", event => {
			event.preventDefault();
			const names = [...event.dataTransfer?.files ?? []].map(file => clean(file.name));
			if (names.length)
				this.show(names.slice(0, 2));
		});
	}

	private show(names: string[]): void {
		const command = `limpet ui ${names.map(quoted).join(" ")}`, close = h("button", { type: "button" }, "Close");
		close.addEventListener("click", () => this.element.close());
		this.element.replaceChildren(h("h2", {}, "Open a recording"),
			h("p", {}, "limpet reads files that its own command line names, and none that a page sends. In the folder of the recording:"),
			h("p", {}, h("code", {}, command), " ", copyButton("Copy", () => command)), close);
		if (!this.element.open)
			this.element.showModal();
	}
}
