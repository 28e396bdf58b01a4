package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"deployster/internal/testkit/bench/results"
)

// head has how, where and of what the numbers are.
type head struct{ results.Head }

func (l *lab) head(ctx context.Context, o options) head {
	command := fmt.Sprintf("go run ./internal/testkit/bench -pairs %d", o.pairs)
	if o.scale != 1 {
		command += fmt.Sprintf(" -scale %g", o.scale)
	}
	if len(o.rows) > 0 {
		command += " -rows " + strings.Join(o.rows, ",")
	}
	versions := []string{"deployster of commit " + first(ctx, "git", "rev-parse", "--short", "HEAD"),
		"embedded containerd " + module("github.com/containerd/containerd/v2"), first(ctx, l.ownRunc(), "--version"),
		first(ctx, "ctr", "--version"), runtime.Version()}
	if l.terraform == "" {
		versions = append(versions, "no terraform on this machine")
	} else {
		versions = append(versions, first(ctx, l.terraform, "version"))
	}
	return head{results.Head{Date: time.Now().UTC().Format("2006-01-02 15:04 UTC"), Command: command,
		Machine:  fmt.Sprintf("%s, %d processors, %s, load %s before", cpu(), runtime.NumCPU(), kernel(), load()),
		Versions: versions}}
}

func (h head) markdown() string {
	return fmt.Sprintf("`%s`, %s\n\n- %s\n- %s\n\n", h.Command, h.Date, h.Machine, strings.Join(h.Versions, "; "))
}

// first gives the first line of what a program says of itself.
func first(ctx context.Context, program string, args ...string) string {
	text, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return program + ": unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// module is the version of a library in this program, and so in the tool.
func module(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg") // the head only
	average, _, _ := strings.Cut(string(text), " ")
	return average
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
	return "unknown processor"
}
