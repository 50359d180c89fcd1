// The answers of the server that are JSON objects, as docs/ui-api.md lists them.

export interface About {
	version: string;
	user: string;
	host: string;
	kernel: string;
	root: boolean;
	ssh: string;
	open: number[];
	share: boolean;
}

export interface Process {
	pid: number;
	start: number;
	name: string;
	command: string;
	executable: string;
	user: string;
	state: string;
	threads: number;
	cpu_ns: number;
	cpu_permille: number;
	parent: number;
	runtimes: string[];
	/** The traces possible for one with such runtimes: words and titles. */
	traces: [string, string][];
	language: string;
	attachable: boolean;
	error: string;
	why: string;
	fix: string;
	sampled: boolean;
	session?: number;
}

export interface Session {
	id: number;
	kind: "live" | "file";
	state: "recording" | "stopped" | "detached" | "ended" | "failed" | "file";
	name: string;
	pid: number;
	file: string;
	start_unix_ms: number;
	begin_ns: number;
	end_ns: number;
	oldest_ns: number;
	hz: number;
	off_cpu: boolean;
	sampler: string;
	sampler_why: string;
	samples: number;
	lost: number;
	forgotten: number;
	incomplete: number;
	stack_ends: Record<string, number>;
	unnamed: number;
	guessed: number;
	traces: string[];
	calls: number;
	dropped: number;
	kinds: string[];
	overhead_percent: number;
	recording: string;
	error: string;
	stopped_why?: string;
	is_damaged: string | boolean;
}

export interface LiveThread {
	number: number;
	tid: number;
	name: string;
	state: string;
	percent: number;
	samples: number;
	on_cpu_ns: number;
}

export interface TopFunction {
	name: string;
	module: string;
	self_ns: number;
	total_ns: number;
}

export interface Live {
	session: Session;
	now_ns: number;
	since: number;
	changed: boolean;
	threads: LiveThread[];
	cpu_percent: number;
	rss_bytes: number;
	curves: { time_ns: number[]; cpu_percent: number[]; rss_bytes: (number | null)[]; threads: number[] };
	top: TopFunction[];
}

export interface Frame {
	name: string;
	module?: string;
	file?: string;
	line?: number;
	inlined?: boolean;
}

export interface StackAnswer {
	found: boolean;
	time_ns: number;
	begin_ns: number;
	kind: string;
	state: string;
	frames: Frame[];
	complete: boolean;
}

export interface SpanWork {
	name: string;
	lane?: number;
	thread?: number;
	begin_ns: number;
	end_ns: number;
	values?: Record<string, unknown>;
	frames?: Frame[];
}

export interface SpanAnswer {
	found: boolean;
	call?: SpanWork;
	work?: SpanWork[];
}
