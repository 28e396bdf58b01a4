package terminal

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/paint"
)

func TestFrame_FitsTheTerminal(t *testing.T) {
	now := time.Unix(10_000, 0)
	p := progressState{Verb: "Applying", Since: now.Add(-75 * time.Second), Total: 300, Done: 37, Failed: 1, Note: "pulling 3 MiB"}
	for i := range 12 {
		p.Tasks = append(p.Tasks, task{Address: fmt.Sprintf("module.世界.file[%q]", strings.Repeat("k", i*3)), Step: "write everything again",
			Since: now.Add(-time.Duration(i*i*i) * time.Second), Last: "コピー 3 of\t40 \x1b[31m and more and more and more and more"})
	}
	for _, size := range [][2]int{{80, 24}, {160, 24}, {80, 8}, {30, 3}, {20, 2}, {10, 1}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			lines := frameOf(p, now, size[0], size[1])
			if len(lines) > max(0, size[1]-1) {
				t.Errorf("%d lines", len(lines))
			}
			for _, line := range lines {
				if paint.Width(line) >= size[0] || strings.ContainsAny(line, "\x1b\t\n") {
					t.Errorf("%d cells: %q", paint.Width(line), line)
				}
			}
		})
	}
	want, err := os.ReadFile("testdata/frame-80.txt")
	if got := paint.Colors(strings.Join(frameOf(p, now, 80, 10), "\n")+"\n", false); err != nil || got != string(want) {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
}

// On a narrow terminal the ends of addresses still tell them apart.
func TestFrame_NarrowNames(t *testing.T) {
	now := time.Unix(10_000, 0)
	p := progressState{Verb: "Applying", Since: now, Total: 2}
	for _, name := range []string{"service", "registration"} {
		p.Tasks = append(p.Tasks, task{Address: `module.app["a-rather-long-name"].` + name, Step: "state", Since: now})
	}
	for _, width := range []int{40, 60} {
		lines := frameOf(p, now, width, 24)
		if len(lines) != 3 || !strings.Contains(lines[1], "].service ") || !strings.Contains(lines[2], "istration ") {
			t.Errorf("%d cells: %q", width, lines)
		}
	}
}

// A step whose Pod waits shows where, how long and why, until it begins.
func TestFrame_ShowsWhatPodsWaitFor(t *testing.T) {
	t.Parallel()
	now := time.Unix(10_000, 0)
	l := newLive(func(text string) string { return strings.ReplaceAll(text, "geheim", "***") })
	l.now = func() time.Time { return now.Add(-12 * time.Second) }
	l.begin("Applying", 1)
	l.Applying(apply.ActionStarted{Address: "main", Action: "create"})
	at := func(reason string) string {
		l.Waiting(typeclient.Waiting{Address: "main", Host: "jobs", Step: "create", Reason: reason})
		return paint.Colors(l.frame(now, 100, 10)[1], false)
	}
	if got, want := at("pulling registry.example/geheim"), "  main  create  waiting on jobs 12s: pulling registry.example/***"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := at(""), "  main  create     12s"; got != want {
		t.Errorf("begun: got %q, want %q", got, want)
	}
	l.Waiting(typeclient.Waiting{Address: "gone", Reason: "no task"})
}
