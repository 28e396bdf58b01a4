package artifacts

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/artifact"
	"deployster/internal/testkit/page"
)

// hostile is what an image does in a step, and what becomes of it.
type hostile struct {
	name, verdict, step string
	script              string // in shell; $answer is the response file. Without a step it is what the check of a v1 image prints
	says                string // a regular expression: the error; "" = there is none
	class               artifact.Class
	long                bool // it takes minutes
	after               func(t *testing.T, r result)
}

type result struct {
	checked artifact.Checked
	held    artifact.Held
	put     artifact.Put
}

const line = `{"space":"main","version":{"ref":"1"}}`

func cases() []hostile {
	broken := artifact.Broken
	return []hostile{
		{name: "check prints garbage", verdict: "protocol error", step: "check", script: `echo hello >$answer`, says: "line 1", class: broken},
		{name: "check lists a version with numbers", verdict: "protocol error", step: "check", says: "line 1: .*is a number", class: broken,
			script: `echo '{"space":"main","version":{"n":1}}' >$answer`},
		{name: "check lists a version with null", verdict: "protocol error", step: "check", says: "line 1: .*is null", class: broken,
			script: `echo '{"space":"main","version":{"n":null}}' >$answer`},
		{name: "check writes no response file", verdict: "no versions", step: "check", script: `true`, after: noVersions},
		{name: "check writes an empty response file", verdict: "no versions", step: "check", script: `: >$answer`, after: noVersions},
		{name: "check makes its response a link", verdict: "never followed: protocol error", step: "check", script: `ln -s /etc/passwd $answer`,
			says: "is a symbolic link", class: broken},
		{name: "check makes its response a FIFO", verdict: "never waited for: protocol error", step: "check", script: `mkfifo $answer`,
			says: "is a FIFO", class: broken},
		{name: "check makes its response a directory", verdict: "protocol error", step: "check", script: `mkdir $answer`,
			says: "is a directory", class: broken},
		{name: "check makes its response a sparse TiB", verdict: "refused", step: "check", script: `truncate -s 1T $answer`,
			says: "more than|File too large|ended with exit code", class: ""},
		{name: "check leaves half a line", verdict: "protocol error", step: "check", script: `printf '{"space":"ma' >$answer`, says: "line 1", class: broken},
		{name: "check names two default spaces", verdict: "protocol error", step: "check", says: "named before", class: broken,
			script: `echo '{"default_space":"a"}' >$answer; echo '{"default_space":"b"}' >>$answer`},
		{name: "check names a default space of no line", verdict: "no version yet", step: "check", script: `echo '{"default_space":"a"}' >$answer`,
			after: noVersions},
		{name: "check lists a million versions", verdict: "streamed: the newest is found", step: "check",
			script: `(echo '{"default_space":"main"}'; seq 1000000 | sed 's/.*/{"space":"main","version":{"ref":"&"}}/') >$answer`,
			after: func(t *testing.T, r result) {
				if v, ok := r.checked.Found(); !ok || v.Version["ref"] != "1000000" || r.checked.Spaces["main"].Count != 1_000_000 {
					t.Errorf("%v of %d", v.Version, r.checked.Spaces["main"].Count)
				}
			}},
		{name: "check lists 1001 spaces", verdict: "taken; the selected one is kept", step: "check",
			script: `echo '{"default_space":"s7"}' >$answer; i=0; while [ $i -le 1000 ]; do echo '{"space":"s'$i'","version":{"ref":"1"}}'; i=$((i+1)); done >>$answer`,
			after: func(t *testing.T, r result) {
				if _, ok := r.checked.Found(); !ok || len(r.checked.Spaces) != 1 {
					t.Errorf("%d spaces", len(r.checked.Spaces))
				}
			}},
		{name: "check writes a line of more than 1 MiB", verdict: "refused", step: "check", says: "longer than 1048576 bytes", class: broken,
			script: `head -c 1100000 /dev/zero | tr '\0' x >$answer`},
		{name: "check writes metadata of 101 fields", verdict: "refused", step: "check", says: "line 1: .*100", class: broken,
			script: `f='{"name":"a","value":"b"}'; i=1; all=$f; while [ $i -le 100 ]; do all="$all,$f"; i=$((i+1)); done
echo '{"space":"main","version":{"ref":"1"},"metadata":['$all']}' >$answer`},
		{name: "check starts processes without end", verdict: "stopped at pids", step: "check", says: "exit code|took too long|processes", class: "",
			script: `b() { b | b & }; b; i=0; while [ $i -lt 3000 ]; do sleep 100 & i=$((i+1)); done; exit 4`},
		{name: "check prints a log on stdout", verdict: "a log", step: "check", script: `head -c 20000000 /dev/zero | tr '\0' x; echo '` + line + `' >$answer`,
			after: func(t *testing.T, r result) {
				if r.checked.Spaces["main"].Count != 1 {
					t.Errorf("%+v", r.checked)
				}
			}},
		{name: "check hangs and ignores SIGTERM", verdict: "killed after its time", step: "check", script: `trap '' TERM; while :; do sleep 1; done`,
			says: "took too long", class: artifact.TimedOut},
		{name: "check floods stderr", verdict: "a bounded log", step: "check", script: `head -c 50000000 /dev/zero >&2; echo '` + line + `' >$answer`},
		{name: "get fills the disk with one file", verdict: "stopped at disk", step: "get", script: `exec dd if=/dev/zero of=f bs=1M count=200`,
			says: "unavailable|filled the disk", class: ""},
		{name: "get fills the disk with many files", verdict: "stopped at disk", step: "get",
			script: `i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero >$i || exit 1; done`, says: "filled the disk|unavailable", class: ""},
		{name: "get leaves nothing", verdict: "an empty tree", step: "get", script: `true`, after: func(t *testing.T, r result) {
			if r.held.Files != 0 {
				t.Errorf("%+v", r.held)
			}
		}},
		{name: "get leaves links out of its tree", verdict: "kept as they are, never followed here", step: "get",
			script: `ln -s /etc/shadow a; ln -s ../../.. b; ln -s loop loop`, after: func(t *testing.T, r result) {
				if target, err := os.Readlink(filepath.Join(r.held.Dir, "a")); target != "/etc/shadow" || err != nil {
					t.Errorf("%q, %v", target, err)
				}
				for _, sub := range []string{"a", "b", "loop"} {
					if real, err := artifact.Sub(r.held.Dir, sub); err == nil {
						t.Errorf("%s leads to %s", sub, real)
					}
				}
			}},
		{name: "get leaves a name with a newline, and a setuid program", verdict: "kept; mounts are nosuid", step: "get",
			script: `: >"$(printf 'a\nb')"; : >s; chmod 4755 s`, after: func(t *testing.T, r result) {
				if i, err := os.Stat(filepath.Join(r.held.Dir, "s")); err != nil || i.Mode()&os.ModeSetuid == 0 || r.held.Files != 2 {
					t.Errorf("%+v, %v", r.held, err)
				}
			}},
		{name: "get leaves more than 1,000,000 files", verdict: "refused", step: "get", long: true, says: "is one of more than 1000000 files",
			class: artifact.Refused, script: `mkdir -p b/0; i=0; while [ $i -lt 1000 ]; do : >b/0/$i; i=$((i+1)); done
i=1; while [ $i -le 1000 ]; do cp -rl b/0 b/$i; i=$((i+1)); done`},
		{name: "get leaves a FIFO", verdict: "refused", step: "get", script: `mkfifo f`, says: "is a FIFO", class: artifact.Refused},
		{name: "get makes a device", verdict: "the kernel refuses", step: "get", script: `mknod d c 1 3 && exit 0; exit 5`, says: "exit code 5", class: artifact.Failed},
		{name: "get keeps writing after its exit", verdict: "killed before anything is read", step: "get",
			script: `(trap '' HUP TERM; while :; do echo x >>f; done) & until [ -s f ]; do sleep 0.01; done`, after: func(t *testing.T, r result) {
				before, err := os.Stat(filepath.Join(r.held.Dir, "f"))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(300 * time.Millisecond)
				if after, err := os.Stat(filepath.Join(r.held.Dir, "f")); err != nil || after.Size() != before.Size() {
					t.Errorf("%d bytes, then %d, %v", before.Size(), after.Size(), err)
				}
			}},
		{name: "get fails", verdict: "the version is unavailable", step: "get", script: `echo "no such ref" >&2; exit 9`, says: "unavailable.*no such ref",
			class: artifact.Failed},
		{name: "put writes no answer", verdict: "failed: put printed no version", step: "put", script: `true`, says: "printed no version", class: broken},
		{name: "put touches two spaces", verdict: "recorded, then failed", step: "put", says: "it changed 2 spaces", class: broken,
			script: `for s in a b; do echo '{"type":"created","space":"'$s'","version":{"ref":"1"}}'; done >$answer`, after: func(t *testing.T, r result) {
				if len(r.put.Created) != 2 {
					t.Errorf("%+v", r.put)
				}
			}},
		{name: "put fails after it said something", verdict: "what it said is recorded", step: "put", says: "exit code 3", class: artifact.Failed,
			script: `echo '{"type":"created","space":"a","version":{"ref":"1"}}' >$answer; exit 3`, after: func(t *testing.T, r result) {
				if len(r.put.Created) != 1 {
					t.Errorf("%+v", r.put)
				}
			}},
		{name: "put lists more than 16 MiB", verdict: "refused", step: "put", says: "more than 16777216 bytes", class: broken,
			script: `head -c 17000000 /dev/zero >$answer`},
		{name: "put only deletes", verdict: "taken", step: "put", script: `echo '{"type":"deleted","space":"a","version":{"ref":"1"}}' >$answer`,
			after: func(t *testing.T, r result) {
				if len(r.put.Deleted) != 1 {
					t.Errorf("%+v", r.put)
				}
			}},
		{name: "put changes its input", verdict: "it was a copy", step: "put",
			script: `echo x >repo/file && rm -rf repo && echo '{"type":"created","space":"a","version":{"ref":"1"}}' >$answer`},
	}
}

