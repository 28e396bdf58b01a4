package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const brokeProtocol = `refused: "The image broke the protocol"`

// broken is an answer that is refused.
func broken(name, state, says string) hostile {
	return hostile{name: name, verdict: brokeProtocol, exit: 1, says: says, state: state}
}

// hostileAnswers say things that no state answer may say, or say it in a bad way.
func hostileAnswers() []hostile {
	return []hostile{
		broken("answers something other than JSON", `echo hello world`, `It answered: hello world`),
		broken("answers nothing and ends well", `:`, `It printed nothing on stdout`),
		broken("answers two JSON values", `echo '{"status":"VALID","state":{}}{}'`, `more than one JSON value`),
		broken("answers something after the JSON", `echo '{"status":"VALID","state":{}} thank you'`, `something follows the JSON value`),
		broken("answers with a byte order mark", `printf '\357\273\277{"status":"VALID","state":{}}'`, `\\ufeff`),
		broken("answers with invalid UTF-8", `printf '{"status":"VALID","state":{"a":"\300\200"}}'`, `invalid UTF-8 \(byte 32\)`),
		broken("answers with half a surrogate pair", `echo '{"status":"VALID","state":{"a":"\ud800"}}'`, `surrogate`),
		broken("answers with zero bytes", `printf '{"status":"VALID",\000"state":{}}'`, `\\x00`),
		broken("answers with random bytes", `head -c 100000 /dev/urandom`, `not JSON|invalid UTF-8|something follows`),
		broken("answers with a key twice", `echo '{"status":"VALID","state":{"a":[{"b":1,"b":2}]}}'`, `"b" twice|b.*twice|duplicate`),
		broken("answers with a key in the wrong case", `echo '{"status":"VALID","State":{}}'`, `"?State"? is not known|VALID without`),
		broken("answers with null in place of text", `echo '{"status":null}'`, `null`),
		broken("answers with 100000 nested lists", `printf '{"status":"VALID","state":{"a":'; yes '[' | head -n 100000 | tr -d '\n'; echo '}}'`, `nested deeper than 64 levels`),
		broken("answers with the number 1e999999999", `echo '{"status":"VALID","state":{"a":1e999999999}}'`, `exponent`),
		broken("answers with a number of 100000 digits", `printf '{"status":"VALID","state":{"a":'; yes 1 | head -n 100000 | tr -d '\n'; echo '}}'`, `number`),
		broken("answers with two million values", `printf '{"status":"VALID","state":{"a":[0'; yes ,0 | head -n 2000000 | tr -d '\n'; echo ']}}'`, `values`),
		broken("answers with 100000 actions", `printf '{"status":"STALE","actions":[{"name":"a"}'; yes ',{"name":"a"}' | head -n 100000 | tr -d '\n'; echo ']}'`, `"actions" has 100001 entries, and may have at most 1000`),
		broken("names an action ../../etc/passwd", `echo '{"status":"STALE","actions":[{"name":"../../etc/passwd"}]}'`, `is not a valid name for an action`),
		broken("names an action with a terminal escape", `echo '{"status":"STALE","actions":[{"name":"\u001b[2Jx"}]}'`, `is not a valid name for an action`),
		broken("names an action with 10000 letters", `printf '{"status":"STALE","actions":[{"name":"'; yes a | head -n 10000 | tr -d '\n'; echo '"}]}'`, `at most 128 bytes`),
		{name: "answers with 499000 values", verdict: "taken, where nothing else uses it", exit: 1, says: `more than 100000 elements`, most: 20 * time.Second,
			state: `printf '{"status":"VALID","state":{"a":[0'; yes ,0 | head -n 499000 | tr -d '\n'; echo ']}}'`},
		{name: "answers with an integer of 30 digits", verdict: "taken, with every digit", says: `123456789012345678901234567890`,
			state: `echo '{"status":"VALID","state":{"a":123456789012345678901234567890}}'`},
		{name: "answers with a text of a megabyte", verdict: "taken; a person is shown its beginning", says: `\(\d+ bytes in all\)|aaaaaaaa`, never: strings.Repeat("a", 5000),
			state: `printf '{"status":"VALID","state":{"a":"'; yes a | head -n 1000000 | tr -d '\n'; echo '"}}'`},
		{name: "fails with a valid answer", verdict: `refused: "The state could not be read", with its last lines`, exit: 1, says: `exit code 7.*\n.*no such service`,
			state: `echo '{"status":"VALID","state":{}}'; echo no such service >&2; exit 7`},
		{name: "prints an endless answer", verdict: `killed at 16 MiB, or answer_size: "The image printed too much"`, exit: 1, says: `more than 1048576 bytes`,
			settings: `answer_size = "1MiB"`, state: `yes`},
		{name: "prints its answer byte by byte", verdict: `ended when its time is up: "The image took too long"`, exit: 1, says: `timed out after 1s`, settings: `timeouts {; state = "1s"; }`,
			state: `while :; do printf ' '; usleep 50000; done`},
		{name: "prints half an answer and waits", verdict: `ended when its time is up: "The image took too long"`, exit: 1, says: `timed out after 1s`, settings: `timeouts {; state = "1s"; }`,
			state: `printf '{"status":'; sleep 31337`},
		{name: "closes its outputs and goes on", verdict: `ended when its time is up: "The image took too long"`, exit: 1, says: `timed out after 1s`, settings: `timeouts {; state = "1s"; }`,
			state: `echo '{"status":"VALID","state":{}}'; exec >&- 2>&-; sleep 31337`},
	}
}

