// "text" matches anywhere, in either case; "/expression/" is a regular expression.

export type Matcher = (text: string) => boolean;

/** Null for an empty query; throws the error of an expression. */
export function matcherRead(query: string): Matcher | null {
	const text = query.trim();
	if (!text)
		return null;
	const expression = /^\/(.+?)\/?$/.exec(text);
	if (expression) {
		const compiled = new RegExp(expression[1], "i");
		return one => compiled.test(one);
	}
	const small = text.toLowerCase();
	return one => one.toLowerCase().includes(small);
}

export function matcherOf(query: string): Matcher | null {
	try {
		return matcherRead(query);
	} catch {
		return () => false;
	}
}
