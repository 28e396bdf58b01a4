package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// planRow is the plan that finds nothing to do, of resources that exist.
func planRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := l.sized(1000)
	out := line{What: fmt.Sprintf("`plan` without changes, %d worker resources", n),
		Beside: fmt.Sprintf("`terraform plan`, %d terraform_data", n), Goal: goal{Faster: 10}}
	return l.besideTerraform(ctx, n, n, out, func(b *bed, t *terraformBed) ([]meter.Usage, []meter.Usage, error) {
		if err := errors.Join(b.do(ctx, "apply", "-auto-approve"), t.do(ctx, "apply", "-auto-approve", "-input=false")); err != nil {
			return nil, nil, err
		}
		return l.inTurns(true, b.ours(ctx, nil, "plan", "-detailed-exitcode"), t.side(ctx, nil, "plan", "-input=false", "-detailed-exitcode"))
	})
}

// applyRow creates everything, with the journal made durable at each step.
func applyRow(ctx context.Context, l *lab) ([]line, error) {
	n := l.sized(1000)
	out := line{What: fmt.Sprintf("`apply` creating %d worker resources, an action each", n),
		Beside: fmt.Sprintf("`terraform apply`, %d terraform_data", n), Goal: goal{Faster: 25}}
	return l.besideTerraform(ctx, n, n, out, func(b *bed, t *terraformBed) ([]meter.Usage, []meter.Usage, error) {
		// The first pair would cost as much as any, and warm only what `plan` warms too.
		if err := errors.Join(b.do(ctx, "plan"), t.do(ctx, "plan", "-input=false")); err != nil {
			return nil, nil, err
		}
		return l.inTurns(false, b.ours(ctx, b.reset, "apply", "-auto-approve"), t.side(ctx, t.reset, "apply", "-auto-approve", "-input=false"))
	})
}

// besideTerraform measures one line on a bed of each.
func (l *lab) besideTerraform(ctx context.Context, ours, theirs int, out line,
	measure func(*bed, *terraformBed) ([]meter.Usage, []meter.Usage, error)) (lines []line, err error) {
	b, err := l.workers(ctx, ours)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	t, err := l.terraformBed(ctx, theirs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	out.Ours, out.Theirs, err = measure(b, t)
	return []line{out}, err
}

// watched adds to what a side took the memory of one more turn: it takes a command longer
// to be watched.
func (b *bed) watched(s side, took []meter.Usage) error {
	b.together = true
	defer func() { b.together = false }()
	u, err := s.turn()
	for i := range took {
		took[i].Together = u.Together
	}
	return err
}

// tenThousandRow is both, ten times as large, beside terraform's plan of fewer,
// as much as fits into the time.
func tenThousandRow(ctx context.Context, l *lab) (lines []line, err error) {
	n, few := l.sized(10_000), l.sized(3000)
	beside := fmt.Sprintf("`terraform plan` creating %d terraform_data", few)
	apply := line{What: fmt.Sprintf("`apply` creating %d worker resources", n), Beside: beside, Goal: goal{Wall: 8 * time.Second}}
	plan := line{What: fmt.Sprintf("`plan` without changes, %d worker resources", n), Beside: beside,
		Goal: goal{Wall: 3 * time.Second, Memory: 200}}
	lines, err = l.besideTerraform(ctx, n, few, apply, func(b *bed, t *terraformBed) (mine, other []meter.Usage, err error) {
		theirs := t.side(ctx, nil, "plan", "-input=false")
		create, again := b.ours(ctx, b.reset, "apply", "-auto-approve"), b.ours(ctx, nil, "plan", "-detailed-exitcode")
		if mine, other, err = l.inTurns(false, create, theirs); err != nil {
			return nil, nil, err
		}
		if plan.Ours, plan.Theirs, err = l.inTurns(true, again, theirs); err == nil {
			err = errors.Join(b.watched(again, plan.Ours), b.watched(create, mine))
		}
		return mine, other, err
	})
	return append([]line{plan}, lines...), err
}

// hundredThousandRow does everything once with a hundred thousand resources,
// and with a thousand as often as there are pairs.
func hundredThousandRow(ctx context.Context, l *lab) ([]line, error) {
	few, many := l.sized(1000), l.sized(100_000)
	small, err := l.measureSteps(ctx, few, l.pairs)
	if err != nil {
		return nil, err
	}
	large, err := l.measureSteps(ctx, many, 1)
	lines := make([]line, 0, len(large))
	for i, u := range large {
		text := fmt.Sprintf("%s, %d worker resources, once", largeSteps[i].name, many)
		per := float64(many) / float64(few)
		lines = append(lines, line{What: text, Ours: u, Goal: goal{Growth: 1.3},
			Note: fmt.Sprintf("%d: %s", few, describe(small[i])),
			Growth: &growth{few, many, wallOf(u[0]) / spreadOf(each(small[i], wallOf)).median / per,
				workOf(u[0]) / spreadOf(each(small[i], workOf)).median / per}})
	}
	return lines, err
}

// largeSteps are the commands of the large runs.
var largeSteps = []struct {
	name string
	args []string
}{
	{"`plan -out`, to create", []string{"plan", "-out", "plan.bin"}},
	{"`show` of that plan", []string{"show", "plan.bin"}},
	{"`apply` of that plan", []string{"apply", "plan.bin"}},
	{"`plan` without changes", []string{"plan", "-detailed-exitcode"}},
}

// measureSteps measures each of largeSteps so many times; fewer of them when one fails.
func (l *lab) measureSteps(ctx context.Context, n, times int) (steps [][]meter.Usage, err error) {
	b, err := l.workers(ctx, n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	for i := range times {
		if err := b.reset(); err != nil {
			return nil, err
		}
		for j, step := range largeSteps {
			u, err := b.ours(ctx, nil, step.args...).run()
			if err != nil {
				return steps, err
			}
			if i == 0 {
				steps = append(steps, nil)
			}
			steps[j] = append(steps[j], u)
		}
	}
	return steps, nil
}

// validateRow compares checks of manifests, for which nothing is run.
func validateRow(ctx context.Context, l *lab) (lines []line, err error) {
	for _, full := range []int{1000, 10_000} {
		out := line{}
		if full == 10_000 {
			out.Goal = goal{Wall: time.Second, Memory: 200}
		}
		if out, err = l.validate(ctx, l.sized(full), out); err != nil {
			return lines, err
		}
		lines = append(lines, out)
	}
	return lines, nil
}

func (l *lab) validate(ctx context.Context, n int, out line) (_ line, err error) {
	b, err := l.newBed()
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return out, err
	}
	t, err := l.terraformBed(ctx, n)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := chains(b.work, ".hcl", diskBlock, diskAfter, n, "bench/disk:1"); err != nil {
		return out, err
	}
	out.What, out.Beside = fmt.Sprintf("`validate`, %d resources", n), fmt.Sprintf("`terraform validate`, %d terraform_data", n)
	out.Ours, out.Theirs, err = l.inTurns(true, b.ours(ctx, nil, "validate"), t.side(ctx, nil, "validate"))
	return out, err
}
