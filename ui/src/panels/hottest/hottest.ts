// The hottest functions of the last ten seconds of a live session. Rows keep their element, so nothing blinks.

import type { App } from "../../core/app";
import { h, textSet } from "../../core/dom";
import { clean, percent } from "../../core/text";

export class Hottest {
	readonly element: HTMLElement;
	private readonly rows = h("ol");
	private readonly message = h("p", { class: "message small" });
	private isHeld = false;

	constructor(private readonly app: App) {
		this.element = h("section", { class: "hottest", "aria-label": "hottest functions of the last ten seconds" },
			h("h2", {}, "Hottest, last 10 s"), this.rows, this.message);
		this.rows.addEventListener("pointerenter", () => { this.isHeld = true; });
		this.rows.addEventListener("pointerleave", () => { this.isHeld = false; });
		app.on("live", () => this.update());
		app.on("session", () => this.update());
	}

	private update(): void {
		this.element.hidden = this.app.session?.kind !== "live" || this.app.session.state !== "recording";
		const live = this.app.live;
		if (!live || this.isHeld || this.element.hidden)
			return;
		const all = live.top.reduce((sum, one) => sum + one.self_ns, 0);
		const top = live.top.slice(0, 12);
		textSet(this.message, top.length ? "" : "Nothing ran in the last ten seconds.");
		while (this.rows.children.length > top.length)
			this.rows.lastElementChild!.remove();
		while (this.rows.children.length < top.length)
			this.rows.append(this.rowMake());
		top.forEach((one, i) => {
			const [name, figure] = this.rows.children[i].firstElementChild!.children as unknown as HTMLElement[];
			textSet(name, clean(one.name));
			textSet(figure, percent(one.self_ns, all));
			const row = this.rows.children[i] as HTMLElement;
			row.style.setProperty("--share", String(all ? one.self_ns / all : 0));
			row.title = clean(`${one.name} ${one.module}`);
			row.dataset["name"] = one.name;
			row.dataset["module"] = one.module;
		});
	}

	private rowMake(): HTMLElement {
		const button = h("button", { type: "button" }, h("span", { class: "mono name" }), h("span", { class: "figure" }));
		const row = h("li", {}, button);
		button.addEventListener("click", () => this.app.show({
			tab: "sandwich", chosen: { name: row.dataset["name"] ?? "", module: row.dataset["module"] ?? "" } }));
		return row;
	}
}
