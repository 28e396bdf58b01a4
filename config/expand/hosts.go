package expand

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/results"
	"deployster/config/source"
	"deployster/config/trace"
	"deployster/config/values"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// readHosts decodes the host blocks, because other instances depend on them.
func (m *Instances) readHosts() hcl.Diagnostics {
	var diags hcl.Diagnostics
	m.Modules.Hosts = instance.Hosts{Sets: map[string]*instance.HostSet{}, Named: map[string]*instance.Host{}}
	for _, name := range slices.Sorted(maps.Keys(m.Modules.Tree.Root.Hosts)) {
		s, d := hostSet(m, m.Modules.Tree.Root.Hosts[name])
		m.Modules.Hosts.Sets[name], diags = s, append(diags, d...)
		for i := range s.List {
			m.Modules.Hosts.Named[s.List[i].Name] = &s.List[i]
		}
	}
	return diags
}

// hostSet decodes one host block.
func hostSet(m *Instances, b *decl.Block) (*instance.HostSet, hcl.Diagnostics) {
	s := &instance.HostSet{Value: values.Sized{Value: cty.DynamicVal}}
	diags := m.Modules.ExpandHost(&s.Expansion, b)
	if s.Pending {
		return s, diags
	}
	for i := range s.N {
		at := instance.Occurrence{}
		if s.Repetition != instance.Once {
			at = instance.Occurrence{Of: &s.Expansion, I: i}
		}
		h := instance.Host{Host: runner.Host{Name: b.Name + at.Key()}, Decl: b}
		h.At = instance.Scope{Mod: m.Modules.Top, At: at}
		d := readHost(m.Modules, &h, nil)
		if diags = append(diags, d...); d.HasErrors() { // the other instances would have the same error
			s.Pending, s.Invalid, s.List = true, true, nil
			return s, diags
		}
		s.List, s.Each = append(s.List, h), append(s.Each, instance.HostValue(&h, m.Modules.HostFacts))
	}
	s.Value.Value = s.Join(s.Each)
	s.Value.Size = limits.TextSize(s.Value.Value)
	return s, diags
}

// readHost decodes the attributes of one instance. It evaluates those that depend on
// states only with an evaluator.
func readHost(m *eval.Modules, h *instance.Host, e *eval.Evaluator) hcl.Diagnostics {
	b := h.Decl
	if b.Kubernetes != nil {
		diags := readCluster(m, h)
		a := attrReader{m: m, attrs: b.Attrs, of: "a host", at: h.At, repeated: b}
		a.readLabels(h)
		h.Machine = m.HostFacts[h.Name].Machine
		return append(diags, a.diags...)
	}
	a := attrReader{m: m, attrs: b.Attrs, of: "a host", at: h.At, repeated: b, e: e, late: &h.Late}
	// with checks one attribute, as if the others were valid.
	with := func(alone runner.Host) error {
		if alone.Address == "" {
			alone.Address = "host"
		}
		return alone.Check()
	}
	a.read("address", cty.String, func(v cty.Value) error {
		h.Address = v.AsString()
		return runner.Host{Address: h.Address}.Check()
	})
	if attr := b.Attrs["address"]; attr != nil && h.Address == "" && !a.diags.HasErrors() && !m.Tree.Vars.HasUnset && len(h.Late) == 0 {
		a.diags = append(a.diags, source.Failure(attr.Expr.Range(), "Invalid address",
			"The address is null, and nothing could be reached."))
	}
	text := func(name string, into *string, alone func() runner.Host) {
		a.read(name, cty.String, func(v cty.Value) error { *into = v.AsString(); return with(alone()) })
	}
	text("user", &h.User, func() runner.Host { return runner.Host{User: h.User} })
	text("jump", &h.Jump, func() runner.Host { return runner.Host{Jump: h.Jump} })
	text("data_dir", &h.DataDir, func() runner.Host { return runner.Host{DataDir: h.DataDir} })
	a.read("port", cty.Number, func(v cty.Value) error {
		n, err := wholeNumber(v, 1, 65535)
		h.Port = int(n)
		return err
	})
	a.read("identity_file", cty.String, func(v cty.Value) (err error) {
		h.IdentityFile, err = keyFile(v.AsString(), m.Set.Src.Workspace)
		return err
	})
	a.read("host_key", cty.String, func(v cty.Value) error { h.HostKey = v.AsString(); return checkHostKeys(h.HostKey) })
	a.read("ssh_options", cty.List(cty.String), func(v cty.Value) (err error) { h.SSHOptions, err = sshOptions(v); return err })
	a.read("sudo", cty.Bool, func(v cty.Value) error { h.Sudo = v.True(); return nil })
	a.read("undo_unless_reached", cty.String, func(v cty.Value) (err error) {
		if h.UndoUnlessReached, err = duration(v.AsString()); err != nil {
			return err
		}
		return with(runner.Host{Kubernetes: h.Kubernetes, UndoUnlessReached: h.UndoUnlessReached})
	})
	a.late = nil // labels group hosts before anything is done
	a.readLabels(h)
	if known, found := m.LateHosts[h.Name]; found && e == nil && len(h.Late) > 0 {
		h.Host = known
	}
	h.Machine = m.HostFacts[h.Name].Machine
	return a.diags
}

// readLabels decodes the labels of a host.
func (a *attrReader) readLabels(h *instance.Host) {
	a.read("labels", cty.Map(cty.String), func(v cty.Value) (err error) { h.Labels, err = labelsOf(v); return err })
}

