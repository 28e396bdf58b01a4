//go:build kube

package kubenode_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/testkit/bench/results"
)

// workerType is a type with a worker, whose objects are files of the claim.
const workerType = `#!/bin/sh
answer() { echo '{"id":'$id',"stdout":"'"$1"'\n"}'; echo '{"id":'$id',"exit":0}'; }
case "$1" in
"") echo '{"protocol":2,"config_schema":{"type":"object"},"plugs":{"objects":{"container_path":"/objects","writable":true}},"worker":{"args":["worker"]},"state_action":{"args":["state"]}}' ;;
worker)
	while read -r line; do
		id=${line#*\"id\":}
		id=${id%%[,\}]*}
		case "$line" in
		*make-*)
			name=${line#*make-}
			: >/objects/${name%%[!a-z0-9]*}
			answer '' ;;
		*)
			name=${line#*\"name\":\"r}
			name=r${name%%[!0-9]*}
			if test -e /objects/$name; then
				answer '{\"status\":\"VALID\",\"state\":{}}'
			else
				answer '{\"status\":\"STALE\",\"actions\":[{\"name\":\"create\",\"args\":[\"make-'$name'\"]}]}'
			fi ;;
		esac
	done ;;
*) echo '{"status":"STALE","actions":[{"name":"create","args":["make"]}]}' ;;
esac
`

// timed is how long a command takes.
func (p *project) timed(args ...string) time.Duration {
	p.t.Helper()
	begin := time.Now()
	p.run(0, args...)
	return time.Since(begin)
}

// many are resources r0, r1 ...
func many(count int) string {
	var list strings.Builder
	for i := range count {
		list.WriteString(resource(fmt.Sprintf("r%d", i), "true"))
	}
	return list.String()
}

// alone starts so many Pods of the shape of deployster's by kubectl, and returns how long it takes until all run. do is called before
// they are removed.
func (p *project) alone(count int, limits string, do func()) time.Duration {
	p.t.Helper()
	var list strings.Builder
	for i := range count {
		fmt.Fprintf(&list, `---
apiVersion: v1
kind: Pod
metadata: {name: alone-%[1]d, namespace: %[2]s, labels: {alone: "yes"}}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  volumes: [{name: agent, emptyDir: {medium: Memory}}, {name: run, emptyDir: {medium: Memory}}]
  initContainers: [{name: agent, image: %[3]q, args: [copy, /.deployster], volumeMounts: [{name: agent, mountPath: /.deployster}]%[5]s}]
  containers: [{name: type, image: "%[4]s/file:1", command: [/.deployster/deployster-pod, serve], volumeMounts: [{name: agent, mountPath: /.deployster}, {name: run, mountPath: /.deployster-run}]%[5]s}]
`, i, p.namespace, p.agent, node.Registry, limits)
	}
	begin := time.Now()
	p.apply(list.String())
	p.kubectl("wait", "--for=condition=Ready", "--timeout=120s", "-n", p.namespace, "pod", "-l", "alone=yes")
	took := time.Since(begin)
	do()
	p.kubectl("delete", "pods", "-n", p.namespace, "-l", "alone=yes", "--now")
	return took
}

// executed is what kubectl exec takes beyond a kubectl that only gets the Pod.
func (p *project) executed() time.Duration {
	p.t.Helper()
	begin := time.Now()
	p.kubectl("get", "pod", "alone-0", "-n", p.namespace)
	got := time.Now()
	p.kubectl("exec", "alone-0", "-n", p.namespace, "-c", "type", "--", "/.deployster/deployster-pod", "check")
	return time.Since(got) - got.Sub(begin)
}

// memory is the most that the processes with a part of a command line have had, in MiB.
func memory(part string) (most int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, _ := os.ReadFile(path)
		if !strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), part) {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		for l := range strings.Lines(string(status)) {
			var kib int
			if n, _ := fmt.Sscanf(l, "VmHWM: %d kB", &kib); n == 1 {
				most = max(most, kib>>10)
			}
		}
	}
	return most
}

