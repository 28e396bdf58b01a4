//go:build !linux

package process

// wasClosed reports that no stream was closed: it is not known here.
func wasClosed(int) bool { return false }
