// Command bench measures what deployster costs, beside a bare containerd client
// that makes the same container runs, and prints one table. The two take turns
// within one run of the benchmark, since machines are never quiet: read the
// ratios. It is run by `make bench`, as root.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	pairs := flag.Int("pairs", 5, "measure each ratio in `N` pairs")
	resources := flag.Int("resources", 100, "resources in the manifest")
	only := flag.String("only", "", "only rows whose name contains `TEXT`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *pairs, *resources, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// row is one line of the table.
type row struct {
	what, ours, theirs, ratio, goal string
}

func run(ctx context.Context, pairs, resources int, only string) error {
	tool, err := filepath.Abs("bin/deployster")
	if err != nil {
		return err
	}
	if _, err := os.Stat(tool); err != nil {
		return fmt.Errorf("%w: run `make build` first", err)
	}
	fmt.Printf("# go run ./internal/bench -pairs %d -resources %d\n# %s, %d CPUs, %s\n\n", pairs, resources, cpu(), runtime.NumCPU(), kernel())
	fmt.Println("| what | deployster | beside it | ratio | goal |")
	fmt.Println("|---|---|---|---|---|")
	rows := []struct {
		name    string
		measure func() (row, error)
	}{
		{"version", func() (row, error) { return versionRow(ctx, tool) }},
		{"first run", func() (row, error) { return bootRow(ctx, tool) }},
		{"validate 1000", func() (row, error) { return validateRow(ctx, tool, 1000, pairs) }},
		{"validate 10000", func() (row, error) { return validateRow(ctx, tool, 10_000, pairs) }},
	}
	for _, parallel := range []int{1, 8} {
		for _, command := range []string{"plan", "apply"} {
			rows = append(rows, struct {
				name    string
				measure func() (row, error)
			}{fmt.Sprintf("%s %d", command, parallel), func() (row, error) {
				return overheadRow(ctx, tool, command, resources, parallel, pairs)
			}})
		}
	}
	for _, r := range rows {
		if !strings.Contains(r.name, only) {
			continue
		}
		got, err := r.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Printf("| %s | %s | %s | %s | %s |\n", got.what, got.ours, got.theirs, got.ratio, got.goal)
	}
	return nil
}

// sample is a set of times.
type sample []time.Duration

func (s sample) median() time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[len(sorted)/2]
}

// String gives the median and the spread.
func (s sample) String() string {
	return fmt.Sprintf("%s (%s to %s)", round(s.median()), round(slices.Min(s)), round(slices.Max(s)))
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	if d > time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

func kernel() string {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease") // the head only
	return "Linux " + strings.TrimSpace(string(text))
}

func cpu() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // the head only
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown CPU"
}
