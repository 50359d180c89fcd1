// The state of the view. The address holds all of it, so that a reload or a copied address shows the same.

/** The tabs, in the order of their keys 1, 2, ...: name in the address, text, title. main.ts makes their pictures. */
export const TABS = [
	["flame", "Flame graph", "where the time goes, stack upon stack"],
	["lanes", "Timeline", "what each thread and queue did, when"],
	["heatmap", "Heatmap", "moments of more and less work, 20 ms each"],
	["functions", "Functions", "the hottest functions as a table"],
	["tree", "Call tree", "the same stacks as a tree, for keyboard and screen reader"],
	["sandwich", "Sandwich", "one function: its callers and callees"],
] as const;
export type Tab = typeof TABS[number][0];
export const KINDS = ["cpu", "off-cpu", "runnable", "wall", "alloc", "gpu", "lock", "io"] as const;
export type Kind = typeof KINDS[number];
export const FORMS = ["flame", "icicle"] as const;
export type Form = typeof FORMS[number];

export interface Range {
	from: number;
	to: number;
}

/** A range of a session that others are compared with; to = 0 is "all of it". */
export interface Pin extends Range {
	session: number;
}

/** Which part of which session that is, in a question. */
export function pinParameters(pin: Pin): { session: number; from: number | undefined; to: number | undefined } {
	return { session: pin.session, from: pin.to ? Math.round(pin.from) : undefined, to: pin.to ? Math.round(pin.to) : undefined };
}

/** A transformation of stacks before they are drawn. */
export interface Transform {
	what: "focus" | "merge" | "drop" | "library" | "recursion";
	name: string;
	module: string;
}

export interface View {
	session: number;
	tab: Tab;
	kind: Kind;
	form: Form;
	invert: boolean;
	byThread: boolean;
	range: Range | null;
	zoom: Range | null;
	window: number; // seconds shown by a live graph, 0: from the beginning
	threads: number[];
	query: string;
	transforms: Transform[];
	pin: Pin | null;
	chosen: { name: string; module: string } | null;
}

const FIRST: View = {
	session: 0, tab: "flame", kind: "cpu", form: "icicle", invert: false, byThread: false, range: null, zoom: null,
	window: 0, threads: [], query: "", transforms: [], pin: null, chosen: null,
};

function oneOf<T extends string>(all: readonly T[], value: string | null, otherwise: T): T {
	return all.find(one => one === value) ?? otherwise;
}

function rangeRead(text: string | null): Range | null {
	const parts = (text ?? "").split("-").map(Number);
	const [from, to] = parts;
	return parts.length === 2 && Number.isFinite(from) && Number.isFinite(to) && to! > from! ? { from: from!, to: to! } : null;
}

function pinRead(text: string | null): Pin | null {
	const parts = (text ?? "").split("-").map(Number);
	if (parts.length !== 3 || !parts.every(Number.isFinite))
		return null;
	return { session: parts[0], from: parts[1], to: parts[2] };
}

function transformRead(text: string): Transform | null {
	const [what, name, module] = text.split("\n");
	const kinds = ["focus", "merge", "drop", "library", "recursion"] as const;
	const found = kinds.find(kind => kind === what);
	return found ? { what: found, name: name ?? "", module: module ?? "" } : null;
}

/** The view of an address; invalid parts are ignored. */
export function viewRead(hash: string): View {
	const parts = new URLSearchParams(hash);
	const [name, module] = (parts.get("function") ?? "").split("\n");
	return {
		session: Number(parts.get("session")) || 0,
		tab: oneOf(TABS.map(([tab]) => tab), parts.get("tab"), FIRST.tab),
		kind: oneOf(KINDS, parts.get("kind"), FIRST.kind),
		form: oneOf(FORMS, parts.get("form"), FIRST.form),
		invert: parts.has("invert"),
		byThread: parts.has("by_thread"),
		range: rangeRead(parts.get("range")),
		zoom: rangeRead(parts.get("zoom")),
		window: Math.max(0, Number(parts.get("window")) || 0),
		threads: (parts.get("threads") ?? "").split(",").filter(Boolean).map(Number).filter(Number.isFinite),
		query: parts.get("q") ?? "",
		transforms: parts.getAll("t").map(transformRead).filter((one): one is Transform => one !== null),
		pin: pinRead(parts.get("pin")),
		chosen: name ? { name, module: module ?? "" } : null,
	};
}

export function viewWrite(view: View): string {
	const parts = new URLSearchParams();
	const put = (name: string, value: string, usual: string): void => {
		if (value !== usual)
			parts.set(name, value);
	};
	put("session", String(view.session), "0");
	put("tab", view.tab, FIRST.tab);
	put("kind", view.kind, FIRST.kind);
	put("form", view.form, FIRST.form);
	put("invert", view.invert ? "1" : "", "");
	put("by_thread", view.byThread ? "1" : "", "");
	put("range", view.range ? `${view.range.from}-${view.range.to}` : "", "");
	put("zoom", view.zoom ? `${view.zoom.from}-${view.zoom.to}` : "", "");
	put("window", String(view.window), "0");
	put("threads", view.threads.join(","), "");
	put("q", view.query, "");
	put("pin", view.pin ? `${view.pin.session}-${view.pin.from}-${view.pin.to}` : "", "");
	put("function", view.chosen ? `${view.chosen.name}\n${view.chosen.module}` : "", "");
	for (const one of view.transforms)
		parts.append("t", `${one.what}\n${one.name}\n${one.module}`);
	return parts.toString();
}
