// Every frame that is wider than half a pixel is on the canvas: random trees, live and stopped, inverted, zoomed. What the
// page paints is taken from the canvas itself: its rectangles, and the pixels under them.

import { browserOpen, chosenFlame, counts, must, pageOpen, picture, serverEnd, serverStart, step, until } from "./browser.mjs";
import { randomFrom, randomTree } from "./random_tree.mjs";

const ROW = 19, GAP = 1, LEAST = 0.6, EPSILON = 0.01;
const here = new URL(".", import.meta.url).pathname;

/** Rectangles of the last painting of each canvas: a painting begins with one that covers all of it. */
function rectanglesKeep() {
	const fill = CanvasRenderingContext2D.prototype.fillRect;
	CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
		if (x === 0 && y === 0 && height > 40)
			this.canvas.rectangles = [];
		else if (height === 18)
			this.canvas.rectangles?.push([x, y, width]);
		fill.call(this, x, y, width, height);
	};
}

/** What is painted, by rows from the root on: the row's frames from left to right, and if their middles have a colour. */
async function paintedRead(page) {
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
	return await page.locator(chosenFlame).evaluate((canvas, row) => {
		const scale = canvas.width / canvas.clientWidth, pen = canvas.getContext("2d", { willReadFrequently: true });
		const { data } = pen.getImageData(0, 0, canvas.width, canvas.height), first = canvas.parentElement.parentElement.scrollTop;
		const empty = [...pen.getImageData(canvas.width - 1, canvas.height - 1, 1, 1).data].join();
		const rows = new Map();
		for (const [x, y, width] of canvas.rectangles) {
			const depth = Math.round((y + first) / row), at = 4 * (Math.floor((y + 1) * scale) * canvas.width + Math.floor((x + width / 2) * scale));
			const isBare = width > 3 && y + 2 < canvas.clientHeight && data.slice(at, at + 4).join() === empty;
			rows.set(depth, [...rows.get(depth) ?? [], { left: x, width, isBare }]);
		}
		return { width: canvas.clientWidth, height: canvas.clientHeight, rows: [...rows] };
	}, ROW);
}

function totalsOf({ parent, self }) {
	const total = [...self];
	for (let i = total.length - 1; i > 0; i--)
		total[parent[i]] += total[i];
	return total;
}

function expectedRows(tree, zoomed, pixels) {
	const total = totalsOf(tree), isIn = tree.parent.map(() => false), rows = new Map();
	tree.parent.forEach((above, i) => {
		isIn[i] = i === zoomed || i > 0 && isIn[above];
		const width = total[i] / total[zoomed] * pixels;
		if (isIn[i] && width > 0.5)
			rows.set(tree.depth[i], [...rows.get(tree.depth[i]) ?? [], { width, name: tree.names[i] }]);
	});
	for (let i = zoomed; i > 0; i = tree.parent[i])
		rows.set(tree.depth[tree.parent[i]], [{ width: pixels, name: tree.names[tree.parent[i]] }]);
	return rows;
}

/** Each frame that is expected in a row has a rectangle of its own, as wide as it is; none but the narrowest lies over another. */
function rowMust(depth, expected, painted) {
	painted.sort((a, b) => a.left - b.left);
	painted.reduce((end, one) => {
		must(one.left >= end - EPSILON, `row ${depth}: a frame at ${one.left} is painted over the one before it, which ends at ${end}`);
		must(!one.isBare, `row ${depth}: nothing is to be seen at ${one.left}, where a frame was painted`);
		return one.left + (one.width > LEAST ? one.width : 0);
	}, 0);
	const left = painted.map(one => one.width);
	for (const { width, name } of expected) {
		const wanted = Math.max(LEAST, width - GAP), at = left.findIndex(one => Math.abs(one - wanted) < EPSILON);
		must(at >= 0, `row ${depth}: ${name} is ${width.toFixed(2)} pixels wide and not painted`);
		left.splice(at, 1);
	}
	return expected.reduce((sum, one) => sum + one.width, 0);
}

async function pictureMust(page, seed, zoomed = 0) {
	const { width, height, rows } = await paintedRead(page), painted = new Map(rows), tree = randomTree(randomFrom(seed), 700);
	let frames = 0, area = 0;
	for (const [depth, expected] of expectedRows(tree, zoomed, width)) {
		if ((depth + 1) * ROW > height)
			continue;
		area += rowMust(depth, expected, painted.get(depth) ?? []) * ROW;
		frames += expected.length;
	}
	return `${frames} frames on ${Math.round(area)} pixels`;
}

/** The frame of which the details tell, as its number. */
async function chosenFrame(page) {
	return Number((await page.locator(".details .head strong").textContent()).split("_")[1]);
}

async function zoomTry(page, seed) {
	const { rows } = await paintedRead(page), row = [...rows].sort((a, b) => a[0] - b[0])[2];
	const widest = row[1].reduce((a, b) => a.width > b.width ? a : b), box = await page.locator(chosenFlame).boundingBox();
	await page.mouse.click(box.x + widest.left + widest.width / 2, box.y + row[0] * ROW + ROW / 2);
	await page.waitForSelector(".details:visible");
	const frame = await chosenFrame(page);
	await page.keyboard.press("Escape");
	await page.locator(chosenFlame).focus();
	await page.keyboard.press("Enter");
	await page.mouse.move(5, 5);
	await page.waitForTimeout(300);
	const note = await pictureMust(page, seed, frame);
	await page.locator(chosenFlame).focus();
	await page.keyboard.press("Escape");
	return note;
}

async function modesTry(page, state) {
	await step(`${state}: every frame`, () => pictureMust(page, 1));
	await picture(page, `flame-${state}`);
	await step(`${state}: every frame of one that is zoomed into`, () => zoomTry(page, 1));
	await page.keyboard.press("i");
	await until("the inverted tree", () => pictureMust(page, 2).catch(() => ""));
	await step(`${state}, inverted: every frame`, () => pictureMust(page, 2));
	await step(`${state}, inverted: every frame of one that is zoomed into`, () => zoomTry(page, 2));
	await page.keyboard.press("i");
	await until("the tree as it was", () => pictureMust(page, 1).catch(() => ""));
}

const browser = await browserOpen();
const { server, url } = await serverStart(["node", `${here}server.mjs`, process.env.UI_FOLDER]);
try {
	const page = await pageOpen(browser, "about:blank");
	await page.addInitScript(rectanglesKeep);
	await page.goto(url);
	await page.click('[data-pid="5200"]');
	await page.click(".chosen .primary");
	await until("LIVE", async () => (await page.textContent(".banner .state")) === "LIVE");
	await until("a picture", async () => (await page.locator(chosenFlame).evaluate(canvas => canvas.rectangles?.length ?? 0)) > 3);
	await modesTry(page, "live");
	await page.click(".banner >> text=Stop");
	await until("STOPPED", async () => (await page.textContent(".banner .state")) === "STOPPED");
	await modesTry(page, "stopped");
	await step("no errors", () => must(!page.complaints.length, page.complaints.join("; ")));
} finally {
	await browser.close();
	await serverEnd(server);
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
