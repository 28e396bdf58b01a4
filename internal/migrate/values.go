package migrate

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/migrate/edits"
	"deployster/internal/migrate/tffiles"
)

// copyVariables copies the files of variable values that Terraform reads automatically.
func (m *migration) copyVariables(root *module) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		m.problems = append(m.problems, diag.Errorf("Cannot read the configuration", "%s.", err))
		return
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	files, named := tffiles.ValueFiles(names)
	for _, name := range named {
		m.note(hcl.Range{Filename: name, Start: hcl.Pos{Line: 1}}, "Terraform reads it where it is named: name it with -var-file here too")
	}
	for to, name := range files {
		text, err := os.ReadFile(filepath.Join(m.dir, name))
		if err == nil {
			text, err = root.renameValues(text, name)
		}
		if err != nil {
			m.refuse(hcl.Range{Filename: name, Start: hcl.Pos{Line: 1}}, "Cannot read a file", "%s.", err)
			continue
		}
		m.result.Files[to] = text
	}
}

// renameValues gives the variables in a file of values their new names.
func (d *module) renameValues(text []byte, name string) ([]byte, error) {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(d.renames)), func(key string) bool { return strings.HasPrefix(key, "variable.") }) {
		return text, nil
	}
	if strings.HasSuffix(name, ".json") {
		var values, renamed = map[string]json.RawMessage{}, map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &values); err != nil {
			return nil, err
		}
		for name, value := range values {
			renamed[d.variable(name)] = value
		}
		return json.MarshalIndent(renamed, "", "  ")
	}
	body := d.parse(text, name)
	if body == nil {
		return text, nil // parse has reported it
	}
	renamed := edits.Of(text)
	for name, a := range body.Attributes {
		renamed.Replace(a.NameRange, d.variable(name))
	}
	return []byte(renamed.Apply(0, len(text))), nil
}

// values returns the values that variables have in Terraform: from the new files of values, and the environment.
func (m *migration) values(o Options) []config.VarInput {
	dir, err := os.MkdirTemp("", "deployster-migrate-")
	if err != nil {
		m.problems = append(m.problems, diag.Errorf("Cannot read the variables", "%s.", err))
		return nil
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			m.problems = append(m.problems, diag.Errorf("Cannot remove a directory", "%s.", err))
		}
	}()
	for name, text := range m.result.Files {
		if config.IsVariableFile(name) {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
	}
	vars, diags := config.FindVariables(dir, "", append(m.environment(o), o.Environ...), nil)
	if m.problems = append(m.problems, diags...); err != nil {
		m.problems = append(m.problems, diag.Errorf("Cannot read the variables", "%s.", err))
	}
	return vars
}

// environment returns the variables that the environment sets for Terraform, as it would set them here.
func (m *migration) environment(o Options) (environ []string) {
	root := m.modules[m.dir]
	var set []string
	for _, e := range o.Environ {
		given, ok := strings.CutPrefix(e, "TF_VAR_")
		name, value, _ := strings.Cut(given, "=")
		to := "DEPLOYSTER_VAR_" + root.variable(name)
		if !ok || slices.ContainsFunc(o.Environ, func(own string) bool { return strings.HasPrefix(own, to+"=") }) {
			continue
		}
		environ = append(environ, to+"="+value)
		if root.declares(name) {
			set = append(set, to)
		}
	}
	if slices.Sort(set); len(set) > 0 {
		m.result.Notes = append(m.result.Notes, "the environment: TF_VAR_NAME is DEPLOYSTER_VAR_NAME here; set "+strings.Join(set, ", "))
	}
	return environ
}

// declares reports whether a module has a variable.
func (d *module) declares(name string) bool {
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			if b.Type == "variable" && slices.Equal(b.Labels, []string{name}) {
				return true
			}
		}
	}
	return false
}
