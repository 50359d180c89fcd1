// The page alone, on the stand-in of the server: what it shows, keys, colours, hostile names, a server that dies.

import { axeFindings, browserOpen, chosenFlame, counts, isDrawn, must, pageOpen, picture, serverEnd, serverStart, step, until } from "./browser.mjs";

const PAGES = { "1": "flame", "2": "lanes", "3": "heatmap", "4": "functions", "5": "tree", "6": "sandwich" };
const here = new URL(".", import.meta.url).pathname;
const start = () => serverStart(["node", `${here}server.mjs`, process.env.UI_FOLDER]);
const withSession = (url, more = "") => url.replace("#token", `#session=1${more}&token`);

async function processesTry(browser, url) {
	const page = await pageOpen(browser, url);
	await step("processes are listed, with those that hold them", async () => {
		await page.waitForSelector('[data-pid="4711"]');
		must(await page.locator('[data-pid="813"]').getAttribute("aria-level") === "3", "the tree has no levels");
	});
	await step("the list is filtered as one types", async () => {
		await page.fill(".process-tools input", "redis");
		await until("it and the one above it", async () => await page.locator(".process-rows .process-row").count() === 2);
		await page.fill(".process-tools input", "");
	});
	await step("programs of one name are told apart by what they were started with", async () => {
		must((await page.locator('[data-pid="4711"] .arguments').textContent()).includes("--serve"), "no arguments");
	});
	await step("names are text", async () => {
		const text = await page.locator('[data-pid="6000"]').textContent();
		must(text.includes("<img src=x onerror"), `shown as ${text}`);
		must((await page.locator('[data-pid="6001"]').textContent()).includes("\\u202e"), "a letter that turns the text is not spelled out");
		must(await page.locator("img").count() === 0 && await page.title() === "limpet", "a name became an element");
	});
	await step("a process that cannot be attached to says why, and the command", async () => {
		await page.click('[data-pid="1"]');
		const commands = await page.locator(".refusal code").allTextContents();
		must(commands.join() === "sudo limpet ui 1,limpet doctor --setup", `no commands: ${commands.join()}`);
		must(await page.locator(".chosen .primary").isDisabled(), "it can be attached to all the same");
	});
	await step("axe: processes", async () => must(!(await axeFindings(page)).length, (await axeFindings(page)).join("; ")));
	await picture(page, "processes");
	return page;
}

async function liveTry(page) {
	await step("attach, then start: the state is always visible", async () => {
		await page.click('[data-pid="4711"]');
		await page.click("text=Attach >> nth=-1");
		await until("STOPPED", async () => (await page.textContent(".banner .state")) === "STOPPED");
		await page.click(".banner >> text=Start sampling");
		await until("LIVE", async () => (await page.textContent(".banner .state")) === "LIVE");
	});
	await step("threads and hottest functions come in", async () => {
		await until("five threads", async () => await page.locator(".thread").count() === 5);
		await until("functions", async () => (await page.locator(".hottest li").count()) > 5);
	});
	await step("the flame graph stands still under the pointer", async () => {
		await until("a picture", () => isDrawn(page, chosenFlame));
		const box = await page.locator(chosenFlame).boundingBox();
		await page.mouse.move(box.x + box.width * 0.7, box.y + 28);
		await until("the note", async () => await page.locator(".frozen").isVisible());
		const asked = [];
		page.on("request", request => request.url().includes("/api/flame") && asked.push(request.url()));
		await page.waitForTimeout(2500);
		must(!asked.length, "it was asked for while somebody pointed at it");
		await page.mouse.move(5, 5);
		await until("the next one", () => asked.length > 0);
	});
	await step("a hidden page asks nothing", async () => {
		await page.evaluate(() => {
			Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
			document.dispatchEvent(new Event("visibilitychange"));
		});
		await page.waitForTimeout(500);
		let asked = 0;
		page.on("request", () => asked++);
		await page.waitForTimeout(2000);
		must(!asked, `${asked} requests`);
		await page.evaluate(() => {
			delete document.hidden;
			document.dispatchEvent(new Event("visibilitychange"));
		});
		await until("requests again", () => asked > 0);
	});
	await step("stop and detach", async () => {
		await page.click(".banner >> text=Stop");
		await until("STOPPED", async () => (await page.textContent(".banner .state")) === "STOPPED");
		await page.click(".banner >> text=Detach");
		await until("DETACHED", async () => (await page.textContent(".banner .state")) === "DETACHED");
	});
	await step("no errors in the live page", () => must(!page.complaints.length, page.complaints.join("; ")));
}

