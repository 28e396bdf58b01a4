package sysctl

import (
	"bytes"
	"context"
	"os"
	"time"
)

// tick is how often the values of the kernel are read: nothing reports changes of them.
const tick = 2 * time.Second

// ticker reads values of the kernel again and again.
type ticker struct{ every time.Duration }

var tickers = ticker{tick}

// follow reads a value until ctx ends, and calls tell when it has changed.
func (t ticker) follow(ctx context.Context, live string, tell func(detail string)) {
	clock := time.NewTicker(t.every)
	defer clock.Stop()
	last, _ := os.ReadFile(live)
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
			now, _ := os.ReadFile(live) // an error: the state reports it
			if !bytes.Equal(now, last) {
				last = now
				tell("the kernel has another value")
			}
		}
	}
}
