#!/bin/sh
# make_lacking.sh OUTPUT INPUT CC...: links a tool against a library that exists only meanwhile.
set -eu
output=$1
input=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo 'int missing;' >"$folder/missing.c"
"$@" -shared -fPIC -o "$folder/liblimpet-test-missing.so" "$folder/missing.c"
"$@" -shared -fPIC -o "$output" "$input" -Wl,--no-as-needed -L"$folder" -llimpet-test-missing
