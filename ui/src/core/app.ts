// What all panels share: the view, the session that is shown, and the listeners for changes.

import { Gone, isShared } from "./api";
import type { About, Live, Session } from "./types";
import { Range, View, viewRead, viewWrite } from "./view";

/** view: what is shown; session: its state or figures; live: new data; theme: colours; stale: limpet is gone or
 * back. */
export type Topic = "view" | "session" | "live" | "theme" | "stale";
export type Changed = ReadonlySet<keyof View>;

export class App {
	view: View = viewRead(location.hash.slice(1));
	about: About | null = null;
	session: Session | null = null;
	live: Live | null = null;
	isStale = false;
	/** Weight that the flame graph on the screen lacks, of its total; shown in the footer. */
	trimmed = { part: 0, nodes: 0 };
	private readonly listeners = new Map<Topic, ((changed: Changed) => void)[]>();
	private readonly region: HTMLElement;

	constructor(region: HTMLElement) {
		this.region = region;
		window.addEventListener("hashchange", () => this.viewTake(viewRead(location.hash.slice(1))));
	}

	on(topic: Topic, listener: (changed: Changed) => void): void {
		const all = this.listeners.get(topic) ?? [];
		all.push(listener);
		this.listeners.set(topic, all);
	}

	emit(topic: Topic, changed: Changed = new Set()): void {
		for (const listener of this.listeners.get(topic) ?? [])
			listener(changed);
	}

	/** Changes the view and the address; "back" returns from a new session or tab. */
	show(part: Partial<View>): void {
		const next = { ...this.view, ...part };
		const address = `#${viewWrite(next)}`;
		if (address !== location.hash) {
			const isPlace = part.session !== undefined && part.session !== this.view.session || part.tab !== undefined;
			history[isPlace ? "pushState" : "replaceState"](null, "", address);
		}
		this.viewTake(next);
	}

	private viewTake(next: View): void {
		const before = this.view;
		const keys = (Object.keys(next) as (keyof View)[])
			.filter(key => JSON.stringify(before[key]) !== JSON.stringify(next[key]));
		this.view = next;
		if (keys.length)
			this.emit("view", new Set(keys));
	}

	sessionSet(session: Session | null): void {
		this.session = session;
		this.emit("session");
	}

	staleSet(isStale: boolean): void {
		if (this.isStale === isStale)
			return;
		this.isStale = isStale;
		this.emit("stale");
	}

	/** The message of a failed request, for a panel to show; a request without any answer makes the page stale. */
	failure(error: unknown): string {
		if (error instanceof Gone)
			this.staleSet(true);
		return error instanceof Error ? error.message : String(error);
	}

	/** Speaks to a screen reader. */
	announce(text: string): void {
		this.region.textContent = text;
	}

	get isRecording(): boolean {
		return this.session?.state === "recording" && !isShared();
	}

	/** The span of data that there is. */
	get extent(): Range {
		const session = this.session;
		if (!session)
			return { from: 0, to: 1 };
		return { from: session.oldest_ns, to: Math.max(session.end_ns, session.oldest_ns + 1) };
	}

	/** The range that panels add up: the chosen one, the last seconds of a live one, or everything. */
	get range(): Range {
		const all = this.extent;
		if (this.view.range)
			return this.view.range;
		if (this.view.window && this.isRecording)
			return { from: Math.max(all.from, all.to - this.view.window * 1e9), to: all.to };
		return all;
	}

	/** The stretch of time that lanes show. */
	get stretch(): Range {
		const all = this.extent;
		if (this.view.zoom)
			return this.view.zoom;
		return this.isRecording ? { from: Math.max(all.from, all.to - 30e9), to: all.to } : all;
	}

	/** Parameters that every question about a selection has. */
	get selection(): Record<string, string | number | undefined> {
		const chosen = this.view.range ?? (this.view.window && this.isRecording ? this.range : null);
		return {
			session: this.view.session,
			from: chosen ? Math.round(chosen.from) : undefined,
			to: chosen ? Math.round(chosen.to) : undefined,
			threads: this.view.threads.join(","),
			kind: this.view.kind,
		};
	}
}