async function selectionTry(browser, url) {
	const page = await pageOpen(browser, withSession(url));
	await until("a picture", () => isDrawn(page, chosenFlame));
	await step("dragging over the curves selects a range for all panels", async () => {
		const box = await page.locator(".overview canvas").boundingBox();
		const asked = page.waitForRequest(request => /\/api\/flame.*from=\d+.*to=\d+/.test(request.url()));
		await page.mouse.move(box.x + 400, box.y + 40);
		await page.mouse.down();
		await page.mouse.move(box.x + 700, box.y + 40, { steps: 4 });
		await page.mouse.up();
		await asked;
		must(/range=\d+-\d+/.test(page.url()), `the address has no range: ${page.url()}`);
	});
	await step("the address holds the view", async () => {
		await page.fill('[aria-label="search functions"]', "/^ae/");
		await until("matches", async () => (await page.textContent(".found")).includes("2 frames"));
		const before = page.url();
		await page.reload();
		await until("the same", async () => (await page.textContent(".found")).includes("2 frames"));
		must(page.url() === before, "the address changed");
		must(!page.url().includes("token"), "the address carries the token");
		await page.fill('[aria-label="search functions"]', "");
	});
	await step("a typed range; Esc clears it", async () => {
		await page.fill('[aria-label="range from"]', "0:05");
		await page.fill('[aria-label="range to"]', "12.5s");
		await page.press('[aria-label="range to"]', "Enter");
		await until("the range", () => page.url().includes("range=5000000000-12500000000"));
		await page.press('[aria-label="range to"]', "Escape");
		await page.keyboard.press("Escape");
		await until("no range", () => !page.url().includes("range="));
	});
	await step("a range typed where there is none: the second field stays empty until it is typed", async () => {
		await page.focus('[aria-label="range from"]');
		await page.keyboard.type("3");
		await page.keyboard.press("Tab");
		await until("the range to the end", () => page.url().includes("range=3000000000-"));
		must(await page.inputValue('[aria-label="range to"]') === "", "it was filled in on the way to it");
		await page.keyboard.type("7");
		await page.keyboard.press("Enter");
		await until("the range", () => page.url().includes("range=3000000000-7000000000"));
		await page.keyboard.press("Escape");
		await until("as it is read", async () => await page.inputValue('[aria-label="range to"]') === "7.000");
		await page.keyboard.press("Escape");
		await until("no range", () => !page.url().includes("range="));
	});
	await step("focus, merge and collapse change the picture, and can be taken back", async () => {
		const box = await page.locator(chosenFlame).boundingBox();
		await page.mouse.click(box.x + 40, box.y + 45);
		await page.click(".details >> text=Focus");
		await page.click(".chip >> nth=0 >> button");
		await until("no chip", async () => await page.locator(".chip").count() === 0);
	});
	await step("every picture is drawn, by its key", async () => {
		for (const [key, name] of Object.entries(PAGES)) {
			if (name === "sandwich")
				await page.locator(".functions .list .function-row").nth(2).evaluate(row => row.click());
			await page.keyboard.press(key);
			const selector = `.picture.${name === "tree" ? "call-tree" : name}`;
			await page.waitForSelector(`${selector}:visible`);
			if (await page.locator(`${selector} canvas`).count())
				await until(`${name} drawn`, () => isDrawn(page, `${selector} canvas`));
			else
				await until(`${name} rows`, async () => await page.locator(`${selector} .list-row`).count() > 3);
			await picture(page, `page-${name}`);
			const found = await axeFindings(page);
			must(!found.length, `axe: ${name}: ${found.join("; ")}`);
		}
	});
	await step("back from another picture, the flame graph has as much detail as before", async () => {
		await page.keyboard.press("2");
		await until("lanes", () => isDrawn(page, ".lanes canvas"));
		await rangeType(page, "3", "7");
		const asked = page.waitForRequest(/\/api\/flame/);
		await page.keyboard.press("1");
		const wide = Number(new URL((await asked).url()).searchParams.get("width")), shown = (await page.locator(chosenFlame).boundingBox()).width;
		must(Math.abs(wide - shown) < 4, `asked for ${wide} pixels, ${shown} are there`);
		await page.keyboard.press("Escape");
		await until("no range", () => !page.url().includes("range="));
	});
	await step("a moment of a thread shows its stack; a kernel the stack that launched it", async () => {
		await page.keyboard.press("2");
		await until("lanes", () => isDrawn(page, ".lanes canvas"));
		const box = await page.locator(".lanes canvas").boundingBox();
		await page.mouse.click(box.x + 500, box.y + 70);
		await until("a stack", async () => (await page.locator(".details .stack li").count()) > 5);
		await page.keyboard.press("Escape");
		await page.mouse.click(box.x + 178, box.y + 228);
		await until("the launch", async () => (await page.locator(".details .figures").textContent().catch(() => "")).includes("launched by hipLaunchKernel"));
		await page.keyboard.press("Escape");
	});
	await step("counters are curves on the timeline's clock: their value under the pointer, and where nothing was counted", async () => {
		const box = await page.locator(".lanes canvas").boundingBox();
		for (const [part, text] of [[0.1, /instructions <b>.*G\/s.*retired/], [0.5, /not counted/]]) {
			await page.mouse.move(box.x + 168 + part * (box.width - 168), box.y + 45);
			await until(String(text), async () => text.test(await page.locator(".tip").textContent()));
		}
		await page.mouse.move(5, 5);
	});
	await step("a pinned range is compared", async () => {
		await page.keyboard.press("1");
		const asked = page.waitForRequest(/\/api\/compare/);
		await page.keyboard.press("p");
		await asked;
		await until("the note", async () => (await page.textContent(".chips")).includes("red is more"));
		await picture(page, "page-compare");
		await page.keyboard.press("p");
	});
	await step("files and a shared page, its size stated first", async () => {
		await page.keyboard.press("e");
		await until("the size", async () => (await page.textContent(".dialog[open]")).includes("412 kB"));
		const saved = page.waitForEvent("download");
		await page.click(".dialog[open] >> text=folded");
		must((await saved).suggestedFilename().length > 3, "no file");
		await page.click(".dialog[open] >> text=Close");
	});
	await step("no errors", () => must(!page.complaints.length, page.complaints.join("; ")));
}

