package services

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// A delay is that of a long way: what follows is on its way meanwhile, and nothing of it
// is lost or comes too early.
func TestProxy_DelayIsNotALimit(t *testing.T) {
	t.Parallel()
	sent := make([]byte, 8<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(sent) // it never fails
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = c.Write(sent) // the client sees what is missing
			c.Close()
		}
	}()
	const delay = 50 * time.Millisecond
	p := NewProxy(t, l.Addr().String())
	p.Delay(delay)
	begun := time.Now()
	c, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < delay {
		t.Errorf("the first byte came after %s", took)
	}
	rest, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(append(first, rest...), sent) {
		t.Errorf("%d bytes came of %d, %v", 1+len(rest), len(sent), err)
	}
	if took := time.Since(begun); took > 128*delay {
		t.Errorf("%d bytes took %s: each piece waited for the one before", len(sent), took)
	}
}
