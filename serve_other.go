//go:build !linux

package main

// serve does nothing: there is no containerd to serve.
func serve([]string) {}
