package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/images"
	"deployster/internal/runtime/artifact/store"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
)

// TestMain makes this binary the shim and the server too.
func TestMain(m *testing.M) {
	if shim.Is(os.Args[0]) {
		shim.Run()
		return
	}
	if containerd.IsServer(os.Args[0]) {
		os.Exit(containerd.RunServer(os.Args[1:]))
	}
	os.Exit(run(m))
}

// lab is a runtime with the images, and all that asks them.
type lab struct {
	runtime *containerd.Runtime
	client  *images.Client
	store   *store.Store
	dir     string

	mu    sync.Mutex
	lines []string // that images printed
}

var shared *lab

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "a") // short, because of the sockets in it
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err == nil {
		shared, err = open(dir)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	code := m.Run()
	err = errors.Join(shared.store.Close(), shared.runtime.Close())
	for _, left := range []string{"volumes/*/*/*", "artifacts/*.draft"} {
		if found, _ := filepath.Glob(filepath.Join(dir, "data", left)); len(found) > 0 {
			err = errors.Join(err, fmt.Errorf("left: %q", found))
		}
	}
	// A server leaves when its data directory is gone.
	err = errors.Join(err, os.Remove(filepath.Join(dir, "data", "server.lock")))
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if socket, serr := containerd.Socket(filepath.Join(dir, "data")); serr == nil {
			if _, serr := os.Stat(socket); errors.Is(serr, os.ErrNotExist) {
				break
			}
		}
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Println(err)
		return 1
	}
	return code
}

func open(dir string) (*lab, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("these tests make containers and must run as root")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir}
	l.runtime, err = containerd.Open(context.Background(), containerd.Options{DataDir: filepath.Join(dir, "data"),
		Runc: filepath.Join(root, "bin", "runc"), IdleExit: 30 * time.Second})
	if err != nil {
		return nil, err
	}
	base := map[string]string{"bin/busybox": "/usr/bin/busybox"}
	for reference, files := range map[string]map[string]string{
		"acme/v1": {"opt/resource/check": "v1/check", "opt/resource/in": "v1/in", "opt/resource/out": "v1/out"},
		"acme/v2": {"bin/art": "v2/art"},
	} {
		image := filepath.Join(dir, filepath.Base(reference))
		for to, from := range files {
			base[to] = filepath.Join(root, "testdata/artifacts", from)
		}
		err := pack(image, base)
		for to := range files {
			delete(base, to)
		}
		o := imagestore.PackOptions{Reference: reference, Dir: image, Entrypoint: []string{"/bin/sh"}}
		if reference == "acme/v2" {
			o.Entrypoint = []string{"/bin/art"}
		}
		if _, perr := l.runtime.Images.Pack(context.Background(), o); perr != nil || err != nil {
			return nil, errors.Join(err, perr)
		}
	}
	types := typeclient.New(typeclient.Options{Runner: l.runtime, Log: func(line typeclient.Line) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, line.Text)
	}})
	l.client = images.New(images.Options{Types: types, Inspector: l.runtime})
	l.store = store.New(store.Options{Dir: l.runtime.Artifacts(), Client: l.client, Command: "test"})
	return l, nil
}

// pack lays out the files of an image.
func pack(dir string, files map[string]string) error {
	for to, from := range files {
		b, err := os.ReadFile(from)
		to = filepath.Join(dir, to)
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, b, 0o755)); err != nil {
			return err
		}
	}
	out, err := exec.Command("/usr/bin/busybox", "--list").Output()
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(out)) {
		if name != "busybox" && name != "art" {
			if err := os.Symlink("busybox", filepath.Join(dir, "bin", name)); err != nil {
				return err
			}
		}
	}
	return os.MkdirAll(filepath.Join(dir, "tmp"), 0o1777)
}

// world is what images ask: the answer to each step, and what they asked.
type world struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]func(request string) (answer string, ok bool)
	asked   map[string][]string
}

func newWorld(t *testing.T) *world {
	w := &world{answers: map[string]func(string) (string, bool){}, asked: map[string][]string{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		step := strings.TrimPrefix(r.URL.Path, "/")
		w.mu.Lock()
		w.asked[step] = append(w.asked[step], string(body))
		f := w.answers[step]
		w.mu.Unlock()
		if f == nil {
			http.NotFound(out, r)
			return
		}
		answer, ok := f(string(body) + r.URL.RawQuery)
		if !ok {
			http.Error(out, answer, http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(out, answer)
	}))
	t.Cleanup(w.Close)
	return w
}

// says makes the world answer a step.
func (w *world) says(step, answer string) {
	w.answers[step] = func(string) (string, bool) { return answer, true }
}

// source is the source of this world, with more members.
func (w *world) source(more string) []byte {
	return []byte(`{"uri":"` + w.URL + `"` + more + `}`)
}

func target(reference string) artifact.Target {
	return artifact.Target{Address: "artifact.a", Reference: reference}
}

// about asks an image what it is.
func about(t *testing.T, target artifact.Target) artifact.Info {
	t.Helper()
	i, err := shared.client.Info(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return i
}
