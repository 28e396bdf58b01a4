//go:build kube

package kubenode_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// jobOfDocs is the Job of docs/kubernetes.md. Where the API server and the registry listen on the node alone, as on a node of the
// tests, its Pod has the network of the node.
func jobOfDocs(t *testing.T, image string) string {
	job := strings.NewReplacer("registry.example/busybox:1", image, "registry.example/deployster:1", image).Replace(block(t, "yaml", "kind: Job"))
	if !strings.HasPrefix(node.Server, "https://127.") {
		return job
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(node.Server, "https://"), ":")
	return strings.NewReplacer("      restartPolicy: Never\n", "      restartPolicy: Never\n      hostNetwork: true\n",
		"{name: HOME, value: /src}", "{name: HOME, value: /src}, {name: KUBERNETES_SERVICE_HOST, value: "+host+"}, {name: KUBERNETES_SERVICE_PORT, value: \""+port+"\"}",
	).Replace(job)
}

// jobWithState is the Job of the docs in the namespace of the project, with its state in a claim.
func (p *project) jobWithState(image string) string {
	return strings.NewReplacer("namespace: deployster", "namespace: "+p.namespace, "-lock-timeout=10m]", "-lock-timeout=10m, \"-state=dir:///state/shop\"]",
		"        envFrom: [{secretRef: {name: state}}]\n", "",
		"volumeMounts: [{name: src, mountPath: /src}]", "volumeMounts: [{name: src, mountPath: /src}, {name: state, mountPath: /state}]",
		"- {name: src, emptyDir: {}}", "- {name: src, emptyDir: {}}\n      - {name: state, persistentVolumeClaim: {claimName: state}}").Replace(jobOfDocs(p.t, image))
}

// create makes a Job, and returns its name.
func (p *project) create(job string) string {
	p.t.Helper()
	out, err := node.KubectlWith(job, "create", "-f", "-", "-o", "name")
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimPrefix(out, "job.batch/")
}

// jobLog returns what a Job has printed.
func (p *project) jobLog(name string) string {
	out, err := node.Kubectl("logs", "-n", p.namespace, "--all-containers", "-l", "batch.kubernetes.io/job-name="+name, "--tail=-1")
	if err != nil {
		return err.Error()
	}
	return out
}

// until waits for a fact.
func (p *project) until(what string, limit time.Duration, holds func() bool) {
	p.t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("it does not happen: %s\n%s", what, p.pods())
		}
	}
}

// pushDeployster pushes an image with deployster, and returns its name.
func pushDeployster(t *testing.T) string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"deployster", "deployster-kube"} {
		b, err := os.ReadFile(program(name))
		if err != nil {
			t.Fatal(err)
		}
		files["usr/bin/"+name] = string(b)
	}
	digest, err := node.Push("deployster", "1", files, "/usr/bin/deployster")
	if err != nil {
		t.Fatal(err)
	}
	return node.Registry + "/deployster@" + digest
}

