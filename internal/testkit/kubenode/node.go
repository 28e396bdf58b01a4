package kubenode

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bootTime is how long a node may take: it starts beside other tests.
const bootTime = 3 * time.Minute

// Node is a Kubernetes of one node.
type Node struct {
	dir      string
	programs string
	parts    map[string]*exec.Cmd
	config   string // the kubeconfig of an administrator
	Registry string // its host and port
	External bool   // it is a cluster of the user's
	kubectl  []string
	Address  string // at which the API server reaches the kubelet
	Server   string // the URL of the API server
}

// Boot starts a node, and returns when Pods can be started. The caller must be in the namespaces of Main.
func Boot(ctx context.Context) (n *Node, err error) {
	if External() {
		return reach(ctx)
	}
	n = &Node{dir: os.Getenv(dirVariable), parts: map[string]*exec.Cmd{}, Registry: registry, Address: nodeAddress,
		Server: "https://" + apiAddress}
	if os.Getenv(roleVariable) != roleTest || n.dir == "" {
		return nil, errors.New("a node is booted by a test whose TestMain calls kubenode.Main")
	}
	n.config = filepath.Join(n.dir, "admin.conf")
	if n.programs, err = Programs(); err != nil {
		return nil, err
	}
	n.kubectl = []string{filepath.Join(n.programs, "onenode"), "kubectl"}
	if err := n.write(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bootTime, errors.New("the node has not started in time"))
	defer cancel()
	if err := n.start(ctx); err != nil {
		return nil, errors.Join(err, n.End())
	}
	return n, nil
}

// start starts the parts in their order.
func (n *Node) start(ctx context.Context) error {
	if err := n.run("registry", "/usr/bin/docker-registry", "serve", n.path("registry.yml")); err != nil {
		return err
	}
	if err := n.part("etcd", "--data-dir="+n.path("etcd"), "--listen-client-urls=http://"+etcdAddress,
		"--advertise-client-urls=http://"+etcdAddress, "--listen-peer-urls=http://127.0.0.1:12380", "--unsafe-no-fsync"); err != nil {
		return err
	}
	if err := n.StartAPIServer(); err != nil {
		return err
	}
	if err := n.run("containerd", filepath.Join(n.programs, "containerd"), "--config", n.path("containerd.toml")); err != nil {
		return err
	}
	if err := n.wait(ctx, "the registry", func() error { return get("http://" + registry + "/v2/") }); err != nil {
		return err
	}
	if err := n.pushPause(); err != nil {
		return err
	}
	if err := n.wait(ctx, "the API server", n.ready); err != nil {
		return err
	}
	if err := n.part("kube-controller-manager", "--kubeconfig="+n.path("system:kube-controller-manager.conf"),
		"--service-account-private-key-file="+n.path("sa.key"), "--root-ca-file="+n.path("certs/apiserver.crt"),
		"--leader-elect=false", "--secure-port=11257", "--bind-address=127.0.0.1"); err != nil {
		return err
	}
	if err := n.part("kube-scheduler", "--kubeconfig="+n.path("system:kube-scheduler.conf"), "--leader-elect=false",
		"--secure-port=11259", "--bind-address=127.0.0.1"); err != nil {
		return err
	}
	if err := n.StartKubelet(); err != nil {
		return err
	}
	return n.wait(ctx, "the kubelet", func() error {
		out, err := n.Kubectl("get", "node", "node1", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
		if err == nil && out != "True" {
			err = fmt.Errorf("node1 is not ready: %q", out)
		}
		return err
	})
}

// StartAPIServer starts the API server, also again after Stop.
func (n *Node) StartAPIServer() error {
	return n.part("kube-apiserver", "--etcd-servers=http://"+etcdAddress, "--service-cluster-ip-range=10.96.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file="+n.path("sa.key"),
		"--service-account-key-file="+n.path("sa.key"), "--cert-dir="+n.path("certs"), "--secure-port=16443",
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--token-auth-file="+n.path("tokens.csv"), "--authorization-mode=Node,RBAC",
		"--kubelet-preferred-address-types=InternalIP,Hostname", "--v=1")
}

// StartKubelet starts the kubelet, also again after Stop, with further flags.
func (n *Node) StartKubelet(more ...string) error {
	return n.part("kubelet", append([]string{"--kubeconfig=" + n.path("system:node:node1.conf"), "--config=" + n.path("kubelet.yaml"),
		"--root-dir=" + n.path("kubelet"), "--hostname-override=node1", "--node-ip=" + nodeAddress, "--cert-dir=" + n.path("pki"),
		"--v=2"}, more...)...)
}

// Stop kills a part: kubelet, kube-apiserver, etcd, containerd, kube-scheduler, kube-controller-manager, registry.
func (n *Node) Stop(part string) error {
	cmd := n.parts[part]
	if cmd == nil {
		return fmt.Errorf("%s is not running", part)
	}
	delete(n.parts, part)
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // killed
	return nil
}

// End ends all parts. Containers end with the namespaces.
func (n *Node) End() error {
	var errs []error
	if n.External {
		errs = append(errs, os.RemoveAll(n.dir))
	}
	for part := range maps.Clone(n.parts) {
		errs = append(errs, n.Stop(part))
	}
	return errors.Join(errs...)
}

// Dir is the directory of the node. What tests make in it is removed with it.
func (n *Node) Dir() string { return n.dir }

// Kubectl runs kubectl as an administrator, and returns what it prints.
func (n *Node) Kubectl(args ...string) (string, error) { return n.KubectlWith("", args...) }

// Command is kubectl as an administrator.
func (n *Node) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(n.kubectl[0], slices.Concat(n.kubectl[1:], args)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+n.config)
	return cmd
}

// KubectlWith is Kubectl with text on its stdin.
func (n *Node) KubectlWith(stdin string, args ...string) (string, error) {
	cmd := n.Command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &printed
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, printed.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// Log returns what a part has printed.
func (n *Node) Log(part string) string {
	b, err := os.ReadFile(n.path(part + ".log"))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// tails are the last lines of all parts.
func (n *Node) tails() string {
	var b strings.Builder
	for _, part := range slices.Sorted(maps.Keys(n.parts)) {
		lines := strings.Split(strings.TrimSpace(n.Log(part)), "\n")
		fmt.Fprintf(&b, "%s:\n%s\n", part, strings.Join(lines[max(0, len(lines)-10):], "\n"))
	}
	return b.String()
}

func (n *Node) path(name string) string { return filepath.Join(n.dir, name) }

// part starts a part that is in the program onenode.
func (n *Node) part(name string, args ...string) error {
	return n.run(name, filepath.Join(n.programs, "onenode"), append([]string{name}, args...)...)
}

func (n *Node) run(name, program string, args ...string) error {
	printed, err := os.OpenFile(n.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = n.dir, printed, printed
	cmd.Env = append(os.Environ(), "PATH="+n.programs+":"+filepath.Dir(n.programs)+":"+os.Getenv("PATH"), "OTEL_TRACES_EXPORTER=none")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	if err = errors.Join(err, printed.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n.parts[name] = cmd
	return nil
}

// wait repeats check until it succeeds.
func (n *Node) wait(ctx context.Context, what string, check func() error) error {
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w\n%s", what, context.Cause(ctx), err, n.tails())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (n *Node) ready() error { return get("https://" + apiAddress + "/readyz") }

func get(url string) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}
