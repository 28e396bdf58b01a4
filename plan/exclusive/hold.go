package exclusive

import (
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/state"
)

// member is a resource, or an entry, of the type and on the host of a set.
type member struct {
	addr   string
	step   *change.Step // nil = the plan omits it
	object match.Object
}

// hold finds the resources of the type on the host, and why nothing is destroyed because of them.
func (s *set) hold() {
	selection := s.session.Subject.Selection
	if s.session.Subject.Partial() && len(selection.Targets)+len(selection.Excludes)+len(selection.Only) > 0 {
		s.heldBy(reason.New(reason.HeldPart))
	}
	if selection.NoRefresh {
		s.heldBy(reason.New(reason.HeldUnread))
	}
	if list := pending(s.session.Subject); len(list) > 0 {
		s.heldBy(reason.New(reason.HeldPending, list...))
	}
	why := map[reason.Code][]string{}
	for _, r := range s.session.Subject.Manifest.Resources() {
		if r.Publish == nil && s.mayBeOf(r) {
			m := member{addr: r.Address, step: s.decided.Steps()[r.Address], object: s.declared(r)}
			s.members = append(s.members, m)
			if code := s.holds(m); code != "" {
				why[code] = append(why[code], m.addr)
			}
		}
	}
	for addr, entry := range s.session.Subject.Prior.Resources {
		if s.session.Subject.Manifest.Resource(addr) != nil || config.ExclusiveSet(addr) != "" {
			continue
		}
		if object := s.recordedObject(entry); match.SameKind(object.Type, s.object.Type) && s.on(entry.Settings.Host) {
			m := member{addr: addr, step: s.decided.Steps()[addr], object: object}
			s.members = append(s.members, m)
			if code := s.holds(m); code != "" {
				why[code] = append(why[code], m.addr)
			}
		}
	}
	for _, code := range slices.Sorted(maps.Keys(why)) {
		slices.Sort(why[code])
		s.heldBy(reason.New(code, why[code]...))
	}
}

// heldBy notes a reason for which nothing is destroyed.
func (s *set) heldBy(why *reason.Reason) {
	same := func(other *reason.Reason) bool { return other.Words() == why.Words() }
	if !slices.ContainsFunc(s.Held, same) {
		s.Held = append(s.Held, why)
	}
}

// holds returns why nothing is destroyed because of a resource or an entry; "" = it does not matter.
func (s *set) holds(m member) reason.Code {
	if len(s.session.Subject.Prior.Unsettled[m.addr].Open()) > 0 {
		return reason.HeldRunning
	}
	if s.session.Subject.Prior.Resources[m.addr].Transfer != nil {
		return reason.HeldBetween
	}
	if m.step == nil {
		return reason.HeldLeftOut
	}
	if s.decided.Failed(m.addr) {
		return reason.HeldFailed
	}
	if m.step.Undescribed() || m.step.Settings.Host != nil && m.step.Settings.Host.Address == "" {
		return reason.HeldHost
	}
	if !objects.Known(m.step.Init, m.step.Unknown) || slices.ContainsFunc(m.step.MayChangeAt, func(at string) bool {
		return !objects.Known(m.step.Init, map[string]string{at: ""})
	}) {
		return reason.HeldUnnamed
	}
	switch m.step.Change() {
	case observe.Deferred:
		return reason.Deferred
	case observe.ReadFailed, observe.Left:
		return reason.HeldFailed
	}
	if m.step.Certainty == change.MayChange {
		return reason.MayChange
	}
	return ""
}

// mayBeOf reports whether a resource is of the type of the set and on its host, as far as that is known.
func (s *set) mayBeOf(r *config.Resource) bool {
	late := r.Settings.Host != nil && r.Settings.Host.Address == ""
	return match.SameKind(s.typeOf(r), s.object.Type) && (s.on(r.Settings.Host) || late)
}

// typeOf describes the type of a resource. Where its image was not queried, the name of the image decides.
func (s *set) typeOf(r *config.Resource) match.Type {
	ty := s.session.Types.TypeOf(r.Address)
	if ty.Digest == "" && ty.Kind == "" {
		ty.Kind = s.typ.Kind
		if !match.SameImage(s.objectFor(r.TypeRef, nil).Type, s.object.Type) {
			ty.Kind = ""
		}
	}
	return objects.Declared(s.session.Prober, r.TypeRef, ty, []byte("{}"), r.Settings, nil).Type
}

