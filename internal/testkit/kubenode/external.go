package kubenode

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The variables of a cluster of the user's: its kubeconfig, and a registry (HOST or HOST/PREFIX) that it pulls from and
// that takes images without a login.
const (
	configVariable   = "KUBENODE_CONFIG"
	registryVariable = "KUBENODE_REGISTRY"
)

// External reports whether the tests run on a cluster of the user's instead of a node of their own.
func External() bool { return os.Getenv(configVariable) != "" }

// reach returns the user's cluster.
func reach(ctx context.Context) (*Node, error) {
	n := &Node{config: os.Getenv(configVariable), Registry: os.Getenv(registryVariable), External: true, parts: map[string]*exec.Cmd{}}
	if n.Registry == "" {
		return nil, errors.New("a cluster of yours needs a registry for the images of the tests: REGISTRY=HOST/PREFIX")
	}
	kubectl, err := exec.LookPath("kubectl")
	n.kubectl = []string{kubectl}
	if err != nil {
		if n.programs, err = Programs(); err != nil {
			return nil, err
		}
		n.kubectl = []string{filepath.Join(n.programs, "onenode"), "kubectl"}
	}
	if n.dir, err = os.MkdirTemp("", "kubenode"); err != nil {
		return nil, err
	}
	if err := os.Chmod(n.dir, 0o755); err != nil { // commands of other users read it
		return nil, err
	}
	if n.Server, err = n.Kubectl("config", "view", "--raw", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"); err != nil {
		return nil, err
	}
	return n, n.pushPause()
}

// URL returns the URL of a path of the registry.
func (n *Node) url(repository, path string) string {
	host, prefix, _ := strings.Cut(n.Registry, "/")
	scheme := "https"
	if name, _, _ := strings.Cut(host, ":"); name == "localhost" || strings.HasPrefix(name, "127.") {
		scheme = "http"
	}
	if prefix != "" {
		repository = prefix + "/" + repository
	}
	return scheme + "://" + host + "/v2/" + repository + path
}
