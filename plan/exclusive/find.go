package exclusive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/order"
	"deployster/plan/query"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
)

// Decided is what was decided about all resources and entries.
type Decided interface {
	Steps() map[string]*change.Step
	Failed(addr string) bool
}

// Find queries the types of the exclusive blocks for their objects, and decides what becomes of each.
func Find(ctx context.Context, x *query.Session, d Decided) Found {
	f := Found{Steps: map[string]*change.Step{}}
	sets := map[string]*set{}
	if !x.Subject.Selection.RefreshOnly {
		for _, block := range x.Subject.Manifest.Exclusive() {
			s := &set{session: x, decided: d, block: block, Set: Set{Name: block.Name, Type: block.Image, Host: hostName(block)}}
			if !s.describe(ctx) {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(sets)) {
				s.refuseOverlap(sets[name].claim(), "the block exclusive."+name+" lists it too")
			}
			sets[block.Name] = s
		}
	}
	for i, name := range slices.Sorted(maps.Keys(sets)) {
		s := sets[name]
		s.hold()
		s.list(ctx)
		steps := s.steps(ctx)
		maps.Copy(f.Steps, steps)
		f.Sets = append(f.Sets, s.Set)
		if wait := s.wait(i+1, steps); wait != nil {
			f.Waits = append(f.Waits, *wait)
		}
	}
	f.Waits = append(f.Waits, f.dependantsFirst(sets)...)
	for _, addr := range slices.Sorted(maps.Keys(x.Subject.Prior.Resources)) {
		if name := config.ExclusiveSet(addr); name != "" && sets[name] == nil && x.Subject.Wanted(addr) {
			f.Steps[addr] = ended(x, x.Subject.Prior.Resources[addr], name)
		}
	}
	return f
}

func hostName(block config.Exclusive) string {
	if block.Host == nil {
		return ""
	}
	return block.Host.Name
}

// ended returns the step of an object that an apply began to destroy, and whose set is gone: it is forgotten.
func ended(x *query.Session, entry state.Entry, name string) *change.Step {
	step := x.RecordedStep(entry)
	if step.Exclusive = name; x.Subject.Selection.RefreshOnly {
		step.Part, step.Reason = &change.Left{}, reason.New(reason.Purged, name).With(reason.New(reason.OnlyRecords))
		return step
	}
	step.Part, step.Reason = &change.Forget{}, reason.New(reason.SetGone, name).With(reason.New(reason.Leftover))
	return step
}

// set is the work on one exclusive block.
type set struct {
	Set
	session *query.Session
	decided Decided
	block   config.Exclusive

	resource *config.Resource // stands for the objects: their type, host and settings
	typ      protocol.Type
	target   typeclient.Target
	object   match.Object // without an identity
	members  []member
	others   []claims.Record
	doomed   map[string]found // by identity: neither declared nor kept
}

// found is an object that the type lists.
type found struct {
	config []byte
	object match.Object
}

// report reports an error of the block.
func (s *set) report(summary, format string, args ...any) {
	d := diag.Errorf(summary, format, args...)
	s.session.Subject.Manifest.Diagnose(d, &s.block.Range)
	s.session.Findings.Report(nil, "", diag.Diagnostics{d})
}

// describe queries the type. It reports what such a type cannot be used for.
func (s *set) describe(ctx context.Context) bool {
	b := s.block
	s.resource = &config.Resource{Address: config.ExclusivePrefix + s.Name, TypeRef: b.Image, Settings: b.Settings, Pull: b.Pull,
		Verify: b.Verify, Range: b.Range}
	s.target = typeclient.Target{Address: s.resource.Address, Reference: b.Image, Settings: b.Settings, Pull: b.Pull, Verify: b.Verify,
		StateTimeout: b.Timeouts.State, ActionTimeout: b.Timeouts.Action, Sensitive: b.Config.Sensitive}
	var err error
	if s.typ, err = s.session.Prober.Init(ctx, s.target); err != nil {
		s.session.Findings.Report(s.resource, "Cannot query", diag.From("Cannot query "+b.Image, err))
		return false
	}
	lacks := ""
	switch {
	case s.typ.DiscoverAction == nil:
		lacks = "cannot list what exists (its answer to init has no discover_action)"
	case len(s.typ.Identity) == 0 || s.typ.Memory:
		lacks = "does not declare what identifies its objects in their configs (identity)"
	case !s.typ.Absent:
		lacks = "cannot remove objects (absent)"
	}
	if lacks != "" {
		s.report("A type without exclusive sets", "The image %s %s. Use another type, or remove this block.", b.Image, lacks)
		return false
	}
	mounts, diags := s.session.Plugs.Grant(ctx, s.resource, s.typ)
	if s.session.Findings.Report(s.resource, "", diags); diags.HasErrors() {
		return false
	}
	s.target.Mounts, s.target.Digest = mounts, s.typ.Digest
	s.object = s.objectOf([]byte("{}"))
	s.Kind, _, _ = match.IdentityOf(s.object)
	s.Within = claims.WithinOf(b.Config.Value)
	return true
}

