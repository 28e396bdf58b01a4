//go:build tools

// Package opentofu pins OpenTofu, of which two small providers, one of protocol 5 and one of
// protocol 6, are built as they are: their packages are internal to it and cannot be imported.
package opentofu
