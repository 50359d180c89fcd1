// The range in words: typed, shown, cleared, zoomed into, pinned.

import type { App } from "../../core/app";
import { h } from "../../core/dom";
import { duration, moment, momentRead } from "../../core/text";

function written(ns: number): string {
	return moment(ns, 1e6).replace(/ s$/, "");
}

export class Times {
	readonly element: HTMLElement;
	private readonly from = h("input", { "aria-label": "range from", size: "9", placeholder: "from", autocomplete: "off", title: "1.5, 250ms or 1:02.5" });
	private readonly to = h("input", { "aria-label": "range to", size: "9", placeholder: "to", autocomplete: "off", title: "1.5, 250ms or 1:02.5" });
	private readonly clear = h("button", { type: "button", title: "the whole time again (Esc)" }, "All");
	private readonly zoom = h("button", { type: "button", title: "show the range in the timeline's whole width (z)" }, "Zoom");
	private readonly pin = h("button", { type: "button", title: "keep this range, and compare others with it (p)" }, "Pin to compare");
	private readonly window = h("select", { "aria-label": "how far a live picture looks back" },
		h("option", { value: "0" }, "since the beginning"), h("option", { value: "5" }, "last 5 s"),
		h("option", { value: "30" }, "last 30 s"), h("option", { value: "300" }, "last 5 min"));
	private readonly length = h("span", { class: "dim" });
	private isTyping = false;

	constructor(private readonly app: App) {
		for (const input of [this.from, this.to]) {
			input.addEventListener("change", () => this.typed());
			input.addEventListener("keydown", event => event.key === "Enter" && this.typed());
		}
		this.clear.addEventListener("click", () => app.show({ range: null, zoom: null }));
		this.zoom.addEventListener("click", () => this.zoomIn());
		this.window.addEventListener("change", () => app.show({ window: Number(this.window.value), range: null }));
		this.pin.addEventListener("click", () => this.pinToggle());
		this.element = h("div", { class: "times", role: "group", "aria-label": "range of time" }, this.from, h("span", { class: "dim" }, "to"), this.to,
			this.clear, this.zoom, this.pin, this.window, this.length);
		this.typingFollow();
		app.on("view", () => this.update());
		app.on("session", () => this.update());
		app.on("live", () => this.update());
	}

	// While the focus moves from one field to the other, the document has none: the active element would be wrong.
	private typingFollow(): void {
		const isField = (target: EventTarget | null): boolean => target === this.from || target === this.to;
		this.element.addEventListener("focusin", event => { this.isTyping = isField(event.target); });
		this.element.addEventListener("focusout", event => {
			this.isTyping = isField(event.relatedTarget);
			this.update();
		});
	}

	private typed(): void {
		const all = this.app.extent;
		const from = this.from.value.trim() ? momentRead(this.from.value) : all.from;
		const to = this.to.value.trim() ? momentRead(this.to.value) : all.to;
		this.from.setAttribute("aria-invalid", String(from === null));
		this.to.setAttribute("aria-invalid", String(to === null || from !== null && to <= from));
		if (from !== null && to !== null && to > from)
			this.app.show({ range: { from, to } });
	}

	zoomIn(): void {
		if (this.app.view.range)
			this.app.show({ zoom: this.app.view.range });
	}

	pinToggle(): void {
		const { view } = this.app;
		if (view.pin)
			this.app.show({ pin: null });
		else
			this.app.show({ pin: { session: view.session, from: view.range?.from ?? 0, to: view.range?.to ?? 0 }, range: null });
	}

	private update(): void {
		const { range, pin } = this.app.view, all = this.app.extent;
		// A field in which the user is typing stays as it is.
		if (!this.isTyping) {
			this.from.value = range ? written(range.from) : "";
			this.to.value = range ? written(range.to) : "";
		}
		this.window.value = String(this.app.view.window);
		this.window.hidden = !this.app.isRecording || range !== null;
		this.zoom.disabled = !range;
		this.clear.disabled = !range && !this.app.view.zoom;
		this.pin.textContent = pin ? "Unpin" : "Pin to compare";
		this.length.textContent = range ? duration(range.to - range.from) : `all: ${duration(all.to - all.from)}`;
	}
}
