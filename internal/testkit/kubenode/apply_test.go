//go:build kube

package kubenode_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fileType is the program of a type whose objects are files of the claim. What an object's config says happens in create.
const fileType = `#!/bin/sh
case "$1" in
"") echo '{"protocol":2,"config_schema":{"type":"object"},"plugs":{"objects":{"container_path":"/objects","writable":true}},"state_action":{"args":["state"]},"absent":true}' ;;
state)
	input=$(cat)
	name=$(echo "$input" | sed -n 's/.*"config":{"name":"\([a-z0-9]*\)".*/\1/p')
	case "$input" in
	*'"intent":"absent"'*)
		test -e /objects/$name && echo '{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove","'$name'"]}]}' || echo '{"status":"MISSING"}' ;;
	*)
		run=$(echo "$input" | sed -n 's/.*"run":"\([^"]*\)".*/\1/p')
		test -e /objects/$name && echo '{"status":"VALID","state":{}}' || echo '{"status":"STALE","actions":[{"name":"create","args":["create","'$name'","'"$run"'"]}]}' ;;
	esac ;;
create) eval "$3" && echo $TOKEN >>/objects/$2 ;;
remove) rm /objects/$2 ;;
esac
`

// resource is a block with a name and the commands of its create.
func resource(name, run string) string {
	return "resource \"" + name + "\" {\n  type   = type.file\n  config = { name = \"" + name + "\", run = \"" + run + "\" }\n}\n"
}

// files makes the project's type and its resources.
func (p *project) files(settings string, resources ...string) {
	p.t.Helper()
	if _, err := node.Push("file", "1", map[string]string{"type": fileType}, "/type"); err != nil {
		p.t.Fatal(err)
	}
	p.write("main.hcl", "plug \"objects\" { path = \"/pvc/objects\" }\ntype \"file\" {\n  image = \""+node.Registry+"/file:1\"\n  host  = host.jobs\n  env   = { TOKEN = \"hunter2\" }\n"+
		settings+"\n}\n"+strings.Join(resources, ""))
}

// object is the content of a file of the claim, "" if there is none.
func (p *project) object(name string) string {
	if node.External {
		out, err := node.Kubectl("exec", "-n", p.namespace, "objects", "--", "/bin/busybox", "sh", "-c", "test ! -e /objects/"+name+" || (/bin/busybox cat /objects/"+name+"; echo .)")
		if err != nil {
			p.t.Fatal(err)
		}
		return strings.TrimSuffix(out, ".")
	}
	b, err := os.ReadFile(filepath.Join(p.dir, "objects", name))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(b)
}

// login is a program of a kubeconfig: it makes a token for some seconds, and notes that in a file.
const login = `#!/bin/sh
echo made >>%[1]s/logins
until=$(date -u -d '+5 seconds' +%%Y-%%m-%%dT%%H:%%M:%%SZ)
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "'$(cat %[1]s/token)'", "expirationTimestamp": "'$until'"}}'
`

