package decide

import (
	"context"

	"deployster/internal/base/diag"
	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/plan/plugs"
	"deployster/plan/reason"
)

// replacePair decides what becomes of the recorded object of a resource that means another
// object now, or that is to be replaced. It returns false after it has reported an error.
func (d *decision) replacePair(ctx context.Context) bool {
	step, asked := d.step, d.pair.Why != match.Other || d.subject.Replaces(d.r.Address)
	if d.subject.Selection.RefreshOnly {
		step.Part, step.Reason = &change.Left{}, reason.New(reason.RecordedAnother).With(reason.New(reason.OnlyRecords))
		return true
	}
	if key := d.matched.Deposed(d.r.Address); key != "" {
		return d.replaceLater(key, asked)
	}
	if asked {
		return d.replace(ctx, d.matched.Facts.Asked(d.r.Address))
	}
	recorded := d.subject.Was(d.r.Address)
	why := objects.Changed(d.pair.Differences, step.Sensitive, recorded.Sensitive.Config)
	step.OtherObject = true // only the removal is queried with the old state
	away := d.session.Hosts.OutOfReach(recorded)
	if stays := objects.WhyKept(d.pair, recorded, step.Type, step.Init, d.subject.Selection.OtherPath, away); stays != nil {
		step.Notes = append(step.Notes, objects.KeptNote(why, stays))
		return true
	}
	return d.replace(ctx, why)
}

// replaceLater notes that the recorded object is removed after the new one is created.
// It reports an error and returns false for a resource that must not be replaced.
func (d *decision) replaceLater(key string, asked bool) bool {
	entry := d.subject.Prior.Resources[key]
	why := objects.Changed(d.pair.Differences, d.step.Sensitive, entry.Sensitive.Config)
	if asked {
		why = d.matched.Facts.Asked(d.r.Address)
	}
	if d.r.PreventDestroy {
		d.report(diag.Diagnostics{objects.Protected("It has prevent_destroy = true", why)})
		return false
	}
	d.step.Replaces = key
	later := reason.DestroyedLater
	if entry.OnRemove == "forget" {
		later = reason.ForgottenLater
	}
	d.step.Notes = append(d.step.Notes, reason.New(later, key).With(why))
	return true
}

// replace decides how the recorded object is destroyed, so that it can be created
// again. Where nothing exists the step gets no Old, and is decided like any other. For a
// resource that must not or cannot be replaced it reports an error and returns false.
func (d *decision) replace(ctx context.Context, why *reason.Reason) bool {
	step, entry := d.step, d.subject.Was(d.r.Address)
	if refused := d.irreplaceable(why); refused != nil {
		d.report(diag.Diagnostics{refused})
		return false
	}
	if !d.known && len(step.Unknown) > 0 {
		step.Notes = append(step.Notes, reason.New(reason.NothingRecorded))
		return true
	}
	old := d.old()
	if old.Init.Digest != step.Init.Digest || old.Init.Reference != step.Init.Reference {
		ty, err := d.session.Prober.Init(ctx, old.Target(d.r.Address))
		if err != nil {
			d.report(diag.From("Cannot replace", err))
			return false
		}
		old.Init = ty
	}
	if !old.Init.Absent {
		if step.OtherObject {
			step.Notes = append(step.Notes, objects.KeptNote(why, reason.New(reason.Unremovable)))
			return true
		}
		d.report(diag.Diagnostics{diag.Errorf("Resource cannot be replaced",
			"Its type %s cannot remove objects: its image has no \"absent\" in its answer to init. Destroy the object outside of "+
				"deployster, and plan without -replace: it will be created again.",
			old.Type)})
		return false
	}
	old.Part = &change.Destroy{}
	q := d.session.Query(d.r.Address, old, entry)
	o := d.session.Observe(ctx, &q, &entry, d.decisions.recordedScope())
	if o.Err != nil {
		d.report(diag.From("Cannot replace", o.Err))
		return false
	}
	if o.Change == observe.Forget {
		if !step.OtherObject {
			step.Notes = append(step.Notes, reason.New(reason.NothingToDestroy))
		}
		return true
	}
	today, notes := d.session.Plugs.Compare(ctx, d.session.Workdir, old.Settings.Host, old.Mounts, old.Init)
	old.Reason = why
	old.Part = &change.Destroy{Answer: change.AnswerOf(o.Answer, o.Hidden), NotCreated: entry.Adopted || !d.known, CurrentMounts: today}
	step.Part, step.Reason, step.Notes, step.OtherObject = &change.Replace{Old: old}, why, append(step.Notes, notes...), false
	return true
}

// irreplaceable returns why the resource must not be replaced; nil = it may be.
func (d *decision) irreplaceable(why *reason.Reason) *diag.Diagnostic {
	switch {
	case d.r.ReadOnly || d.subject.Was(d.r.Address).ReadOnly:
		return diag.Errorf("Read-only resource would be replaced", "It is read_only, so nothing may be done about it, and -replace would "+
			"destroy it. Remove it from -replace.")
	case d.r.PreventDestroy:
		return objects.Protected("It has prevent_destroy = true", why)
	case d.subject.Was(d.r.Address).PreventDestroy:
		return objects.Protected("It was last applied with prevent_destroy = true", why)
	case d.matched.Facts.First(d.r.Address):
		return objects.CannotCreateFirst("the existing and the declared object are one, which cannot exist twice", why)
	}
	return nil
}

// old returns the step that removes the existing object of the resource: with the
// config that the object was created with, by the image of today; by the recorded image if
// that has another name.
func (d *decision) old() *change.Step {
	step, entry := d.step, d.subject.Was(d.r.Address)
	old := &change.Step{Type: step.Type, Config: step.Config, Sensitive: step.Sensitive, SecretEnv: step.SecretEnv,
		Aliases:  step.Aliases,
		Settings: step.Settings, RunsWith: step.RunsWith, Weaker: step.Weaker,
		Mounts: step.Mounts, Timeouts: step.Timeouts, Init: step.Init, Pull: step.Pull,
		Verify: step.Verify}
	switch {
	case !d.known:
	case plugs.Untagged(entry.Type) != plugs.Untagged(step.Type):
		old = d.session.RecordedStep(entry)
	default:
		old.Config, old.Sensitive, old.Aliases = entry.Config, entry.Sensitive.Config, entry.Aliases
	}
	if step.OtherObject {
		old.Settings, old.Mounts, old.SecretEnv = entry.Settings, entry.Mounts, entry.Sensitive.Env
	}
	return old
}