// casesOfV1 are images of concourse-1: what their check prints.
func casesOfV1() []hostile {
	broken := artifact.Broken
	newest := func(want string) func(*testing.T, result) {
		return func(t *testing.T, r result) {
			if v, ok := r.checked.Found(); !ok || v.Version["ref"] != want {
				t.Errorf("found %v", v)
			}
		}
	}
	return []hostile{
		{name: "a v1 check prints garbage", verdict: "protocol error", script: "hello", says: "invalid character", class: broken},
		{name: "a v1 check prints two arrays", verdict: "the first one counts", script: `[{"ref":"1"}] [{"ref":"2"}]`, after: newest("1")},
		{name: "a v1 check prints half an array", verdict: "protocol error", script: `[{"ref":"1"`, says: "in the middle", class: broken},
		{name: "a v1 check lists a version with numbers", verdict: "protocol error", script: `[{"n":1}]`, says: "version 1: .*is a number", class: broken},
		{name: "a v1 check lists a version with null", verdict: "protocol error", script: `[{"n":null}]`, says: "version 1: .*is null", class: broken},
		{name: "a v1 check prints null", verdict: "no versions", script: "null", after: noVersions},
		{name: "a v1 check lists a million versions", verdict: "refused at 16 MiB, or at `answer_size`: narrow the source", says: "printed too much.*answer_size",
			script: "[" + strings.Repeat(`{"ref":"0123456"},`, 1_000_000) + `{"ref":"8"}]`, class: broken},
		{name: "a v1 check lists as many as fit", verdict: "taken", script: "[" + strings.Repeat(`{"ref":"0123456"},`, 900_000) + `{"ref":"8"}]`,
			after: newest("8")},
	}
}

