package plan

import (
	"context"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/order"
	"deployster/plan/plugs"
	"deployster/plan/reason"
	"deployster/plan/things"
	"deployster/state"
)

// replacePair decides what becomes of the recorded thing of a resource that means another
// thing now, or that is to be replaced. It returns false after it has reported an error.
func (b *builder) replacePair(ctx context.Context, r *config.Resource, step *Step, pair match.Pair) bool {
	if b.Selection.RefreshOnly {
		step.Part, step.Reason = &change.Left{}, reason.New(reason.RecordedAnother).With(reason.New(reason.OnlyRecords))
		return true
	}
	if key := b.identified.deposed[r.Address]; key != "" {
		return b.replaceLater(r, step, pair, key)
	}
	if pair.Why != match.Other || b.Replaces(r.Address) {
		return b.replace(ctx, r, step, b.decided.asked(r.Address))
	}
	entry := b.Prior.Resources[r.Address]
	why := things.Changed(pair.Differences, step.Sensitive, entry.Sensitive.Config)
	step.Another = true // only the removal is asked with the old state
	if stays := things.Stays(pair, entry, step.Type, step.Init, b.Selection.OtherPath, b.session.Hosts.Away(entry)); stays != nil {
		step.Notes = append(step.Notes, things.Left(why, stays))
		return true
	}
	return b.replace(ctx, r, step, why)
}

// replace decides how the thing of a resource is destroyed, so that it can be created
// again. Where nothing exists the step gets no Old, and is decided like any other. For a
// resource that must not or cannot be replaced it reports an error and returns false.
func (b *builder) replace(ctx context.Context, r *config.Resource, step *Step, why *reason.Reason) bool {
	entry, known := b.Prior.Resources[r.Address]
	refuse := func(summary, detail string, args ...any) bool {
		b.Report(r, "", diag.Diagnostics{diag.Errorf(summary, detail, args...)})
		return false
	}
	switch {
	case r.ReadOnly || entry.ReadOnly:
		return refuse("Read-only resource would be replaced", "It is read_only, so nothing may be done about it, and -replace would destroy "+
			"it. Remove it from -replace.")
	case r.PreventDestroy:
		b.Report(r, "", diag.Diagnostics{things.Protected("It has prevent_destroy = true", why)})
		return false
	case entry.PreventDestroy:
		b.Report(r, "", diag.Diagnostics{things.Protected("It was last applied with prevent_destroy = true", why)})
		return false
	case b.identified.first[r.Address]:
		b.Report(r, "", diag.Diagnostics{things.NotFirst("the existing and the declared object are one, which cannot exist twice", why)})
		return false
	case !known && len(step.Unknown) > 0:
		step.Notes = append(step.Notes, reason.New(reason.NothingRecorded))
		return true
	}
	old := oldOf(b, step, entry, known)
	if step.Another {
		old.Settings, old.Mounts, old.SecretEnv = entry.Settings, entry.Mounts, entry.Sensitive.Env
	}
	if old.Init.Digest != step.Init.Digest || old.Init.Reference != step.Init.Reference {
		ty, err := b.session.Prober.Init(ctx, old.Target(r.Address))
		if err != nil {
			b.Report(r, "", diag.From("Cannot replace", err))
			return false
		}
		old.Init = ty
	}
	if !old.Init.Absent {
		if step.Another {
			step.Notes = append(step.Notes, things.Left(why, reason.New(reason.Unremovable)))
			return true
		}
		return refuse("Resource cannot be replaced", "Its type %s cannot remove objects: its image has no \"absent\" in its answer "+
			"to init. Destroy the object outside of deployster, and plan without -replace: it will be created again.", old.Type)
	}
	old.Part = &change.Destroy{}
	q := b.session.Query(r.Address, old, entry)
	o := b.session.Observe(ctx, &q, &entry, b.asRecorded())
	if o.Err != nil {
		b.Report(r, "", diag.From("Cannot replace", o.Err))
		return false
	}
	if o.Change == Forget {
		if !step.Another {
			step.Notes = append(step.Notes, reason.New(reason.NothingToDestroy))
		}
		return true
	}
	today, notes := b.session.Plugs.Compare(ctx, b.session.Workdir, old.Settings.Host, old.Mounts, old.Init)
	old.Reason, old.Part = why, &change.Destroy{Answer: change.AnswerOf(o.Answer, o.Hidden), NotMade: entry.Adopted || !known, Today: today}
	step.Part, step.Reason, step.Notes, step.Another = &change.Replace{Old: old}, why, append(step.Notes, notes...), false
	return true
}

// oldOf returns the step that removes the existing thing of a replaced resource: with the
// config that the thing was created with, by the image of today; by the recorded image if
// that has another name.
func oldOf(b *builder, step *Step, entry state.Entry, known bool) *Step {
	old := &Step{Type: step.Type, Config: step.Config, Sensitive: step.Sensitive, SecretEnv: step.SecretEnv,
		Aliases:  step.Aliases,
		Settings: step.Settings, RunsWith: step.RunsWith, Mounts: step.Mounts, Timeouts: step.Timeouts, Init: step.Init, Pull: step.Pull,
		Verify: step.Verify}
	switch {
	case !known:
		return old
	case plugs.Untagged(entry.Type) != plugs.Untagged(step.Type):
		return b.session.RecordedStep(entry)
	}
	old.Config, old.Sensitive, old.Aliases = entry.Config, entry.Sensitive.Config, entry.Aliases
	return old
}

// RecordedStep returns a step with what an entry holds of how to remove its object.
func RecordedStep(entry state.Entry) *Step { return change.RecordedStep(entry) }

// replaceEdges returns the edges by which the old thing of a replaced resource is removed
// only after all its recorded dependants are removed, or changed so that they no longer
// depend on it. What still depends on the resource waits until it is created again.
func (b assembler) replaceEdges() []Edge {
	var edges []Edge
	dependsOn := order.DependsOn(b.Manifest)
	for dependant, entry := range b.Prior.Resources {
		step := b.steps[dependant]
		for _, addr := range entry.Dependencies {
			if old := b.steps[addr]; step == nil || old == nil || old.Change() != Replace {
				continue
			}
			if step.Change() == Destroy || step.Change() == Forget || step.Change() == Replace || !dependsOn(dependant, addr) {
				edges = append(edges, Edge{From: dependant, To: addr, Origin: order.Removal})
			}
		}
	}
	return edges
}
