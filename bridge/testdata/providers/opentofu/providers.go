//go:build tools

// Package opentofu pins OpenTofu. Two small providers of it, one of protocol 5 and one of
// protocol 6, are built unchanged: their packages are internal to it and cannot be imported.
package opentofu