// everything also runs the images that take minutes.
var everything = os.Getenv("DEPLOYSTER_CRASH") == "all"

func noVersions(t *testing.T, r result) {
	if v, ok := r.checked.Found(); ok {
		t.Errorf("found %v", v)
	}
}

// scripts has the rows that take more than an image: commands, one after the other. Each is
// a comment there: "# | what happens | verdict |".
const scripts = "../../../testdata/script/artifact-hostile*.txtar"

var update = flag.Bool("update", false, "write the table of the page docs/internals/artifacts.md")

// TestHostile_PageHasEachRow compares the table of the page with the images here and the
// scripts; with -update it writes the table.
func TestHostile_PageHasEachRow(t *testing.T) {
	var rows [][]string
	for _, c := range append(cases(), casesOfV1()...) {
		rows = append(rows, []string{c.verdict, c.name})
	}
	files, err := filepath.Glob(scripts)
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(script)) {
			if cells := strings.Split(strings.TrimSpace(line), " | "); strings.HasPrefix(line, "# | ") && len(cells) == 3 {
				rows = append(rows, []string{strings.TrimSuffix(cells[2], " |"), cells[1]})
			}
		}
	}
	table := page.Table{Path: "../../../docs/internals/artifacts.md", Header: []string{"what becomes of it", "the image of an artifact"}, Rows: page.Group(rows)}
	if err := table.Check(*update); err != nil {
		t.Error(err)
	}
}

// TestHostile_Artifacts runs images that do their worst.
func TestHostile_Artifacts(t *testing.T) {
	for _, c := range append(cases(), casesOfV1()...) {
		if c.long && !everything {
			continue // `make crash` runs it
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c hostile) run(t *testing.T) {
	w, target := newWorld(t), target("acme/v2")
	w.says(c.step, c.script+"\n")
	if c.step == "" {
		w.says("check", c.script+"\n")
		c.step, target.Reference = "check", "acme/v1"
	}
	target.Settings.Disk = 64 << 20
	if c.long {
		target.Settings.Disk = 4 << 30
	}
	target.CheckTimeout = 20 * time.Second
	if c.class == artifact.TimedOut {
		target.CheckTimeout = 2 * time.Second
	}
	var r result
	var err error
	switch i := about(t, target); c.step {
	case "check":
		r.checked, err = shared.client.Check(t.Context(), target, i, artifact.CheckInput{Source: w.source("")})
	case "get":
		r.held, err = fetch(t, w, target, i, "1", "")
	case "put":
		r.put, err = put(t, w, target, i)
	}
	switch {
	case err == nil && c.says != "":
		t.Errorf("taken: %+v", r)
	case err != nil && (c.says == "" || !regexp.MustCompile("(?s)"+c.says).MatchString(err.Error())):
		t.Errorf("says: %v", err)
	case err != nil && c.class != "" && artifact.ClassOf(err) != c.class:
		t.Errorf("class %s: %v", artifact.ClassOf(err), err)
	}
	if c.after != nil {
		c.after(t, r)
	}
}
