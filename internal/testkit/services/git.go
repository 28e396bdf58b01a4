package services

import (
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// GitHTTP serves the repositories below a directory by git's own program for that, with a user and a
// password, and ends with the test. stop ends it before.
func GitHTTP(t testing.TB, dir, user, password string) (address string, stop func()) {
	t.Helper()
	programs, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"), Dir: dir,
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + dir}, InheritEnv: []string{"PATH"}, Stderr: io.Discard}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if u, p, ok := q.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, q)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), s.Close
}

// GitDaemon starts Debian's git daemon on loopback: it serves the repositories below a
// directory, takes what is pushed, and ends with the test. It returns where it listens.
func GitDaemon(t testing.TB, dir string) (address string) {
	t.Helper()
	programs, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	c := exec.Command(filepath.Join(strings.TrimSpace(string(programs)), "git-daemon"), "--reuseaddr", "--listen=127.0.0.1", "--port="+port,
		"--base-path="+dir, "--export-all", "--enable=receive-pack", dir)
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	said := start(t, c, syscall.SIGTERM)
	address = net.JoinHostPort("127.0.0.1", port)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close() // it was only asked whether it is there
			return address
		}
		if time.Now().After(end) {
			t.Fatalf("the git daemon does not listen: %s", said())
		}
	}
}
