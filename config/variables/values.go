package variables

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"deployster/config/limits"
	"deployster/config/source"
	"deployster/config/values"
)

// Values are the values of the root's variables.
type Values struct {
	AllowUnset bool // a variable without a value is unknown
	HasUnset   bool // there is such a variable

	Known   map[string]values.Sized
	Origins map[string]string // where they come from; no entry for defaults

	specs   map[string]*Spec
	missing map[string]bool // those that have neither a value nor a default
}

// New returns the values of no variables.
func New() *Values {
	return &Values{Known: map[string]values.Sized{}, Origins: map[string]string{}, specs: map[string]*Spec{}, missing: map[string]bool{}}
}

// Declare adds a variable.
func (v *Values) Declare(s *Spec) { v.specs[s.Name] = s }

// Set sets the value of every variable: the last of its inputs, or else its
// default. A variable without a valid value is unknown, so that its error is reported
// only once.
func (v *Values) Set(inputs []source.VarInput) hcl.Diagnostics {
	var diags hcl.Diagnostics
	given := map[string]source.VarInput{}
	for _, in := range inputs {
		if v.specs[in.Name] == nil {
			diags = append(diags, v.undeclared(in)...)
			continue
		}
		given[in.Name] = in
		v.Origins[in.Name] = in.Origin
	}
	for _, name := range v.names() {
		s := v.specs[name]
		in, ok := given[name]
		value, d := v.valueOf(s, in, ok)
		diags = append(diags, d...)
		if value == cty.NilVal {
			value = cty.UnknownVal(s.Type)
		}
		value = s.Hidden(value)
		v.Known[name] = values.Sized{Value: value, Size: limits.TextSize(value)}
	}
	return diags
}

// Consts returns the values of the variables with const = true. They are known as soon as the files of the root are
// decoded, before any module is read; errors in them are reported when all variables get their values.
func (v *Values) Consts(inputs []source.VarInput) map[string]cty.Value {
	given, found := map[string]source.VarInput{}, map[string]cty.Value{}
	for _, in := range inputs {
		given[in.Name] = in
	}
	for name, s := range v.specs {
		if s.Const {
			in, ok := given[name]
			found[name] = cty.UnknownVal(s.Type)
			if value, diags := v.valueOf(s, in, ok); !diags.HasErrors() && value != cty.NilVal {
				found[name] = value
			}
		}
	}
	return found
}

func (v *Values) valueOf(s *Spec, in source.VarInput, given bool) (cty.Value, hcl.Diagnostics) {
	if !given {
		if s.Default == cty.NilVal && !s.Optional {
			if v.AllowUnset {
				v.HasUnset = true
				return cty.NilVal, nil
			}
			v.missing[s.Name] = !s.Const
			return cty.NilVal, hcl.Diagnostics{source.Failure(s.At, "A variable has no value",
				"The variable %q has no default, so it must be given: on the command line with -var '%s=VALUE', in a file given with "+
					"-var-file, in vars.auto.hcl here or in ~/.deployster, or in the environment as DEPLOYSTER_VAR_%s. On a terminal, "+
					"plan and apply prompt for it.",
				s.Name, s.Name, s.Name)}
		}
		return s.Default, nil
	}
	if d := s.misplaced(in); d != nil {
		return cty.NilVal, hcl.Diagnostics{d}
	}
	value, err := in.Value, error(nil)
	if value == cty.NilVal {
		value, err = s.parse(in.Text)
	}
	if err == nil {
		value, err = s.Accept(value)
	}
	if err == nil {
		return value, append(s.bracketed(in), s.deprecated(in)...)
	}
	place := s.At
	if in.Src != nil && !s.Sensitive { // for a sensitive variable, the line in the file would show the value
		place = in.PlaceOf(err)
	}
	return cty.NilVal, hcl.Diagnostics{source.Failure(place, "Invalid value of a variable",
		"The value of the variable %q from %s does not fit: %s.", s.Name, in.Origin, s.Problem(err))}
}

func (v *Values) names() []string { return slices.Sorted(maps.Keys(v.specs)) }

// Sensitive returns the names of the variables that are declared sensitive, sorted.
func (v *Values) Sensitive() (names []string) {
	for _, name := range v.names() {
		if v.specs[name].Sensitive {
			names = append(names, name)
		}
	}
	return names
}

// Missing is a variable that has no value.
type Missing struct {
	Name        string
	Type        string // as in a manifest; "" = any
	Description string
	Sensitive   bool // the typed value must not be shown
}

// Missing returns the variables whose missing values made Set fail, sorted by name.
func (v *Values) Missing() (list []Missing) {
	for _, name := range v.names() {
		if !v.missing[name] {
			continue
		}
		s := v.specs[name]
		m := Missing{Name: name, Sensitive: s.Sensitive, Description: s.Description}
		if s.Typed {
			m.Type = values.TypeName(s.Type)
		}
		list = append(list, m)
	}
	return list
}

// Plain returns the values with their types, for a plan. Sensitive values are included in
// clear text.
func (v *Values) Plain() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, known := range v.Known {
		plain, _ := known.Value.UnmarkDeep()
		if !plain.IsWhollyKnown() {
			continue // its error is already reported
		}
		if raw, err := (ctyjson.SimpleJSONValue{Value: plain}).MarshalJSON(); err == nil {
			out[name] = raw
		}
	}
	return out
}
