//go:build kube

package kubenode_test

import (
	"errors"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// onNode does something to the node, and undoes it after the test.
func (p *project) onNode(undo []string, args ...string) {
	p.t.Helper()
	p.kubectl(args...)
	p.t.Cleanup(func() { _, _ = node.Kubectl(undo...) }) // the test may have undone it
}

// endsWell wants that the action of an apply has run once, and has ended.
func (p *project) endsWell(wait func() (string, error)) {
	p.t.Helper()
	out, err := wait()
	if err != nil || p.object("main") != "hunter2\n" || p.object("begun") != "begun\n" {
		p.t.Errorf("%v: %q, %q\n%s", err, p.object("main"), p.object("begun"), out)
	}
}

func TestNode_IsCordoned(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "true"))
	p.run(0, "init")
	p.onNode([]string{"uncordon", "node1"}, "cordon", "node1")
	p.host(`start_timeout = "4s"`)
	if out := p.run(1, "plan"); !strings.Contains(out, "No Pod could be started on jobs") || !strings.Contains(out, "unschedulable") {
		t.Errorf("the reason is missing: %s", out)
	}
	p.kubectl("uncordon", "node1")
	p.host("")
	p.run(0, "apply", "-auto-approve")
	p.empty()
}

func TestNode_IsTainted(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", resource("first", "true"))
	p.run(0, "init")
	p.onNode([]string{"taint", "node", "node1", "ops:NoSchedule-"}, "taint", "node", "node1", "ops=yes:NoSchedule")
	p.host(`start_timeout = "4s"`)
	if out := p.run(1, "plan"); !strings.Contains(out, "No Pod could be started on jobs") || !strings.Contains(out, "taint") {
		t.Errorf("the reason is missing: %s", out)
	}
	p.host(`tolerations = [{ key = "ops", operator = "Exists", effect = "NoSchedule" }]`)
	p.run(0, "apply", "-auto-approve")
	p.kubectl("taint", "node", "node1", "ops:NoSchedule-")
	p.files("", slow)
	wait := p.begin()
	p.onNode([]string{"taint", "node", "node1", "gone:NoExecute-"}, "taint", "node", "node1", "gone=yes:NoExecute")
	p.until("the action has ended", time.Minute, func() bool { return p.object("main") != "" })
	p.kubectl("taint", "node", "node1", "gone:NoExecute-") // the query after the action needs a node
	p.endsWell(wait)
	p.empty()
}

func TestNode_IsDrained(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", slow)
	p.run(0, "init")
	wait := p.begin()
	p.onNode([]string{"uncordon", "node1"}, "drain", "node1", "--delete-emptydir-data", "--force", "--timeout=120s")
	p.kubectl("uncordon", "node1") // the query after the action needs a node
	p.endsWell(wait)
	p.empty()
}

// A Pod that uses more than its disk is evicted. What remains of it goes with the next apply.
func TestNode_EvictsAPodForItsDisk(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("disk = \"8MiB\"", resource("main", "echo begun >>/objects/begun; head -c 64000000 /dev/zero >/big; sleep 600"))
	p.run(0, "init")
	p.isEvicted("Pod ephemeral local storage usage exceeds", p.begin())
	p.files("", resource("main", "true"))
	p.run(0, "apply", "-auto-approve") // the image is queried: nothing was made
	if p.object("main") != "hunter2\n" {
		t.Errorf("the object is %q", p.object("main"))
	}
	p.empty()
}

// isEvicted wants that an apply reports why its Pod was evicted.
func (p *project) isEvicted(why string, wait func() (string, error)) {
	p.t.Helper()
	out, err := wait()
	if err == nil || !strings.Contains(out, "The outcome is unknown") || !strings.Contains(out, "was evicted: "+why) {
		p.t.Errorf("%v\n%s", err, out)
	}
	p.t.Log(out)
}

