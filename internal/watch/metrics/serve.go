package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sys/unix"
)

// Limits of the server: who asks is a Prometheus beside us, and not the world.
const (
	requestTime = 10 * time.Second
	requestSize = 16 << 10
	scrapes     = 4 // at one time
	stuckAfter  = 45 * time.Second
)

// Listen listens on host:port or unix:PATH. The socket of one who has died is replaced.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	path, local := strings.CutPrefix(addr, "unix:")
	if !local {
		return config.Listen(ctx, "tcp", addr)
	}
	l, err := config.Listen(ctx, "unix", path)
	if errors.Is(err, unix.EADDRINUSE) && dead(ctx, path) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		l, err = config.Listen(ctx, "unix", path)
	}
	return l, err
}

// dead reports whether a path is a socket that nobody listens on any more.
func dead(ctx context.Context, path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, unix.ECONNREFUSED)
}

// Serve answers /metrics and /healthz, until end is called.
func (m *Metrics) Serve(l net.Listener) (end func()) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapes, Timeout: requestTime}))
	mux.HandleFunc("GET /healthz", m.health.answer)
	s := &http.Server{Handler: mux, ReadTimeout: requestTime, WriteTimeout: 2 * requestTime, IdleTimeout: time.Minute,
		MaxHeaderBytes: requestSize}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l) // until end
	}()
	return func() {
		_ = s.Close() // nothing of a scrape is worth waiting for
		<-served
	}
}

// health is whether a watch goes on.
type health struct {
	loaded atomic.Bool
	last   atomic.Int64 // the last sign of life, in nanoseconds of the clock that stands still in a suspend
}

func (h *health) beat() { h.last.Store(monotonic()) }

// answer says how the watch is: 200 if it goes on.
func (h *health) answer(w http.ResponseWriter, _ *http.Request) {
	silent := time.Duration(monotonic() - h.last.Load())
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	switch {
	case !h.loaded.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, "starting") // who asked may have gone
	case silent > stuckAfter:
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintf(w, "stuck for %s\n", silent.Round(time.Second))
	default:
		_, _ = fmt.Fprintln(w, "ok")
	}
}

func monotonic() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // never fails on Linux
	return now.Nano()
}
