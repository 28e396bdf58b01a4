package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/values"
	"deployster/internal/base/diag"
)

// VarFlag is one -var or -var-file, in the order of the command line.
type VarFlag struct {
	File  bool   // -var-file
	Value string // NAME=VALUE, or the file's name
}

// envPrefix is the prefix of environment variables that set variables.
const envPrefix = "DEPLOYSTER_VAR_"

// FindVariables collects the given values of variables, weakest first:
// DEPLOYSTER_VAR_name of environ, auto files in home/.deployster, auto files in the
// workspace, then the flags in their order.
func FindVariables(workspace, home string, environ []string, flags []VarFlag) ([]VarInput, diag.Diagnostics) {
	return Edited(nil).FindVariables(workspace, home, environ, flags)
}

// FindVariables is the function FindVariables where these texts count.
func (e Edited) FindVariables(workspace, home string, environ []string, flags []VarFlag) ([]VarInput, diag.Diagnostics) {
	f := varFinder{workspace: workspace, edited: e}
	environ = slices.Sorted(slices.Values(environ))
	for _, e := range environ {
		name, text, _ := strings.Cut(e, "=")
		if name, ok := strings.CutPrefix(name, envPrefix); ok && name != "" {
			f.found = append(f.found, VarInput{Name: name, Origin: "the environment variable " + envPrefix + name, Text: text, Quiet: true})
		}
	}
	if home != "" {
		f.autoFiles(filepath.Join(home, ".deployster"), filepath.Join(home, ".deployster"))
	}
	f.autoFiles(workspace, "")
	f.terraformFiles(workspace)
	for _, flag := range flags {
		if flag.File {
			f.file(flag.Value)
		} else {
			f.flag(flag.Value)
		}
	}
	return f.found, f.diags
}

// Pinned converts the values that Manifest.Variables returned to an input of Load.
func Pinned(values map[string]json.RawMessage) ([]VarInput, diag.Diagnostics) {
	var out []VarInput
	var diags diag.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var v ctyjson.SimpleJSONValue
		if err := json.Unmarshal(values[name], &v); err != nil {
			diags = append(diags, diag.Errorf("Damaged plan", "The value of the variable %q in the plan cannot be read: "+
				"%s. Make the plan again.",
				name, err))
			continue
		}
		out = append(out, VarInput{Name: name, Origin: "the plan", Value: v.Value, Pinned: true})
	}
	return out, diags
}

// varFinder collects variable values.
type varFinder struct {
	workspace string
	edited    Edited
	found     []VarInput
	diags     diag.Diagnostics
}

func (f *varFinder) fail(summary, detail string, args ...any) {
	f.diags = append(f.diags, diag.Errorf(summary, detail, args...))
}

func (f *varFinder) flag(text string) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || !IsName(name) {
		f.fail("Invalid -var", "-var takes NAME=VALUE, for example -var size=10gb; it was given %q.", name)
		return
	}
	f.found = append(f.found, VarInput{Name: name, Origin: "-var " + name + "=…", Text: value, Strict: true})
}

// IsAutoFile reports whether a file name is vars.auto.* or vars.NAME.auto.*.
func IsAutoFile(name string) bool {
	for _, ext := range []string{".hcl", ".json", ".yaml"} {
		middle, ok := strings.CutSuffix(name, ".auto"+ext)
		if ok && (middle == "vars" || strings.HasPrefix(middle, "vars.") && len(middle) > len("vars.")) {
			return true
		}
	}
	return false
}

// terraformFiles adds a warning for each variable file that Terraform reads automatically
// and deployster does not, unless the directory has a variable file of deployster.
func (f *varFinder) terraformFiles(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return IsAutoFile(e.Name()) }) {
		return
	}
	for _, e := range entries {
		name, ending := strings.TrimSuffix(e.Name(), ".json"), ".hcl"
		if name != e.Name() {
			ending = ".json"
		}
		if name != "terraform.tfvars" && !strings.HasSuffix(name, ".auto.tfvars") {
			continue
		}
		f.diags = append(f.diags, diag.Warningf("Variables of Terraform are not read",
			"%s is not read by itself. Name it with -var-file %[1]s, or rename it to vars.auto%s.",
			diag.Visible(e.Name()), ending))
	}
}

