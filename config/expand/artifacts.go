package expand

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/results"
	"deployster/config/source"
)

// artifact decodes an artifact block.
func (m *Instances) artifact(b *decl.Block) (instance.Artifact, hcl.Diagnostics) {
	out := instance.Artifact{Name: b.Name, Range: source.FromHCL(b.At), Metadata: m.readsMetadata(b.Name)}
	at := m.Modules.Top.Scope()
	a := attrReader{m: m.Modules, attrs: b.Attrs, of: "an artifact", at: at}
	var set instance.TypeSettings
	out.TypeRef, set = a.image("the type of an artifact")
	out.Settings, out.Pull, out.Verify = set.Settings, set.Pull, set.Verify
	if a.typ != nil && a.typ.Attrs["defaults"] != nil {
		a.diags = append(a.diags, source.Failure(b.Attrs["type"].Expr.Range(), "A type with defaults",
			"The type %q has defaults, which are for the configs of resources, and an artifact has none. Declare a second type block "+
				"with this image and without defaults, and use that here.", a.typ.Name))
	}
	a.runsHere(set)
	a.read("space", cty.String, func(v cty.Value) error {
		if out.Space = v.AsString(); out.Space == "" {
			return fmt.Errorf("the name of a space is not empty: omit it for the one that the image announces")
		}
		return nil
	})
	a.read("version", cty.Map(cty.String), func(v cty.Value) error {
		out.Version = map[string]string{}
		for name, value := range v.AsValueMap() {
			if value.IsNull() {
				return fmt.Errorf("a version is an object of text, and %s is null", name)
			}
			out.Version[name] = value.AsString()
		}
		if len(out.Version) == 0 {
			return fmt.Errorf("a version has at least one part: write all of it, as `deployster artifact versions %s` shows it", b.Name)
		}
		return nil
	})
	var d hcl.Diagnostics
	for _, t := range b.Passed {
		out.Passed = append(out.Passed, t.Address)
	}
	out.Source, d = results.StaticObject(m.Modules, b.Attrs["source"], "the source of an artifact", at)
	a.diags = append(a.diags, d...)
	out.Params, d = results.StaticObject(m.Modules, b.Attrs["params"], "the params of an artifact", at)
	a.diags = append(a.diags, d...)
	a.attrs, a.of = b.Timeouts, "a timeouts block"
	span := func(name string, into *time.Duration) {
		a.read(name, cty.String, func(v cty.Value) (err error) { *into, err = duration(v.AsString()); return err })
	}
	span("check", &out.Check)
	span("get", &out.Get)
	return out, a.diags
}

// readsMetadata reports whether an expression of the root reads the metadata of an
// artifact, or its whole value.
func (m *Instances) readsMetadata(name string) (found bool) {
	m.Modules.Tree.Root.Expressions(func(x decl.Expression) {
		for _, ref := range m.Modules.Refs.References(x.Expr) {
			t := ref.Traversal
			found = found || t.RootName() == "artifact" && refs.StepName(t, 1) == name &&
				(len(t) == 2 || refs.StepName(t, 2) == "metadata" || refs.StepName(t, 2) == "spaces")
		}
	})
	return found
}

// publish completes a publish whose type is already decoded.
func (a *attrReader) publish(r *instance.Instance) {
	d := r.Decl
	p := &instance.Publish{}
	r.Publish, r.Timeouts, r.OnRemove = p, instance.Timeouts{}, instance.OnRemoveForget
	if d.Publish.Artifact != nil {
		p.Artifact = d.Publish.Artifact.Name
	}
	for _, in := range d.Publish.Inputs {
		one := instance.Input{Name: in.Name}
		switch {
		case in.Plug != nil:
			one.Plug = in.Plug.Name
		case in.Artifact != nil:
			one.Artifact = in.Artifact.Name
		}
		p.Inputs = append(p.Inputs, one)
	}
	a.of = "a publish"
	a.read("idempotent", cty.Bool, func(v cty.Value) error { p.Idempotent = v.True(); return nil })
	a.read("fetch", cty.Bool, func(v cty.Value) error { p.Fetch = v.True(); return nil })
	a.attrs, a.of = d.Timeouts, "a timeouts block"
	a.read("put", cty.String, func(v cty.Value) (err error) { r.Timeouts.Action, err = duration(v.AsString()); return err })
}

// treePath checks a path below the root of an artifact's files.
func treePath(text string) (string, error) {
	if text == "" {
		return "", fmt.Errorf("the path is empty: omit it for all files of the artifact")
	}
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || !filepath.IsLocal(text) {
		return "", fmt.Errorf("%q leads out of the artifact: a path here begins at the root of its files, for example \"dist\"", text)
	}
	if text = path.Clean(text); text == "." {
		return "", nil
	}
	return text, nil
}

// WithArtifacts returns new instances with the given values of artifacts.
func (m *Instances) WithArtifacts(found map[string]source.ArtifactValue) (*Instances, hcl.Diagnostics) {
	mods := *m.Modules
	mods.ArtifactValues = found
	next := &Instances{Modules: mods.With(m.Modules.Pinned)}
	return next, next.Instantiate(false)
}
