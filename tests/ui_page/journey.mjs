// The whole way on a live program: open, refresh, filter, select, attach, start, see real names, select a range, compare,
// export, detach; and the program is unhurt.

import { spawn, spawnSync } from "node:child_process";
import { browserOpen, chosenFlame, counts, isDrawn, must, pageOpen, picture, serverEnd, serverStart, step, until } from "./browser.mjs";

const here = new URL(".", import.meta.url).pathname;

/** The program; turns() is how far it has come. */
function targetStart() {
	const target = spawn("python3", [`${here}load.py`], { stdio: ["ignore", "pipe", "inherit"] });
	let text = "";
	target.stdout.on("data", data => { text += data; });
	return { target, turns: () => Number(text.trim().split("\n").pop()) };
}

/** Some seconds after a visit, by the check of all tests. */
function progressMust(pid) {
	const { status, stderr } = spawnSync("python3", [`${here}../common/progress.py`, `${pid}`], { encoding: "utf8" });
	must(status === 0, stderr);
}

async function attachTry(page, pid) {
	await step("open, refresh, filter, select", async () => {
		await page.waitForSelector(".process-rows .process-row");
		await page.click("text=Refresh");
		await page.fill(".process-tools input", "load.py");
		await page.click(`[data-pid="${pid}"]`);
		await until("its language", async () => (await page.textContent(".chosen dl")).includes("python"));
		await picture(page, "journey-processes");
	});
	await step("attach, start: LIVE", async () => {
		await page.click(".chosen .primary");
		await until("LIVE", async () => (await page.textContent(".banner .state")) === "LIVE");
	});
	await step("real thread names, states and functions", async () => {
		await until("the threads", async () => (await page.locator(".threads").textContent()).includes("web-worker-1"));
		await until("a function", async () => /handle|render_page|parse_request|_Py|sort/.test(await page.locator(".hottest").textContent()));
		await until("a flame graph", () => isDrawn(page, chosenFlame));
		await page.waitForTimeout(6000);
		await page.mouse.move(5, 5);
		await picture(page, "journey-live");
	});
}

async function lookTry(page) {
	await step("a search finds a Python function in the stacks", async () => {
		await page.fill('[aria-label="search functions"]', "render_page");
		await until("matches", async () => /^[1-9]/.test(await page.textContent(".found")));
		await picture(page, "journey-search");
		await page.fill('[aria-label="search functions"]', "");
		await page.press('[aria-label="search functions"]', "Escape");
	});
	for (const [key, name] of [["2", "lanes"], ["3", "heatmap"], ["4", "functions"], ["5", "call-tree"]]) {
		await step(`${name}: has data`, async () => {
			await page.keyboard.press(key);
			const selector = `.picture.${name}`;
			if (await page.locator(`${selector} canvas`).count())
				await until("a picture", () => isDrawn(page, `${selector} canvas`));
			else
				await until("rows", async () => await page.locator(`${selector} .list-row`).count() > 3);
			await page.waitForTimeout(1200);
			await picture(page, `journey-${name}`);
		});
	}
	await step("a range, compared with a pinned one", async () => {
		await page.keyboard.press("1");
		// The last seconds: on a busy machine the sampler begins long after the session.
		const end = Math.floor(Number(/all: ([\d.]+) s/.exec(await page.textContent(".times"))[1]));
		await rangeType(page, end - 4, end - 2);
		await page.keyboard.press("p");
		await rangeType(page, end - 2, end);
		await until("the comparison", async () => (await page.textContent(".chips")).includes("red is more"));
		await until("a picture", () => isDrawn(page, chosenFlame));
		await picture(page, "journey-compare");
		await page.keyboard.press("p");
		await page.keyboard.press("Escape");
	});
}

async function rangeType(page, from, to) {
	await page.fill('[aria-label="range from"]', `${from}`);
	await page.fill('[aria-label="range to"]', `${to}`);
	await page.press('[aria-label="range to"]', "Enter");
	await until("the range", () => page.url().includes(`range=${from}000000000-${to}000000000`));
	await page.press('[aria-label="range to"]', "Escape");
}

async function endTry(page, pid, turns) {
	await step("export: a file of the selection", async () => {
		await page.keyboard.press("e");
		await page.waitForSelector(".dialog[open] .formats button");
		const saved = page.waitForEvent("download");
		await page.locator(".dialog[open] .formats button").first().click();
		return (await saved).suggestedFilename();
	});
	await step("detach; the program goes on", async () => {
		await page.locator(".dialog[open] >> text=Close").click();
		await page.click(".banner >> text=Detach");
		await until("DETACHED", async () => (await page.textContent(".banner .state")) === "DETACHED");
		const before = turns();
		await until("more turns", () => turns() > before);
		progressMust(pid);
	});
	await step("no errors", () => must(!page.complaints.length, page.complaints.join("; ")));
}

const { target, turns } = targetStart();
const { server, url } = await serverStart([process.env.LIMPET, "ui", "--no-open", "--json"]);
const browser = await browserOpen();
try {
	const page = await pageOpen(browser, url);
	await attachTry(page, target.pid);
	await lookTry(page);
	await endTry(page, target.pid, turns);
	await step("limpet killed: STALE, the program still goes on", async () => {
		await serverEnd(server, "SIGKILL");
		await until("STALE", async () => (await page.textContent(".banner .state")) === "STALE");
		const before = turns();
		await until("more turns", () => turns() > before);
		progressMust(target.pid);
	});
} finally {
	await browser.close();
	await serverEnd(server);
	target.kill();
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
