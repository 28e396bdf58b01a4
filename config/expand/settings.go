package expand

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
)

// minMemory is the smallest memory limit of a type block: runc itself needs some to
// start a program.
const minMemory = 6 << 20

// settings decodes a type block.
func settings(m *eval.Modules, t *decl.Block, mod *instance.Module) (instance.TypeSettings, hcl.Diagnostics) {
	var s instance.TypeSettings
	a := attrReader{m: m, attrs: t.Attrs, of: "a type", at: mod.Scope()}
	a.read("image", cty.String, func(v cty.Value) error { s.Image = v.AsString(); return checkImage(s.Image) })
	s.Pull, s.Verify = a.source(t, m.Set.Reads.Inside(mod.Decl.Dir))
	a.attrs, a.of = t.Attrs, "a type"
	a.read("network", cty.String, func(v cty.Value) error {
		s.Network = runner.Network(v.AsString())
		if s.Network != runner.HostNetwork && s.Network != runner.NoNetwork {
			return fmt.Errorf("%q is not a network: it is \"host\" or \"none\"", v.AsString())
		}
		return nil
	})
	size := func(name string, into *int64, low, high int64) {
		a.read(name, cty.String, func(v cty.Value) (err error) { *into, err = bytesBetween(v.AsString(), low, high); return err })
	}
	size("memory", &s.Memory, minMemory, math.MaxInt64)
	size("disk", &s.Disk, 1<<10, math.MaxInt64)
	size("answer_size", &s.MaxAnswer, 1<<10, runner.LargestAnswer)
	size("log_size", &s.KeepLog, 1<<10, runner.LargestLog)
	a.read("cpu", cty.Number, func(v cty.Value) (err error) { s.CPU, err = thousandths(v); return err })
	a.read("pids", cty.Number, func(v cty.Value) (err error) { s.PIDs, err = wholeNumber(v, 1, 1<<22); return err })
	a.read("workers", cty.Number, func(v cty.Value) (err error) {
		if s.Workers, err = wholeNumber(v, 0, 64); err == nil && s.Workers == 0 {
			s.Workers = runner.NoWorkers
		}
		return err
	})
	a.read("watchers", cty.Number, func(v cty.Value) (err error) { s.Watchers, err = wholeNumber(v, 1, 1<<10); return err })
	a.read("read_only_rootfs", cty.Bool, func(v cty.Value) error {
		s.ReadOnlyRootFS, s.WritableRootFS = v.True(), v.False()
		return nil
	})
	a.read("user", cty.String, func(v cty.Value) (err error) { s.User, err = containerUser(v.AsString()); return err })
	a.read("userns", cty.String, func(v cty.Value) error {
		s.UserNS = runner.UserNS(v.AsString())
		if s.UserNS != runner.HostUserNS && s.UserNS != runner.AutoUserNS {
			return fmt.Errorf("%q is not a user namespace: it is \"host\" or \"auto\"", v.AsString())
		}
		return nil
	})
	a.read("mount_workspace", cty.Bool, func(v cty.Value) error {
		if v.True() {
			s.Workdir = m.Set.Builtins.Workspace
		}
		return nil
	})
	a.read("whole_machine", cty.Bool, func(v cty.Value) error { s.WholeMachine = v.True(); return nil })
	a.typeHost(&s)
	var d hcl.Diagnostics
	s.Env, d = a.containerEnv(t.Attrs["env"])
	d = append(d, a.capabilities(t.Capabilities, &s.Capabilities)...)
	d = append(append(d, wholeMachine(t, s.Settings)...), typeInCluster(t.Attrs, s.Settings)...)
	a.attrs, a.of = t.Timeouts, "the timeouts of a type"
	span := func(name string, into *time.Duration) {
		a.read(name, cty.String, func(v cty.Value) (err error) { *into, err = duration(v.AsString()); return err })
	}
	span("init", &s.InitTimeout)
	span("state", &s.Timeouts.State)
	span("action", &s.Timeouts.Action)
	a.watching(&s.Watch, t.Watch)
	return s, append(a.diags, d...)
}

