//go:build kube

package kubenode_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// workerType is a type whose objects are files in the container of its worker.
const workerType = `#!/bin/sh
answer() { echo '{"id":'$id',"stdout":"'"$1"'\n"}'; echo '{"id":'$id',"exit":0}'; }
case "$1" in
"") echo '{"protocol":2,"config_schema":{"type":"object"},"worker":{"args":["worker"]},"state_action":{"args":["state"]}}' ;;
worker)
	while read -r line; do
		id=${line#*\"id\":}
		id=${id%%[,\}]*}
		case "$line" in
		*make-*)
			name=${line#*make-}
			: >/tmp/${name%%[!a-z0-9]*}
			answer '' ;;
		*)
			name=${line#*\"name\":\"r}
			name=r${name%%[!0-9]*}
			if test -e /tmp/$name; then
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
	return time.Since(begin).Round(10 * time.Millisecond)
}

// many are resources r0, r1 ...
func many(count int) string {
	var list strings.Builder
	for i := range count {
		list.WriteString(resource(fmt.Sprintf("r%d", i), "true"))
	}
	return list.String()
}

// alone starts so many Pods of the shape of deployster's by kubectl, and returns how long it takes until all run.
func (p *project) alone(count int) time.Duration {
	p.t.Helper()
	var list strings.Builder
	for i := range count {
		fmt.Fprintf(&list, `---
apiVersion: v1
kind: Pod
metadata: {name: alone-%d, namespace: %s, labels: {alone: "yes"}}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  volumes: [{name: agent, emptyDir: {medium: Memory}}, {name: run, emptyDir: {medium: Memory}}]
  initContainers: [{name: agent, image: %q, args: [copy, /.deployster], volumeMounts: [{name: agent, mountPath: /.deployster}]}]
  containers: [{name: type, image: "%s/file:1", command: [/.deployster/deployster-pod, serve], volumeMounts: [{name: agent, mountPath: /.deployster}, {name: run, mountPath: /.deployster-run}]}]
`, i, p.namespace, p.agent, node.Registry)
	}
	begin := time.Now()
	p.apply(list.String())
	p.kubectl("wait", "--for=condition=Ready", "--timeout=120s", "-n", p.namespace, "pod", "-l", "alone=yes")
	took := time.Since(begin).Round(10 * time.Millisecond)
	p.kubectl("delete", "pods", "-n", p.namespace, "-l", "alone=yes", "--now")
	return took
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

// TestFigures_ArePrinted prints what bench/results/pods.json has.
func TestFigures_ArePrinted(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "true"))
	p.run(0, "init")
	t.Logf("FIGURE host check with a Pod: %v, without: %v", p.timed("host", "check", "jobs"), p.timed("host", "check", "-no-pod", "jobs"))
	t.Logf("FIGURE plan of 1, a Pod for its query: %v", p.timed("plan"))
	p.files("", many(20))
	for range 2 {
		t.Logf("FIGURE by kubectl, until they run: 1 Pod %v, 20 Pods %v", p.alone(1), p.alone(20))
		t.Logf("FIGURE plan of 20, a Pod each: %v", p.timed("plan"))
	}
	p.adopted()
	p.files("", slow)
	wait := p.begin()
	t.Logf("FIGURE memory of deployster-kube %d MiB, of an agent %d MiB", memory("deployster-kube"), memory("deployster-pod serve"))
	if _, err := wait(); err != nil {
		t.Error(err)
	}
	p.run(0, "destroy", "-auto-approve")
	if _, err := node.Push("file", "1", map[string]string{"type": workerType}, "/type"); err != nil {
		t.Fatal(err)
	}
	text := "type \"file\" {\n  image = \"" + node.Registry + "/file:1\"\n  host  = host.jobs\n}\n"
	p.write("main.hcl", text+resource("r0", "true"))
	p.run(0, "init", "-upgrade")
	t.Logf("FIGURE plan of 1 in a worker, with its Pod: %v", p.timed("plan"))
	p.write("main.hcl", text+many(1000))
	t.Logf("FIGURE plan of 1,000 in a worker: %v", p.timed("plan"))
	var requests atomic.Int64
	proxy := proxied(t, true, node.Server, func(http.ResponseWriter, *http.Request) bool { requests.Add(1); return true })
	p.write("kubeconfig", strings.Replace(p.config(p.kubectl("create", "token", "deployster", "-n", p.namespace)), node.Server, proxy.URL, 1))
	took := p.timed("apply", "-auto-approve")
	t.Logf("FIGURE first apply of 1,000 in a worker: %v, %d requests to the API server", took, requests.Load())
	if requests.Load() > 200 {
		t.Errorf("%d requests", requests.Load())
	}
	p.empty()
}

// adopted prints how long the next command takes to find an action of a killed client.
func (p *project) adopted() {
	p.t.Helper()
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 10"))
	cmd := p.command("apply", "-auto-approve")
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.until("the action has begun", time.Minute, func() bool { return p.object("begun") != "" })
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // killed
	begin := time.Now()
	next := p.command("apply", "-auto-approve", "-json")
	out, err := next.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := next.Start(); err != nil {
		p.t.Fatal(err)
	}
	text := ""
	for buffer := make([]byte, 64<<10); !strings.Contains(text, "still running") && !strings.Contains(text, "action_adopted"); {
		n, err := out.Read(buffer)
		if text += string(buffer[:n]); err != nil {
			break
		}
	}
	p.t.Logf("FIGURE a killed client's action is found after %v", time.Since(begin).Round(10*time.Millisecond))
	p.t.Log(text)
	go func() { _, _ = out.Read(make([]byte, 1<<20)) }()
	if err := next.Wait(); err != nil {
		p.t.Error(err)
	}
	p.run(0, "destroy", "-auto-approve")
	if err := os.Remove(filepath.Join(p.dir, "objects", "begun")); err != nil {
		p.t.Error(err)
	}
}
