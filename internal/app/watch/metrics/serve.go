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

// Limits of the server: its client is a local Prometheus, and not the internet.
const (
	requestTime = 10 * time.Second
	requestSize = 16 << 10
	scrapes     = 4 // concurrently
	stuckAfter  = 45 * time.Second
)

// Listen listens on host:port or unix:PATH. It replaces a socket that no process listens on any more.
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

// dead reports whether a path is a socket that no process listens on.
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

// Serve serves /metrics and /healthz, until end is called.
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
		_ = s.Close() // no scrape is worth waiting for
		<-served
	}
}

// health has whether a watch works.
type health struct {
	loaded atomic.Bool
	last   atomic.Int64 // the last sign of life, in nanoseconds of a clock that stands still while the machine is suspended
}

func (h *health) beat() { h.last.Store(monotonic()) }

// answer writes whether the watch works: 200 if it does.
func (h *health) answer(w http.ResponseWriter, _ *http.Request) {
	silent := time.Duration(monotonic() - h.last.Load())
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	switch {
	case !h.loaded.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, "starting") // the client may have gone
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
