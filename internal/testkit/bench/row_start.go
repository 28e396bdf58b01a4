package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// startRow is what one waits for when there is little to do.
func startRow(ctx context.Context, l *lab) (lines []line, err error) {
	const n = 10
	b, err := l.workers(ctx, n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	t, err := l.terraformBed(ctx, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := errors.Join(b.do(ctx, "apply", "-auto-approve"), t.do(ctx, "apply", "-auto-approve", "-input=false")); err != nil {
		return nil, err
	}
	// These are short, and the machine's noise is not: so there are more of them.
	often := *l
	often.pairs *= 3
	for _, step := range []struct {
		ours, theirs []string
		what         string
		limit        time.Duration
	}{
		{[]string{"version"}, []string{"version"}, "`version`", 30 * time.Millisecond},
		{[]string{"validate"}, []string{"validate"}, "`validate`, 10 resources", 50 * time.Millisecond},
		{[]string{"plan"}, []string{"plan", "-input=false"}, "`plan` without changes, 10 worker resources", 150 * time.Millisecond},
	} {
		out := line{What: step.what, Beside: "`terraform " + step.theirs[0] + "`", Goal: goal{Wall: step.limit}}
		if out.Ours, out.Theirs, err = often.inTurns(true, b.ours(ctx, nil, step.ours...), t.side(ctx, nil, step.theirs...)); err != nil {
			return lines, err
		}
		lines = append(lines, out)
	}
	return lines, nil
}

// bootRow is the first command of a data directory, which boots the embedded
// containerd, and the same command when that runs.
func bootRow(ctx context.Context, l *lab) ([]line, error) {
	out := line{What: "first `image ls` of a machine: boots containerd", Goal: goal{Boot: 150 * time.Millisecond}}
	var repeated []meter.Usage
	for range l.pairs {
		first, again, err := boot(ctx, l)
		if err != nil {
			return nil, err
		}
		out.Ours, repeated = append(out.Ours, first), append(repeated, again)
		out.Boot = append(out.Boot, (first.Wall - again.Wall).Seconds())
	}
	out.Note = "again: " + describe(repeated)
	return []line{out}, nil
}

func boot(ctx context.Context, l *lab) (first, again meter.Usage, err error) {
	b, err := l.newBed()
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return first, again, err
	}
	ls := b.ours(ctx, nil, "image", "ls")
	if first, err = ls.run(); err != nil {
		return first, again, err
	}
	again, err = ls.run()
	return first, again, err
}

// stdinRow runs an image many times, on the embedded containerd and on the
// machine's: no run may hang, and no byte of its input may be lost.
func stdinRow(ctx context.Context, l *lab) ([]line, error) {
	module := filepath.Dir(filepath.Dir(l.tool))
	runs := l.sized(500)
	u, err := l.meter.Run(ctx, meter.Command{Dir: module, Env: []string{fmt.Sprintf("DEPLOYSTER_STDIN_RUNS=%d", runs)},
		Args: strings.Fields("go test -count=1 -timeout 20m -run ^TestStdin_Arrives$ ./containerd")})
	if err != nil {
		return nil, err
	}
	u.Memory = 0 // the Go compiler's
	return []line{{What: fmt.Sprintf("input of %d runs on each of two containerds arrives whole", runs), Ours: []meter.Usage{u},
		Note: "passed; the time has the making of the test in it"}}, nil
}
