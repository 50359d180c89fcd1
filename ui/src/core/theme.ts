// Light, dark, or as the system has it.

import type { App } from "./app";
import { paletteForget } from "./colour";

const KEY = "limpet.theme";

function isDarkNow(): boolean {
	const chosen = document.documentElement.dataset["theme"];
	return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function stored(): string | null {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null; // a file opened from a disk may have no storage
	}
}

export function themeStart(app: App): void {
	const chosen = stored();
	if (chosen)
		document.documentElement.dataset["theme"] = chosen;
	for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"])
		matchMedia(query).addEventListener("change", () => themeChanged(app));
}

function themeChanged(app: App): void {
	paletteForget();
	app.emit("theme");
}

export function themeToggle(app: App): void {
	const next = isDarkNow() ? "light" : "dark";
	document.documentElement.dataset["theme"] = next;
	try {
		localStorage.setItem(KEY, next);
	} catch {
		// it stays for this page
	}
	themeChanged(app);
}
