// The page of `limpet ui`: puts the panels together, and follows the session that the address names.

import { isShared, jsonGet, shareFind, tokenTake } from "./core/api";
import { App } from "./core/app";
import { h } from "./core/dom";
import { FlameSource } from "./core/flame_source";
import { fileFollow, liveFollow, pulseStart, sessionTake } from "./core/live";
import { panned, zoomed } from "./core/scale";
import { themeStart, themeToggle } from "./core/theme";
import { clean } from "./core/text";
import type { About, Session } from "./core/types";
import { Tab, TABS } from "./core/view";
import { Banner } from "./panels/banner/banner";
import { Details } from "./panels/details/details";
import { Dropped } from "./panels/dropped/dropped";
import { Export } from "./panels/export/export";
import { Flame } from "./panels/flame/flame";
import { Footer } from "./panels/footer/footer";
import { Functions } from "./panels/functions/functions";
import { Heatmap } from "./panels/heatmap/heatmap";
import { Hottest } from "./panels/hottest/hottest";
import { Key, Keys } from "./panels/keys/keys";
import { Lanes } from "./panels/lanes/lanes";
import { Overview } from "./panels/overview/overview";
import { Processes } from "./panels/processes/processes";
import { Sandwich } from "./panels/sandwich/sandwich";
import { Threads } from "./panels/threads/threads";
import { Times } from "./panels/times/times";
import { Toolbar } from "./panels/toolbar/toolbar";
import { CallTree } from "./panels/tree/tree";

function plainButton(text: string, title: string, action: () => void): HTMLButtonElement {
	const button = h("button", { type: "button", title, "aria-label": title }, text);
	button.addEventListener("click", action);
	return button;
}

class Page {
	private readonly app: App;
	private readonly source: FlameSource;
	private readonly processes: Processes;
	private readonly toolbar: Toolbar;
	private readonly times: Times;
	private readonly banner: Banner;
	private readonly exports: Export;
	private readonly keys: Keys;
	private readonly details: Details;
	private readonly pictures: Record<Tab, HTMLElement>;
	private readonly body = h("div", { class: "body" });
	private readonly session: HTMLElement;
	private followed = 0;

	constructor(root: HTMLElement) {
		const region = h("div", { class: "off-screen", "aria-live": "polite" });
		const app = this.app = new App(region);
		themeStart(app);
		this.source = new FlameSource(app);
		this.processes = new Processes(app);
		this.details = new Details(app);
		this.toolbar = new Toolbar(app, this.source);
		this.times = new Times(app);
		this.exports = new Export(app);
		this.keys = new Keys(this.keyList());
		const share = plainButton("Export", "export and share (e)", () => this.exports.open());
		this.banner = new Banner(app, share, [plainButton("◐", "light or dark (l)", () => themeToggle(app)), plainButton("?", "keys (?)", () => this.keys.open())]);
		this.pictures = this.picturesMake();
		this.session = this.sessionMake();
		root.append(this.banner.element, this.body, new Footer(app, this.source).element, this.exports.element, this.keys.element,
			new Dropped().element, region);
		app.on("view", changed => {
			if (changed.has("session"))
				this.follow();
			if (changed.has("tab") || changed.has("session"))
				this.picturesShow();
		});
		app.on("session", () => { share.hidden = !app.view.session || isShared(); });
	}

	private picturesMake(): Record<Tab, HTMLElement> {
		const { app, source, details } = this;
		return {
			flame: new Flame(app, source, details, this.toolbar).element,
			lanes: new Lanes(app, details).element,
			heatmap: new Heatmap(app).element,
			functions: new Functions(app).element,
			tree: new CallTree(app, source, details).element,
			sandwich: new Sandwich(app, source).element,
		};
	}

	private sessionMake(): HTMLElement {
		const picture = h("div", { class: "picture-frame", role: "tabpanel", id: "picture" }, ...Object.values(this.pictures));
		return h("main", { class: "session" }, new Overview(this.app).element,
			h("aside", { class: "side" }, new Threads(this.app).element, new Hottest(this.app).element),
			h("div", { class: "center" }, this.toolbar.element, this.times.element, picture, this.details.element));
	}

	private picturesShow(): void {
		for (const [tab, element] of Object.entries(this.pictures))
			element.hidden = tab !== this.app.view.tab;
		document.getElementById("picture")?.setAttribute("aria-labelledby", `tab-${this.app.view.tab}`);
	}

