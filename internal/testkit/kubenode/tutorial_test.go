//go:build kube

package kubenode_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/internal/testkit/services"
)

// blocks are the examples in a language that docs/kubernetes.md has.
func blocks(t *testing.T, language string) (all []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(repository, "docs", "kubernetes.md"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	indent, within := "", false
	for line := range strings.Lines(string(page)) {
		bare := strings.TrimLeft(line, " ")
		switch {
		case bare == "```"+language+"\n":
			indent, within = line[:len(line)-len(bare)], true
		case within && bare == "```\n":
			all, within = append(all, text.String()), false
			text.Reset()
		case within:
			text.WriteString(strings.TrimPrefix(line, indent))
		}
	}
	return all
}

// block is the first example of docs/kubernetes.md in a language that has a text.
func block(t *testing.T, language, has string) string {
	t.Helper()
	for _, text := range blocks(t, language) {
		if strings.Contains(text, has) {
			return text
		}
	}
	t.Fatalf("docs/kubernetes.md has no example with %q", has)
	return ""
}

// noteType is the program of a type whose objects are files with a text.
const noteType = `#!/bin/sh
case "$1" in
"") echo '{"protocol":2,"config_schema":{"type":"object"},"plugs":{"notes":{"container_path":"/notes","writable":true}},"state_action":{"args":["state"]},"absent":true}' ;;
state)
	test -e /notes/today && echo '{"status":"VALID","state":{}}' || echo '{"status":"STALE","actions":[{"name":"write","args":["write"]}]}' ;;
write) echo hello >/notes/today ;;
esac
`

// What docs/kubernetes.md describes: from an empty namespace to a plan from a laptop, and a Job that applies it with the same state.
func TestTutorial_EndsWithAJob(t *testing.T) {
	onNode(t)
	laptop := newLaptop(t)
	laptop.tutorial(block(t, "hcl", "s3://acme-state/shop"), block(t, "sh", "AWS_SECRET_ACCESS_KEY"),
		"s3://acme-state/shop?region=eu-central-1", s3State(services.S3(t), "shop"))
}

// The same with a state in a PostgreSQL that wants TLS and a password.
func TestTutorial_WithPostgreSQL(t *testing.T) {
	onNode(t)
	laptop, server := newLaptop(t), services.SecurePostgres(t)
	laptop.write("root.crt", string(server.Root))
	laptop.more = []string{"PGPASSWORD=" + server.Password}
	manifest := block(t, "hcl", "s3://acme-state/shop")
	_, rest, _ := strings.Cut(manifest, "\n}\n")
	laptop.tutorial(block(t, "hcl", "postgres://")+rest, block(t, "sh", "PGPASSWORD="), "pg.example", server.Address)
}

// s3State is the URL of a state in the S3 server of a test.
func s3State(address, name string) string {
	return "s3://state/" + name + "?region=eu-central-1&endpoint=http://" + address + "&path_style=true"
}

// newLaptop is a directory of a person who administers the cluster, with the namespace of the docs.
func newLaptop(t *testing.T) *project {
	t.Helper()
	provide(t)
	agent, err := agentImage()
	if err != nil {
		t.Fatal(err)
	}
	laptop := &project{t: t, dir: directory(t), namespace: "deployster", agent: agent}
	t.Cleanup(func() { laptop.kubectl("delete", "namespace", laptop.namespace) })
	admin, err := node.Kubectl("config", "view", "--raw", "--minify")
	if err != nil {
		t.Fatal(err)
	}
	laptop.write("kubeconfig", admin)
	laptop.write("kubectl", fmt.Sprintf("#!/bin/sh\nexec %q kubectl \"$@\"\n", filepath.Join(repositoryPath(t), "bin", "kube", "onenode")))
	if err := os.Chmod(filepath.Join(laptop.dir, "kubectl"), 0o755); err != nil {
		t.Fatal(err)
	}
	return laptop
}

// tutorial does what the page describes, with a manifest and the commands that give its state to the Job. Pairs are replaced in the manifest.
func (p *project) tutorial(manifest, forJobs string, pairs ...string) {
	t := p.t
	t.Helper()
	_, pinned, _ := strings.Cut(manifest, "registry.example/deployster-pod@")
	pinned, _, _ = strings.Cut(pinned, `"`)
	p.write("rights.yaml", block(t, "yaml", "kind: ServiceAccount"))
	p.write("notes.yaml", block(t, "yaml", "kind: PersistentVolumeClaim"))
	p.write("job.yaml", jobOfDocs(t, pushDeployster(t)))
	p.write("main.hcl", strings.NewReplacer(append(pairs, "registry.example/deployster-pod@"+pinned, p.agent, "registry.example", node.Registry)...).Replace(manifest))
	p.write("type.sh", noteType)
	p.shell(block(t, "sh", "kubectl create namespace"))
	p.shell("deployster image pack -t demo/note -shell type.sh\n" + block(t, "sh", "deployster image tag"))
	if out := p.shell(block(t, "sh", "push-agent")); !strings.Contains(out, p.agent) {
		t.Errorf("push-agent prints\n%s", out)
	}
	plan := p.shell(block(t, "sh", "deployster host check jobs"))
	if !strings.Contains(plan, "jobs (deployster) ok") || !strings.Contains(plan, "+ today will be created") {
		t.Errorf("check and plan print\n%s", plan)
	}
	if pods := p.kubectl("get", "pods", "-n", "deployster", "-o", "name"); pods != "" {
		t.Errorf("after the plan there are %s", pods)
	}
	done := p.shell(forJobs + block(t, "sh", "kubectl create -f job.yaml"))
	if !strings.Contains(done, "today: created") && !strings.Contains(done, "1 created") || !strings.Contains(done, "No changes") || !strings.Contains(done, "1 resource") {
		t.Errorf("the Job and the commands after it print\n%s", done)
	}
	p.run(0, "plan", "-detailed-exitcode")
	p.empty()
}

// directory makes a directory of the user of the tests.
func directory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(node.Dir(), "project")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	return dir
}

func repositoryPath(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shell runs commands of the page as a person on a laptop does, and returns what they print.
func (p *project) shell(text string) string {
	p.t.Helper()
	text = strings.ReplaceAll(text, "registry.example", node.Registry)
	cmd := exec.Command("/bin/sh", "-euc", text)
	cmd.Dir, cmd.Env = p.dir, p.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Setpgid: true}
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	p.t.Logf("%s%v\n%s", text, time.Since(begin).Round(time.Millisecond), out)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.pods())
	}
	return string(out)
}