// containerEnv decodes the env of a type block.
func (a *attrReader) containerEnv(attr *hcl.Attribute) (map[string]string, hcl.Diagnostics) {
	env, d := a.m.AttrAt(attr, cty.Map(cty.String), decl.Usage{What: "the env of a type", Static: true, Secrets: true}, a.at)
	if env == cty.NilVal {
		return nil, d
	}
	if _, err := values.CheckSecrets(env); err != nil {
		return nil, append(d, source.Failure(attr.Expr.Range(), "A secret cannot be used here", "%s.", values.Capital(err.Error())))
	}
	plain, _ := env.UnmarkDeep() // only the container gets the values; Secrets includes them
	out := map[string]string{}
	for name, v := range plain.AsValueMap() {
		if name == "" || strings.ContainsAny(name, "=\x00") || v.IsNull() || strings.Contains(v.AsString(), "\x00") {
			d = append(d, source.Failure(attr.Expr.Range(), "Invalid env",
				"The environment variable %q cannot be set: a name has no = in it, and a value is text.", name))
			continue
		}
		out[name] = v.AsString()
	}
	return out, d
}

// thousandths converts a number of processors, such as 0.5, to thousandths.
func thousandths(v cty.Value) (int64, error) {
	n, _ := new(big.Float).Mul(v.AsBigFloat(), big.NewFloat(1000)).Int64()
	if n < 10 || n > 1_000_000 {
		return 0, fmt.Errorf("it is a number of processors, from 0.01 to 1000, and not %s", values.ShortNumber(v))
	}
	return n, nil
}

// capabilities decodes the capabilities that a type block adds to the default ones,
// and those that it drops.
func (a *attrReader) capabilities(attrs hcl.Attributes, c *runner.Capabilities) hcl.Diagnostics {
	own := attrReader{m: a.m, attrs: attrs, of: "a capabilities block", at: a.at}
	own.read("add", cty.Set(cty.String), func(v cty.Value) (err error) { c.Add, err = capabilityNames(v); return err })
	own.read("drop", cty.Set(cty.String), func(v cty.Value) (err error) { c.Drop, err = capabilityNames(v); return err })
	for _, name := range c.Add {
		if slices.Contains(c.Drop, name) {
			own.diags = append(own.diags, source.Failure(attrs["drop"].Expr.Range(), "Invalid drop",
				"%q is both added and dropped. Take it out of one of the two.", name))
		}
	}
	return own.diags
}

// capabilityNames decodes names as docker does: with or without CAP_, in upper or
// lower case, or ALL.
func capabilityNames(list cty.Value) ([]string, error) {
	known := append(runner.KnownCapabilities(), runner.AllCapabilities)
	var out []string
	for _, v := range list.AsValueSlice() {
		if v.IsNull() {
			return nil, fmt.Errorf("null is not a capability")
		}
		name := strings.TrimPrefix(strings.ToUpper(v.AsString()), "CAP_")
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no capability %q.%s The manual page capabilities(7) lists them; ALL stands for every one",
				v.AsString(), words.DidYouMean(name, known))
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

var userForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)

// containerUser parses "1000", "1000:1000", "app" or "app:staff". Only a run of the
// image shows whether it has a name.
func containerUser(text string) (string, error) {
	if !userForm.MatchString(text) {
		return "", fmt.Errorf("%q is not a user: write a number or a name, also with a group: \"1000\", \"app\", \"1000:1000\"", text)
	}
	for _, part := range strings.Split(text, ":") {
		if n, ok := new(big.Int).SetString(part, 10); ok && n.Cmp(big.NewInt(math.MaxInt32)) > 0 {
			return "", fmt.Errorf("%q is not a user: ids end at %d", text, math.MaxInt32)
		}
	}
	return text, nil
}

func bytesBetween(text string, low, high int64) (int64, error) {
	n, err := words.ParseBytes(text)
	if err == nil && (n < low || n > high) {
		return 0, fmt.Errorf("%q is out of range: from %d to %d bytes", text, low, high)
	}
	return n, err
}
