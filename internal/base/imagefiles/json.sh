#!/bin/sh
# json: JSON for shell scripts, with nothing but sh and awk.
#   eval "$(json)"   reads one object from stdin into variables: of {"name":"a","config":{"tags":["x"],"on":true}}
#                    name=a config='{"tags":["x"],"on":true}' config_tags='["x"]' config_tags_count=1 config_tags_0=x config_on=true
#                    Characters other than letters, digits and _ are _ in names; null is empty.
#   json -q TEXT     prints TEXT as a JSON string, with its quotes
#   json -q          does so with the text on stdin: Linux limits an argument to 128 KiB
export LC_ALL=C
if [ "${1-}" = -q ]; then
	{ if [ $# -gt 1 ]; then printf %s "$2"; else cat; fi; echo x; } | awk '
		function replace(text, old, new,   n, part, i, out) {
			n = split(text, part, old); out = part[1]
			for (i = 2; i <= n; i++) out = out new part[i]
			return out
		}
		function escaped(line,   i) {
			line = replace(replace(line, "\\", "\\\\"), "\"", "\\\"")
			if (line ~ /[[:cntrl:]]/) for (i = 1; i < 32; i++) line = replace(line, sprintf("%c", i), sprintf("\\u%04x", i))
			return line
		}
		BEGIN { printf "\"" }
		NR > 1 { printf "%s\\n", escaped(last) }
		{ last = $0 }
		END { printf "%s\"", escaped(substr(last, 1, length(last) - 1)) } # without the x, which keeps newlines at the end'
	exit
fi
exec awk '
# fail WHY: the last line ends the script that evaluates it
function fail(why) { print "json: stdin is not the JSON of an object: " why >"/dev/stderr"; print "exit 1"; failed = 1; exit 1 }
function quoted(text) { gsub(/'\''/, "'\''\\'\'''\''", text); return "'\''" text "'\''" }
function hex(digits,   i, n) {
	for (i = 1; i <= 4; i++) n = n * 16 + index("0123456789abcdef", tolower(substr(digits, i, 1))) - 1
	return n
}
function utf8(n) {
	if (n < 128) return sprintf("%c", n)
	if (n < 2048) return sprintf("%c%c", 192 + int(n / 64), 128 + n % 64)
	if (n < 65536) return sprintf("%c%c%c", 224 + int(n / 4096), 128 + int(n / 64) % 64, 128 + n % 64)
	return sprintf("%c%c%c%c", 240 + int(n / 262144), 128 + int(n / 4096) % 64, 128 + int(n / 64) % 64, 128 + n % 64)
}
# add TEXT: to what is in big and small, which is one text. Each joint of a long text copies all of it.
function add(text) { small = small text; if (length(small) > 4000) { big = big small; small = "" } }
# plain TEXT: what a JSON string stands for
function plain(text,   n, part, i, c, code, low) {
	if (!index(text, "\\")) return text
	n = split(text, part, "\\")
	big = ""; small = part[1]
	for (i = 2; i <= n; i++) {
		if (part[i] == "") { add("\\" part[++i]); continue } # two backslashes
		c = substr(part[i], 1, 1)
		if (c == "u") {
			code = hex(substr(part[i], 2))
			if (code == 0) fail("a zero byte, which no variable can hold")
			if (code >= 55296 && code < 56320 && part[i + 1] ~ /^u[dD]/ && length(part[i]) == 5) {
				low = hex(substr(part[++i], 2))
				code = 65536 + (code - 55296) * 1024 + low - 56320
			}
			add(utf8(code) substr(part[i], 6))
		} else add((c == "n" ? "\n" : c == "t" ? "\t" : c == "r" ? "\r" : c == "b" ? "\b" : c == "f" ? "\f" : c) substr(part[i], 2))
	}
	return big small
}
# set VALUE: the value at this place is known
function set(value) { if (depth) printf "%s=%s\n", place[depth], quoted(value) }
# below KEY: the name of a variable for what is in here
function below(key) {
	gsub(/[^A-Za-z0-9_]/, "_", key)
	if (depth == 1 && key !~ /^[A-Za-z_]/) key = "_" key
	return depth == 1 ? key : place[depth - 1] "_" key
}
# value VALUE: a string, number, true, false or null has been read
function value(text) {
	if (list[depth]) place[depth] = below(count[depth]++)
	if (!depth) fail("it is a single value")
	set(text); want = 0
}
function bare() { if (word != "") { value(word == "null" ? "" : word); word = "" } }
function opened(isList) {
	if (depth && list[depth]) place[depth] = below(count[depth]++)
	if (depth++ > 100) fail("it is nested too deeply")
	start[depth] = at; list[depth] = isList; count[depth] = 0; want = 0
}
function closed(   raw) {
	raw = substr(all, start[depth], at - start[depth] + 1)
	if (list[depth] && depth > 1) printf "%s_count=%d\n", place[depth - 1], count[depth]
	depth--
	if (depth) set(raw); else done = 1
	want = 0
}
BEGIN { RS = "\001" } # which JSON does not have: all is read as one
{ all = all sep $0; sep = RS }
END {
	if (failed) exit 1
	n = split(all, seg, "\"")
	for (k = 1; k <= n; k++) {
		for (i = 1; i <= length(seg[k]); i++) { # between strings
			at++
			c = substr(seg[k], i, 1)
			if (index(" \t\r\n", c)) continue
			if (done) fail("something follows it")
			if (c == "{") opened(0)
			else if (c == "[") { if (!depth) fail("it is a list"); opened(1) }
			else if (c == "}" || c == "]") { bare(); if (!depth) fail("it has too many brackets"); closed() }
			else if (c == ",") { bare(); want = 0 }
			else if (c == ":") want = 1
			else word = word c
		}
		if (k == n) break
		at++ # the quote
		big = ""; small = seg[++k]
		while (match(seg[k], /\\+$/) && RLENGTH % 2) { # a quote that belongs to the string
			if (k == n) fail("a string does not end")
			add("\""); add(seg[++k])
		}
		text = big small
		if (k == n) fail("a string does not end")
		at += length(text) + 1
		if (!depth || done) fail("a string stands alone")
		if (!list[depth] && !want) place[depth] = below(plain(text)); else value(plain(text))
	}
	if (!done) fail(all == "" ? "there is nothing" : "it ends too early")
}'
