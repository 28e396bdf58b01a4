//go:build kube

package kubenode_test

import (
	"strings"
	"testing"
	"time"
)

// begin starts an apply, and returns when the action of a resource has written the object begun.
func (p *project) begin() (wait func() (string, error)) {
	p.t.Helper()
	cmd := p.command("apply", "-auto-approve")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for end := time.Now().Add(time.Minute); p.object("begun") == ""; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			_ = cmd.Process.Kill() // it may have ended
			p.t.Fatal("the action has not begun", p.pods())
		}
	}
	return func() (string, error) {
		err := <-ended
		return out.String(), err
	}
}

// slow is a resource whose action takes some seconds.
var slow = resource("main", "echo begun >>/objects/begun; sleep 8")

func TestFault_EndOfTheKubelet(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", slow)
	p.run(0, "init")
	wait := p.begin()
	if err := node.Stop("kubelet"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if err := node.StartKubelet(); err != nil {
		t.Fatal(err)
	}
	out, err := wait()
	if err != nil || p.object("main") != "hunter2\n" || p.object("begun") != "begun\n" {
		t.Errorf("%v: %q, %q\n%s", err, p.object("main"), p.object("begun"), out)
	}
	p.empty()
}

func TestFault_EndOfTheAPIServer(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", slow)
	p.run(0, "init")
	wait := p.begin()
	if err := node.Stop("kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if err := node.StartAPIServer(); err != nil {
		t.Fatal(err)
	}
	out, err := wait()
	if err != nil || p.object("main") != "hunter2\n" || p.object("begun") != "begun\n" {
		t.Errorf("%v: %q, %q\n%s", err, p.object("main"), p.object("begun"), out)
	}
	p.empty()
}

func TestFault_PodIsDeleted(t *testing.T) {
	p := newProject(t)
	p.host("")
	p.files("", slow)
	p.run(0, "init")
	wait := p.begin()
	p.kubectl("delete", "pods", "-n", p.namespace, "-l", "deployster.io/kind=action", "--wait=false")
	out, err := wait()
	if err != nil || p.object("main") != "hunter2\n" || p.object("begun") != "begun\n" {
		t.Errorf("%v: %q, %q\n%s", err, p.object("main"), p.object("begun"), out)
	}
	p.empty()
}

func TestFault_PodIsRemovedByForce(t *testing.T) {
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 600"))
	p.run(0, "init")
	wait := p.begin()
	p.kubectl("delete", "pods", "-n", p.namespace, "-l", "deployster.io/kind=action", "--grace-period=0", "--force")
	out, err := wait()
	if err == nil || !strings.Contains(out, "may still run") {
		t.Errorf("%v\n%s", err, out)
	}
	p.files("", resource("main", "true"))
	if out := p.run(1, "apply", "-auto-approve"); !strings.Contains(out, "may still run") {
		t.Errorf("the action is not reported: %s", out)
	}
	p.run(0, "resolve", "-as=failed", "main")
	p.run(0, "apply", "-auto-approve")
	if p.object("main") != "hunter2\n" {
		t.Errorf("the object is %q", p.object("main"))
	}
	p.empty()
}

func TestFault_QuotaOfPods(t *testing.T) {
	p := newProject(t)
	p.host("")
	p.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: " + p.namespace + "}, spec: {hard: {pods: \"3\"}}}")
	var list []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		list = append(list, resource(name, "true"))
	}
	p.files("", list...)
	p.run(0, "init")
	p.run(0, "apply", "-auto-approve")
	for _, name := range []string{"a", "h"} {
		if p.object(name) != "hunter2\n" {
			t.Errorf("%s is %q", name, p.object(name))
		}
	}
	p.empty()
}

func TestFault_OutOfMemory(t *testing.T) {
	p := newProject(t)
	p.host("")
	p.files(`memory = "64MiB"`, resource("main", "x=$(yes | head -c 300000000)"))
	p.run(0, "init")
	out := p.run(1, "apply", "-auto-approve")
	if !strings.Contains(out, "memory ran out") && !strings.Contains(out, "of memory") {
		t.Errorf("memory is not the reason: %s", out)
	}
	t.Log(out)
	p.empty()
}