// labelsOf decodes the labels of a host.
func labelsOf(v cty.Value) (map[string]string, error) {
	labels := map[string]string{}
	for key, value := range v.AsValueMap() {
		if value.IsNull() {
			return nil, fmt.Errorf("the value of the label %q is null: omit it", key)
		}
		labels[key] = value.AsString()
	}
	return labels, nil
}

// LateHost returns how to reach a host whose block depends on states, as far as they
// are known; open holds the references whose values are still unknown.
func LateHost(m *Instances, name string, s instance.States) (host runner.Host, open []string, diags hcl.Diagnostics) {
	found, e := *m.Modules.Hosts.Named[name], m.Modules.Evaluator(s)
	h := instance.Host{Host: runner.Host{Name: name}, Decl: found.Decl, At: found.At}
	if diags = readHost(m.Modules, &h, e); diags.HasErrors() {
		return h.Host, nil, diags
	}
	for _, attr := range h.Late { // the attributes not known yet
		open = append(open, trace.UnknownRefs(e, h.Decl.Attrs[attr].Expr, h.At)...)
	}
	slices.Sort(open)
	if open = slices.Compact(open); len(open) == 0 && h.Address == "" {
		diags = hcl.Diagnostics{source.Failure(h.Decl.Attrs["address"].Expr.Range(), "Invalid address",
			"The address is null, and nothing could be reached.")}
	}
	return h.Host, open, diags
}

// keyFile makes a relative path absolute. ssh resolves a path that begins with ~, so
// that the manifest is the same for every user.
func keyFile(path, base string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("the path is empty: omit it for the default keys of ssh")
	case strings.ContainsAny(path, "\x00\r\n"):
		return "", fmt.Errorf("%q is not a path", path)
	case strings.HasPrefix(path, "~") || filepath.IsAbs(path):
		return path, nil
	}
	return filepath.Join(base, path), nil
}

// checkHostKeys returns an error for text that is not lines of public keys.
func checkHostKeys(text string) error {
	found := false
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found = true
		fields := strings.Fields(line)
		if len(fields) < 2 {
			return fmt.Errorf("%q is not a public key: a line is TYPE KEY, as in /etc/ssh/ssh_host_ed25519_key.pub of the host", line)
		}
		blob, err := base64.StdEncoding.DecodeString(fields[1])
		if prefix := "\x00\x00\x00" + string(rune(len(fields[0]))) + fields[0]; err != nil || !strings.HasPrefix(string(blob), prefix) {
			return fmt.Errorf("%q is not a public key: a line is TYPE KEY, as in /etc/ssh/ssh_host_ed25519_key.pub of the host", line)
		}
	}
	if !found {
		return fmt.Errorf("it has no key: omit it if known_hosts has the key")
	}
	return nil
}

// sshOptions decodes arguments for ssh.
func sshOptions(list cty.Value) ([]string, error) {
	var out []string
	for _, v := range list.AsValueSlice() {
		if v.IsNull() || v.AsString() == "" || strings.ContainsRune(v.AsString(), 0) {
			return nil, fmt.Errorf("each element is one argument of ssh, such as \"-F\" and \"ssh_config\", and not null or empty")
		}
		out = append(out, v.AsString())
	}
	return out, nil
}

// ownHost decodes the host attribute of a resource.
func (a *attrReader) ownHost(r *instance.Instance) {
	attr := r.Decl.Attrs["host"]
	host, diags := results.HostAt(a.m, attr, "the host of a resource", a.at)
	if a.diags = append(a.diags, diags...); host == nil {
		return
	}
	if r.Settings.Host = host; r.Settings.Workdir != "" {
		a.diags = append(a.diags, noWorkspace(attr, host))
	}
	a.diags = append(a.diags, resourceInCluster(attr, r.Settings)...)
}

// typeHost decodes the host attribute of a type, for all its resources.
func (a *attrReader) typeHost(s *instance.TypeSettings) {
	host, diags := results.HostAt(a.m, a.attrs["host"], "the host of a type", a.at)
	a.diags = append(a.diags, diags...)
	if s.Host = host; host != nil && s.Workdir != "" {
		a.diags, s.Workdir = append(a.diags, noWorkspace(a.attrs["mount_workspace"], host)), ""
	}
}

func noWorkspace(attr *hcl.Attribute, host *runner.Host) *hcl.Diagnostic {
	return source.Failure(attr.Expr.Range(), "No working directory there", "The type has mount_workspace, which shows the working "+
		"directory of this machine, and its containers would run on the host %s. Remove one of the two; what the image needs goes into "+
		"its config.",
		host.Name)
}

// runsHere adds an error for a type with a host if its image must run on this machine.
func (a *attrReader) runsHere(set instance.TypeSettings) {
	if set.Host == nil {
		return
	}
	a.diags = append(a.diags, source.Failure(a.attrs["type"].Expr.Range(), "An artifact on another machine", "The images of artifacts run "+
		"on this machine, and this type has host = host.%s. Declare a type without host for it.", set.Host.Name))
}

// WithHosts returns new instances with the known facts of hosts, and with how to reach
// the hosts whose blocks depend on states.
func (m *Instances) WithHosts(found map[string]protocol.HostFacts, late map[string]runner.Host) (*Instances, hcl.Diagnostics) {
	mods := *m.Modules
	mods.HostFacts, mods.LateHosts = found, late
	next := &Instances{Modules: mods.With(m.Modules.Pinned)}
	return next, next.Instantiate(false)
}