// logsIn makes a program of the project make its tokens, in a kubeconfig with another context.
func (p *project) logsIn() {
	p.t.Helper()
	token := p.kubectl("create", "token", "deployster", "-n", p.namespace)
	p.write("token", token)
	p.write("login", fmt.Sprintf(login, p.dir))
	if err := os.Chmod(filepath.Join(p.dir, "login"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	text := strings.NewReplacer("{token: \""+token+"\"}", "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: IfAvailable}}",
		"contexts: [", "contexts: [{name: other, context: {cluster: other, user: other}}, ", "current-context: node", "current-context: other").Replace(p.config(token))
	p.write("kubeconfig", text)
	p.host(`context = "node"`)
}

func TestApply_MakesAndRemoves(t *testing.T) {
	p := newProject(t)
	p.logsIn()
	p.files("", resource("main", "sleep 6")) // longer than a token
	t.Log(p.run(0, "host", "check", "jobs"))
	p.run(0, "init")
	t.Log(p.run(0, "plan"))
	t.Log(p.run(0, "apply", "-auto-approve"))
	if got := p.object("main"); got != "hunter2\n" {
		t.Errorf("the object is %q", got)
	}
	p.run(0, "plan", "-detailed-exitcode")
	p.run(0, "destroy", "-auto-approve")
	if got := p.object("main"); got != "" {
		t.Errorf("the object is %q", got)
	}
	if made, err := os.ReadFile(filepath.Join(p.dir, "logins")); err != nil || strings.Count(string(made), "made") < 7 {
		t.Errorf("for six commands, one of which takes longer than a token, there are the logins %q, %v", made, err)
	}
	p.empty()
}

// shares makes the project's type one whose queries share Pods, and with actions these too.
func (p *project) shares(actions bool) {
	p.t.Helper()
	shared := strings.Replace(fileType, `"absent":true`, fmt.Sprintf(`"absent":true,"reuse":true,"reuse_actions":%t`, actions), 1)
	if _, err := node.Push("file", "1", map[string]string{"type": shared}, "/type"); err != nil {
		p.t.Fatal(err)
	}
}

func TestApply_ContinuesAnActionOfAKilledClient(t *testing.T) {
	for _, shares := range []bool{false, true} {
		t.Run(fmt.Sprintf("shares-%t", shares), func(t *testing.T) { continues(t, shares) })
	}
}

func continues(t *testing.T, shares bool) {
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "echo begun >>/objects/begun; sleep 20"), resource("second", "true"), resource("third", "true"))
	if shares {
		p.shares(true)
	}
	p.run(0, "init")
	cmd, out, kill := p.started("apply", "-auto-approve")
	t.Cleanup(func() {
		if kill(); t.Failed() {
			t.Log(out)
		}
	})
	p.until("all actions have begun", time.Minute, func() bool { return p.object("begun") != "" && p.object("second") != "" && p.object("third") != "" })
	if own := p.kubectl("get", "pods", "-n", p.namespace, "-o", "jsonpath={.items[*].metadata.name}"); strings.Contains(own, "d-") == shares {
		t.Errorf("the Pods are %s", own)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	t.Log(p.run(0, "apply", "-auto-approve"))
	if got := p.object("begun"); got != "begun\n" {
		t.Errorf("the action ran so often: %q", got)
	}
	for _, name := range []string{"main", "second", "third"} {
		if got := p.object(name); got != "hunter2\n" {
			t.Errorf("%s is %q", name, got)
		}
	}
	if !shares { // the agent of a Pod for several ends two minutes after its client
		p.empty()
	}
}

// The client is killed when it removes the Pod of an action whose end is recorded: the next command of the state removes it.
func TestApply_RemovesThePodOfAKilledClient(t *testing.T) {
	onNode(t)
	p := newProject(t)
	p.host("")
	p.files("", resource("main", "true"))
	p.run(0, "init")
	cmd := p.command("apply", "-auto-approve")
	var once sync.Once
	left := make(chan string, 1)
	proxy := proxied(t, true, node.Server, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/pods/d-") && p.object("main") != "" {
			once.Do(func() {
				children, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", cmd.Process.Pid))
				for child := range strings.FieldsSeq(string(children)) {
					pid, _ := strconv.Atoi(child)
					_ = syscall.Kill(pid, syscall.SIGKILL) // deployster-kube would remove the Pod
				}
				_ = cmd.Process.Kill() // it may have ended
				left <- filepath.Base(r.URL.Path)
			})
			return false
		}
		return true
	})
	direct := p.config(p.kubectl("create", "token", "deployster", "-n", p.namespace))
	p.write("kubeconfig", strings.Replace(direct, node.Server, proxy.URL, 1))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pod string
	select {
	case pod = <-left:
	case <-time.After(5 * time.Minute):
		t.Error("no Pod of an action is removed", p.pods())
	}
	_ = cmd.Wait() // killed
	p.write("kubeconfig", direct)
	if out := p.kubectl("get", "pods", "-n", p.namespace, "-o", "name"); !strings.Contains(out, pod) {
		t.Fatalf("%s is not there: %s", pod, out)
	}
	p.run(0, "apply", "-auto-approve")
	p.empty()
	if got := p.object("main"); got != "hunter2\n" {
		t.Errorf("the object is %q", got)
	}
}
