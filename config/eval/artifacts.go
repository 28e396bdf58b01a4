package eval

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/addresses"
	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/refs"
)

// textMap is the type of versions and metadata while they are unknown.
var textMap = cty.Map(cty.String)

// artifactValue returns artifact.NAME: constants once its version is known.
func artifactValue(e *Evaluator, name string, mod *instance.Module) cty.Value {
	attrs := map[string]cty.Value{"name": cty.StringVal(name), "type": cty.UnknownVal(cty.String), "space": cty.UnknownVal(cty.String),
		"version": cty.UnknownVal(textMap), "metadata": cty.UnknownVal(textMap),
		"spaces": cty.UnknownVal(cty.Map(cty.Object(map[string]cty.Type{"version": textMap, "metadata": textMap})))}
	typ, _ := e.M.ShownAt(mod.Decl.Artifacts[name].Attrs["type"], cty.String, decl.Usage{Static: true, Types: true}, mod.Scope())
	if typ != cty.NilVal { // otherwise its error is reported at its declaration
		attrs["type"], _ = typ.Unmark()
	}
	if v, ok := e.M.ArtifactValues[name]; ok {
		attrs["space"], attrs["version"], attrs["metadata"] = cty.StringVal(v.Space), textObject(v.Version), textObject(v.Metadata)
		spaces := make(map[string]cty.Value, len(v.Spaces))
		for space, newest := range v.Spaces {
			spaces[space] = cty.ObjectVal(map[string]cty.Value{"version": textObject(newest.Version),
				"metadata": textObject(newest.Metadata)})
		}
		attrs["spaces"] = cty.ObjectVal(spaces)
	}
	return cty.ObjectVal(attrs)
}

// textObject returns an object of text attributes.
func textObject(m map[string]string) cty.Value {
	attrs := make(map[string]cty.Value, len(m))
	for name, text := range m {
		attrs[name] = cty.StringVal(text)
	}
	return cty.ObjectVal(attrs)
}

// publishedSchema is the schema of the state of a publish; it gives unknown values their types.
var publishedSchema = json.RawMessage(`{"type":"object","additionalProperties":false,
"required":["space","version","metadata","created","deleted"],
"properties":{"space":{"type":"string"},
"version":{"type":"object","additionalProperties":{"type":"string"}},
"metadata":{"type":"object","additionalProperties":{"type":"string"}},"created":{"type":"array"},"deleted":{"type":"array"},
"tree":{"type":"string"}}}`)

// Publish returns publish.NAME as far as the references need it: its state.
func (e *Evaluator) Publish(name string, references []refs.Reference, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	s := e.M.ResourceSet(e, at.Mod, addresses.PublishPrefix+name)
	if s == nil {
		return cty.NilVal, nil
	}
	var wants []Want
	for _, ref := range references {
		if ref.Traversal.RootName() == "publish" && refs.StepName(ref.Traversal, 1) == name {
			wants = append(wants, Want{ref.Traversal[2:], ref.Open, ref.Traversal.SourceRange()})
		}
	}
	return e.stateValue(s.List[0].Address, wants)
}