async function detailTry(browser, url) {
	const page = await pageOpen(browser, url);
	await page.click('[data-pid="4711"]');
	await page.click(".chosen .primary");
	await until("LIVE", async () => (await page.textContent(".banner .state")) === "LIVE");
	await until("a picture", () => isDrawn(page, chosenFlame));
	await step("space stops sampling after a button was pressed with the pointer", async () => {
		await page.click(".tabs >> text=Functions");
		await page.click(".tabs >> text=Flame graph");
		await page.keyboard.press(" ");
		await until("STOPPED", async () => (await page.textContent(".banner .state")) === "STOPPED");
	});
	await step("space presses a button that Tab led to", async () => {
		await tabTo(page, "Start sampling");
		await page.keyboard.press(" ");
		await until("LIVE", async () => (await page.textContent(".banner .state")) === "LIVE");
		await page.click(".banner >> text=Stop");
		await until("STOPPED", async () => (await page.textContent(".banner .state")) === "STOPPED");
	});
	await step("a double click zooms, and no details open over it", async () => {
		const box = await page.locator(chosenFlame).boundingBox();
		const at = [box.x + 40, box.y + 45];
		await page.mouse.click(...at);
		await page.waitForTimeout(120);
		must(await page.locator(".details").isHidden(), "details opened between the clicks");
		await page.mouse.click(...at, { clickCount: 2 });
		await page.waitForTimeout(600);
		must(await page.locator(".details").isHidden(), "details opened after the double click");
		await page.mouse.click(...at);
		await until("details of one click", () => page.locator(".details").isVisible());
		await page.keyboard.press("Escape");
	});
	await step("compared functions and calls have a column of what changed", async () => {
		await page.keyboard.press("p");
		await page.keyboard.press("4");
		await until("changes", async () => await page.locator(".functions .change").count() > 3);
		must(/^[+−]\d+\.\d points was/.test(await page.locator(".functions .change").first().textContent()), "no change is told");
		await page.click(".functions .head >> text=Change of self");
		await picture(page, "page-compare-functions");
		await page.keyboard.press("5");
		await until("changes of calls", async () => await page.locator(".tree-row .change").count() > 3);
		await picture(page, "page-compare-tree");
		await page.keyboard.press("p");
	});
	await step("a file that is dropped: the page stays, and says how it is opened", async () => {
		const before = page.url();
		await page.evaluate(() => {
			const data = new DataTransfer();
			data.items.add(new File(["limpet"], "it's.limpet"));
			document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
		});
		await until("the command", async () => (await page.locator(".dialog[open] code").textContent()) === "limpet ui './it'\\''s.limpet'");
		await page.click(".dialog[open] >> text=Close");
		must(page.url() === before, "the page was left");
	});
	await step("no errors with these", () => must(!page.complaints.length, page.complaints.join("; ")));
}

