// Frames and legends of all pictures have the colours of one table: the page of limpet ui, html and svg, light and dark.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LANGUAGES } from "./answers.mjs";
import { browserOpen, chosenFlame, counts, must, pageOpen, picture, serverEnd, serverStart, step, until } from "./browser.mjs";

const here = new URL(".", import.meta.url).pathname;
const WANTED = ["native", "kernel", "python"];
const SHARE_LEAST = 0.8;

/** Three numbers of each CSS colour, as this browser draws them. */
function rgbRead(page, colours) {
	return page.evaluate(list => {
		const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		return list.map(colour => {
			pen.fillStyle = colour;
			pen.fillRect(0, 0, 1, 1);
			return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
		});
	}, colours);
}

/** The colours of a picture that has been taken of an element: each with the number of its pixels. */
function pixelsRead(page, selector) {
	return page.locator(selector).first().evaluate(canvas => {
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), seen = {};
		for (let i = 0; i < data.length; i += 4) {
			const colour = `${data[i]},${data[i + 1]},${data[i + 2]}`;
			seen[colour] = (seen[colour] ?? 0) + 1;
		}
		return seen;
	});
}

/** Every language that is present has pixels of its fills, none that is not, and the legend has the same ones. */
async function canvasMust(page, selector, legend, isDark) {
	const pixels = await pixelsRead(page, selector), found = [];
	for (const language of LANGUAGES) {
		const fills = await rgbRead(page, isDark ? language.dark : language.light);
		if (fills.some(fill => (pixels[fill] ?? 0) > 20))
			found.push(language);
	}
	const [entries, names] = [await rgbRead(page, legend.map(one => one.colour)), legend.map(one => one.title)];
	must(found.map(one => one.title).join() === names.join(), `drawn: ${found.map(one => one.title).join()}; legend: ${names.join()}`);
	const wanted = await rgbRead(page, found.map(one => (isDark ? one.dark : one.light)[0]));
	must(wanted.join(" ") === entries.join(" "), `the legend has ${entries.join(" ")} in the place of ${wanted.join(" ")}`);
	must(WANTED.every(name => found.some(one => one.name === name)), `drawn are only ${names.join()}`);
	const known = new Set(await rgbRead(page, LANGUAGES.flatMap(one => isDark ? one.dark : one.light)));
	return [...Object.entries(pixels)].filter(([colour]) => known.has(colour)).reduce((sum, [, count]) => sum + count, 0);
}

const title = name => LANGUAGES.find(one => one.name === name).title;

/** WCAG 2.1's contrast of two colours, each as "r,g,b". */
function contrast(...colours) {
	const lights = colours.map(colour => {
		const [r, g, b] = colour.split(",").map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
	});
	return Math.max(...lights) / Math.min(...lights);
}

/** What names are written in, by the pen that wrote the last of them. */
function inksKeep() {
	const write = CanvasRenderingContext2D.prototype.fillText;
	CanvasRenderingContext2D.prototype.fillText = function (...parts) {
		(window.inks ??= new Set()).add(this.fillStyle);
		write.apply(this, parts);
	};
}

async function inkMust(page, isDark) {
	const inks = await rgbRead(page, await page.evaluate(() => [...window.inks]));
	for (const fill of await rgbRead(page, LANGUAGES.flatMap(one => isDark ? one.dark : one.light)))
		must(inks.some(ink => contrast(ink, fill) >= 4.5), `no ink of ${inks.join(" ")} can be read on ${fill}`);
	return inks;
}

async function htmlTry(browser, file, scheme) {
	const page = await pageOpen(browser, "about:blank", { colorScheme: scheme });
	await page.addInitScript(inksKeep);
	await page.goto(`file://${file}`);
	await until("a picture", async () => Object.keys(await pixelsRead(page, "canvas")).length > 3);
	const legend = await page.locator("#legend i").evaluateAll(chips => chips.map(chip => ({
		colour: getComputedStyle(chip).backgroundColor, title: chip.nextSibling.textContent,
	})));
	await canvasMust(page, "canvas", legend.filter(one => LANGUAGES.some(known => known.title === one.title)), scheme === "dark");
	const inks = await inkMust(page, scheme === "dark");
	must(inks.length === 1, `names in ${inks.join(" ")}`);
	await picture(page, `picture-html-${scheme}`);
	await page.context().close();
}