// hostileLogs print what is not meant for a terminal, or not for anybody.
func hostileLogs() []hostile {
	const secret = `pw=${IN#*\"password\":\"}; pw=${pw%%\"*}; `
	return []hostile{
		{name: "prints an endless log", verdict: `takes bounded space; ended when its time is up: "The image took too long"`, exit: 1, says: `timed out after 1s`, settings: `timeouts {; state = "1s"; }`,
			state: `yes nonsense >&2`, most: 12 * time.Second},
		{name: "prints a line that never ends", verdict: "the line is cut at 16 KiB", says: `\[line cut\]`, never: strings.Repeat("a", 17000),
			state: `yes a | head -n 300000 | tr -d '\n' >&2; echo "$OK"`},
		{name: "prints terminal escapes", verdict: "written out, as \\x1b", says: `\\x1b\]0;owned\\x07\\x1b\[2Jx\\x9b`, state: `printf '\033]0;owned\007\033[2Jx\2331m\n' >&2; echo "$OK"`},
		{name: "prints text that runs backwards", verdict: "written out, as \\u202e", says: `\\u202egnihton\\u2066\\u200b`, state: `printf '\342\200\256gnihton\342\201\246\342\200\213\n' >&2; echo "$OK"`},
		{name: "overwrites lines with carriage returns", verdict: "shown as a terminal shows it: what follows the last one", says: `(?m)\| state is good$`, never: "state is bad", state: `printf 'state is bad\rstate is good\n' >&2; echo "$OK"`},
		{name: "prints zero bytes and bad UTF-8", verdict: "written out, as \\x00", says: `a\\x00b\\xff\\xfe`, state: `printf 'a\000b\377\376\n' >&2; echo "$OK"`},
		{name: "imitates the tool's own words", verdict: "every line says whose it is", says: `(?m)^imitates\S* state \| Error: all is lost$`, never: `(?m)^Error: all is lost`, state: `echo 'Error: all is lost' >&2; echo "$OK"`},
		{name: "escapes in every text of its answers", verdict: "written out, as \\x1b", says: `\\x1b\[31mred\\u202e`, never: "\x1b",
			state: `printf '%s\n' '{"error":{"class":"config","message":"\u001b[31mred\u202e","path":"/\u001b[2J"}}'`, exit: 1},
		{name: "prints a secret", verdict: "hidden", says: `it is \(sensitive value\)`, never: `s3cret-canary`, config: `{ password = var.password }`, state: secret + `echo "it is $pw" >&2; echo "$OK"`},
		{name: "prints a secret in pieces", verdict: "hidden where it stands in one line", says: `it is \(sensitive value\)`, never: `s3cret-canary`, config: `{ password = var.password }`,
			state: secret + `printf 'it is s3cret' >&2; usleep 200000; echo "${pw#s3cret}" >&2; echo "$OK"`},
		{name: "prints a secret as base64", verdict: "hidden", says: `it is \(sensitive value\)`, never: `czNjcmV0`, config: `{ password = var.password }`,
			state: secret + `echo "it is $(printf %s "$pw" | base64)" >&2; echo "$OK"`},
		{name: "prints a secret in its error", verdict: "hidden", exit: 1, says: `cannot log in with \(sensitive value\)`, never: `s3cret-canary`, config: `{ password = var.password }`,
			state: secret + `echo '{"error":{"class":"denied","message":"cannot log in with '$pw'"}}'`},
		{name: "prints a secret backwards", verdict: "not recognised: what a program does with a secret cannot be known", says: `yranac-terc3s`, never: `s3cret-canary`, config: `{ password = var.password }`,
			state: secret + `echo "$pw" | rev >&2; echo "$OK"`},
		{name: "answers with a secret in its state", verdict: "hidden", says: `sensitive value`, never: `s3cret-canary`, config: `{ password = var.password }`,
			state: secret + `echo '{"status":"VALID","state":{"url":"http://me:'$pw'@x"}}'`},
	}
}

