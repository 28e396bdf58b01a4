//go:build tools

// Package acceptance pins a provider with what its own tests need; they are internal to it,
// and are built as they are.
package acceptance
