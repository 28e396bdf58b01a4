package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deployster/internal/testkit/bench/meter"
	"deployster/internal/testkit/services"
)

// slowStore is how long each answer of the S3 server takes.
const slowStore = 25 * time.Millisecond

// storesRow is an apply and a plan with the state in a real store, beside the same with the
// state in a file.
func storesRow(ctx context.Context, l *lab) (lines []line, err error) {
	host := &services.Host{}
	defer func() { err = errors.Join(err, host.End()) }()
	for _, s := range []struct {
		name  string
		start func() (url string) // of a state that is called NAME
		goal  time.Duration
	}{
		{"PostgreSQL", func() string {
			return "postgres://deploy@" + services.Postgres(host) + "/state?sslmode=disable&name=NAME"
		}, 1600 * time.Millisecond},
		{fmt.Sprintf("S3, %s away", slowStore), func() string {
			p := services.NewProxy(host, services.S3(host))
			p.Delay(slowStore)
			return "s3://state/NAME?region=eu-central-1&path_style=true&endpoint=http://" + p.Address
		}, 8 * time.Second},
	} {
		url, err := host.Started(s.start)
		if err != nil {
			return lines, fmt.Errorf("%s: %w", s.name, err)
		}
		few := stored{lab: l, name: s.name, url: url, n: l.sized(1000)}
		got, err := few.measure(ctx, s.goal, l.pairs)
		if lines = append(lines, got...); err != nil {
			return lines, err
		}
		many := stored{lab: l, name: s.name, url: url, n: l.sized(10_000)}
		got, err = many.measure(ctx, 30*time.Second, 1)
		if lines = append(lines, got...); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// stored is so many resources with their state in a store.
type stored struct {
	*lab
	name, url string
	n         int
}

// measure lets applies that create everything take turns, and plans that find nothing to do.
func (s stored) measure(ctx context.Context, limit time.Duration, pairs int) (lines []line, err error) {
	once := *s.lab
	once.pairs = pairs
	s.lab = &once
	b, err := s.workers(ctx, s.n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	if err := b.do(ctx, "plan"); err != nil { // the first one would start what the others find
		return nil, err
	}
	apply := line{What: fmt.Sprintf("`apply` creating %d worker resources, the state in %s", s.n, s.name), Beside: "the state in a file",
		Goal: goal{Wall: limit}}
	run := 0
	theirs := side{b.reset, func() (meter.Usage, error) { return b.meter.Run(ctx, b.deployster("apply", "-auto-approve")) }}
	ours := side{b.reset, func() (meter.Usage, error) { run++; return s.run(ctx, b, run, "apply", "-auto-approve") }}
	if apply.Ours, apply.Theirs, err = s.inTurns(false, ours, theirs); err != nil {
		return nil, err
	}
	plan := line{What: fmt.Sprintf("`plan` without changes, %d worker resources, the state in %s", s.n, s.name), Beside: "the state in a file",
		Goal: goal{More: 150 * time.Millisecond}}
	if err = s.move(ctx, b, run+1); err != nil {
		return []line{apply}, err
	}
	ours = side{nil, func() (meter.Usage, error) { return s.run(ctx, b, run+1, "plan", "-detailed-exitcode") }}
	theirs = side{nil, func() (meter.Usage, error) { return b.meter.Run(ctx, b.deployster("plan", "-detailed-exitcode")) }}
	plan.Ours, plan.Theirs, err = s.inTurns(true, ours, theirs)
	return []line{apply, plan}, err
}

// run runs a command of ours with the state of a number.
func (s stored) run(ctx context.Context, b *bed, number int, args ...string) (meter.Usage, error) {
	return b.meter.Run(ctx, s.command(b, append(args, "-state="+s.at(number))...))
}

// command is one of ours that may use the stores.
func (s stored) command(b *bed, args ...string) meter.Command {
	c := b.deployster(args...)
	for name, value := range services.Credentials() {
		c.Env = append(c.Env, name+"="+value)
	}
	return c
}

func (s stored) at(number int) string {
	name := fmt.Sprintf("n%d-%d", s.n, number)
	return strings.Replace(s.url, "NAME", name, 1)
}

// move makes the state of a file, and puts it into the store as well.
func (s stored) move(ctx context.Context, b *bed, number int) error {
	if err := b.reset(); err != nil {
		return err
	}
	if err := b.do(ctx, "apply", "-auto-approve"); err != nil {
		return err
	}
	if _, err := b.meter.Run(ctx, s.command(b, "state", "move", s.at(number))); err != nil {
		return err
	}
	file := filepath.Join(b.work, "deployster.state.json")
	return os.Rename(file+".moved", file)
}
