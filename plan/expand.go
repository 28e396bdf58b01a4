package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/observe"
	"deployster/plan/subject"
)

// expand decides the resources that the for_each and count of blocks use, so that the
// instances of these blocks become known. It repeats this until all blocks are expanded,
// as one may use the instances of another. What is decided here is not asked again.
func (b *builder) expand(ctx context.Context) {
	for {
		open := b.open()
		if len(open) == 0 {
			return
		}
		ready := subject.Ready(b.Manifest, open)
		if len(ready) == 0 {
			b.Report(nil, "", diag.Diagnostics{diag.Errorf("Instances that cannot be known",
				"%s and what it is made of wait for each other. This is a bug in deployster: please report it with the manifest.", open[0].Address)})
			return
		}
		wanted := func(addr string) bool { return ready[addr] }
		if b.Ask(ctx, wanted); b.Failed() {
			return
		}
		if b.decideAll(ctx, wanted); b.Failed() {
			b.expandFailed = ctx.Err() == nil
			return
		}
		scope := config.States{}
		for _, p := range open {
			decided := slices.DeleteFunc(slices.Clone(p.Needs), func(a string) bool { return b.steps[a] == nil })
			maps.Copy(scope, observe.States(decided, b.outlook, b.Prior))
		}
		next, diags := b.Manifest.Expand(open, scope)
		for _, d := range diags {
			b.because(d)
		}
		b.Report(nil, "", diags)
		if diags.HasErrors() {
			return
		}
		b.Manifest = next
		if b.Report(nil, "", b.Move()); b.Failed() {
			return
		}
		b.Narrow()
	}
}

// open lists the blocks that the plan covers and whose instances are not known yet.
func (b *builder) open() []config.Pending {
	return slices.DeleteFunc(slices.Clone(b.Manifest.Pending()), func(p config.Pending) bool { return !b.Wanted(p.Address) })
}

// because adds to an error about unknown instances what the plan does with the
// resources that these instances depend on.
func (b *builder) because(d *diag.Diagnostic) {
	var why []string
	for _, p := range b.Manifest.Pending() {
		for _, addr := range p.Needs {
			if d.Range == nil || d.Range.Filename != p.Range.Filename || b.steps[addr] == nil || b.steps[addr].Change() == Valid {
				continue
			}
			if line := fmt.Sprintf("The plan for %s is: %s.", config.Reference(addr), b.steps[addr].Change()); !slices.Contains(why, line) {
				why = append(why, line)
			}
		}
	}
	if len(why) > 0 {
		d.Detail += "\n" + strings.Join(why, "\n")
	}
}