// on reports whether a host is that of the set.
func (s *set) on(h *runner.Host) bool { return s.block.Host.Same(h) }

// declared describes the object of a declared resource.
func (s *set) declared(r *config.Resource) match.Object {
	step := s.decided.Steps()[r.Address]
	if step == nil { // the plan omits it
		ty, views := s.session.Types.TypeOf(r.Address), observe.Recorded(s.session.Subject.Prior)
		scope := observe.States(append(subject.Predecessors(r), r.Address), views, s.session.Subject.Prior)
		resolved, _ := s.session.Subject.Manifest.Config(r.Address, scope)
		return objects.Declared(s.session.Prober, r.TypeRef, ty, resolved.Value, r.Settings,
			runner.MountsIn(s.session.Workdir, s.session.Types.Mounts(r.Address)))
	}
	return objects.Declared(s.session.Prober, step.Type, step.Init, step.Config, step.Settings,
		runner.MountsIn(s.session.Workdir, step.Mounts))
}

// objectOf describes an object of the set with a config.
func (s *set) objectOf(config []byte) match.Object { return s.objectFor(s.block.Image, config) }

func (s *set) objectFor(image string, config []byte) match.Object {
	return objects.Declared(s.session.Prober, image, s.typ, config, s.block.Settings, runner.MountsIn(s.session.Workdir, s.target.Mounts))
}

// recordedObject describes the object of an entry: its plugs lead where those of the set would lead.
func (s *set) recordedObject(entry state.Entry) match.Object {
	entry.Mounts = runner.MountsIn(s.session.Workdir, entry.Mounts)
	return objects.Recorded(entry)
}

// declares reports whether a resource means an object, or may mean it.
func (s *set) declares(object match.Object) bool {
	return slices.ContainsFunc(s.members, func(m member) bool {
		if s.session.Subject.Manifest.Resource(m.addr) == nil {
			return m.step != nil && m.step.Change() == observe.Destroy && mayMean(m.object, object) // it is destroyed at its own address
		}
		return mayMean(m.object, object) || m.step != nil && m.step.Old() != nil && mayMean(s.replaced(m), object)
	})
}

// replaced describes the object that is destroyed for a resource.
func (s *set) replaced(m member) match.Object {
	old := m.step.Old()
	return objects.Declared(s.session.Prober, old.Type, old.Init, old.Config, old.Settings, runner.MountsIn(s.session.Workdir, old.Mounts))
}

// recorded returns why an object is kept that is recorded and no longer declared; nil = it is not recorded.
func (s *set) recorded(object match.Object) *reason.Reason {
	for _, m := range s.members {
		if mayMean(m.object, object) {
			return reason.New(reason.KeptRecorded, m.addr)
		}
	}
	return nil
}

// gone returns why an object is kept that was transferred to another state; nil = it was not.
func (s *set) gone(object match.Object) *reason.Reason {
	for _, t := range s.session.Subject.Prior.Transferred {
		if t.Entry != nil && s.on(t.Entry.Settings.Host) && mayMean(s.recordedObject(*t.Entry), object) {
			return reason.New(reason.KeptAsGone, t.To.State, t.To.Address)
		}
	}
	return nil
}

// namesSecret reports whether a secret value identifies an object: it would be part of its address.
func (s *set) namesSecret(of []byte) bool {
	hidden := map[string]string{}
	for _, pointer := range observe.HiddenInConfig(s.session.Prober, s.typ,
		config.Resolved{Value: of, Sensitive: s.block.Config.Sensitive}) {
		hidden[pointer] = ""
	}
	return !objects.Known(s.typ, hidden)
}

// mayMean reports whether two descriptions are of one object, or may be.
func mayMean(a, b match.Object) bool {
	relation, _ := match.Compare(a, b, false)
	return relation != match.Differs
}

// reachable reports whether the host can be queried; else nothing is destroyed.
func (s *set) reachable() bool {
	h := s.block.Host
	switch {
	case h == nil:
		return true
	case h.Address == "":
		s.heldBy(reason.New(reason.HeldLateHost, h.Name))
		return false
	case s.session.Options.Hosts[h.Name].Unreachable != "":
		s.heldBy(reason.New(reason.HostUnreachable, h.Name, s.session.Options.Hosts[h.Name].Unreachable))
		return false
	}
	return true
}
