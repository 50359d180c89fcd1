// How values are written. Names come from a program that may be hostile: letters that turn or hide text are shown as
// codes.

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A foreign text, safe to be shown: control, zero-width and direction letters are spelled out. */
export function clean(text: string): string {
	return text.replace(HIDDEN, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const SECOND = 1e9;

function trimmed(value: number, digits: number): string {
	return value.toFixed(digits);
}

/** A duration with three figures: "812 µs", "1.24 s", "3 m 12 s". */
export function duration(ns: number): string {
	const size = Math.abs(ns);
	if (size < 1e3)
		return `${Math.round(ns)} ns`;
	if (size < 1e6)
		return `${trimmed(ns / 1e3, size < 1e4 ? 2 : size < 1e5 ? 1 : 0)} µs`;
	if (size < SECOND)
		return `${trimmed(ns / 1e6, size < 1e7 ? 2 : size < 1e8 ? 1 : 0)} ms`;
	if (size < 60 * SECOND)
		return `${trimmed(ns / SECOND, size < 10 * SECOND ? 2 : 1)} s`;
	const seconds = Math.round(ns / SECOND);
	if (seconds < 3600)
		return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
	return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} m`;
}

export function bytes(value: number): string {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let unit = 0;
	while (Math.abs(value) >= 1000 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	return `${unit === 0 || Math.abs(value) >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function weight(value: number, unit: string): string {
	return unit === "bytes" ? bytes(value) : duration(value);
}

export function count(value: number): string {
	return Math.round(value).toLocaleString("en-US");
}

export function percent(part: number, whole: number): string {
	if (!(whole > 0))
		return "0 %";
	const value = 100 * part / whole;
	return `${value.toFixed(value < 9.995 ? 2 : 1)} %`;
}

/** A moment on the axis: "0:07.250", with as many digits as a step needs. */
export function moment(ns: number, stepNs: number): string {
	const digits = stepNs >= SECOND ? 0 : Math.min(9, Math.ceil(-Math.log10(stepNs / SECOND) - 1e-9));
	const sign = ns < 0 ? "−" : "";
	const seconds = Math.abs(ns) / SECOND;
	if (seconds < 60)
		return `${sign}${seconds.toFixed(digits)} s`;
	const minutes = Math.floor(seconds / 60);
	const rest = (seconds - 60 * minutes).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
	return `${sign}${minutes}:${rest}`;
}

const UNITS: Record<string, number> = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: SECOND, m: 60 * SECOND, h: 3600 * SECOND };

/** "1.5", "1.5s", "250 ms", "1:02.5" as nanoseconds; null for anything else. */
export function momentRead(text: string): number | null {
	const clock = /^\s*(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)\s*$/.exec(text);
	if (clock)
		return Math.round((Number(clock[1] ?? 0) * 3600 + Number(clock[2]) * 60 + Number(clock[3])) * SECOND);
	const plain = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)?\s*$/.exec(text);
	return plain ? Math.round(Number(plain[1]) * UNITS[plain[2] ?? "s"]) : null;
}
