//go:build kube

package kubenode_test

import (
	"testing"
	"time"
)

func TestNode_StartsAPod(t *testing.T) {
	digest, err := node.Push("sleeper", "1", nil, "/bin/sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err = node.KubectlWith(`---
{apiVersion: v1, kind: Pod, metadata: {name: sleeper}, spec: {restartPolicy: Never,
containers: [{name: type, image: "`+node.Registry+`/sleeper@`+digest+`"}]}}`, "apply", "-f", "-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := node.Kubectl("delete", "pod", "sleeper", "--now"); err != nil {
			t.Error(err)
		}
	})
	if _, err := node.Kubectl("wait", "--for=condition=Ready", "--timeout=60s", "pod/sleeper"); err != nil {
		out, _ := node.Kubectl("describe", "pod", "sleeper")
		t.Fatal(err, out)
	}
	t.Logf("a Pod was ready after %v", time.Since(begin))
	if out, err := node.Kubectl("exec", "sleeper", "--", "echo", "hello"); err != nil || out != "hello" {
		t.Errorf("exec: %q, %v", out, err)
	}
}