// hostileTimes do not end, or not when they should.
func hostileTimes() []hostile {
	const late = `ended when its time is up: "The image took too long"`
	short := `timeouts {; init = "1s"; state = "1s"; action = "1s"; }`
	return []hostile{
		{name: "never ends", verdict: late, exit: 1, says: `timed out after 1s\.`, settings: short, state: `sleep 31337`},
		{name: "never ends in init", verdict: late, exit: 1, says: `(?s)The init step.*timed out after 1s.*init = `, settings: short, init: `sleep 31337`},
		{name: "never ends in an action", verdict: late, exit: 1, says: `(?s)Action "a".*timed out after 1s`, settings: short, apply: true,
			state: `echo '{"status":"STALE","actions":[{"name":"a","args":["act"]}]}'`, action: `sleep 31337`},
		{name: "ignores SIGTERM", verdict: `killed ten seconds after its time is up: "The image took too long"`, exit: 1, says: `because it ignored SIGTERM`, settings: short,
			state: `trap '' TERM; while :; do usleep 100000; done`, most: 13 * time.Second},
		{name: "uses all of a processor for ever", verdict: late, exit: 1, says: `timed out after 1s`, settings: short + "; cpu = 0.2", state: `while :; do :; done`},
		{name: "leaves daemons behind", verdict: "they end with it", says: `will be adopted`, state: `setsid sleep 31337 & (sleep 31337 &) ; sh -c 'trap "" TERM HUP; sleep 31337' & usleep 200000; echo '{"status":"VALID","state":{}}'`},
		{name: "leaves a daemon that holds its stdout", verdict: "it ends with it", says: `will be adopted`, state: `(while :; do usleep 100000; done) & echo '{"status":"VALID","state":{}}'`},
		{name: "tries to stop itself and its parent", verdict: "nothing happens", says: `will be adopted`, state: `kill -STOP $$; kill -9 $PPID; kill -9 -1; echo '{"status":"VALID","state":{}}'`},
		{name: "goes on after it was asked to end", verdict: late, exit: 1, says: `timed out after 1s\.`, settings: short, config: `{}`,
			init: `echo '{"plugs":{"world":{"container_path":"/world"}},"state_action":{"args":["state"]}}'`, state: `sleep 31337; echo went on >/world/late; sleep 31337`,
			after: func(t *testing.T, c *hostileRun) {
				if exists(c.dir + "/world/late") {
					t.Error("the script went on with its next line")
				}
			}},
	}
}

