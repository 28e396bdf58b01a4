package terminal

import (
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"fmt"
	"strings"
)

// selectionHead prints what a plan is limited to, before the plan.
func (p Printer) selectionHead(pl *plan.Plan) {
	s := pl.Selection
	if s.Unlimited() {
		return
	}
	var lines []string
	add := func(text string, args ...any) { lines = append(lines, fmt.Sprintf(text, args...)) }
	if len(s.Only) > 0 {
		add("PATH  only what these manifests declare, and nothing else is destroyed or forgotten: %s", words.List(s.Only, 10))
	}
	for _, addr := range s.Targets {
		add("-target=%s  only this, and what must be done before it", addr)
	}
	for _, addr := range s.Excludes {
		add("-exclude=%s  not this, nor what waits for it", addr)
	}
	for _, addr := range s.Replace {
		what := "destroyed, and created again"
		if strings.HasPrefix(addr, config.PublishPrefix) {
			what = "put again"
		}
		add("-replace=%s  %s", addr, what)
	}
	if s.NoRefresh {
		unrefreshed := 0
		for _, step := range pl.Resources {
			if step.Unrefreshed() {
				unrefreshed++
			}
		}
		were := " were"
		if unrefreshed == 1 {
			were = " was"
		}
		add("-refresh=false  what was recorded as VALID is used: %s not refreshed", words.Count(unrefreshed, "resource")+were)
	}
	if s.RefreshOnly {
		add("-refresh-only  the current state is recorded, and nothing else is changed")
	}
	head := "Partial plan:"
	if len(s.Only)+len(s.Targets)+len(s.Excludes) == 0 && !s.NoRefresh {
		head = "Options of this plan:" // it covers everything
	}
	p.Printf("%s\n", paint.Bold(head))
	for _, line := range lines {
		p.Printf("  %s\n", diag.Visible(line))
	}
	if len(pl.LeftOut) > 0 {
		p.Printf("  Left out: %s.\n", words.List(pl.LeftOut, 10))
	}
	p.Printf("\n")
}
