// Which picture, of which samples, drawn how; and the search that all pictures share.

import type { App } from "../../core/app";
import { Choice, h } from "../../core/dom";
import { matcherRead } from "../../core/search";
import { clean, duration, moment } from "../../core/text";
import type { FlameSource } from "../../core/flame_source";
import { TABS } from "../../core/view";
import type { Form, Kind, Transform, View } from "../../core/view";

const KIND_NAMES: readonly (readonly [Kind, string, string])[] = [
	["cpu", "On-CPU", "time on CPU"],
	["off-cpu", "Off-CPU", "time blocked: waiting for locks, disks, sockets, sleep"],
	["wall", "Wall", "on CPU, waiting for one, and blocked: all time of each thread"],
	["alloc", "Memory", "bytes that traced allocations asked for"],
	["gpu", "GPU", "time of the device, under the call that launched it"],
	["lock", "Locks", "time in traced calls of locks, under their callers"],
	["io", "I/O", "time in traced calls of I/O, under their callers"],
];

const FORM_NAMES: readonly (readonly [Form, string, string])[] = [
	["icicle", "Icicle", "callers on top"],
	["flame", "Flame", "callers at the bottom"],
];

const NEEDED: Partial<Record<Kind, string>> = {
	"off-cpu": "no blocked time here: sample with off-CPU time",
	wall: "no blocked time here: sample with off-CPU time",
	alloc: "no allocations here: trace them when you start",
	gpu: "no GPU work here: trace it when you start",
	lock: "no calls of locks here: trace them when you start",
	io: "no calls of I/O here: trace them when you start",
};

const TRANSFORM_NAMES: Record<Transform["what"], string> = {
	focus: "only through", merge: "merged", drop: "without", library: "collapsed", recursion: "recursion collapsed",
};

function chip(text: string, title: string, remove: () => void): HTMLElement {
	const button = h("button", { type: "button", "aria-label": `remove: ${text}`, title: "remove" }, "×");
	button.addEventListener("click", remove);
	return h("span", { class: "chip", title }, h("span", {}, text), button);
}

export class Toolbar {
	readonly element: HTMLElement;
	readonly search = h("input", { type: "search", placeholder: "Search: text or /regex/", "aria-label": "search functions", autocomplete: "off",
		spellcheck: "false" });
	private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "pictures" });
	private readonly kinds: Choice<Kind>;
	private readonly forms: Choice<Form>;
	private readonly invert = h("input", { type: "checkbox" });
	private readonly byThread = h("input", { type: "checkbox" });
	private readonly chips = h("div", { class: "chips" });
	private readonly found = h("span", { class: "found", role: "status" });

	constructor(private readonly app: App, source: FlameSource) {
		for (const [i, [tab, text, what]] of TABS.entries()) {
			const title = `${what} (${i + 1})`;
			const button = h("button", { type: "button", role: "tab", title, id: `tab-${tab}`, "aria-controls": "picture" }, text);
			button.addEventListener("click", () => app.show({ tab }));
			this.tabs.append(button);
		}
		this.tabs.addEventListener("keydown", event => this.tabKey(event));
		this.kinds = new Choice("which samples", KIND_NAMES, kind => app.show({ kind }));
		this.forms = new Choice("direction", FORM_NAMES, form => app.show({ form }));
		this.invert.addEventListener("change", () => app.show({ invert: this.invert.checked }));
		this.byThread.addEventListener("change", () => app.show({ byThread: this.byThread.checked }));
		this.search.addEventListener("input", () => app.show({ query: this.search.value }));
		this.element = h("div", { class: "toolbar" }, this.tabs,
			h("div", { class: "options" }, this.kinds.element, this.forms.element,
				h("label", { class: "tree-only", title: "from the function that had the time to its callers (i)" }, this.invert, "inverted"),
				h("label", { class: "tree-only", title: "each thread by itself (t)" }, this.byThread, "per thread"),
				h("span", { class: "grow" }), this.found, this.search),
			this.chips);
		app.on("view", () => this.update());
		app.on("session", () => this.update());
		source.on(() => this.update());
		this.update();
	}

	private tabKey(event: KeyboardEvent): void {
		const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (!by)
			return;
		event.preventDefault();
		const at = TABS.findIndex(([tab]) => tab === this.app.view.tab);
		const next = TABS[(at + by + TABS.length) % TABS.length];
		this.app.show({ tab: next[0] });
		document.getElementById(`tab-${next[0]}`)?.focus();
	}

	private update(): void {
		const { view, session } = this.app;
		for (const button of this.tabs.querySelectorAll("button")) {
			const isChosen = button.id === `tab-${view.tab}`;
			button.setAttribute("aria-selected", String(isChosen));
			button.tabIndex = isChosen ? 0 : -1;
		}
		this.kinds.set(view.kind);
		for (const [kind, , title] of KIND_NAMES) {
			const isThere = !session || session.kinds.length === 0 || session.kinds.includes(kind) || kind === view.kind;
			this.kinds.enable(kind, isThere, isThere ? title : NEEDED[kind] ?? title);
		}
		this.forms.set(view.form);
		this.invert.checked = view.invert;
		this.byThread.checked = view.byThread;
		if (this.search.value !== view.query)
			this.search.value = view.query;
		this.element.dataset["tab"] = view.tab;
		this.chips.replaceChildren(...this.chipsMake(view));
		this.foundShow(view.query);
	}

	private chipsMake(view: View): HTMLElement[] {
		const { app } = this, made: HTMLElement[] = [];
		if (view.pin) {
			const what = view.pin.to ? `${moment(view.pin.from, 1e7)} to ${moment(view.pin.to, 1e7)}` : `session ${view.pin.session}`;
			made.push(chip(`compared with ${what}: red is more now, blue is less`, "the pinned range", () => app.show({ pin: null })));
		}
		if (view.range)
			made.push(chip(`${duration(view.range.to - view.range.from)} selected`, "the selected range", () => app.show({ range: null })));
		for (const thread of view.threads)
			made.push(chip(`thread ${this.threadName(thread)}`, "", () => app.show({ threads: view.threads.filter(one => one !== thread) })));
		view.transforms.forEach((one, at) => made.push(chip(
			`${TRANSFORM_NAMES[one.what]} ${clean(one.what === "library" ? one.module : one.name)}`.trim(), "",
			() => app.show({ transforms: view.transforms.filter((_, i) => i !== at) }))));
		return made;
	}

	private threadName(number: number): string {
		const thread = this.app.live?.threads.find(one => one.number === number);
		return thread ? clean(thread.name) : String(number);
	}

	private foundShow(query: string): void {
		let trouble = "";
		try {
			matcherRead(query);
		} catch (error) {
			trouble = error instanceof Error ? error.message : "no regular expression";
		}
		this.search.setAttribute("aria-invalid", String(trouble !== ""));
		this.search.title = trouble;
		if (trouble || !query.trim())
			this.found.textContent = trouble;
	}

	/** The result of the flame graph's search, beside the search. */
	foundTell(text: string): void {
		if (this.search.getAttribute("aria-invalid") !== "true")
			this.found.textContent = text;
	}
}
