// The tree of calls of the selection, requested once and handed to all panels that draw it: flame graph, call tree,
// sandwich. While the pointer is on a frame it does not change.

import { tableGet } from "./api";
import type { App } from "./app";
import type { Table } from "./columns";
import type { Side } from "./difference";
import { Loader } from "./loader";
import { Tree, treeRead, treeTransform } from "./tree";
import { pinParameters } from "./view";

export interface Shown {
	tree: Tree;
	/** Before focus, merge and so on: the tree for the sandwich. */
	whole: Tree;
	sides: readonly [Side, Side] | null;
	total: number;
	samples: number;
	empty: string;
}

const TREE_TABS = ["flame", "tree", "sandwich"];
/** The widest picture that the server trims for (docs/ui-api.md); a wider one is requested whole. */
const WIDEST = 16384;

export class FlameSource {
	shown: Shown | null = null;
	error = "";
	isLoading = false;
	/** Is the pointer on a frame? */
	isHeld = false;
	isBehind = false;
	width = 1200;
	/** How many times wider than the canvas the whole graph is: the server leaves out frames too narrow for it. */
	private magnification = 1;
	private isFollowing = false;
	private readonly loader: Loader;
	private readonly listeners: (() => void)[] = [];
	private table: Table | null = null;

	constructor(private readonly app: App) {
		this.loader = new Loader(app);
		app.on("view", changed => {
			if (changed.has("transforms"))
				this.transform();
			this.refresh();
		});
		app.on("session", () => this.refresh());
		app.on("live", () => this.follow());
	}

	on(listener: () => void): void {
		this.listeners.push(listener);
	}

	private emit(): void {
		for (const listener of this.listeners)
			listener();
	}

	hold(isHeld: boolean): void {
		this.isHeld = isHeld;
		if (!isHeld && this.isBehind)
			this.follow();
	}

	/** Zoomed in, requests the trimmed frames. In steps, to limit the number of different trees. */
	magnify(factor: number): void {
		this.magnification = 2 ** Math.ceil(Math.log2(Math.max(1, factor)));
		this.refresh();
	}

	private get pixels(): number {
		const pixels = Math.max(400, Math.round(this.width)) * this.magnification;
		return pixels <= WIDEST ? pixels : 0;
	}

	private get isWanted(): boolean {
		return this.app.session !== null && TREE_TABS.includes(this.app.view.tab);
	}

	// New data changes the picture only when the range extends to the present.
	private follow(): void {
		if (!this.isWanted || this.app.view.range || !this.app.live?.changed && !this.isBehind)
			return;
		this.isBehind = true;
		if (this.isHeld || !this.loader.isDue()) {
			if (this.isHeld)
				this.emit();
			return;
		}
		this.isBehind = false;
		this.isFollowing = true;
		this.loader.forget();
		this.refresh();
	}

	// An answer that was on its way when the pointer came onto a frame waits, too.
	private isUntimely(): boolean {
		const isUntimely = this.isHeld && this.isFollowing;
		this.isFollowing = false;
		this.isBehind ||= isUntimely;
		return isUntimely;
	}

	refresh(): void {
		if (!this.isWanted)
			return;
		const { route, parameters } = this.question();
		const isNew = !this.shown;
		this.isLoading = isNew;
		void this.loader.load(JSON.stringify(parameters), signal => tableGet(route, parameters, signal), table => {
			this.error = "";
			this.isLoading = false;
			if (this.isUntimely())
				return this.emit();
			this.table = table;
			this.transform();
		}, why => {
			this.error = why;
			this.isLoading = false;
			this.emit();
		});
	}

	// A sandwich turns the stacks by itself.
	private get invert(): number {
		return Number(this.app.view.invert && this.app.view.tab !== "sandwich");
	}

	private question(): { route: string; parameters: Record<string, string | number | undefined> } {
		const { view } = this.app, own = this.app.selection;
		const common = { threads: own["threads"], kind: own["kind"], width: this.pixels };
		if (!view.pin)
			return { route: "/api/flame", parameters: { ...own, ...common, invert: this.invert, by_thread: Number(view.byThread) } };
		const pin = view.pin;
		return { route: "/api/compare", parameters: {
			...common, ...pinParameters(pin),
			session_b: view.session, from_b: own["from"], to_b: own["to"], threads_b: own["threads"], invert: this.invert,
		} };
	}

	private transform(): void {
		const table = this.table;
		if (!table)
			return;
		const whole = treeRead(table), isDiff = whole.selfB !== null;
		const sides: readonly [Side, Side] | null = isDiff
			? [{ total: table.number("total"), samples: table.number("samples") },
				{ total: table.number("total_b"), samples: table.number("samples_b") }]
			: null;
		this.shown = {
			whole, sides, tree: treeTransform(whole, this.app.view.transforms), total: table.number("total") || whole.total[0],
			samples: table.number("samples"), empty: table.text("empty"),
		};
		this.app.trimmed = { part: table.number("trimmed") / (table.number("total") || 1), nodes: table.number("trimmed_nodes") };
		this.emit();
	}
}
