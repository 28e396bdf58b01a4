package place

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/kube/internal/fakeapi"
)

// podDir is the directory of what podProgram has built; "" = nothing yet.
var podDir string

// podProgram builds deployster-pod.
var podProgram = sync.OnceValues(func() (string, error) {
	var err error
	if podDir, err = os.MkdirTemp("", "deployster-pod"); err != nil {
		return "", err
	}
	path := filepath.Join(podDir, "deployster-pod")
	out, err := exec.Command("go", "build", "-o", path, "deployster/internal/runtime/pod/deployster-pod").CombinedOutput()
	if err != nil {
		_, _ = os.Stderr.Write(out) // the test fails
	}
	return path, err
})

// process is deployster-pod as the agent of a Pod. It implements fakeapi.Agent.
type process struct {
	path, dir string
	cmd       *exec.Cmd
	ended     chan struct{}
	log       strings.Builder
}

// startPod starts the agent as the Pod's command says, but for the paths.
func startPod(t *testing.T, r *fakeapi.Running) *process {
	path, err := podProgram()
	if err != nil {
		t.Error(err)
	}
	p := &process{path: path, dir: t.TempDir(), ended: make(chan struct{})}
	args := append(r.Pod.Spec.Containers[0].Command[1:], "-socket="+p.dir+"/agent", "-message="+p.dir+"/message",
		"-events="+p.dir+"/events")
	p.cmd = exec.Command(path, args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Error(err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code is in the ProcessState
		close(p.ended)
	}()
	return p
}

func (p *process) Talk(stream io.ReadWriteCloser) error {
	talk := exec.Command(p.path, "talk", "-socket="+p.dir+"/agent", "-agent="+strconv.Itoa(p.cmd.Process.Pid))
	in, err := talk.StdinPipe()
	if err != nil {
		return err
	}
	talk.Stdout = stream
	if err := talk.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(in, stream)
		_ = in.Close() // the client has left
	}()
	return talk.Wait()
}

func (p *process) Terminate()             { _ = p.cmd.Process.Signal(syscall.SIGTERM) }
func (p *process) Kill()                  { _ = p.cmd.Process.Kill() }
func (p *process) Ended() <-chan struct{} { return p.ended }

func (p *process) Message() (string, int) {
	text, _ := os.ReadFile(p.dir + "/message") // it is missing if the agent did not start
	code := p.cmd.ProcessState.ExitCode()
	if code < 0 {
		code = 137
	}
	return string(text), code
}

// shell is an image whose entrypoint is a shell.
type shell struct{ local }

const shellDigest = "sha256:5e11"

func (shell) Named(context.Context, string) (runner.Shipment, error) {
	return runner.Shipment{Name: "registry.example/acme/sh:1", Digest: shellDigest, Entrypoint: []string{"/bin/sh", "-c"}}, nil
}

// deployster-pod itself carries out queries and actions, and the next client adopts what runs.
func TestPod_RunsImages(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var mu sync.Mutex
	var all []*process
	c.Set(func(b *fakeapi.Behaviour) {
		b.Kubelet = func(r *fakeapi.Running) {
			p := startPod(t, r)
			mu.Lock()
			all = append(all, p)
			mu.Unlock()
			r.Start(p)
		}
	})
	connect := func(h remote.Hello) *client {
		cl := c.client(t, h)
		cl.Places = router.New(router.Options{Local: runnertest.Runtime{Fake: c.fake}, Images: shell{local{c.fake}},
			Patience: 2 * time.Second, Dial: func(context.Context, runner.Host) (*remote.Client, error) { return serve(t, c.place(t), h) }})
		t.Cleanup(cl.Places.Close)
		return cl
	}
	first := connect(acts(1))
	s := runner.Spec{Name: "main/state", Kind: runner.Query, Digest: shellDigest,
		Args: []string{`cat; echo "$PASSWORD"; echo log >&2; exit 3`}, Stdin: []byte("canary-stdin\n"), Timeout: time.Minute}
	s.Settings.Env = map[string]string{"PASSWORD": "canary-env"}
	res, err := first.Run(t.Context(), s)
	if err != nil || string(res.Stdout) != "canary-stdin\ncanary-env\n" || string(res.Stderr) != "log\n" || res.ExitCode != 3 {
		t.Errorf("%+v, %v", res, err)
	}
	s.Kind, s.ID, s.Args = runner.Action, "one", []string{"echo begun; read line; sleep 0.5; echo $line"}
	begun := make(chan struct{})
	s.Stdout = onFirst(func() { close(begun) })
	s.Ended = func(runner.Result, error) error { return errKilled } // it may end before it is adopted
	ctx, lose := context.WithCancel(t.Context())
	defer lose()
	go func() { _, _ = first.Run(ctx, s) }() // its client is killed
	<-begun
	h := acts(2)
	h.Run = "later"
	next := connect(h)
	var out strings.Builder
	got, err := next.AdopterFor(&next.host).Adopt(t.Context(), "one", runner.Watch{Stdout: &out})
	if err != nil || got.Fate != runner.Exited || out.String() != "begun\ncanary-stdin\n" {
		t.Errorf("%+v, %v, %q", got, err, out.String())
	}
	if err := next.AdopterFor(&next.host).Discard(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	c.Close()
	for _, p := range all {
		message, _ := p.Message()
		for _, text := range []string{p.log.String(), message, c.Sent()} {
			if strings.Contains(text, "canary") {
				t.Errorf("a secret is in %q", text)
			}
		}
	}
}
