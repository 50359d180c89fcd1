// Polls for new data, at most ten times a second, after the last answer was painted. A hidden page only shows that it
// is open; one whose limpet has gone checks once a second whether it is back.

import { ApiError, Gone, jsonGet } from "./api";
import type { App } from "./app";
import type { Live, Session } from "./types";

const PERIOD_MS = 100;
const IDLE_MS = 2000;
const GONE_MS = 1000;
const PULSE_MS = 10000;

function wait(ms: number): Promise<void> {
	return new Promise(done => setTimeout(done, ms));
}

function painted(): Promise<void> {
	return new Promise(done => requestAnimationFrame(() => done()));
}

function visible(): Promise<void> {
	if (!document.hidden)
		return Promise.resolve();
	return new Promise(done => document.addEventListener("visibilitychange", () => done(), { once: true }));
}

/** A hidden page draws nothing, but is still open: limpet stops traces of pages without requests for 30 s. Browsers
 * allow a page hidden for minutes only one request a minute, so the request has a mark: limpet then waits 90 s. */
export function pulseStart(): void {
	const pulse = () => {
		if (document.hidden)
			void jsonGet("/api/about", { hidden: 1 }).catch(() => undefined);
	};
	document.addEventListener("visibilitychange", pulse);
	setInterval(pulse, PULSE_MS);
}

/** Runs until the page shows another session. */
export async function liveFollow(app: App, id: number): Promise<void> {
	let since = 0;
	while (app.view.session === id) {
		await visible();
		const begin = performance.now();
		const pause = await liveStep(app, id, since).then(next => {
			since = next;
			app.staleSet(false);
			return app.isRecording ? PERIOD_MS : IDLE_MS;
		}, error => liveFailed(app, error));
		await painted();
		await wait(Math.max(0, pause - (performance.now() - begin)));
	}
}

async function liveStep(app: App, id: number, since: number): Promise<number> {
	const live = await jsonGet<Live>("/api/live", { session: id, since });
	if (app.view.session !== id)
		return since;
	const before = app.session;
	app.session = live.session;
	app.live = live;
	if (!before || before.id !== live.session.id || before.state !== live.session.state || before.kinds.length !== live.session.kinds.length)
		app.emit("session");
	app.emit("live");
	return live.since;
}

function liveFailed(app: App, error: unknown): number {
	if (error instanceof Gone)
		app.staleSet(true);
	if (error instanceof ApiError && error.status === 404)
		app.show({ session: 0 });
	return GONE_MS;
}

/** A recording does not change: it is requested once, and then the page only checks that limpet is still there. */
export async function fileFollow(app: App, id: number): Promise<void> {
	while (app.view.session === id) {
		await visible();
		try {
			await sessionTake(app, id);
			app.staleSet(false);
		} catch (error) {
			app.failure(error);
		}
		await wait(IDLE_MS);
	}
}

export async function sessionTake(app: App, id: number): Promise<Session | null> {
	const { sessions } = await jsonGet<{ sessions: Session[] }>("/api/sessions");
	const found = sessions.find(one => one.id === id) ?? null;
	if (app.view.session === id && app.session?.id !== id)
		app.sessionSet(found);
	return found;
}
