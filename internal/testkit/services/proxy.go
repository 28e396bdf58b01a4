package services

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is a network between a client and a server, which does what it is told to.
type Proxy struct {
	Address string
	To      string // the address of the server

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	changed  chan struct{} // closed when what is told changes
	silent   bool          // nothing comes through, and nobody is told
	deaf     bool          // what is asked comes through, and answers do not
	delay    time.Duration // of each byte of an answer, however many follow it
}

// NewProxy starts one before an address.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), listener: l, To: to, conns: map[net.Conn]bool{}, changed: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.set(func() { p.silent, p.deaf = false, false })
		p.Cut()
		wg.Wait()
	})
	return p
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
}

// Silence drops everything, as a network that is gone does.
func (p *Proxy) Silence(on bool) { p.set(func() { p.silent = on }) }

// Deafen lets what is asked through, and holds back the answers.
func (p *Proxy) Deafen(on bool) { p.set(func() { p.deaf = on }) }

// Delay has every answer come later.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// Cut ends all connections. What the server has not sent yet is lost.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) keep(c net.Conn, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.conns, c); on {
		p.conns[c] = true
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.To)
	if err != nil {
		_ = client.Close()
		return
	}
	for _, c := range []net.Conn{client, server} {
		p.keep(c, true)
		defer p.keep(c, false)
	}
	var wg sync.WaitGroup
	wg.Go(func() { p.copy(server, client, false) })
	wg.Go(func() { p.copy(client, server, true) })
	wg.Wait()
}

// piece is what was read at one time.
type piece struct {
	data []byte
	at   time.Time
}

// inFlight is how many pieces may be on their way: a slow network still carries much.
const inFlight = 256

// copy brings bytes from one to the other, as it is told at the moment.
func (p *Proxy) copy(to, from net.Conn, answers bool) {
	pieces, done := make(chan piece, inFlight), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 64<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				select {
				case pieces <- piece{buffer[:n], time.Now()}:
				case <-done:
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for next := range pieces {
		p.wait(to, answers, next.at)
		if _, err := to.Write(next.data); err != nil {
			break
		}
	}
	close(done)
	_, _ = to.Close(), from.Close()
	wg.Wait()
}

// wait returns when bytes that came at a time may go on.
func (p *Proxy) wait(to net.Conn, answers bool, came time.Time) {
	p.mu.Lock()
	delay := p.delay
	p.mu.Unlock()
	if answers && delay > 0 {
		time.Sleep(time.Until(came.Add(delay)))
	}
	for {
		p.mu.Lock()
		held, changed, open := p.silent || p.deaf && answers, p.changed, p.conns[to]
		p.mu.Unlock()
		if !held || !open {
			return
		}
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond): // it may have been closed
		}
	}
}
