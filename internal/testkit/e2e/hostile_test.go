package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/internal/testkit/page"
)

// hostile is an image that does what it should not, and what becomes of it.
type hostile struct {
	name    string // what the image does
	verdict string // what becomes of it, for docs/internals/hostile.md
	exit    int    // of the command
	says    string // a regular expression: what the user reads
	never   string // another: what he does not

	// What the steps of the image do, in shell; empty = what an honest one does.
	// IN is their stdin.
	init, state, action string

	settings string // lines of the type block
	config   string // of the resource; "" = {}
	image    string // another image than the usual one
	apply    bool   // the command is apply, not plan
	most     time.Duration
	after    func(t *testing.T, c *hostileRun)
}

// hostileRun is one of them, carried out.
type hostileRun struct {
	hostile
	dir            string // where the command ran; its directory world is granted to who asks for the plug world
	stdout, stderr string
	code           int
	took           time.Duration
	peak           int64 // bytes that the command had in memory at the most
}

// The promises that hold for every image, whatever it does.
const (
	maxMemory = 256 << 20
	overrun   = 2 * time.Minute // beyond what the limits of the case allow
)

// hostileCommand is the beginning of every image's program.
const hostileCommand = `#!/bin/sh
read -r IN
name=${IN#*\"name\":\"}
name=${name%%\"*}
OK='{"status":"VALID","state":{}}'
step=/cases/$name.${1:-init}
[ -e $step ] && . $step
case "$1" in
"") echo '{"state_action":{"args":["state"]}}' ;;
state) echo '{"status":"VALID","state":{}}' ;;
esac
`

// hostiles are all cases.
func hostiles() []hostile {
	return slices.Concat(hostileAnswers(), hostileLogs(), hostileTimes(), hostileResources(), hostileLies(), hostileMemories(), hostileInits(),
		hostileKernel(), hostileFiles(), hostileImages())
}

// TestHostile_Verdicts runs images that do their worst, each through the real command.
func TestHostile_Verdicts(t *testing.T) {
	t.Parallel()
	cases := hostiles()
	if len(cases) < 60 {
		t.Errorf("only %d hostile images", len(cases))
	}
	lab := newHostileLab(t, cases)
	runs := make([]*hostileRun, len(cases))
	var waiting sync.WaitGroup
	room := make(chan struct{}, 5)
	for _, i := range longestFirst(cases) {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			room <- struct{}{}
			defer func() { <-room }()
			runs[i] = lab.run(t, cases[i])
		}()
	}
	waiting.Wait()
	var peak int64
	for _, r := range runs {
		t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) { r.check(t) })
		peak = max(peak, r.peak)
		t.Logf("%6.1fs %4d MiB  %s", r.took.Seconds(), r.peak>>20, r.name)
	}
	t.Logf("%d hostile images; the most memory that a command took is %d MiB, the server %d MiB", len(cases), peak>>20, lab.serverPeak(t)>>20)
	if got := lab.serverPeak(t); got > maxMemory {
		t.Errorf("the server took %d MiB", got>>20)
	}
	if seen, err := checkMessages(lab.root); err != nil || seen < len(cases) {
		t.Errorf("of %d messages: %v", seen, err)
	}
	lab.nothingLeft(t)
}

// longestFirst gives the order in which all are done soonest.
func longestFirst(cases []hostile) []int {
	order := make([]int, len(cases))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(cases[b].most - cases[a].most) })
	return order
}

// run carries one out. It is called from many goroutines.
func (l *hostileLab) run(t *testing.T, c hostile) *hostileRun {
	r := &hostileRun{hostile: c, dir: filepath.Join(l.root, address(c.name))}
	if r.image == "" {
		r.image = "test/hostile:1"
	}
	if r.config == "" {
		r.config = "{}"
	}
	if r.most == 0 {
		r.most = 3 * time.Second
	}
	manifest := fmt.Sprintf(`
variable "password" {
  default   = "s3cret-canary-value"
  sensitive = true
}
plug "world" {
  path = "world"
}
plug "sealed" {
  path      = "world"
  read_only = true
}
type "t" {
  image = %q
  %s
}
resource %q {
  type   = type.t
  config = %s
}
output "state" {
  value = resource.%s.state
}
`, r.image, strings.ReplaceAll(c.settings, "; ", "\n  "), address(c.name), r.config, address(c.name))
	writeFiles(t, r.dir, map[string]string{"main.hcl": manifest, "world/.keep": ""})
	args := []string{"plan", "-verbose"}
	if c.apply {
		args = []string{"apply", "-auto-approve", "-verbose"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.most+overrun)
	defer cancel()
	cmd := l.command(ctx, r.dir, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it says where it hangs
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Start()
	if err == nil {
		peak := watchPeak(cmd.Process.Pid)
		err = cmd.Wait()
		r.peak = peak()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Errorf("%s: %v", c.name, err)
		return r
	}
	r.took, r.stdout, r.stderr, r.code = time.Since(start), stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	return r
}

func (r *hostileRun) check(t *testing.T) {
	all := r.stdout + r.stderr
	if r.code != r.exit {
		t.Errorf("exit code %d, want %d", r.code, r.exit)
	}
	if !regexp.MustCompile(r.says).MatchString(all) {
		t.Errorf("nothing matches %q", r.says)
	}
	if r.never != "" && regexp.MustCompile(r.never).MatchString(all) {
		t.Errorf("something matches %q", r.never)
	}
	if _, rest, quoted := strings.Cut(r.verdict, `"`); quoted {
		if summary, _, _ := strings.Cut(rest, `"`); !strings.Contains(r.stderr, "Error: "+summary) {
			t.Errorf("there is no error %q", summary)
		}
	}
	if r.exit == 1 && !strings.Contains(r.stderr, "Error: ") {
		t.Error("there is no error to read")
	}
	if strings.ContainsAny(all, "\x1b\x00\r\x7f\u202e\u200b\u0085") || strings.Contains(all, "panic:") || strings.Contains(all, "goroutine ") {
		t.Error("the output does things to a terminal, or speaks of the inside of the program")
	}
	if r.peak > maxMemory {
		t.Errorf("it took %d MiB", r.peak>>20)
	}
	if r.took > r.most+overrun {
		t.Errorf("it took %s", r.took)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "deployster.state.json")); r.exit == 1 && !r.apply && err == nil {
		t.Error("a plan that failed left a state file")
	}
	if r.after != nil {
		r.after(t, r)
	}
	if t.Failed() {
		t.Logf("after %s, with %d MiB\n--- stdout\n%.3000s\n--- stderr\n%.30000s", r.took, r.peak>>20, r.stdout, r.stderr)
	}
}

// TestHostile_Page compares the table of the page with the cases; with -update it writes
// the table.
func TestHostile_Page(t *testing.T) {
	t.Parallel()
	var rows [][]string
	names := map[string]bool{}
	for _, c := range hostiles() {
		if names[c.name] || strings.Contains(c.name, ";") {
			t.Errorf("the name %q is not unique, or has a semicolon", c.name)
		}
		names[c.name] = true
		rows = append(rows, []string{c.verdict, strconv.Itoa(c.exit), c.name})
	}
	table := page.Table{Path: "docs/internals/hostile.md", Header: []string{"what becomes of it", "exit code", "the image"}, Rows: page.Group(rows)}
	if err := table.Check(*update); err != nil {
		t.Error(err)
	}
}
