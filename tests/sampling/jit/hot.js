function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function text(n) { let all = []; for (let i = 0; i < n; i++) all.push("k" + i); return all.join(",").length; }
for (;;) { leaf(20000); fib(16); text(300); }
