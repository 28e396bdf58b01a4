//go:build tools

// Package acceptance pins a provider with the dependencies of its own tests; they are
// internal to it, and are built unchanged.
package acceptance
