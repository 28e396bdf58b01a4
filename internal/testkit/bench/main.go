// Command bench measures deployster beside terraform, beside a bare containerd
// client and beside ctr, and prints one table. What is compared takes turns
// within one run of the benchmark, since machines are never quiet: read the
// ratios. It is run by `make bench`, as root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deployster/internal/testkit/bench/meter"
	"deployster/internal/testkit/bench/results"
)

// row is one measurement, by the number that chooses it. It makes one line or
// more, and those that it has when it fails.
type row struct {
	number, name string
	measure      func(context.Context, *lab) ([]line, error)
}

// options are what the command line says.
type options struct {
	pairs   int
	scale   float64
	rows    []string // their numbers; empty = all
	limit   time.Duration
	results string // a directory; empty = nothing is kept
	svg     string
	idle    time.Duration
}

func main() {
	var o options
	var chosen string
	flag.IntVar(&o.pairs, "pairs", 5, "measure each ratio in `N` pairs")
	flag.Float64Var(&o.scale, "scale", 1, "so many times the resources, for a quick look: `0.1`")
	flag.StringVar(&chosen, "rows", "", "only these rows, such as `1,5` or `13a`")
	flag.DurationVar(&o.limit, "limit", 30*time.Minute, "give up a row after so much `TIME`")
	flag.DurationVar(&o.idle, "idle", time.Minute, "look for so much `TIME` at a watch that rests")
	flag.StringVar(&o.results, "results", "", "write a file for each row, with each single measurement, into `DIR`")
	flag.StringVar(&o.svg, "svg", "", "draw a chart into `FILE`")
	flag.Parse()
	o.rows = strings.FieldsFunc(chosen, func(r rune) bool { return r == ',' || r == ' ' })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// check refuses options that measure nothing.
func (o options) check() error {
	if o.pairs < 1 || o.idle <= 0 || !(o.scale > 0 && o.scale <= 1) {
		return fmt.Errorf("-pairs must be 1 at least, -idle above 0, and -scale above 0 and at most 1")
	}
	for _, chosen := range o.rows {
		if !slices.ContainsFunc(rows(), func(r row) bool { return r.is(chosen) }) {
			return fmt.Errorf("there is no row %q: they have the numbers 1 to %s", chosen, rows()[len(rows())-1].number)
		}
	}
	return nil
}

// command is the command line that has these options.
func (o options) command() string {
	command := fmt.Sprintf("go run ./internal/testkit/bench -pairs %d", o.pairs)
	if o.scale != 1 {
		command += fmt.Sprintf(" -scale %g", o.scale)
	}
	if len(o.rows) > 0 {
		command += " -rows " + strings.Join(o.rows, ",")
	}
	return command
}

// is reports whether a row is chosen by a number: its own, or that of the whole of which
// it is a part.
func (r row) is(chosen string) bool {
	return r.number == chosen || strings.TrimRight(r.number, "abcdefghijklmnopqrstuvwxyz") == chosen
}

// run measures, and prints each line of the table when it is there. A row that
// fails does not end the others; the error in the end names it.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	l, err := newLab(o)
	if err != nil {
		return err
	}
	h := results.NewHead(ctx, o.command(), l.versions()...)
	fmt.Fprint(out, h.Markdown(), tableHead)
	var lines []line
	var failed []error
	for _, r := range rows() {
		if len(o.rows) > 0 && !slices.ContainsFunc(o.rows, r.is) || ctx.Err() != nil {
			continue
		}
		start := time.Now()
		fmt.Fprintf(progress, "row %s: %s\n", r.number, r.name)
		got, err := l.measure(ctx, r, o.limit)
		if err != nil {
			failed = append(failed, fmt.Errorf("row %s: %w", r.number, err))
		}
		for _, each := range got {
			fmt.Fprintln(out, each.markdown(o.scale == 1))
		}
		if err == nil && o.results != "" {
			failed = append(failed, keep(h, o.results, r.number, got, o.scale == 1))
		}
		lines = append(lines, got...)
		fmt.Fprintf(progress, "row %s: took %s\n", r.number, time.Since(start).Round(time.Second))
	}
	if o.svg != "" {
		failed = append(failed, os.WriteFile(o.svg, []byte(chart(h, lines)), 0o644))
	}
	return errors.Join(append(failed, ctx.Err())...)
}

// keep keeps the lines of a row.
func keep(h results.Head, dir, row string, lines []line, whole bool) error {
	r := results.Result{Row: row, Head: h}
	for _, l := range lines {
		r.Lines = append(r.Lines, l.cells(whole))
	}
	return r.Keep(dir)
}

// measure measures one row. What it lacks is a line too, which says why.
func (l *lab) measure(ctx context.Context, r row, limit time.Duration) ([]line, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("given up after %s", limit))
	defer cancel()
	lines, err := r.measure(ctx, l)
	if err != nil {
		whole := slices.DeleteFunc(lines, func(l line) bool { return len(l.Ours) == 0 })
		lines = append(whole, line{What: r.name, Error: err.Error()})
	}
	for i := range lines {
		lines[i].Row = r.number
	}
	return lines, err
}

// versions are the commands that print the versions of the programs beside deployster.
func (l *lab) versions() [][]string {
	programs := [][]string{{l.ownRunc(), "--version"}, {"ctr", "--version"}}
	if l.terraform != "" {
		programs = append(programs, []string{l.terraform, "version"})
	}
	return programs
}

func newLab(o options) (*lab, error) {
	tool, err := filepath.Abs("bin/deployster")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(tool); err != nil {
		return nil, fmt.Errorf("%w: run `make build` first", err)
	}
	terraform, _ := exec.LookPath("terraform") // its rows say that there is none
	m, err := meter.New()
	return &lab{tool: tool, terraform: terraform, pairs: o.pairs, scale: o.scale, idle: o.idle, meter: m}, err
}
