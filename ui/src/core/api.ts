// All requests of the page. Either limpet answers over HTTP, or this file carries the answers (a shared page).

import { Table, tableRead } from "./columns";

export type Parameters = Record<string, string | number | undefined>;

/** A refusal of the server, with its text. */
export class ApiError extends Error {
	constructor(readonly status: number, readonly what: string, readonly why: string, readonly fix: string) {
		super(why ? `${what}: ${why}` : what);
	}
}

/** No answer: limpet has ended, or the connection to its machine has. */
export class Gone extends Error {}

const TOKEN = "limpet.token";

interface Share {
	version: number;
	answers: Record<string, string>;
}

let token = "";
let share: Share | null = null;

/** Removes the token from the address, so that a copied address does not carry it. */
export function tokenTake(): void {
	const parts = new URLSearchParams(location.hash.slice(1));
	const found = parts.get("token");
	if (found) {
		sessionStorage.setItem(TOKEN, found);
		parts.delete("token");
		const rest = parts.toString();
		history.replaceState(null, "", rest ? `#${rest}` : location.pathname);
	}
	token = found ?? sessionStorage.getItem(TOKEN) ?? "";
}

export function shareFind(): void {
	const element = document.getElementById("limpet-share");
	if (element)
		share = JSON.parse(element.textContent ?? "") as Share;
}

export function isShared(): boolean {
	return share !== null;
}

function addressOf(route: string, parameters: Parameters): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(parameters)) {
		if (value !== undefined && value !== "")
			query.set(name, String(value));
	}
	const text = query.toString();
	return text ? `${route}?${text}` : route;
}

async function refusal(answer: Response): Promise<ApiError> {
	try {
		const { error } = await answer.json() as { error: { what?: string; why?: string; fix?: string } };
		return new ApiError(answer.status, error.what ?? answer.statusText, error.why ?? "", error.fix ?? "");
	} catch {
		return new ApiError(answer.status, `limpet answered ${answer.status}`, "", "");
	}
}

async function ask(address: string, options: RequestInit): Promise<Response> {
	let answer: Response;
	try {
		answer = await fetch(address, {
			...options,
			cache: "no-store",
			credentials: "omit",
			headers: { ...options.headers, Authorization: `Bearer ${token}` },
		});
	} catch (error) {
		if (error instanceof DOMException && error.name === "AbortError")
			throw error;
		throw new Gone("limpet does not answer");
	}
	if (!answer.ok)
		throw await refusal(answer);
	return answer;
}

// A shared page holds one range: of a request only the kind and the direction matter.
function sharedAnswer(route: string, parameters: Parameters): ArrayBuffer {
	const invert = parameters["invert"] ?? 0;
	const keys = [`${route}?kind=${parameters["kind"] ?? "cpu"}&invert=${invert}`, `${route}?kind=${parameters["kind"] ?? "cpu"}`,
		addressOf(route, { invert: parameters["invert"] }), route];
	const key = keys.find(one => share!.answers[one] !== undefined);
	if (key === undefined)
		throw new ApiError(404, "not in this shared page", "it holds what was selected when it was made", "");
	const text = atob(share!.answers[key]);
	return Uint8Array.from(text, letter => letter.charCodeAt(0)).buffer;
}

async function bytesGet(route: string, parameters: Parameters, signal?: AbortSignal): Promise<ArrayBuffer> {
	if (share)
		return sharedAnswer(route, parameters);
	return await (await ask(addressOf(route, parameters), { signal })).arrayBuffer();
}

export async function jsonGet<T>(route: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
	return JSON.parse(new TextDecoder().decode(await bytesGet(route, parameters, signal))) as T;
}

export async function tableGet(route: string, parameters: Parameters, signal?: AbortSignal): Promise<Table> {
	return tableRead(await bytesGet(route, parameters, signal));
}

export async function jsonPost<T>(route: string, body: unknown): Promise<T> {
	const headers = { "Content-Type": "application/json" };
	return await (await ask(route, { method: "POST", headers, body: JSON.stringify(body) })).json() as T;
}

/** A file of the server's, handed to the browser's downloads. */
export async function download(route: string, parameters: Parameters, fallback: string): Promise<number> {
	const answer = await ask(addressOf(route, parameters), {});
	const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? fallback;
	const blob = await answer.blob();
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
	return blob.size;
}