	private keyList(): Key[] {
		const { app } = this;
		const pan = (by: number): void => app.show({ zoom: panned(app.stretch, by * (app.stretch.to - app.stretch.from), app.extent) });
		const zoom = (factor: number): void => app.show({ zoom: zoomed(app.stretch, (app.stretch.from + app.stretch.to) / 2, factor, app.extent) });
		return [
			{ key: "?", text: "this list", run: () => this.keys.open() },
			{ key: "/", text: "search, or filter processes", run: () => (app.view.session ? this.toolbar.search : this.processes.filter).focus() },
			{ key: "g", text: "go to the list of processes", run: () => app.show({ session: 0 }) },
			{ key: "r", text: "refresh the list of processes", run: () => void this.processes.ask() },
			{ key: " ", text: "stop or start sampling", run: () => this.banner.toggle() },
			...TABS.map(([tab, text], i) => ({ key: String(i + 1), text: `show: ${text.toLowerCase()}`, run: () => app.show({ tab }) })),
			{ key: "w", text: "zoom the timeline in", run: () => zoom(0.6) },
			{ key: "s", text: "zoom the timeline out", run: () => zoom(1 / 0.6) },
			{ key: "a", text: "pan the timeline to the left", run: () => pan(-0.2) },
			{ key: "d", text: "pan the timeline to the right", run: () => pan(0.2) },
			{ key: "z", text: "zoom the timeline to the selected range", run: () => this.times.zoomIn() },
			{ key: "p", text: "pin the range to compare, or unpin it", run: () => this.times.pinToggle() },
			{ key: "f", text: "flame graph upwards or downwards", run: () => app.show({ form: app.view.form === "flame" ? "icicle" : "flame" }) },
			{ key: "i", text: "invert stacks", run: () => app.show({ invert: !app.view.invert }) },
			{ key: "t", text: "each thread by itself", run: () => app.show({ byThread: !app.view.byThread }) },
			{ key: "e", text: "export and share", run: () => this.exports.open() },
			{ key: "l", text: "light or dark", run: () => themeToggle(app) },
			{ key: "Escape", text: "close details, then clear the range", run: () => this.escape() },
		];
	}

	private escape(): void {
		if (!this.details.element.hidden)
			this.details.hide();
		else
			this.app.show({ range: null, zoom: null });
	}

	// Each session is followed by one loop; a loop ends when the address names another.
	private follow(): void {
		const { app } = this, id = app.view.session;
		this.body.replaceChildren(id ? this.session : this.processes.element);
		if (!id) {
			this.followed = 0;
			app.live = null;
			app.sessionSet(null);
			void this.processes.ask();
			return;
		}
		if (id === this.followed)
			return;
		this.followed = id;
		app.live = null;
		app.session = null;
		void this.sessionOpen(id);
	}

	private async sessionOpen(id: number): Promise<void> {
		const { app } = this;
		try {
			const session = await sessionTake(app, id);
			if (!session)
				return app.show({ session: 0 });
			this.pictureChoose(session);
			if (isShared())
				return;
			await (session.kind === "live" ? liveFollow(app, id) : fileFollow(app, id));
		} catch (error) {
			app.failure(error);
			setTimeout(() => { if (app.view.session === id) void this.sessionOpen(id); }, 1000);
		}
	}

	// A recording of calls alone has no stacks of processors: its first picture is the timeline.
	private pictureChoose(session: Session): void {
		const { view } = this.app;
		if (session.kind === "file" && !session.samples && session.calls && view.tab === "flame" && view.kind === "cpu")
			this.app.show({ tab: "lanes" });
	}

	async start(): Promise<void> {
		const { app } = this;
		try {
			app.about = await jsonGet<About>("/api/about");
		} catch (error) {
			this.body.replaceChildren(h("p", { class: "message", role: "alert" }, clean(app.failure(error))));
			return;
		}
		if (!isShared())
			pulseStart();
		const [first, second] = app.about.open;
		if (!app.view.session && first)
			app.view = { ...app.view, session: second ?? first, pin: second ? { session: first, from: 0, to: 0 } : app.view.pin };
		this.follow();
		this.picturesShow();
		app.emit("view", new Set());
	}
}

const root = document.getElementById("app");
if (root) {
	shareFind();
	tokenTake();
	void new Page(root).start();
}