async function svgTry(browser, file) {
	const page = await pageOpen(browser, `file://${file}`);
	const fills = await page.evaluate(() => [...document.querySelectorAll("g rect")].map(rect => rect.getAttribute("fill")));
	const legend = await page.evaluate(() => [...document.querySelectorAll("svg > rect + text")].map(text => [text.textContent, text.previousElementSibling.getAttribute("fill")]));
	const known = new Map(LANGUAGES.flatMap(one => one.light.map(fill => [fill.replaceAll(" ", ","), one.title])));
	const present = new Set(fills.map(fill => known.get(fill)).filter(Boolean)), named = legend.filter(([text]) => LANGUAGES.some(one => one.title === text));
	must(WANTED.every(name => present.has(title(name))), `drawn are only ${[...present].join()}`);
	must(named.map(([text]) => text).sort().join() === [...present].sort().join(), `drawn: ${[...present].join()}; legend: ${named.map(([text]) => text).join()}`);
	must(named.every(([text, fill]) => known.get(fill) === text), "the legend has other colours");
	must(fills.filter(fill => known.has(fill)).length > SHARE_LEAST * fills.length, "boxes have other colours");
	await picture(page, "picture-svg");
	await page.context().close();
}

async function uiTry(browser, file, scheme) {
	const { server, url } = await serverStart([process.env.LIMPET, "ui", file, "--no-open", "--json"]);
	try {
		const page = await pageOpen(browser, "about:blank", { colorScheme: scheme, viewport: { width: 1360, height: 1700 } });
		await page.addInitScript(inksKeep);
		await page.goto(url);
		await until("a legend", async () => await page.locator(".languages .swatch").count() > 2);
		await page.waitForTimeout(500);
		const legend = await page.locator(".languages .swatch").evaluateAll(chips => chips.map(chip => ({
			colour: getComputedStyle(chip).backgroundColor, title: chip.nextSibling.textContent,
		})));
		const pixels = await canvasMust(page, chosenFlame, legend, scheme === "dark");
		await inkMust(page, scheme === "dark");
		await picture(page, `picture-ui-${scheme}`);
		return `${pixels} pixels`;
	} finally {
		await serverEnd(server);
	}
}

/** A recording of a Python program, as html and as svg. */
function recordingMake(folder) {
	const target = spawn("python3", [`${here}load.py`], { stdio: "ignore" }), file = join(folder, "load.limpet");
	const run = (...words) => {
		const { status, stderr } = spawnSync(process.env.LIMPET, words, { encoding: "utf8" });
		must(status === 0, stderr);
	};
	try {
		run("record", "-p", `${target.pid}`, "-d", "3", "-F", "299", "-o", file);
	} finally {
		target.kill();
	}
	for (const format of ["html", "svg"])
		run("export", file, "-o", join(folder, `load.${format}`));
	return join(folder, "load");
}

const browser = await browserOpen();
const folder = mkdtempSync(join(tmpdir(), "limpet-pictures-"));
try {
	const path = recordingMake(folder);
	for (const scheme of ["light", "dark"]) {
		await step(`html, ${scheme}: frames and legend have the table's colours`, () => htmlTry(browser, `${path}.html`, scheme));
		await step(`limpet ui, ${scheme}: frames and legend have the table's colours`, () => uiTry(browser, `${path}.limpet`, scheme));
	}
	await step("svg: frames and legend have the table's colours", () => svgTry(browser, `${path}.svg`));
} finally {
	await browser.close();
	rmSync(folder, { recursive: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