// autoFiles reads the variable files of a directory, which need not exist.
func (f *varFinder) autoFiles(dir, shown string) {
	names, err := f.edited.names(dir, nil)
	if err != nil {
		if !os.IsNotExist(err) {
			f.fail("Unreadable directory", "The directory %s cannot be searched for variable files: %s.", dir, reason(err))
		}
		return
	}
	for _, name := range names {
		if IsAutoFile(name) {
			f.read(filepath.Join(dir, name), filepath.Join(shown, name))
		}
	}
}

func (f *varFinder) file(name string) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.workspace, path)
	}
	f.read(path, name)
}

// read reads one variable file, in the syntax of its file name.
func (f *varFinder) read(path, shown string) {
	data, err := f.edited.read(path)
	if err != nil {
		f.fail("Unreadable variable file", "The variable file %q cannot be read: %s.", shown, reason(err))
		return
	}
	var values []VarInput
	var diags hcl.Diagnostics
	if d := limits.Guard(func() { values, diags = ParseVariables(data, shown) }); d != nil {
		d.Detail = fmt.Sprintf("The variable file %q: %s", shown, d.Detail)
		f.diags = append(f.diags, d)
		return
	}
	f.diags = append(f.diags, NewText(shown, data).Convert(diags, nil)...)
	f.found = append(f.found, values...)
}

// ParseVariables parses a file with values of variables, in the syntax of its file name.
func ParseVariables(data []byte, shown string) ([]VarInput, hcl.Diagnostics) {
	switch {
	case strings.HasSuffix(shown, ".json"):
		return jsonVars(data, shown)
	case strings.HasSuffix(shown, ".yaml"), strings.HasSuffix(shown, ".yml"):
		return yamlVars(data, shown)
	case strings.HasSuffix(shown, ".hcl"), strings.HasSuffix(shown, ".tfvars"):
		return hclVars(data, shown)
	}
	return nil, hcl.Diagnostics{Failure(fileStart(shown), "Unknown kind of variable file",
		"The name of a variable file must end in .hcl, .tfvars, .json or .yaml; %q does not.", shown)}
}

func fileStart(name string) hcl.Range {
	return hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
}

func hclVars(data []byte, shown string) ([]VarInput, hcl.Diagnostics) {
	if d := limits.Native(data, shown, false, hcl.InitialPos); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	file, diags := hclsyntax.ParseConfig(data, shown, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, atUnclosed(data, shown, diags)
	}
	body := file.Body.(*hclsyntax.Body)
	for _, b := range body.Blocks {
		diags = append(diags, Failure(b.DefRange(), "Not a variable file",
			"A variable file has lines NAME = VALUE only. Blocks belong into a manifest, whose name is not that of a variable file."))
	}
	var out []VarInput
	for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
		a := body.Attributes[name]
		if vars := a.Expr.Variables(); len(vars) > 0 {
			diags = append(diags, Failure(vars[0].SourceRange(), "Not a constant",
				"The values in a variable file are constants: %s cannot be used. Text must stand in "+
					"quotes.", refs.TraversalString(vars[0])))
			continue
		}
		value, d := a.Expr.Value(&hcl.EvalContext{})
		diags = append(diags, d...)
		if !d.HasErrors() {
			in := fileVar(name, value, data, a.SrcRange)
			in.within = func(steps []string) hcl.Range {
				part, _ := refs.Descend(a.Expr, refs.PointerSteps(steps))
				return part.Range()
			}
			out = append(out, in)
		}
	}
	return out, diags
}

func fileVar(name string, value cty.Value, data []byte, at hcl.Range) VarInput {
	return VarInput{Name: name, Origin: fmt.Sprintf("%s:%d", at.Filename, at.Start.Line), Value: value, At: at, Src: data}
}

// PlaceOf returns the place of the part of a value that an error refers to.
func (in VarInput) PlaceOf(err error) hcl.Range {
	var pe cty.PathError
	if in.within == nil || !errors.As(err, &pe) {
		return in.At
	}
	return in.within(values.PathSteps(in.Value, pe.Path))
}
