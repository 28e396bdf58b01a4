package kubenode

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

// Addresses of a node. They are in a network of its own.
const (
	nodeAddress = "10.9.0.1"
	apiAddress  = "127.0.0.1:16443"
	etcdAddress = "127.0.0.1:12379"
	registry    = "127.0.0.1:5000"
)

// users are those of the API server, each with a file of tokens and a kubeconfig: name, group.
var users = [][2]string{
	{"admin", "system:masters"},
	{"system:kube-controller-manager", "system:masters"},
	{"system:kube-scheduler", "system:masters"},
	{"system:node:node1", "system:nodes"},
}

// configs are the files of a node by name; %[1]s is its directory, %[2]s that of its programs.
var configs = map[string]string{
	"kubelet.yaml": `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 0.0.0.0
port: 11250
healthzPort: 11248
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /` + cgroup + `
failCgroupV1: false
failSwapOn: false
makeIPTablesUtilChains: false
containerRuntimeEndpoint: unix://%[1]s/containerd.sock
podLogsDir: %[1]s/podlogs
volumePluginDir: %[1]s/volplugins
resolvConf: /etc/resolv.conf
evictionHard: {"imagefs.available": "1%%", "nodefs.available": "1%%"}
evictionPressureTransitionPeriod: 1s
imageGCHighThresholdPercent: 100
`,
	"cni/10-bridge.conflist": `{"cniVersion":"1.0.0","name":"node","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,
"ipam":{"type":"host-local","ranges":[[{"subnet":"10.88.0.0/16"}]],"dataDir":"%[1]s/cni/state"}}]}
`,
	"containerd.toml": `version = 3
root = "%[1]s/containerd"
state = "%[1]s/run"
[grpc]
  address = "%[1]s/containerd.sock"
[ttrpc]
  address = "%[1]s/containerd.sock.ttrpc"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "` + registry + `/pause:1"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["%[2]s"]
  conf_dir = "%[1]s/cni"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
    SystemdCgroup = false
`,
	"registry.yml": `version: 0.1
storage: {filesystem: {rootdirectory: "%[1]s/registry"}}
http: {addr: "` + registry + `", secret: test}
log: {level: warn, accesslog: {disabled: true}}
`,
}

// write makes the files of a node.
func (n *Node) write() error {
	for name, text := range configs {
		if err := n.file(name, fmt.Sprintf(text, n.dir, n.programs)); err != nil {
			return err
		}
	}
	tokens := ""
	for _, user := range users {
		token := rand.Text()
		tokens += fmt.Sprintf("%s,%s,%s,%s\n", token, user[0], user[0], user[1])
		if err := n.file(user[0]+".conf", kubeconfig(token, "default")); err != nil {
			return err
		}
	}
	if err := n.file("tokens.csv", tokens); err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	return n.file("sa.key", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
}

// kubeconfig is that of a user with a token.
func kubeconfig(token, namespace string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: node, cluster: {server: "https://%s", insecure-skip-tls-verify: true}}]
users: [{name: user, user: {token: %q}}]
contexts: [{name: node, context: {cluster: node, user: user, namespace: %s}}]
current-context: node
`, apiAddress, token, namespace)
}

func (n *Node) file(name, text string) error {
	path := filepath.Join(n.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