// figures are what was measured, for bench/results/pods.json.
type figures struct {
	t     *testing.T
	lines []results.Cells
}

// took notes times with their goal, and what was measured beside them.
func (f *figures) took(what string, goal time.Duration, beside string, times ...time.Duration) {
	slices.Sort(times)
	round := func(d time.Duration) string {
		if d < 100*time.Millisecond {
			return d.Round(100 * time.Microsecond).String()
		}
		return d.Round(10 * time.Millisecond).String()
	}
	median := times[len(times)/2]
	text := round(median)
	if len(times) > 1 {
		text += fmt.Sprintf(" (%s to %s, %d runs)", round(times[0]), round(times[len(times)-1]), len(times))
	}
	f.line(what, text, beside, round(goal), round(median), median <= goal)
}

// is notes a number with its goal.
func (f *figures) is(what string, value, goal int64, unit string) {
	f.line(what, fmt.Sprintf("%d%s", value, unit), "", fmt.Sprintf("%d%s", goal, unit), fmt.Sprintf("%d%s", value, unit), value <= goal)
}

func (f *figures) line(what, text, beside, goal, value string, reached bool) {
	mark := " ✗"
	if reached {
		mark = " ✓"
	}
	f.lines = append(f.lines, results.Cells{What: what, Deployster: text, Beside: beside, Goal: goal, Reached: value + mark})
	f.t.Logf("FIGURE %s: %s, beside %q, goal %s: %s", what, text, beside, goal, value+mark)
}

// TestFigures_AreMeasured keeps them in the directory that KUBENODE_RESULTS names.
func TestFigures_AreMeasured(t *testing.T) {
	onNode(t)
	p := newProject(t)
	f := &figures{t: t}
	head := results.NewHead(t.Context(), "make test-kube ONLY=TestFigures RESULTS=bench/results")
	p.host("")
	p.pods20(f)
	p.adopted(f)
	p.workers(f)
	for name, goal := range map[string]int64{"deployster-kube": 30_000_000, "deployster-pod": 4_000_000} {
		info, err := os.Stat(program(name))
		if err != nil {
			t.Fatal(err)
		}
		f.is("size of `"+name+"`", info.Size(), goal, " bytes")
	}
	p.empty()
	if dir := os.Getenv("KUBENODE_RESULTS"); dir != "" {
		if err := (results.Result{Row: "pods", Head: head, Lines: f.lines}).Keep(dir); err != nil {
			t.Error(err)
		}
	}
}

// pods20 measures Pods that start, one and twenty at a time, in turn with Pods of the same shape that kubectl starts.
func (p *project) pods20(f *figures) {
	limits := ", resources: {limits: {cpu: 100m, memory: 256Mi}, requests: {cpu: 100m, memory: 256Mi}}"
	p.files("", many(20))
	p.run(0, "init")
	var ours, tens, theirs, free, executed []time.Duration
	for range 3 {
		theirs = append(theirs, p.alone(20, limits, func() {}))
		free = append(free, p.alone(20, "", func() {}))
		ours = append(ours, p.timed("plan"))
		tens = append(tens, p.timed("plan", "-parallelism=10"))
	}
	f.took("`plan` of 20, a Pod each", 10*time.Second, fmt.Sprintf("10 at a time: %v; kubectl, until they run: %v with the same limits, %v without", tens, theirs, free), ours...)
	p.files("", resource("main", "true"))
	ours, theirs = nil, nil
	for range 3 {
		theirs = append(theirs, p.alone(1, limits, func() { executed = append(executed, p.executed()) }))
		ours = append(ours, p.timed("plan"))
	}
	f.took("`plan` of 1, a Pod for its query", 4*time.Second, fmt.Sprintf("kubectl, until it runs: %v", theirs), ours...)
	f.took("`exec` in a Pod that runs", 500*time.Millisecond, "", executed...)
	f.took("`host check`, with a Pod", 4*time.Second, "", p.timed("host", "check", "jobs"))
	const actions = 40
	text, err := os.ReadFile(filepath.Join(p.dir, "main.hcl"))
	if err != nil {
		p.t.Fatal(err)
	}
	block, _, _ := strings.Cut(string(text), "resource ")
	p.write("main.hcl", block+many(actions))
	for what, shares := range map[string]bool{"a Pod for each action, queries share one": false, "actions share Pods too": true} {
		p.shares(shares)
		p.run(0, "init", "-upgrade")
		f.took(fmt.Sprintf("`apply` of %d, %s", actions, what), actions*7*time.Minute/1000, "", p.timed("apply", "-auto-approve"))
		p.run(0, "destroy", "-auto-approve")
	}
}