async function rangeType(page, from, to) {
	await page.fill('[aria-label="range from"]', from);
	await page.fill('[aria-label="range to"]', to);
	await page.press('[aria-label="range to"]', "Enter");
	await until("the range", () => page.url().includes(`range=${from}000000000-${to}000000000`));
	await page.press('[aria-label="range to"]', "Escape");
}

async function keyboardTry(browser, url) {
	const page = await pageOpen(browser, url);
	await step("by keyboard alone: filter, choose, start, look, read the tree, detach", async () => {
		await page.waitForSelector('[data-pid="4711"]');
		await page.keyboard.press("/");
		await page.keyboard.type("redis");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		await page.keyboard.press("Enter");
		await until("LIVE", async () => (await page.textContent(".banner .state")) === "LIVE");
		await until("a picture", () => isDrawn(page, chosenFlame));
		await page.locator(chosenFlame).focus();
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("ArrowDown");
		await until("details", async () => await page.locator(".details").isVisible());
		await page.keyboard.press("Enter");
		await page.keyboard.press("5");
		await page.waitForSelector(".tree-row");
		await page.locator('[role="tree"]').focus();
		await page.keyboard.press("ArrowDown");
		must(await page.locator('.tree-row[aria-selected="true"]').count() === 1, "no row is active");
		await page.keyboard.press(" ");
		await until("STOPPED", async () => (await page.textContent(".banner .state")) === "STOPPED");
		await tabTo(page, "Detach");
		await page.keyboard.press("Enter");
		await until("DETACHED", async () => (await page.textContent(".banner .state")) === "DETACHED");
	});
}

async function tabTo(page, text) {
	for (let i = 0; i < 80; i++) {
		await page.keyboard.press("Tab");
		if (await page.evaluate(() => document.activeElement?.textContent ?? "") === text)
			return;
	}
	throw new Error(`Tab never reaches ${text}`);
}

async function looksTry(browser, url) {
	const looks = {
		dark: { colorScheme: "dark" }, narrow: { viewport: { width: 420, height: 800 } },
		forced: { forcedColors: "active" }, still: { reducedMotion: "reduce" },
	};
	for (const [name, options] of Object.entries(looks)) {
		await step(`${name}: it is drawn, fits, and axe has no serious finding`, async () => {
			const page = await pageOpen(browser, withSession(url), options);
			await until("a picture", () => isDrawn(page, name === "forced" ? ".overview canvas" : chosenFlame));
			await picture(page, `page-${name}`);
			const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
			must(over <= 0, `${over} pixels too wide`);
			const found = await axeFindings(page);
			must(!found.length, found.join("; "));
			must(!page.complaints.length, page.complaints.join("; "));
			await page.context().close();
		});
	}
}

async function staleTry(browser) {
	const { server, url } = await start();
	const page = await pageOpen(browser, withSession(url));
	await step("a server that is killed leaves the picture, marked STALE", async () => {
		await until("a picture", () => isDrawn(page, chosenFlame));
		await serverEnd(server, "SIGKILL");
		await until("STALE", async () => (await page.textContent(".banner .state")) === "STALE");
		must(await isDrawn(page, chosenFlame), "the picture is gone");
	});
	await serverEnd(server);
}

async function budgetTry(browser, url) {
	await step("100,000 frames, and a million spans as 40 dense lanes, are drawn", async () => {
		const page = await pageOpen(browser, url.replace("#token", "#session=2&token"));
		await until("a picture", () => isDrawn(page, chosenFlame));
		const flame = await drawTimes(page, chosenFlame);
		await page.keyboard.press("2");
		await until("lanes", () => isDrawn(page, ".lanes canvas"));
		const lanes = await drawTimes(page, ".lanes canvas");
		return `p95 flame graph ${flame.toFixed(1)} ms, timeline ${lanes.toFixed(1)} ms`;
	});
}

/** The 95th percentile of 40 drawings, made by moving within the picture. */
async function drawTimes(page, selector) {
	const times = [];
	await page.locator(selector).focus();
	for (let i = 0; i < 40; i++) {
		await page.keyboard.press(["ArrowDown", "ArrowRight"][i % 2]);
		await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
		times.push(Number(await page.locator(selector).getAttribute("data-draw-ms")));
	}
	return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)];
}

const browser = await browserOpen();
const { server, url } = await start();
try {
	if (!process.argv.includes("--budget")) {
		await liveTry(await processesTry(browser, url));
		await selectionTry(browser, url);
		await keyboardTry(browser, url);
		await detailTry(browser, url);
		await looksTry(browser, url);
		await staleTry(browser);
	}
	await budgetTry(browser, url);
} finally {
	await browser.close();
	await serverEnd(server);
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
