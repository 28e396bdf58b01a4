package daemon

import (
	"net"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A daemon that was lost has its time to come back, once: what is cleared away after it
// does not wait as long again. It is seen when it is back.
func TestAwaitDaemon_WaitsOnce(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "c.sock")
	synctest.Test(t, func(t *testing.T) {
		c := &Conn{Socket: socket}
		await := func() (time.Duration, error) {
			begun := time.Now()
			err := c.awaitDaemon(t.Context())
			return time.Since(begun), err
		}
		for i, want := range []time.Duration{ReconnectLimit, 0, 0} {
			if took, err := await(); err == nil || took != want {
				t.Errorf("wait %d took %s, want %s: %v", i, took, want, err)
			}
		}
		back, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		if took, err := await(); err != nil || took != 0 {
			t.Errorf("it is back: %s, %v", took, err)
		}
		if err := back.Close(); err != nil {
			t.Error(err)
		}
		if took, err := await(); err == nil || took != ReconnectLimit {
			t.Errorf("it is lost again: %s, %v", took, err)
		}
	})
}
