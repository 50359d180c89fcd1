// One question at a time: a newer one replaces one that waits, and stops one that is on its way.

import type { App } from "./app";

export class Loader {
	private stop: AbortController | null = null;
	private key = "";
	private lastEnd = 0;
	private lastCost = 0;

	constructor(private readonly app: App) {}

	/** Sends the request only when `key` differs from the last one. `fail` gets a sentence. */
	async load<T>(key: string, ask: (signal: AbortSignal) => Promise<T>, done: (answer: T) => void,
		fail: (why: string) => void): Promise<void> {
		if (key === this.key)
			return;
		this.key = key;
		this.stop?.abort();
		const stop = this.stop = new AbortController();
		const begin = performance.now();
		try {
			const answer = await ask(stop.signal);
			if (stop.signal.aborted)
				return;
			this.lastEnd = performance.now();
			this.lastCost = this.lastEnd - begin;
			done(answer);
		} catch (error) {
			if (stop.signal.aborted)
				return;
			this.key = "";
			this.lastEnd = performance.now();
			fail(this.app.failure(error));
		} finally {
			if (this.stop === stop)
				this.stop = null;
		}
	}

	/** True when the same request may be repeated for new data: not while one is pending, and not sooner than a
	 * second, nor than five times the last answer's duration. */
	isDue(): boolean {
		return !this.stop && performance.now() - this.lastEnd > Math.max(1000, 5 * this.lastCost);
	}

	forget(): void {
		this.key = "";
	}
}
