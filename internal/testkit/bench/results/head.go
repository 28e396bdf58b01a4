package results

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Head has how, where and of what versions the figures are.
type Head struct {
	Date     string   `json:"date"`
	Command  string   `json:"command"`
	Machine  string   `json:"machine"`
	Versions []string `json:"versions"`
}

// NewHead is the head of a run that begins now, by a command. Programs print their versions.
func NewHead(ctx context.Context, command string, programs ...[]string) Head {
	h := Head{Date: time.Now().UTC().Format("2006-01-02 15:04 UTC"), Command: command,
		Machine: fmt.Sprintf("%s, %d processors, %s, load %s before", cpu(), runtime.NumCPU(), kernel(), load()),
		Versions: []string{"deployster of commit " + first(ctx, "git", "rev-parse", "--short", "HEAD"),
			"embedded containerd " + module("github.com/containerd/containerd/v2")}}
	for _, p := range programs {
		h.Versions = append(h.Versions, first(ctx, p[0], p[1:]...))
	}
	h.Versions = append(h.Versions, runtime.Version())
	return h
}

// Markdown is the head above a table.
func (h Head) Markdown() string {
	return fmt.Sprintf("`%s`, %s\n\n- %s\n- %s\n\n", h.Command, h.Date, h.Machine, strings.Join(h.Versions, "; "))
}

// first gives the first line that a program prints about itself.
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