// A node without disk evicts Pods, and takes no others until it has some.
func TestNode_LacksDisk(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 600"))
	p.run(0, "init")
	wait := p.begin()
	restart := func(flags ...string) {
		if err := errors.Join(node.Stop("kubelet"), node.StartKubelet(flags...)); err != nil {
			t.Fatal(err)
		}
	}
	pressure := func(want string) {
		p.until("the pressure of the node's disk is "+want, 2*time.Minute, func() bool {
			return p.kubectl("get", "node", "node1", "-o", `jsonpath={.status.conditions[?(@.type=="DiskPressure")].status}`) == want
		})
	}
	restart("--eviction-hard=nodefs.available<99%")
	enough := sync.OnceFunc(func() { restart() })
	t.Cleanup(enough)
	pressure("True")
	p.isEvicted("Pod was rejected: The node had condition: [DiskPressure]", wait)
	p.host(`start_timeout = "4s"`)
	if out := p.run(1, "plan"); !strings.Contains(out, "No Pod could be started on jobs") || !strings.Contains(out, "untolerated taint") {
		t.Errorf("the reason is missing: %s", out)
	}
	enough()
	pressure("False")
	p.host("")
	p.files("", resource("main", "true"))
	p.run(0, "apply", "-auto-approve")
	if p.object("main") != "hunter2\n" {
		t.Errorf("the object is %q", p.object("main"))
	}
	p.empty()
}

func TestNode_PreemptsAPod(t *testing.T) {
	onNode(t)
	p := newProject(t)
	for name, value := range map[string]string{"low": "1", "high": "1000"} {
		p.apply("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " + name + "}, value: " + value + "}")
		t.Cleanup(func() { p.kubectl("delete", "priorityclass", name) })
	}
	p.host("priority_class = \"low\"\n    cpu = 1.2")
	p.files("", slow)
	p.run(0, "init")
	wait := p.begin()
	p.apply("{apiVersion: v1, kind: Pod, metadata: {name: high, namespace: " + p.namespace + "}, spec: {priorityClassName: high, restartPolicy: Never, " +
		"terminationGracePeriodSeconds: 0, containers: [{name: c, image: \"" + node.Registry + "/pause:1\", resources: {requests: {cpu: 1200m}}}]}}")
	p.until("the action has ended", time.Minute, func() bool { return p.object("main") != "" })
	p.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "-n", p.namespace, "pod/high")
	p.kubectl("delete", "pod", "high", "-n", p.namespace, "--now") // the query after the action needs room
	p.endsWell(wait)
	p.empty()
}

// cut takes away the address at which the API server reaches the kubelet: what runs over it is lost.
func cut(t *testing.T) (mend func()) {
	t.Helper()
	address := func(do string) error {
		return exec.Command("ip", "address", do, node.Address+"/32", "dev", "lo").Run()
	}
	if err := address("del"); err != nil {
		t.Fatal(err)
	}
	mended := false
	mend = func() {
		if mended {
			return
		}
		mended = true
		if err := address("add"); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(mend)
	return mend
}

func TestNode_IsUnreachableForAMoment(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 20"))
	p.run(0, "init")
	wait := p.begin()
	mend := cut(t)
	time.Sleep(10 * time.Second)
	mend()
	p.endsWell(wait)
	p.empty()
}

// The action takes longer than the apply tries to reach its Pod. The next apply adopts it.
func TestNode_IsUnreachable(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 150"))
	p.run(0, "init")
	wait := p.begin()
	mend := cut(t)
	begin := time.Now()
	out, err := wait()
	if err == nil || !strings.Contains(out, "may still run") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("the apply has ended after %v: %s", time.Since(begin), out)
	mend()
	p.run(0, "apply", "-auto-approve")
	if p.object("main") != "hunter2\n" || p.object("begun") != "begun\n" {
		t.Errorf("%q, %q", p.object("main"), p.object("begun"))
	}
	p.empty()
}
