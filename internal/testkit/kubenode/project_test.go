//go:build kube

package kubenode_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/internal/testkit/services"
)

// nobody is the user that deployster runs as: it needs no root, and no containerd.
const nobody = 65534

// repository is the directory of the module.
const repository = "../../.."

// project is a directory with manifests, and a namespace of its own with the rights of the docs.
type project struct {
	t         *testing.T
	dir       string
	namespace string
	agent     string   // its image
	more      []string // of its environment
}

// agentImage is pushed once.
var agentImage = sync.OnceValues(func() (string, error) {
	out, err := exec.Command(program("deployster"), "image", "push-agent", node.Registry+"/deployster-pod").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	for field := range strings.FieldsSeq(string(out)) {
		if field = strings.Trim(field, `"`); strings.Contains(field, "@sha256:") {
			return field, nil
		}
	}
	return "", fmt.Errorf("no digest was printed: %s", out)
})

func program(name string) string {
	path, err := filepath.Abs(filepath.Join(repository, "bin", name))
	if err != nil {
		panic(err)
	}
	return path
}

// newProject makes a namespace, and a project whose host is that. Labels are those of the namespace.
func newProject(t *testing.T, labels ...string) *project {
	t.Helper()
	agent, err := agentImage()
	if err != nil {
		t.Fatal(err)
	}
	dir := directory(t)
	name := "deployster-" + strings.ToLower(strings.NewReplacer("_", "-", "/", "-", ",", "-", " ", "-").Replace(t.Name()))
	name = name[:min(len(name), 50)] + "-" + strings.ToLower(rand.Text()[:5])
	p := &project{t: t, dir: dir, namespace: name, agent: agent}
	p.kubectl("create", "namespace", name)
	t.Cleanup(func() { p.kubectl("delete", "namespace", name, "--wait=false") })
	for _, label := range labels {
		p.kubectl("label", "namespace", name, label)
	}
	p.apply(p.rights())
	p.write("kubeconfig", p.config(p.kubectl("create", "token", "deployster", "-n", name)))
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "objects"), 0o777); err != nil { // whatever user the Pods have
		t.Fatal(err)
	}
	p.volume("objects")
	return p
}

// rights are those of docs/kubernetes.md, for the namespace of the project.
func (p *project) rights() string {
	return strings.NewReplacer("namespace: deployster", "namespace: "+p.namespace, "resourceNames: [deployster]", "resourceNames: ["+p.namespace+"]").
		Replace(block(p.t, "yaml", "kind: ServiceAccount"))
}

// claimTemplate is a claim for a path of the node: name, namespace, path, type of the path.
const claimTemplate = `apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s-%[2]s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: %[2]s
  hostPath: {path: %[3]q, type: %[4]q}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %[1]s, namespace: %[2]s}
spec: {accessModes: [ReadWriteMany], storageClassName: %[2]s, volumeName: %[1]s-%[2]s, resources: {requests: {storage: 1Gi}}}
`

// dynamicClaim is a claim of the default class of a cluster, and a Pod that shows it to the test: name, namespace, registry.
const dynamicClaim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %[1]s, namespace: %[2]s}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 64Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, namespace: %[2]s, labels: {shows: objects}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: "%[3]s/pause:1", command: [/bin/busybox, sh, -c, "/bin/busybox chmod 777 /objects; exec /bin/busybox sleep 1000000"], volumeMounts: [{name: v, mountPath: /objects}]}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: %[1]s}}]
`

// onNode skips a test that does to the node what nobody does to a cluster of the user's.
func onNode(t *testing.T) {
	t.Helper()
	if node.External {
		t.Skip("it needs a node of its own")
	}
}

// volume makes a claim for a directory of the project, which all Pods share: the objects of its resources are files in it.
func (p *project) volume(name string) {
	p.t.Helper()
	if node.External {
		p.apply(fmt.Sprintf(dynamicClaim, name, p.namespace, node.Registry))
		p.kubectl("wait", "--for=condition=Ready", "--timeout=180s", "-n", p.namespace, "pod/"+name)
		return
	}
	p.apply(fmt.Sprintf(claimTemplate, name, p.namespace, filepath.Join(p.dir, name), "Directory"))
}

func (p *project) kubectl(args ...string) string {
	p.t.Helper()
	out, err := node.Kubectl(args...)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *project) apply(text string) {
	p.t.Helper()
	if _, err := node.KubectlWith("---\n"+text, "apply", "-f", "-"); err != nil { // a brace alone would be taken for JSON
		p.t.Fatal(err)
	}
}

// config is the kubeconfig of a user with a token.
func (p *project) config(token string) string {
	text := p.kubectl("config", "view", "--raw", "--minify", "-o", `jsonpath={.clusters[0].cluster.server}`)
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: node, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: user, user: {token: %q}}]
contexts: [{name: node, context: {cluster: node, user: user}}]
current-context: node
`, text, token)
}

// write writes a file of the project.
func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chown(path, nobody, nobody); err != nil {
		p.t.Fatal(err)
	}
}

// host writes the block of the host jobs, with further attributes.
func (p *project) host(more string) {
	p.write("host.hcl", fmt.Sprintf("host \"jobs\" {\n  kubernetes {\n    namespace  = %q\n    agent      = %q\n    kubeconfig = \"kubeconfig\"\n    %s\n  }\n}\n",
		p.namespace, p.agent, more))
}

// command is deployster in the project's directory.
func (p *project) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program("deployster"), args...)
	cmd.Dir, cmd.Env = p.dir, p.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Setpgid: true}
	return cmd
}

// environment is that of commands in the project's directory, where kubectl may be.
func (p *project) environment() []string {
	env := []string{"HOME=" + p.dir, "PATH=" + p.dir + ":" + filepath.Dir(program("deployster")) + ":/usr/bin:/bin", "XDG_STATE_HOME=" + p.dir + "/.local",
		"KUBECONFIG=" + p.dir + "/kubeconfig"}
	for name, value := range services.Credentials() {
		env = append(env, name+"="+value)
	}
	return append(env, p.more...)
}

// run runs deployster, wants an exit code, and returns what it prints.
func (p *project) run(code int, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	err := cmd.Run()
	p.t.Logf("deployster %s: %v", strings.Join(args, " "), time.Since(begin).Round(time.Millisecond))
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		p.t.Fatalf("deployster %s: %v\n%s\n%s", strings.Join(args, " "), err, out.String(), p.pods())
	}
	return out.String()
}

// pods describes the Pods of the project.
func (p *project) pods() string {
	out, err := node.Kubectl("describe", "pods", "-n", p.namespace)
	return fmt.Sprint(out, err)
}

// empty wants no Pod of deployster in the namespace.
func (p *project) empty() {
	p.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		left := p.kubectl("get", "pods", "-n", p.namespace, "-l", "app.kubernetes.io/managed-by=deployster", "-o", "name")
		if left == "" {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("Pods are left: %s\n%s", left, p.pods())
		}
	}
}
