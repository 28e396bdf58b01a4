package containerd

import (
	"fmt"
	"path/filepath"
	"time"

	"deployster/containerd/daemon"
	"deployster/containerd/layout"
	"deployster/containerd/registry"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/machinegrant"
)

// The defaults of Options.
const (
	DefaultNamespace = "deployster"
	DefaultDataDir   = "/var/lib/deployster"
	DefaultIdleExit  = 5 * time.Minute
)

// Options declare how images are run on this machine.
type Options struct {
	Address   string // the socket of a running containerd; "" = an embedded one
	Namespace string // of containerd; "" = DefaultNamespace

	DataDir    string // of the embedded containerd, volumes and artifacts; "" = DefaultDataDir
	RuntimeDir string // for sockets and running containers; "" = below /run/deployster, by the data directory or the address

	Runc         string        // the runc to use; "" = next to the executable, then on PATH
	AllowOldRunc bool          // accept a runc with known vulnerabilities, and warn
	IdleExit     time.Duration // of the embedded containerd; 0 = DefaultIdleExit

	// Keep is how long the embedded containerd keeps an idle worker, or a container that queries have shared, for the next
	// Runtime that can use one like it; 0 = it keeps none, and this Runtime takes none. KeepScope names a scope, such as a
	// project: a worker is never taken in another scope.
	Keep      time.Duration
	KeepScope string

	// Private reports whether a text has something that a container which is kept after
	// the Runtime is closed must not know; nil = no text has.
	Private func(text string) bool

	Registries registry.Options

	// Machines are the images that may have the whole machine.
	Machines machinegrant.List

	Warn func(*diag.Diagnostic) // gets warnings, from any goroutine; nil = they are dropped
}

func (o Options) warn(d *diag.Diagnostic) {
	if o.Warn != nil {
		o.Warn(d)
	}
}

// withDefaults returns the options with defaults for empty fields.
func (o Options) withDefaults() (Options, error) {
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if o.DataDir == "" {
		o.DataDir = DefaultDataDir
	}
	if o.IdleExit <= 0 {
		o.IdleExit = DefaultIdleExit
	}
	dir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return o, layout.ErrDataDir(o.DataDir, err)
	}
	o.DataDir = dir
	key := o.Address + "\x00" + o.Namespace
	if o.Address == "" {
		key = dir
	}
	if o.RuntimeDir == "" {
		if o.RuntimeDir, err = layout.RuntimeDir(key); err != nil {
			return o, err
		}
	}
	dir, err = filepath.Abs(o.RuntimeDir)
	if err != nil {
		return o, layout.ErrRuntimeDir(o.RuntimeDir, err)
	}
	o.RuntimeDir = dir
	// The socket of a shim has a name of 64 characters in a directory below; the path of
	// a Unix socket has at most 107 bytes.
	if n := 107 - len("/s/") - 64; o.Address == "" && len(dir) > n {
		return o, layout.ErrRuntimeDir(dir, fmt.Errorf("its path has %d bytes, and the sockets in it allow %d", len(dir), n))
	}
	return o, nil
}

// conn returns the options of the connection to containerd.
func (o Options) conn() daemon.Options {
	return daemon.Options{Config: o.server(), Address: o.Address, Runc: o.Runc, AllowOldRunc: o.AllowOldRunc, Warn: o.warn}
}

func (o Options) server() layout.Config {
	return layout.Config{DataDir: o.DataDir, RuntimeDir: o.RuntimeDir, Namespace: o.Namespace, IdleExit: o.IdleExit}
}
