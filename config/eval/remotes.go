package eval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
)

// RemoteStates has what other states publish. Each is read once, when an expression first needs it, and which of its outputs are
// used is noted. It is safe for concurrent use.
type RemoteStates struct {
	set  *source.Set
	tree *decl.Tree

	mu    sync.Mutex
	found map[string]*remoteState
}

// remoteState is what one remote_state block reads.
type remoteState struct {
	reading bool
	known   bool
	is      source.RemoteState
	value   cty.Value // its outputs
	used    map[string]bool
	diags   hcl.Diagnostics
}

// newRemoteStates returns what a plan has saved, or else nothing that is read yet.
func newRemoteStates(tree *decl.Tree) *RemoteStates {
	r := &RemoteStates{set: tree.Set, tree: tree, found: map[string]*remoteState{}}
	for name, saved := range tree.Set.Src.Remote {
		s := &remoteState{used: map[string]bool{}}
		s.take(saved)
		for output := range saved.Outputs {
			s.used[output] = true
		}
		for _, output := range saved.Missing {
			s.used[output] = true
		}
		r.found[name] = s
	}
	return r
}

// take makes what was read the value of the block.
func (s *remoteState) take(is source.RemoteState) {
	attrs := make(map[string]cty.Value, len(is.Outputs))
	for name, o := range is.Outputs {
		v, err := values.FromJSON(o.Value)
		if err != nil {
			v = cty.DynamicVal // checked before
		}
		if o.Sensitive {
			v = v.Mark(values.Sensitive{})
		}
		attrs[name] = v
	}
	s.known, s.is, s.value = true, is, cty.ObjectVal(attrs)
}

// Used returns what is used of each remote state that was read: not more of it is for a plan to know.
func (r *RemoteStates) Used() map[string]source.RemoteState {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all map[string]source.RemoteState
	for name, s := range r.found {
		if !s.known {
			continue
		}
		is := s.is
		is.Outputs, is.Missing = map[string]source.RemoteOutput{}, nil
		for _, output := range slices.Sorted(maps.Keys(s.used)) {
			if o, published := s.is.Outputs[output]; published {
				is.Outputs[output] = o
			} else {
				is.Missing = append(is.Missing, output)
			}
		}
		if all == nil {
			all = map[string]source.RemoteState{}
		}
		all[name] = is
	}
	return all
}

// secrets returns the sensitive outputs that were read, as text.
func (r *RemoteStates) secrets() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.found {
		if s.known {
			list = append(list, values.SecretsIn(s.value)...)
		}
	}
	return list
}

// outputs returns the outputs that references use, and notes them.
func (r *RemoteStates) outputs(s *remoteState, name string, references []refs.Reference) cty.Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	attrs, all := map[string]cty.Value{}, s.value.AsValueMap()
	use := func(output string) {
		s.used[output] = true
		if v, published := all[output]; published {
			attrs[output] = v
		}
	}
	for _, ref := range references {
		t := ref.Traversal
		if t.RootName() != "remote_state" || refs.StepName(t, 1) != name {
			continue
		}
		if len(t) > 3 && refs.ObjectKey(t[3]) != "" {
			use(refs.ObjectKey(t[3]))
			continue
		}
		for output := range all {
			use(output)
		}
	}
	return cty.ObjectVal(attrs)
}

// explain names what another state publishes if an output of it does not exist.
func (r *RemoteStates) explain(d *hcl.Diagnostic, t hcl.Traversal) bool {
	if t.RootName() != "remote_state" || refs.StepName(t, 2) != "outputs" {
		return false
	}
	name := refs.StepName(t, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.found[name]
	if s == nil || !s.known {
		return false
	}
	names := slices.Sorted(maps.Keys(s.is.Outputs))
	d.Summary = "Unknown output of another state"
	d.Detail = fmt.Sprintf("%s publishes no output %q: %s.%s Mark it with export = true in that project and apply there, or correct the "+
		"name.", refs.TraversalString(t[:2]), refs.ObjectKey(t[3]), words.ThereAre(names), words.DidYouMean(refs.ObjectKey(t[3]), names))
	return true
}

// ReadRemotes reads what the remote_state blocks name, and returns the errors.
func (m *Modules) ReadRemotes() (diags hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(m.Tree.Root.RemoteStates)) {
		s := m.Remotes.read(m, name)
		diags = append(diags, s.diags...)
		s.diags = slices.DeleteFunc(s.diags, func(d *hcl.Diagnostic) bool { return d.Severity == hcl.DiagWarning }) // once is enough
		if !s.known && len(s.diags) == 0 {
			m.Tree.Vars.HasUnset = true // as for a variable without a value, what follows from it is unknown
		}
	}
	return diags
}

// valueOf returns remote_state.NAME.
func (r *RemoteStates) valueOf(m *Modules, name string, references []refs.Reference, mod *instance.Module) values.Sized {
	if mod.Decl.RemoteStates[name] == nil {
		return values.Sized{}
	}
	s := r.read(m, name)
	if !s.known {
		return values.Sized{Value: cty.DynamicVal}
	}
	v := cty.ObjectVal(map[string]cty.Value{"outputs": r.outputs(s, name, references)})
	return values.Sized{Value: v, Size: limits.TextSize(v)}
}

// read returns what a block reads. A block whose url needs its own outputs is in error.
func (r *RemoteStates) read(m *Modules, name string) *remoteState {
	r.mu.Lock()
	s := r.found[name]
	b := m.Tree.Root.RemoteStates[name]
	if s != nil {
		if s.reading && len(s.diags) == 0 {
			s.diags = hcl.Diagnostics{source.Failure(b.At, "A url that needs what it is to find", "The url of this remote_state is "+
				"made of its own outputs. Make it of variables, local values and constants.")}
		}
		r.mu.Unlock()
		return s
	}
	s = &remoteState{reading: true, used: map[string]bool{}}
	r.found[name] = s
	r.mu.Unlock()
	defer func() { s.reading = false }()
	v, diags := m.Optional(b.Attrs["url"], cty.String, "the url of a remote_state", m.Top.Scope())
	s.diags = append(s.diags, diags...)
	if v == cty.NilVal || s.diags.HasErrors() || r.set.Builtins.Remote == nil || r.set.Src.Replay {
		return s
	}
	is, err := r.set.Builtins.Remote(v.AsString(), r.tree.Encryption)
	if err == nil {
		for output, o := range is.Outputs {
			if _, bad := values.FromJSON(o.Value); bad != nil {
				err = diag.Errorf("The outputs of another state are damaged", "The output %q of %s is not valid JSON: %s.", output,
					v.AsString(), bad)
			}
		}
	}
	if err != nil {
		s.diags = append(s.diags, cannotRead(b, err))
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.take(is); is.Status != "ok" {
		summary, detail := IncompleteRemote(name, is)
		s.diags = append(s.diags, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: b.At.Ptr()})
	}
	return s
}

// IncompleteRemote returns the words of the warning about outputs of another state whose last run did not end well.
func IncompleteRemote(name string, r source.RemoteState) (summary, detail string) {
	return "The outputs of another state may be incomplete", "remote_state." + name + ": the last apply there ended as \"" + r.Status +
		"\", so that its outputs may not be what that project declares."
}

// cannotRead returns the error for another state that cannot be read, without the url, which may have a password in it.
func cannotRead(b *decl.Block, err error) *hcl.Diagnostic {
	if d, worded := errors.AsType[*diag.Diagnostic](err); worded {
		return source.Failure(b.At, d.Summary, "%s", d.Detail)
	}
	return source.Failure(b.At, "Cannot read the outputs of another state", "%s.", err)
}