// evict evicts all Pods of the project, as a drain does, except one that shows a volume to the test. The node is not cordoned: there is no other for the query that
// follows an action.
func (p *project) evict() {
	p.t.Helper()
	for pod := range strings.FieldsSeq(p.kubectl("get", "pods", "-n", p.namespace, "-l", "!shows", "-o", "jsonpath={.items[*].metadata.name}")) {
		eviction := `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"` + pod + `","namespace":"` + p.namespace + `"}}`
		if _, err := node.KubectlWith(eviction, "create", "--raw", "/api/v1/namespaces/"+p.namespace+"/pods/"+pod+"/eviction", "-f", "-"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// An apply in a Job, as the user 65532, is drained while an action runs: the action ends, and the next Job does the rest.
func TestJob_IsDrained(t *testing.T) {
	p := newProject(t)
	image := pushDeployster(t)
	if err := os.Mkdir(filepath.Join(p.dir, "state"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(p.dir, "state"), 0o777); err != nil {
		t.Fatal(err)
	}
	p.volume("state")
	p.host("")
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 15"),
		strings.Replace(resource("other", "echo begun >>/objects/later"), "\n}", "\n  depends_on = [resource.main]\n}", 1))
	host, err := os.ReadFile(filepath.Join(p.dir, "host.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	p.write("host.hcl", strings.Replace(string(host), `    kubeconfig = "kubeconfig"`, "", 1))
	p.kubectl("create", "configmap", "shop", "-n", p.namespace, "--from-file="+p.dir+"/main.hcl", "--from-file="+p.dir+"/host.hcl")
	job := p.jobWithState(image)
	lost := p.create(strings.Replace(job, ", \"-state=dir:///state/shop\"", "", 1))
	p.until("a Job whose state would be lost has ended", 2*time.Minute, func() bool {
		return p.kubectl("get", "job", lost, "-n", p.namespace, "-o", "jsonpath={.status.failed}") == "1"
	})
	if log := p.jobLog(lost); !strings.Contains(log, "would end with the Pod of this command") || p.object("begun") != "" {
		t.Errorf("a Job with a state file prints %s", log)
	}
	p.kubectl("delete", "job", lost, "-n", p.namespace)
	first := p.create(job)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.jobLog(first))
		}
	})
	p.until("the action has begun", time.Minute, func() bool { return p.object("begun") != "" })
	p.evict()
	p.until("the Job has ended", 2*time.Minute, func() bool {
		return p.kubectl("get", "pods", "-n", p.namespace, "-l", "batch.kubernetes.io/job-name", "-o", "name") == ""
	})
	t.Log(first, p.jobLog(first))
	if p.object("main") != "hunter2\n" || p.object("other") != "" {
		t.Errorf("after the drain the objects are %q and %q", p.object("main"), p.object("other"))
	}
	next := p.create(job)
	p.until("the next Job is complete", 3*time.Minute, func() bool {
		done := p.kubectl("get", "job", next, "-n", p.namespace, "-o", "jsonpath={.status.succeeded}{.status.failed}")
		return done != ""
	})
	t.Log(next, p.jobLog(next))
	if got := p.kubectl("get", "job", next, "-n", p.namespace, "-o", "jsonpath={.status.succeeded}"); got != "1" {
		t.Errorf("the next Job has not succeeded: %s", p.jobLog(next))
	}
	for name, want := range map[string]string{"main": "hunter2\n", "begun": "begun\n", "other": "hunter2\n", "later": "begun\n"} {
		if got := p.object(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	p.kubectl("delete", "jobs", "--all", "-n", p.namespace)
	p.empty()
}

// A holder of the state is stopped in the middle of an action. Another one takes over, ends it, since it is on the same machine,
// and takes the outcome of its action. What a stopped holder of another machine may begin is tested in kube/internal/place.
func TestHolders_OneIsStopped(t *testing.T) {
	p := newProject(t)
	state := "-state=dir://" + filepath.Join(p.dir, ".shared")
	p.host("")
	after := func(name, on string) string {
		return strings.Replace(resource(name, "echo begun >>/objects/"+name+"-begun"), "\n}", "\n  depends_on = [resource."+on+"]\n}", 1)
	}
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 15"), after("second", "main"), after("third", "second"))
	p.run(0, "init", state)
	cmd := p.command("apply", "-auto-approve", state)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := -cmd.Process.Pid
	t.Cleanup(func() { _ = syscall.Kill(group, syscall.SIGKILL) }) // it may have ended
	p.until("the action has begun", time.Minute, func() bool { return p.object("begun") != "" })
	if err := syscall.Kill(group, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	later := p.run(0, "apply", "-auto-approve", "-lock-timeout=3m", state)
	t.Log(later)
	_ = syscall.Kill(group, syscall.SIGCONT) // the next holder has ended it
	if err := cmd.Wait(); err == nil || !strings.Contains(later, "Ended deployster apply") {
		t.Errorf("%v\n%s", err, out.String())
	}
	for name, want := range map[string]string{"main": "hunter2\n", "begun": "begun\n", "second": "hunter2\n", "second-begun": "begun\n", "third-begun": "begun\n"} {
		if got := p.object(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	p.empty()
}

// Nothing secret is in what the API server has of a Pod, its events and its logs, nor in the log of any part of the node.
func TestSecrets_AreNowhere(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "echo begun >>/objects/begun; echo canary-output; sleep 3"))
	p.run(0, "init")
	wait := p.begin()
	seen := p.kubectl("get", "pods,events,leases", "-n", p.namespace, "-o", "json") +
		p.kubectl("logs", "-n", p.namespace, "-l", "deployster.io/kind=action", "--all-containers", "--tail=-1")
	p.endsWell(wait)
	seen += p.kubectl("get", "pods,events,leases", "-n", p.namespace, "-o", "json")
	if !json.Valid([]byte(p.kubectl("get", "pods", "-n", p.namespace, "-o", "json"))) || !strings.Contains(seen, "main/create") {
		t.Fatal("the Pods are not seen")
	}
	for _, part := range []string{"kubelet", "kube-apiserver", "containerd"} {
		seen += node.Log(part)
	}
	for _, canary := range []string{"hunter2", "canary-output"} {
		if i := strings.Index(seen, canary); i >= 0 {
			t.Errorf("%s is in %q", canary, seen[max(i-200, 0):i+20])
		}
	}
	p.empty()
}
