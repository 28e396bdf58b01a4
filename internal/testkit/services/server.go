package services

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// start starts a server that ends with the test, by a signal. What it has said is
// given for messages.
func start(t testing.TB, c *exec.Cmd, end syscall.Signal) (said func() string) {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	started, ended := make(chan error), make(chan struct{})
	go live(c, started, ended)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(end)
		<-ended
		_ = log.Close()
	})
	return func() string {
		text, err := os.ReadFile(log.Name())
		return fmt.Sprintf("%s %v", text, err)
	}
}

// live starts a server and waits for its end, on one thread: Pdeathsig ends it with the
// thread that has started it, and threads of other tests end before the program does.
func live(c *exec.Cmd, started chan<- error, ended chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(ended)
	err := c.Start()
	started <- err
	if err == nil {
		_ = c.Wait() // how it ended is in its log
	}
}

// FreePort is one on loopback that nobody listens on.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

func freePort(t testing.TB) string {
	t.Helper()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