// adopted measures how long the next command takes to find an action of a killed client, and memory.
func (p *project) adopted(f *figures) {
	p.t.Helper()
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 20"))
	p.run(0, "init", "-upgrade")
	cmd := p.command("apply", "-auto-approve")
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.until("the action has begun", time.Minute, func() bool { return p.object("begun") != "" })
	f.is("memory of `deployster-kube`", int64(memory("deployster-kube")), 80, " MiB")
	f.is("memory of an agent", int64(memory("deployster-pod serve")), 15, " MiB")
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // killed
	begin := time.Now()
	next := p.command("apply", "-auto-approve")
	out, err := next.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	next.Stderr = next.Stdout
	if err := next.Start(); err != nil {
		p.t.Fatal(err)
	}
	text := ""
	for buffer := make([]byte, 64<<10); !strings.Contains(text, "still runs"); {
		n, err := out.Read(buffer)
		if text += string(buffer[:n]); err != nil {
			p.t.Errorf("the action is not found: %s", text)
			break
		}
	}
	f.took("the action of a killed client is found by the next", 3*time.Second, "", time.Since(begin))
	if _, err := io.Copy(io.Discard, out); err != nil {
		p.t.Error(err)
	}
	if err := next.Wait(); err != nil {
		p.t.Error(err)
	}
	p.run(0, "destroy", "-auto-approve")
	if err := os.Remove(filepath.Join(p.dir, "objects", "begun")); err != nil {
		p.t.Error(err)
	}
}

// workers measures a worker with many resources.
func (p *project) workers(f *figures) {
	if _, err := node.Push("file", "1", map[string]string{"type": workerType}, "/type"); err != nil {
		p.t.Fatal(err)
	}
	text := "plug \"objects\" { path = \"/pvc/objects\" }\ntype \"file\" {\n  image = \"" + node.Registry + "/file:1\"\n  host  = host.jobs\n}\n"
	p.write("main.hcl", text+resource("r0", "true"))
	p.run(0, "init", "-upgrade")
	one := p.timed("plan")
	p.write("main.hcl", text+many(1000))
	thousand := p.timed("plan")
	f.took("`plan` of 1,000 in a worker", 10*time.Second, fmt.Sprintf("of 1: %v", one), thousand)
	f.took("the same, each beyond the first, with its program", 10*time.Millisecond, "", (thousand-one)/999)
	f.took("first `apply` of 1,000 in a worker", 15*time.Second, "", p.timed("apply", "-auto-approve"))
	f.took("the next `plan` of 1,000, without changes", 10*time.Second, "", p.timed("plan", "-detailed-exitcode"))
	p.forget()
	var requests atomic.Int64
	proxy := proxied(p.t, true, node.Server, func(http.ResponseWriter, *http.Request) bool { requests.Add(1); return true })
	p.write("kubeconfig", strings.Replace(p.config(p.kubectl("create", "token", "deployster", "-n", p.namespace)), node.Server, proxy.URL, 1))
	p.run(0, "apply", "-auto-approve")
	f.is("requests of such an apply to the API server", requests.Load(), 200, "")
}

// forget removes all objects.
func (p *project) forget() {
	p.t.Helper()
	objects, err := filepath.Glob(filepath.Join(p.dir, "objects", "*"))
	for _, path := range objects {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
