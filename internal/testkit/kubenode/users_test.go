//go:build kube

package kubenode_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// classOfVolumes is the default class of volumes that a cluster of a user has, and claimedVolume a volume of it: namespace, claim, path, name.
const (
	classOfVolumes = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: directories, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: deployster.test/directories
`
	claimedVolume = `apiVersion: v1
kind: PersistentVolume
metadata: {name: %[4]s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: directories
  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: %[1]s, name: %[2]s}
  hostPath: {path: %[3]q, type: DirectoryOrCreate}
`
)

// provide makes a volume for each claim of the default class, as the provisioner of a cluster does, until the test ends.
func provide(t *testing.T) {
	t.Helper()
	if _, err := node.KubectlWith(classOfVolumes, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	dir := directory(t)
	cmd := node.Command("get", "pvc", "-A", "--watch", "-o", `jsonpath={.metadata.namespace} {.metadata.name} {.spec.storageClassName}.{.spec.volumeName}{"\n"}`)
	claims, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(claims); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) != 3 || fields[2] != "directories." {
				continue
			}
			name := fields[0] + "-" + fields[1]
			volume := fmt.Sprintf(claimedVolume, fields[0], fields[1], filepath.Join(dir, name), name+"-"+filepath.Base(dir))
			if _, err := node.KubectlWith(volume, "apply", "-f", "-"); err != nil {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		_ = cmd.Wait() // killed
		if _, err := node.Kubectl("delete", "storageclass", "directories"); err != nil {
			t.Error(err)
		}
	})
}

// What does nothing to nodes passes on a cluster of the user's: here this one, of which a kubeconfig and a registry are known.
func TestUsersCluster_PassesTheSuite(t *testing.T) {
	onNode(t)
	provide(t)
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.count=1", "-test.timeout=40m")
	cmd.Env = append(os.Environ(), "KUBENODE_CONFIG="+filepath.Join(node.Dir(), "admin.conf"), "KUBENODE_REGISTRY="+node.Registry+"/users")
	var printed bytes.Buffer
	cmd.Stdout = io.MultiWriter(&printed, os.Stderr)
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	passed, skipped := strings.Count(printed.String(), "\n--- PASS: "), strings.Count(printed.String(), "\n--- SKIP: ")
	t.Logf("%d tests have passed, %d need a node of their own", passed, skipped)
	if err != nil || passed < 14 || !strings.Contains(printed.String(), "--- PASS: TestApply_MakesAndRemoves") {
		t.Error(err)
	}
}
