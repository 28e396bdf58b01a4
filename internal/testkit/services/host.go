package services

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
)

// Host starts servers for a program that is no test, and ends them. Its zero value is ready.
type Host struct {
	testing.TB // nil: what servers call is below
	ends       []func()
}

// failure is a server that does not start.
type failure struct{ error }

// Helper implements testing.TB.
func (h *Host) Helper() {}

// Fatal implements testing.TB: Started returns the error.
func (h *Host) Fatal(args ...any) { panic(failure{errors.New(fmt.Sprint(args...))}) }

// Fatalf implements testing.TB: Started returns the error.
func (h *Host) Fatalf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Cleanup implements testing.TB: End calls what it is given.
func (h *Host) Cleanup(f func()) { h.ends = append(h.ends, f) }

// TempDir implements testing.TB. End removes the directory.
func (h *Host) TempDir() string {
	dir, err := os.MkdirTemp("", "server")
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Started starts a server and returns its address, or why it does not start.
func (h *Host) Started(start func() (url string)) (url string, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	return start(), nil
}

// End ends all servers, the last one first.
func (h *Host) End() error {
	for _, end := range slices.Backward(h.ends) {
		end()
	}
	return nil
}
