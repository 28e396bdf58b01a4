//go:build tools

// Package nerdctl names the client of containerd of the tests, so that its module is pinned.
package nerdctl

import _ "github.com/containerd/nerdctl/v2/cmd/nerdctl"
