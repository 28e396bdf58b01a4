package source

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/values"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
)

// ReadObject reads a file that holds one object, such as the config of a resource:
// attributes in .hcl, which may use functions but no variables, or an object in .json
// or .yaml. shown is its name in errors.
func ReadObject(path, shown string) (json.RawMessage, diag.Diagnostics) {
	out, _, diags := ReadMarked(path, shown)
	return out, diags
}

// ReadMarked is ReadObject that also returns the JSON pointers of the values marked by sensitive().
func ReadMarked(path, shown string) (json.RawMessage, []string, diag.Diagnostics) {
	data, err := readRegular(path)
	if os.IsNotExist(err) {
		return nil, nil, diag.Diagnostics{diag.Errorf("No such file", "There is no file %s. It holds the config that a resource would "+
			"have: NAME = VALUE lines in .hcl, or an object in .json or .yaml.", shown)}
	}
	if err != nil {
		return nil, nil, diag.Diagnostics{diag.Errorf("Unreadable config", "%s cannot be read: %s.", shown, reason(err))}
	}
	var out json.RawMessage
	var marked []string
	var diags hcl.Diagnostics
	if d := limits.Guard(func() { out, marked, diags = parseObject(data, filepath.Dir(path), shown) }); d != nil {
		return nil, nil, diag.Diagnostics{d}
	}
	return out, marked, NewText(shown, data).Convert(diags, nil)
}

func parseObject(data []byte, dir, shown string) (json.RawMessage, []string, hcl.Diagnostics) {
	wrong := func(detail string, args ...any) (json.RawMessage, []string, hcl.Diagnostics) {
		return nil, nil, hcl.Diagnostics{Failure(fileStart(shown), "Not a config", detail, args...)}
	}
	var value cty.Value
	switch strings.ToLower(filepath.Ext(shown)) {
	case ".json":
		out, err := jsondoc.Canonical(data)
		if err != nil {
			return wrong("It is not JSON: %s.", err)
		}
		if kind := jsondoc.KindOf(out); kind != "an object" {
			return wrong("It holds %s, and must hold an object: { \"NAME\": VALUE }.", kind)
		}
		return out, nil, nil
	case ".yaml", ".yml":
		var err error
		if value, err = decodeYAML(data); err != nil {
			return wrong("It is not YAML: %s.", err)
		}
		if value.IsNull() || !value.Type().IsObjectType() && !value.Type().IsMapType() {
			return wrong("It must have lines NAME: VALUE.")
		}
	case ".hcl":
		var diags hcl.Diagnostics
		if value, diags = hclObject(data, dir, shown); diags.HasErrors() {
			return nil, nil, diags
		}
	default:
		return wrong("The name of the file must end in .hcl, .json or .yaml.")
	}
	plain, marks := value.UnmarkDeepWithPaths()
	var marked []string
	for _, m := range marks {
		if m.Marks.Has(values.Sensitive{}) {
			marked = append(marked, values.PathPointer(plain, m.Path))
		}
	}
	w := values.Writer{}
	if err := w.Value(plain); err != nil {
		return wrong("%s.", err)
	}
	return w.Out.Bytes(), marked, nil
}

func hclObject(data []byte, dir, shown string) (cty.Value, hcl.Diagnostics) {
	if d := limits.Native(data, shown, false, hcl.InitialPos); d != nil {
		return cty.NilVal, hcl.Diagnostics{d}
	}
	file, diags := hclsyntax.ParseConfig(data, shown, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	body := file.Body.(*hclsyntax.Body)
	for _, b := range body.Blocks {
		diags = append(diags, Failure(b.DefRange(), "Not a config",
			"The file holds what would stand within config = { ... }: lines NAME = VALUE, no blocks."))
	}
	limits.Metered(body)
	s := New(Sources{Dir: dir, Workspace: dir}, Builtins{})
	scope := &hcl.EvalContext{Functions: s.FunctionSet(s.Reads, false)}
	attributes := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
		a := body.Attributes[name]
		if vars := a.Expr.Variables(); len(vars) > 0 {
			diags = append(diags, Failure(vars[0].SourceRange(), "Not a constant",
				"There are no variables and no resources here: %s cannot be used. Text must stand in "+
					"quotes.", refs.TraversalString(vars[0])))
			continue
		}
		value, d := limits.Evaluate(a.Expr, scope)
		if diags = append(diags, d...); !d.HasErrors() {
			attributes[name] = value
		}
	}
	return cty.ObjectVal(attributes), diags
}
