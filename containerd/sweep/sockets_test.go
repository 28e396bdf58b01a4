package sweep

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deployster/containerd/layout"
)

// A socket goes when nobody has it open any more: not one at which a shim listens, and
// not one that has just been made.
func TestSweep_RemovesSocketsOfNobody(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "s") // short, because of the sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	w := Sweeper{RuntimeDir: root, Embedded: true}
	if err := w.RemoveSockets(); err != nil {
		t.Errorf("without a directory: %v", err)
	}
	dir := layout.Config{RuntimeDir: root}.Shims()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"left", "young", "lives"} {
		listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name)})
		if err != nil {
			t.Fatal(err)
		}
		if listener.SetUnlinkOnClose(false); name == "lives" {
			defer listener.Close()
		} else if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		made := time.Now()
		if name != "young" {
			made = made.Add(-time.Minute)
		} else {
			made = made.Add(time.Minute) // however slow this machine is
		}
		if err := os.Chtimes(filepath.Join(dir, name), made, made); err != nil {
			t.Fatal(err)
		}
	}
	for _, embedded := range []bool{false, true} {
		w.Embedded = embedded
		// A process that another test has just begun may still have what was open here.
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if err := w.RemoveSockets(); err != nil {
				t.Error(err)
			}
			if !embedded || !layout.Exists(filepath.Join(dir, "left")) || time.Now().After(end) {
				break
			}
		}
		for name, stays := range map[string]bool{"left": !embedded, "young": true, "lives": true} {
			if layout.Exists(filepath.Join(dir, name)) != stays {
				t.Errorf("embedded %v: %s should stay: %v", embedded, name, stays)
			}
		}
	}
}
