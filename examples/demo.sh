#!/bin/sh
# Shows limpet at work: starts a live program, looks at it, loads a tool into it, leaves, and proves that the
# program goes on unharmed.  Ends with 0 only when all of that was seen, and ends all that it started.
# Environment: LIMPET is the executable, EXAMPLES the folder with the built examples.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
limpet=${LIMPET:-$root/out/bin/limpet}
examples=${EXAMPLES:-$root/build/examples}
work=$(mktemp -d)
: >"$work/hello"
failures=0
app=
visitor=

bold='' dim='' red='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') red=$(printf '\033[31m') plain=$(printf '\033[0m')
fi

finish() {
    for process in $visitor $app; do
        kill -KILL "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

step() {
    printf '\n%s%s%s\n' "$bold" "$*" "$plain"
}

# show COMMAND...: prints the command as one would type it, then what it says, indented.
show() {
    shown=$(printf '%s ' "$@" | sed -e "s|$limpet|limpet|g" -e "s|$examples/||g" -e "s|$work/||g")
    printf '%s  $ %s%s\n' "$dim" "$shown" "$plain"
    status=0
    "$@" >"$work/said" 2>&1 || status=$?
    sed 's/^/    /' "$work/said"
    [ "$status" -eq 0 ] || failed "exit code $status"
}

failed() {
    printf '  %sFAILED: %s%s\n' "$red" "$*" "$plain"
    failures=$((failures + 1))
}

# check WHAT COMMAND...: one thing that must have been seen.
check() {
    what=$1
    shift
    if "$@"; then
        printf '  ok: %s\n' "$what"
    else
        failed "$what"
    fi
}

# until_true SECONDS COMMAND...: waits for something to become true.
until_true() {
    tries=$(($1 * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}

is_running() {
    kill -0 "$1" 2>/dev/null
}

has_ended() {
    ! is_running "$1"
}

# field NAME FILE: a number out of the JSON of limpet.
field() {
    sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$2" | head -n 1
}

milliseconds() {
    awk -v ns="${1:-0}" 'BEGIN { printf "%.3f ms", ns / 1e6 }'
}

heartbeat() {
    sed -n 's/^heartbeat \([0-9]*\):.*/\1/p' "$work/app" | tail -n 1
}

beats_after() {
    [ "$(heartbeat)" -gt "$1" ]
}

# mappings FILE: the files that are mapped into the program, and how many mappings without a name it has.
mappings() {
    awk '{ print $6 == "" ? "(no name)" : $6 }' "/proc/$app/maps" | sort | uniq -c >"$1"
}

names_of() {
    awk '{ print $2 }' "$1" | grep '^/' | sort -u
}

same_files() {
    names_of "$1" >"$work/names.1"
    names_of "$2" >"$work/names.2"
    cmp -s "$work/names.1" "$work/names.2"
}

start_program() {
    step "1. A program is running. It was not prepared for anything."
    "$examples/target_app" >"$work/app" 2>&1 &
    app=$!
    until_true 5 test -s "$work/app" || true
    until_true 3 grep -q '^heartbeat' "$work/app" || true
    sed 's/^/    /' "$work/app"
    check "it works" grep -q '^heartbeat 1: .* 0 wrong' "$work/app"
    mappings "$work/maps.before"
}

look_at_it() {
    step "2. Looking at it from outside: its threads, and whether limpet may attach. Nothing is stopped."
    show "$limpet" ps target_app
    check "it is in the list" grep -q "^ *$app " "$work/said"
    "$limpet" doctor "$app" >"$work/doctor" 2>&1 || failed "limpet doctor"
    printf '%s  $ limpet doctor %s%s\n' "$dim" "$app" "$plain"
    sed -n -e '/^process/,$p' "$work/doctor" | sed 's/^/    /'
    check "seven named threads and the main one" \
        test "$(grep -cE ' (target_app|primes|matrix|sorter|sleeper|producer|consumer|files) ' "$work/doctor")" -ge 8
    check "limpet may attach" grep -q '^ok: ' "$work/doctor"
}

attach_once() {
    step "3. A tool goes in for a moment; the program goes on meanwhile. For scripts: --json."
    show "$limpet" attach "$app" --tool "$examples/hello_tool.so" --env HELLO_NAME=demo \
        --env "HELLO_OUTPUT=$work/hello" --duration 200ms --json
    pause=$(field pause_ns "$work/said")
    check "one thread stood still for $(milliseconds "$pause"), the others never" test -n "$pause"
    check "everything took $(milliseconds "$(field attach_ns "$work/said")")" grep -q '"exit":0' "$work/said"
    printf '  what the tool saw inside:\n'
    sed 's/^/    /' "$work/hello"
    check "the tool ran in the program" grep -q "^hello from target_app, pid $app: .* HELLO_NAME=demo" "$work/hello"
}

attach_and_ask() {
    step "4. It stays attached, until somebody asks it to leave."
    printf '%s  $ limpet attach %s --tool hello_tool.so --env ... &%s\n' "$dim" "$app" "$plain"
    "$limpet" attach "$app" --tool "$examples/hello_tool.so" --env HELLO_NAME=again \
        --env "HELLO_OUTPUT=$work/hello" --duration 1m >"$work/visitor" 2>&1 </dev/null &
    visitor=$!
    until_true 5 grep -q '^attached' "$work/visitor" || true
    show "$limpet" status "$app"
    check "status tells who is in it" grep -q "held by *$visitor " "$work/said"
    show "$limpet" detach "$app"
    check "the visitor leaves when asked" until_true 5 has_ended "$visitor"
    wait "$visitor" || failed "limpet attach ended with $?"
    visitor=
    sed 's/^/    (attach) /' "$work/visitor"
}

unload_it() {
    step "5. What was loaded stays mapped, asleep. --unload takes it away too."
    mappings "$work/maps.resting"
    check "the agent rests in the program" sh -c "! cmp -s $work/maps.before $work/maps.resting"
    show "$limpet" detach "$app" --unload
    mappings "$work/maps.after"
    check "the files mapped are those from before" same_files "$work/maps.before" "$work/maps.after"
    printf '  mappings before and after (what has no name is kept by libc: a heap, a stack for the next thread):\n'
    diff "$work/maps.before" "$work/maps.after" | grep '^[<>]' | sed 's/^/    /' || printf '    no difference\n'
    check "the tool said goodbye" grep -q '^goodbye' "$work/hello"
}

sample_it() {
    step "6. What is it doing? It is sampled for two seconds; nothing is loaded, no thread is stopped."
    picture=$(mktemp -d -t limpet-demo-XXXXXX)
    show "$limpet" record -p "$app" --duration 2s -F 499 -o "$work/app.limpet"
    check "every sample came through" grep -q ' 0 lost' "$work/said"
    "$limpet" report "$work/app.limpet" -n 8 >"$work/said" 2>&1 || failed "limpet report"
    printf '%s  $ limpet report app.limpet -n 8%s\n' "$dim" "$plain"
    sed -n -e '/^hot functions/,/^ *and /p' "$work/said" | sed 's/^/    /'
    check "its functions have names" grep -q ' primes_turn\| matrix_multiply\| number_compare' "$work/said"
    show "$limpet" export "$work/app.limpet" -o "$picture/target_app.html"
    check "its flame graph can be opened: $picture/target_app.html" test -s "$picture/target_app.html"
}

prove_it_lives() {
    step "7. The program goes on as if nothing had happened."
    before=$(heartbeat)
    check "its heart beats" until_true 5 beats_after "$before"
    check "every thread moved on, no result was wrong" \
        sh -c "! grep '^heartbeat' $work/app | grep -qv ' 0 wrong, 7 of 7'"
    kill -TERM "$app"
    code=0
    wait "$app" || code=$?
    app=
    tail -n 3 "$work/app" | sed 's/^/    /'
    check "all results were right" test "$code" -eq 0
}

start_program
look_at_it
attach_once
attach_and_ask
unload_it
sample_it
prove_it_lives
if [ "$failures" -gt 0 ]; then
    step "$failures thing(s) were not as they should be, see FAILED above."
    exit 1
fi
step "Everything was seen. Its flame graph: $picture/target_app.html"
step "Now a program of yours: limpet ps; limpet record -p PID; limpet attach PID --tool ./libyours.so"
step "Or look at it on a page, live: limpet ui"
