package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// kubeProgram is the name by which this program is a namespace of a cluster in memory: what deployster-kube
// is to deployster.
const kubeProgram = "deployster-kube"

// clusterDir is the variable with the directory of the script, whose directories are the files of images.
const clusterDir = "DEPLOYSTER_TEST_CLUSTER"

// startCluster lets the command find a cluster, whose Pods are shell scripts in the directories of the script.
func startCluster(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: cluster")
	}
	self, err := os.Executable()
	ts.Check(err)
	dir := ts.MkAbs("libexec")
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.Symlink(self, filepath.Join(dir, kubeProgram)))
	ts.Setenv("DEPLOYSTER_LIBEXEC", dir)
	ts.Setenv(clusterDir, ts.MkAbs("."))
}

// serveCluster answers one client as deployster-kube does.
func serveCluster() error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var block runner.Cluster
	if err := json.Unmarshal(line, &block); err != nil {
		return err
	}
	if block.Namespace == "absent" {
		return errors.New(`API server: namespaces "absent" not found`)
	}
	if _, err := fmt.Println(remote.Ready); err != nil {
		return err
	}
	c := &cluster{Runtime: runnertest.Runtime{Fake: runnertest.NewFake()}, block: block, dir: os.Getenv(clusterDir)}
	return remote.Serve(context.Background(), stdStreams{in}, c, remote.DefaultTiming())
}

// stdStreams are the streams to the client.
type stdStreams struct{ io.Reader }

func (stdStreams) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdStreams) Close() error                { return os.Stdin.Close() }

// cluster is a namespace whose Pods are processes. It writes a line for each to the file pods.log.
type cluster struct {
	runnertest.Runtime
	block runner.Cluster
	dir   string

	mu sync.Mutex
}

func (c *cluster) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(c.dir, "pods.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(log, format+"\n", args...)
	_ = log.Close()
}

// Enter implements remote.Place.
func (c *cluster) Enter(_ context.Context, h remote.Hello) (remote.Welcome, error) {
	security := "baseline"
	if c.block.Namespace == "strict" {
		security = "restricted"
	}
	return remote.Welcome{Build: h.Build, Boot: "1", Clock: time.Now(), Namespace: &remote.Namespace{PodSecurity: security},
		Facts: protocol.HostFacts{Hostname: c.block.Namespace, OS: remote.ClusterOS, OSVersion: "v1.37.2", Machine: "uid of " + c.block.Namespace}}, nil
}

// Acts implements remote.Place.
func (c *cluster) Acts(context.Context, remote.Hello) error { return nil }

// Bring implements remote.Place.
func (c *cluster) Bring(context.Context, remote.Files, io.Reader) error {
	return errors.New("the files of artifacts cannot be mounted")
}

// Look implements remote.Place.
func (c *cluster) Look(_ context.Context, plugs []remote.Plug) []remote.Seen {
	return make([]remote.Seen, len(plugs))
}

// Receive implements remote.Place. The program of an image is the script type in the directory of its name.
func (c *cluster) Receive(_ context.Context, s runner.Shipment, _ runner.Contents) error {
	name, _, _ := strings.Cut(path.Base(s.Name), ":")
	name, _, _ = strings.Cut(name, "@")
	c.note("image %s %s %s", name, s.Digest, strings.Join(s.Platforms, ","))
	c.AddDigest(s.Name, s.Digest, func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		pod := exec.CommandContext(ctx, "/bin/sh", append([]string{filepath.Join(c.dir, name, "type")}, s.Args...)...)
		pod.Env, pod.Dir = []string{"PATH=/usr/bin:/bin"}, c.dir
		for key, value := range s.Settings.Env {
			pod.Env = append(pod.Env, key+"="+value)
		}
		pod.Stdin, pod.Stdout, pod.Stderr = stdin, stdout, stderr
		if err := pod.Run(); err != nil && pod.ProcessState == nil {
			_, _ = fmt.Fprintln(stderr, err)
			return 125
		}
		return pod.ProcessState.ExitCode()
	})
	return nil
}

// Run implements remote.Place.
func (c *cluster) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	var mounts []string
	for _, m := range s.Mounts {
		mounts = append(mounts, m.Source)
	}
	c.note("pod %s network=%q plugs=%s", s.Name, s.Settings.Network, strings.Join(mounts, ","))
	if s.Waiting != nil {
		s.Waiting("0/3 nodes are available: 3 Insufficient memory")
		s.Waiting("")
	}
	s.Mounts, s.Waiting = nil, nil
	res, err := c.Runtime.Run(ctx, s)
	res.Pod = "g-1"
	return res, err
}

// Launch implements remote.Place.
func (c *cluster) Launch(context.Context, runner.Spec) (runner.Process, error) {
	return nil, errors.New("programs that report changes are not run in a cluster")
}

// Inspect implements remote.Inspector. Two Pods have ended, until they are pruned.
func (c *cluster) Inspect(_ context.Context, i remote.Inspection) (remote.Found, error) {
	found := remote.Found{Facts: []string{"kubernetes v1.37.2"}, Notes: []string{"Pods may be created and exec'd"}, Ended: 2}
	if i.Start {
		found.Facts = append(found.Facts, remote.AgentVersion)
	}
	if i.Prune {
		found.Pruned = 2
	}
	return found, nil
}

// Claim implements remote.Place.
func (c *cluster) Claim(context.Context, claims.Request) ([]claims.Record, error) { return nil, nil }