func TestFault_WhatAPodWaitsFor(t *testing.T) {
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "true"))
	p.write("more.hcl", "plug \"key\" { path = \"/secret/absent\" }\n")
	p.run(0, "init")
	t.Run("image", func(t *testing.T) {
		p.host("registries = { \"" + node.Registry + "/file\" = \"" + node.Registry + "/none\" }")
		out := p.run(1, "plan")
		if !strings.Contains(out, "not found") {
			t.Errorf("the reason is missing: %s", out)
		}
		t.Log(out)
	})
	t.Run("claim", func(t *testing.T) {
		p.host(`start_timeout = "8s"`)
		if node.External { // what uses the claim keeps it
			p.kubectl("delete", "pod", "objects", "-n", p.namespace, "--now")
		}
		p.kubectl("delete", "pvc", "objects", "-n", p.namespace)
		out := p.run(1, "plan")
		if !strings.Contains(out, `"objects" not found`) {
			t.Errorf("the reason is missing: %s", out)
		}
		t.Log(out)
	})
	p.empty()
}

func TestRights_AreNeeded(t *testing.T) {
	p := newProject(t)
	p.host(`start_timeout = "20s"`)
	p.files("", resource("main", "true"))
	p.run(0, "init")
	rights := p.rights()
	for right, without := range map[string]string{
		"create pods":      strings.Replace(rights, "[pods], verbs: [create, ", "[pods], verbs: [", 1),
		"list pods":        strings.Replace(rights, "[pods], verbs: [create, get, list,", "[pods], verbs: [create, get,", 1),
		"watch pods":       strings.Replace(rights, "list, watch, delete]", "list, delete]", 1),
		"delete pods":      strings.Replace(rights, "watch, delete]", "watch]", 1),
		"create pods/exec": strings.Replace(rights, "[pods/exec], verbs: [create, get]", "[pods/exec], verbs: [get]", 1),
		"update leases":    strings.Replace(rights, "[leases], verbs: [create, get, update]", "[leases], verbs: [create, get]", 1),
		"get namespaces":   strings.Replace(rights, "["+p.namespace+"], verbs: [get]", "["+p.namespace+"], verbs: [list]", 1),
	} {
		t.Run(right, func(t *testing.T) {
			if without == rights {
				t.Fatal("the docs do not have it")
			}
			p.apply(without)
			out := p.run(1, "host", "check", "-no-pod", "jobs")
			verb, resource, _ := strings.Cut(right, " ")
			if !strings.Contains(out, verb) || !strings.Contains(out, resource) {
				t.Errorf("the right is not named: %s", out)
			}
			t.Log(out)
		})
	}
	p.apply(rights)
	p.run(0, "apply", "-auto-approve")
}

func TestPodSecurity_IsKept(t *testing.T) {
	onNode(t)
	p := newProject(t, "pod-security.kubernetes.io/enforce=restricted")
	p.host("")
	p.files("user = \"1000\"\n  capabilities { drop = [\"ALL\"] }", resource("main", "id -u >/objects/user"))
	p.run(0, "init")
	p.run(0, "apply", "-auto-approve")
	if p.object("main") != "hunter2\n" || p.object("user") != "1000\n" {
		t.Errorf("objects: %q, %q", p.object("main"), p.object("user"))
	}
	p.files("", resource("main", "true"))
	out := p.run(1, "plan")
	if !strings.Contains(out, "violates PodSecurity") || !strings.Contains(out, "drop") {
		t.Errorf("the lines to write are missing: %s", out)
	}
}

func TestUserns_MapsTheUsers(t *testing.T) {
	onNode(t)
	p := newProject(t, "pod-security.kubernetes.io/enforce=restricted")
	p.host("")
	p.files("userns = \"auto\"\n  capabilities { drop = [\"ALL\"] }", resource("main", "cat /proc/self/uid_map >/objects/map"))
	p.run(0, "init")
	p.run(0, "apply", "-auto-approve")
	if fields := strings.Fields(p.object("map")); len(fields) != 3 || fields[0] != "0" || fields[1] == "0" {
		t.Errorf("users are mapped so: %v", fields)
	}
	p.empty()
}

func TestOutput_IsShownWhole(t *testing.T) {
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "yes 0123456789abcdefghijklmnopqrstuvwxyz | head -c 25000000"))
	p.run(0, "init")
	out := p.run(0, "apply", "-auto-approve")
	if got := strings.Count(out, "0123456789abcdefghijklmnopqrstuvwxyz"); got < 25000000/37 {
		t.Errorf("%d lines were shown of %d", got, 25000000/37)
	}
	p.empty()
}