// hostileResources take more than their share.
func hostileResources() []hostile {
	return []hostile{
		{name: "is a fork bomb", verdict: `stops at 1024 processes, or pids; what fails then is its own affair`, exit: 1, says: `fork`, settings: `pids = 32; timeouts {; state = "3s"; }`,
			state: `bomb() { bomb | bomb & }; i=0; while [ $i -lt 100 ]; do sleep 31337 & i=$((i+1)); done; exit 3`},
		{name: "is a memory bomb", verdict: `killed at memory, where that is set: "The state could not be read", out of memory`, exit: 1, says: `ran out of memory`, settings: `memory = "64MiB"`,
			state: `exec /probe memory`},
		{name: "fills the disk with one file", verdict: `stops at disk, 10 GiB if not set`, exit: 1, says: `exit code 153|File too large|file size limit`, settings: `disk = "8MiB"`,
			state: `exec dd if=/dev/zero of=/big bs=1M count=4000`},
		{name: "fills the disk with many files", verdict: `killed at disk: "The image filled the disk"`, exit: 1, says: `filled more than 8388608 bytes`, settings: `disk = "8MiB"`,
			state: `i=0; while [ $i -lt 1000 ]; do dd if=/dev/zero of=/tmp/$i bs=1M count=1 2>/dev/null; i=$((i+1)); [ $i -lt 12 ] || usleep 100000; done`, most: 10 * time.Second},
		{name: "fills the disk with empty files", verdict: `killed at disk: "The image filled the disk"`, exit: 1, says: `filled more than`, settings: `disk = "400KiB"`,
			state: `i=0; while [ $i -lt 300 ]; do : >/tmp/$i; i=$((i+1)); done; sleep 31337`, most: 10 * time.Second},
		{name: "fills the disk with deep directories", verdict: `killed at disk: "The image filled the disk"`, exit: 1, says: `filled more than`, settings: `disk = "2MiB"`,
			state: `cd /tmp; i=0; while [ $i -lt 400 ]; do mkdir d && cd d; i=$((i+1)); done; sleep 31337`, most: 10 * time.Second},
		{name: "fills memory through dev and dev shm", verdict: "stops at 64 MiB each", says: `(?s)dev +=.*ENOSPC after 64 MiB.*dev_shm +=.*ENOSPC after 64 MiB`, state: `exec /probe shm`},
		{name: "opens files without end", verdict: "stops at 1024, or 4096 if it asks", says: `EMFILE after [14] thousand`, state: `exec /probe descriptors`},
	}
}

// hostileLies say one thing and then another.
func hostileLies() []hostile {
	once := `echo '{"plugs":{"world":{"container_path":"/world"}},"state_action":{"args":["state"]}}'`
	stale := func(name string) string {
		return `{"status":"STALE","actions":[{"name":"` + name + `","args":["act"]}]}`
	}
	return []hostile{
		{name: "answers otherwise when asked again", verdict: `nothing of it is done: "plan is stale"`, exit: 1, says: `plan is stale`, apply: true, init: once,
			state:  `if [ -e /world/asked ]; then echo '` + stale("drop_all") + `'; else touch /world/asked; echo '` + stale("a") + `'; fi`,
			action: `touch /world/done`, after: worldHasNot("done")},
		{name: "is not valid after its actions", verdict: `failed: "Still not up to date after its actions"`, exit: 1, says: `expected VALID`, apply: true, init: once, state: `echo '` + stale("a") + `'`, action: `:`},
		{name: "says that it exists without saying what", verdict: brokeProtocol, exit: 1, says: `VALID without "state"`, state: `echo '{"status":"VALID"}'`},
		{name: "is transient for ever", verdict: `asked again six times, then failed`, exit: 1, says: `timed out|transient`, settings: `timeouts {; state = "2s"; }`, most: 45 * time.Second,
			state: `echo '{"error":{"class":"transient","message":"later"}}'`},
		{name: "answers otherwise than its schema says", verdict: brokeProtocol, exit: 1, says: `state_schema`, init: `echo '{"state_schema":{"required":["id"]},"state_action":{"args":["state"]}}'`,
			state: `echo '{"status":"VALID","state":{}}'`},
		{name: "asks for an action in an image that is not here", verdict: `known before anything runs: ` +
			`"No image test/nowhere:1 on this machine"`, exit: 1, says: `test/nowhere`, state: `echo '{"status":"STALE","actions":[{"name":"a","image":"test/nowhere:1"}]}'`},
		{name: "answers for another disposition than it was asked for", verdict: brokeProtocol, exit: 1, says: `MISSING`, state: `echo '{"status":"MISSING"}'`},
	}
}

