package state

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
)

// cutWhenOpened is a store whose network goes when the first entry of a log is there.
type cutWhenOpened struct{ network }

func (c cutWhenOpened) Create(ctx context.Context, key string, data []byte) error {
	if strings.HasPrefix(key, "log/") {
		defer c.m.setCut(true)
	}
	return c.network.Create(ctx, key, data)
}

// A claim that could not be let go of, because the store was away, is taken over on its own
// machine at once: nobody waits for a process that has ended.
func TestRemote_WhatIsLeftHeldKeepsNobodyHere(t *testing.T) {
	for name, hold := range map[string]func(t *testing.T, a *machine){
		"by an open that failed": func(t *testing.T, a *machine) {
			at := a.place()
			at.Connect = func() (*sharedlog.Log, error) {
				timing := sharedlog.Timing{Gone: time.Hour, Patience: 100 * time.Millisecond, Call: time.Second, Poll: 10 * time.Millisecond}
				return sharedlog.New(cutWhenOpened{network{a.root(), a}}, timing), nil
			}
			if _, err := Open(t.Context(), at, Options{}); !errors.Is(err, sharedlog.ErrUnreachable) {
				t.Errorf("it is told %v", err)
			}
		},
		"by a command whose store stayed away": func(t *testing.T, a *machine) {
			s := a.open(t, Options{})
			j := mustBegin(t, s, "p")
			a.setCut(true)
			refused(t, j.Valid("x", entry(`{}`)), ErrBroken)
			ok(t, s.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := two(t, inDir())
			hold(t, a)
			a.setCut(false)
			if _, err := Open(t.Context(), b.place(), Options{}); !errors.Is(err, ErrLocked) {
				t.Errorf("another machine is told %v", err)
			}
			s, err := Open(t.Context(), a.place(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			ok(t, s.Close())
		})
	}
}
