"""The pages of flame graphs in a real browser: search, zoom, hover, inverted, threads, views; what is on the
canvas is asked of the page, where it is clicked is found from the boxes it has drawn."""

import browser

# What the page shows, as its own scripts keep it.
STATUS = 'document.getElementById("status").textContent'
TIP = '(document.getElementById("tip").style.display === "block" ? document.getElementById("tip").textContent : "")'
NAMES = "[...new Set(shown.map(box => nameOf(box.node.value)))]"
INKS = """(() => { const seen = new Set(), pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data;
	for (let i = 0; i < pixels.length; i += 4) seen.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
	return seen.size; })()"""


def box_position(page, name):
    """The middle of the widest box of that name, in the window."""
    return page.value(f"""(() => {{
	const box = shown.filter(box => nameOf(box.node.value) === {name!r}).sort((a, b) => b.width - a.width)[0];
	canvas.scrollIntoView({{ block: "nearest" }});
	const position = canvas.getBoundingClientRect();
	return [position.left + box.x + Math.min(box.width / 2, 40), position.top + (box.row + 0.5) * ROW]; }})()""")


def choose(page, select, text):
    page.value(f"""(() => {{
	const list = document.getElementById({select!r}), option = [...list.options].find(option => option.text.startsWith({text!r}));
	list.value = option.value; list.dispatchEvent(new Event("change")); }})()""")


class Steps:
    """Collects what was expected and not found."""

    def __init__(self):
        self.wrong = []

    def expect(self, what, condition, found=""):
        if not condition:
            self.wrong.append(f"{what}: {found}"[:300])

    def problem(self):
        return "; ".join(self.wrong)


def use_flame_graph(page, hot, outer):
    """hot: an inner function; outer: one that calls it. Both are in the graph."""
    steps = Steps()
    steps.expect("something is drawn", page.value(INKS) > 3, page.value(INKS))
    steps.expect("functions", {hot, outer} <= set(page.value(NAMES)), page.value(NAMES))
    page.move(*box_position(page, hot))
    steps.expect("hover", page.value(TIP).startswith(hot) and "%" in page.value(TIP), page.value(TIP))
    page.key("/", "Slash")
    page.type(hot)
    steps.expect("search", "found: " in page.value(STATUS), page.value(STATUS))
    page.key("Escape", "Escape")
    page.key("/", "Slash")
    page.type("/(/")
    steps.expect("a wrong expression", "is no regular expression" in page.value(STATUS), page.value(STATUS))
    page.key("Escape", "Escape")
    steps.expect("legend", "below a function" in page.value('document.getElementById("legend").textContent'))
    steps.expect("end of search", "found: " not in page.value(STATUS), page.value(STATUS))
    page.click(*box_position(page, outer))
    steps.expect("zoom", page.value(STATUS).startswith(outer), page.value(STATUS))
    page.value('document.getElementById("reset").click()')
    steps.expect("reset", page.value(STATUS).startswith("all"), page.value(STATUS))
    page.value('document.getElementById("inverted").click()')
    first = page.value("shown.filter(box => box.row === 1).map(box => nameOf(box.node.value))")
    steps.expect("inverted", hot in first, first)
    page.value('document.getElementById("inverted").click()')
    return steps


def use_threads(page, steps, thread, functions):
    choose(page, "thread", thread)
    found = page.value(NAMES)
    steps.expect(f"only {thread}", set(functions) == set(found), found)
    choose(page, "thread", "all threads")


def check_page(report, shown, path, pictures, name, hot, outer, **more):
    """more: threads {name: functions}; words that the status must have somewhere."""
    page = browser.Page(shown, path)
    steps = use_flame_graph(page, hot, outer)
    for thread, functions in more.get("threads", {}).items():
        use_threads(page, steps, thread, functions)
    if "view" in more:
        view, functions = more["view"]
        choose(page, "view", view)
        steps.expect(f"view {view}", set(page.value(NAMES)) == set(functions), page.value(NAMES))
        choose(page, "view", "on-cpu")
    for width in more.get("widths", []):
        choose(page, "widths", f"widths: {width}")
        steps.expect(f"widths of {width}", page.value(INKS) > 3, page.value(INKS))
    page.move(*box_position(page, outer))
    steps.expect("nothing went wrong or out", not page.complaints(), page.complaints())
    page.screenshot(pictures / f"{name}.png")
    dark = browser.Page(shown, path, width=640, height=480, dark=True)
    steps.expect("a small dark window", dark.value(INKS) > 3 and
                 dark.value("document.documentElement.scrollWidth <= window.innerWidth"),
                 dark.value("document.documentElement.scrollWidth"))
    dark.screenshot(pictures / f"{name}-dark.png")
    report.check(f"{name}: search, zoom, hover, inverted, threads in Chromium", steps.problem(),
                 f"{pictures / name}.png")
