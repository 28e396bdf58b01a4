package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// validateFiles is over how many files the resources are spread.
const validateFiles = 100

// usage is what one run of a program took.
type usage struct {
	wall, work time.Duration // on the clock, and of the processor
	memory     int64         // the most that it had, in MiB
}

// validateRow compares `deployster validate` with `terraform validate` of as
// many resources, in turns. Without a terraform there is nothing beside it.
func validateRow(ctx context.Context, tool string, n, pairs int) (r row, err error) {
	dir, err := os.MkdirTemp("", "bench-validate")
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ours, theirs := filepath.Join(dir, "deployster"), filepath.Join(dir, "terraform")
	if err := writeMany(ours, ".hcl", n, "resource \"r%d\" {\n  type = \"acme/disk:1\"\n  config = {\n    name = \"disk-%d\"\n    zone = var.zone%s\n  }\n}\n", "after = resource.r%d.state"); err != nil {
		return row{}, err
	}
	if err := writeMany(theirs, ".tf", n, "resource \"terraform_data\" \"r%d\" {\n  input = {\n    name = \"disk-%d\"\n    zone = var.zone%s\n  }\n}\n", "after = terraform_data.r%d.output"); err != nil {
		return row{}, err
	}
	terraform, _ := exec.LookPath("terraform")
	if terraform != "" {
		if _, err := measure(ctx, theirs, terraform, "init"); err != nil {
			return row{}, err
		}
	}
	var mine, other []usage
	for range pairs {
		u, err := measure(ctx, ours, tool, "validate")
		if err != nil {
			return row{}, err
		}
		mine = append(mine, u)
		if terraform == "" {
			continue
		}
		if u, err = measure(ctx, theirs, terraform, "validate"); err != nil {
			return row{}, err
		}
		other = append(other, u)
	}
	r = row{what: fmt.Sprintf("`validate` of %d resources in %d files", n, validateFiles), ours: describeUsage(mine), goal: "10000: 1s, 200 MiB"}
	if len(other) > 0 {
		r.theirs = "terraform: " + describeUsage(other)
		ratios := make([]float64, pairs)
		for i := range ratios {
			ratios[i] = float64(mine[i].wall) / float64(other[i].wall)
		}
		slices.Sort(ratios)
		r.ratio = fmt.Sprintf("%.2f (%.2f to %.2f)", ratios[pairs/2], ratios[0], ratios[pairs-1])
	}
	return r, nil
}

// writeMany writes n resources, nine of ten referring to the one before.
func writeMany(dir, ext string, n int, resource, after string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for f := range validateFiles {
		var b strings.Builder
		for i := f * n / validateFiles; i < (f+1)*n/validateFiles; i++ {
			link := ""
			if i%10 != 0 {
				link = "\n    " + fmt.Sprintf(after, i-1)
			}
			fmt.Fprintf(&b, resource, i, i, link)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d%s", f, ext)), []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "variables"+ext), []byte("variable \"zone\" {\n  default = \"eu\"\n}\n"), 0o600)
}

// measure runs a program to its end.
func measure(ctx context.Context, dir, program string, args ...string) (usage, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return usage{}, fmt.Errorf("%s %s: %w: %.2000s", program, strings.Join(args, " "), err, out)
	}
	u := usage{wall: time.Since(start), work: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if took, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = took.Maxrss >> 10
	}
	return u, nil
}

func describeUsage(list []usage) string {
	var wall, work sample
	var memory []int64
	for _, u := range list {
		wall, work, memory = append(wall, u.wall), append(work, u.work), append(memory, u.memory)
	}
	slices.Sort(memory)
	return fmt.Sprintf("%s, processor %s, %d MiB (%d to %d)", wall, work, memory[len(memory)/2], memory[0], memory[len(memory)-1])
}