// hostileMemories say in a bad way what they are not to forget. What such an action made is
// not known, so nothing is made until a person says how it is.
func hostileMemories() []hostile {
	const memory = `echo '{"protocol":2,"memory":true,"state_action":{"args":["state"]}}'`
	stale := `echo '{"status":"STALE","actions":[{"name":"make","args":["act"]}]}'`
	says := func(name, does, says string) hostile {
		return hostile{name: name, verdict: brokeProtocol + "; it is not known what it made", exit: 1, says: says, apply: true, action: does,
			init: memory, state: stale, after: leftUnsettled}
	}
	return []hostile{
		says("makes something and says nothing of it", `:`, `printed nothing on stdout`),
		{name: "has a memory of 100 MB", verdict: `killed at 4 MiB: "The image printed too much"; it is not known what it made`, exit: 1, says: `more than 4194368 bytes`, apply: true,
			init: memory, state: stale, action: `printf '{"memory":"'; yes a | head -n 100000000 | tr -d '\n'; echo '"}'`, after: leftUnsettled},
		says("prints two memories", `echo '{"memory":1}{"memory":2}'`, `more than one JSON value|follows`),
		says("prints half a memory", `printf '{"memory":{"id":'; exit 0`, `not JSON|ends|unexpected|invalid`),
		says("prints a log and then its memory", `echo making it; echo '{"memory":1}'`, `stdout is invalid`),
		{name: "has the memory null when it is valid", verdict: brokeProtocol, exit: 1, says: `"memory" is null`, init: memory,
			state: `echo '{"status":"VALID","state":{},"memory":null}'`},
		{name: "has a memory that it did not ask for", verdict: brokeProtocol, exit: 1, says: `lacks "memory": true`, state: `echo '{"status":"VALID","state":{},"memory":1}'`},
		{name: "does not know a million values ahead", verdict: brokeProtocol, exit: 1, says: `at most 1000`,
			state: `printf '{"status":"STALE","actions":[{"name":"a"}],"unknown":["/a"'; yes ',"/a"' | head -n 400000 | tr -d '\n'; echo ']}'`},
		{name: "does not know what is no part of the state", verdict: brokeProtocol, exit: 1, says: `pointer`, state: `echo '{"status":"STALE","actions":[{"name":"a"}],"unknown":["a//~2"]}'`},
	}
}

// leftUnsettled checks that nobody claims to know what was made.
func leftUnsettled(t *testing.T, c *hostileRun) {
	if text, err := os.ReadFile(filepath.Join(c.dir, "deployster.state.json")); err != nil || !strings.Contains(string(text), `"unsettled"`) {
		t.Errorf("nothing is unsettled: %v %s", err, text)
	}
}

// worldHasNot checks that a file is not in the directory that the plug grants.
func worldHasNot(name string) func(t *testing.T, c *hostileRun) {
	return func(t *testing.T, c *hostileRun) {
		if exists(c.dir + "/world/" + name) {
			t.Errorf("%s is there", name)
		}
	}
}
