//go:build kube

package kubenode_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// workerType is fileType as a worker.
const workerType = `#!/bin/sh
case "$1" in
"") echo '{"protocol":2,"config_schema":{"type":"object"},"worker":{"args":["worker"]},"state_action":{"args":["state"]}}' ;;
worker)
	while read -r line; do
		id=${line#*\"id\":}
		id=${id%%[,\}]*}
		echo '{"id":'$id',"stdout":"{\"status\":\"VALID\",\"state\":{}}\n"}'
		echo '{"id":'$id',"exit":0}'
	done ;;
*) echo '{"status":"VALID","state":{}}' ;;
esac
`

// timed is how long a command takes.
func (p *project) timed(args ...string) time.Duration {
	p.t.Helper()
	begin := time.Now()
	p.run(0, args...)
	return time.Since(begin)
}

// TestFigures_ArePrinted prints what docs/internals/pods.md has.
func TestFigures_ArePrinted(t *testing.T) {
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "true"))
	p.run(0, "init")
	t.Logf("host check with a Pod: %v, without: %v", p.timed("host", "check", "jobs"), p.timed("host", "check", "-no-pod", "jobs"))
	t.Logf("plan of 1, a Pod for its query: %v", p.timed("plan"))
	many := func(count int) (list []string) {
		for i := range count {
			list = append(list, resource(fmt.Sprintf("r%d", i), "true"))
		}
		return list
	}
	p.files("", many(20)...)
	t.Logf("plan of 20, a Pod each: %v", p.timed("plan"))
	if _, err := node.Push("file", "1", map[string]string{"type": workerType}, "/type"); err != nil {
		t.Fatal(err)
	}
	text := "type \"file\" {\n  image = \"" + node.Registry + "/file:1\"\n  host  = host.jobs\n}\n"
	p.write("main.hcl", text+resource("r0", "true"))
	p.run(0, "init", "-upgrade")
	t.Logf("plan of 1 through a worker: %v", p.timed("plan"))
	p.write("main.hcl", text+strings.Join(many(100), ""))
	t.Logf("plan of 100 through a worker: %v", p.timed("plan"))
	p.write("main.hcl", text+strings.Join(many(1000), ""))
	t.Logf("plan of 1,000 through a worker: %v", p.timed("plan"))
	p.empty()
}