// claim returns the set as a machine records it.
func (s *set) claim() claims.Set { return claims.Set{Name: s.Name, Kind: s.Kind, Within: s.Within} }

// refuseOverlap reports a set that overlaps another one.
func (s *set) refuseOverlap(other claims.Set, where string) {
	if s.claim().Overlaps(other) {
		s.report("Exclusive sets that overlap", "What exclusive.%s lists on this machine may be listed twice: %s. One of the two would "+
			"destroy what the other keeps. Remove one, or narrow both by config: to directories, or to prefixes, of which none is within "+
			"the other.", s.Name, where)
	}
}

// list queries the type for what exists, and sorts that into what is declared, what is kept and the rest.
func (s *set) list(ctx context.Context) {
	s.doomed = map[string]found{}
	if !s.reachable() {
		return
	}
	s.readClaims(ctx)
	all, err := s.session.Prober.Discover(ctx, s.target, s.typ, s.block.Config.Value)
	if err != nil {
		s.heldBy(reason.New(reason.NotListed, oneLine(err)))
		return
	}
	seen := map[string]bool{}
	for _, one := range all {
		object := s.objectOf(one.Config)
		_, id, known := match.IdentityOf(object)
		switch {
		case !known || s.namesSecret(one.Config):
			s.heldBy(reason.New(reason.ListsUnnamed))
		case seen[id]:
		case s.declares(object):
			s.Declared++
		default:
			if why := s.keeps(id, object); why != nil {
				s.Kept = append(s.Kept, Item{id, why})
			} else {
				s.doomed[id] = found{one.Config, object}
			}
		}
		seen[id] = true
	}
	slices.SortFunc(s.Kept, func(a, b Item) int { return strings.Compare(a.Identity, b.Identity) })
}

// readClaims reads what other states have declared on the machine.
func (s *set) readClaims(ctx context.Context) {
	if s.session.Options.Claims == nil {
		return
	}
	var err error
	if s.others, err = s.session.Options.Claims(ctx, s.block.Host); err != nil {
		s.heldBy(reason.New(reason.NoClaims, oneLine(err)))
		return
	}
	for _, r := range s.others {
		for _, other := range r.Sets {
			s.refuseOverlap(other, fmt.Sprintf("the state %s (lineage %s) has exclusive.%s there. If that state is lost, remove the file "+
				"declared/%s in the data directory there", diag.Visible(r.State), diag.Visible(r.Lineage), diag.Visible(other.Name),
				diag.Visible(r.Lineage)))
		}
	}
}

// keeps returns why an object that is not declared is kept; nil = it is not.
func (s *set) keeps(id string, object match.Object) *reason.Reason {
	if s.block.Keeps(id) {
		return reason.New(reason.KeptByName)
	}
	for _, r := range s.others {
		if r.Has(claims.ObjectOf(s.Kind, id)) {
			return reason.New(reason.KeptByState, r.State, r.Lineage)
		}
	}
	if why := s.gone(object); why != nil {
		return why
	}
	return s.recorded(object)
}

// wait returns the point after which the objects of the set are destroyed; nil = none are. A failure of a resource of the
// type on the host, or one that is not done, stops it.
func (s *set) wait(number int, steps map[string]*change.Step) *order.Barrier {
	b := &order.Barrier{Name: fmt.Sprintf("purge:%d", number)}
	for addr, step := range steps {
		if step.Change() == "destroy" {
			b.Before = append(b.Before, addr)
		}
	}
	for _, m := range s.members {
		if m.step != nil {
			b.After = append(b.After, m.addr)
		}
	}
	if len(b.Before) == 0 || len(b.After) == 0 {
		return nil
	}
	slices.Sort(b.Before)
	slices.Sort(b.After)
	return b
}

// pending lists the blocks whose instances are not known.
func pending(s *subject.Subject) (list []string) {
	for _, p := range s.Manifest.Pending() {
		list = append(list, p.Address)
	}
	return list
}

func oneLine(err error) string {
	return diag.Visible(strings.Join(strings.Fields(err.Error()), " "))
}
