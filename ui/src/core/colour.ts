// Colours. Those of frames are in each flame graph, from the table for all pictures of limpet (frame_languages.def);
// traced calls and markers have hues by name.

export interface Palette {
	isDark: boolean;
	isForced: boolean;
	ink: string;
	dim: string;
	faint: string;
	line: string;
	panel: string;
	accent: string;
	running: string;
	runnable: string;
	blocked: string;
	found: string;
	memory: string;
	frameInk: string;
}

/** The colours of a language's frames; the shades on a light and on a dark background. */
export interface Language {
	number: number;
	name: string;
	title: string;
	light: string[];
	dark: string[];
}

export function languageFill(language: Language, shade: number, isDark: boolean): string {
	const fills = isDark ? language.dark : language.light;
	return fills[shade % fills.length]!;
}

let current: Palette | null = null;

export function paletteForget(): void {
	current = null;
}

export function palette(): Palette {
	if (current)
		return current;
	const style = getComputedStyle(document.documentElement);
	const read = (name: string): string => style.getPropertyValue(`--${name}`).trim() || "#888";
	current = {
		isDark: style.getPropertyValue("--is-dark").trim() === "1",
		isForced: matchMedia("(forced-colors: active)").matches,
		ink: read("ink"), dim: read("dim"), faint: read("faint"), line: read("line"), panel: read("panel"),
		accent: read("accent"), running: read("running"), runnable: read("runnable"), blocked: read("blocked"),
		found: read("found"), memory: read("memory"), frameInk: read("frame-ink"),
	};
	return current;
}

export function hash(text: string): number {
	let value = 7;
	for (let i = 0; i < text.length; i++)
		value = (Math.imul(value, 31) + text.charCodeAt(i)) >>> 0;
	return value;
}

const HUES = [32, 205, 150, 265, 48, 180, 330, 100, 228, 12, 290, 70];
const cache = new Map<string, string>();

/** The colour of a traced call: the hue of its kind, a shade of its own. */
export function spanColour(name: string, module: string, isDark: boolean): string {
	const key = `${isDark ? 1 : 0}${module}\0${name}`;
	let colour = cache.get(key);
	if (!colour) {
		if (cache.size > 50_000)
			cache.clear();
		cache.set(key, colour = spanColourMake(name, module, isDark));
	}
	return colour;
}

function spanColourMake(name: string, module: string, isDark: boolean): string {
	const shade = hash(name) % 9;
	const hue = HUES[hash(module) % HUES.length] + (hash(name) >>> 8) % 25 - 12;
	return isDark ? `hsl(${hue} 36% ${34 + shade}%)` : `hsl(${hue} 58% ${74 + shade * 1.1}%)`;
}

export function greyColour(isDark: boolean): string {
	return isDark ? "#3b4048" : "#d7dbe0";
}

/** More of the second (red) or of the first (blue); the stronger, the larger the factor; grey is chance. */
export function changeColour(a: number, b: number, isNoise: boolean, isDark: boolean): string {
	if (isNoise)
		return greyColour(isDark);
	const strength = Math.sqrt(Math.abs(b - a) / (a + b));
	const hue = b > a ? 8 : 215;
	return isDark ? `hsl(${hue} ${30 + 40 * strength}% ${30 + 18 * strength}%)` : `hsl(${hue} 80% ${92 - 28 * strength}%)`;
}

let mixer: CanvasRenderingContext2D | null = null;
const mixed = new Map<string, [number, number, number]>();

function rgbMix(colour: string): [number, number, number] {
	mixer ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	if (!mixer)
		return [128, 128, 128];
	mixer.fillStyle = colour;
	mixer.fillRect(0, 0, 1, 1);
	const [r, g, b] = mixer.getImageData(0, 0, 1, 1).data;
	return [r!, g!, b!];
}

/** Three numbers of any CSS colour, for pixels. Names are many, colours are not: each is computed once. */
export function rgbOf(colour: string): [number, number, number] {
	let found = mixed.get(colour);
	if (!found)
		mixed.set(colour, found = rgbMix(colour));
	return found;
}
