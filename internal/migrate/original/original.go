package original

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/migrate/expressions"
)

// File is a file of the original, by the name that messages have.
type File struct {
	Name  string
	Bytes []byte
	Auto  bool // a file of variables that deployster would read by itself
}

// Options are the inputs of a migration.
type Options struct {
	Manifests []File
	Variables []File // the stronger ones later
	// Include returns the text of a file that an expression includes.
	Include func(name string) (string, error)
	Version string // of this tool
}

// Result is the result of a migration.
type Result struct {
	Files map[string][]byte // by their names
	Notes []string          // what a person has to check
	// Open is what has no counterpart, FILE:LINE: REASON. It is a comment in the files, and
	// a variable without a value stands in its place.
	Open []string
}

// migration is one run.
type migration struct {
	options   Options
	result    Result
	problems  []error
	variables scope
	order     []*variable
	renamed   map[string]string // names of variables in HCL, by those in the original
	taken     map[string]bool   // these names in HCL
	unset     map[string]*use   // variables without a value in a file
	before    map[string]*use   // the same, of the run before
	notes     []note
	open      []opened
	falsy     bool
	plugs     map[string]*node
	resources map[string]*node
	names     map[string]string // of resources in HCL, by those in the original
}

// use is how expressions use a variable that has no value.
type use struct {
	guarded  bool            // somewhere it may be undefined
	plain    bool            // somewhere it may not
	defaults map[string]bool // the codes of its defaults
}

// opened is a value that has no counterpart.
type opened struct{ at, text, reason string }

// note is what a person has to check, in some places.
type note struct {
	text   string
	places []string
}

// Run converts manifests. Nothing is converted if a file is not valid.
func Run(o Options) (Result, error) {
	first := newMigration(o, nil)
	first.generate()
	if len(first.problems) > 0 {
		return Result{}, errors.Join(first.problems...)
	}
	m := newMigration(o, first.unset)
	m.generate()
	if len(m.problems) > 0 {
		return Result{}, errors.Join(m.problems...)
	}
	for _, n := range m.notes {
		const shown = 3
		places := strings.Join(n.places[:min(shown, len(n.places))], ", ")
		if more := len(n.places) - shown; more > 0 {
			places += fmt.Sprintf(" and %d more", more)
		}
		m.result.Notes = append(m.result.Notes, places+": "+n.text)
	}
	if missing := m.missing(); len(missing) > 0 {
		m.result.Notes = append(m.result.Notes, m.variablesFile()+": no file that was read has a value for "+strings.Join(missing, ", ")+
			": give it one, as in -var "+missing[0]+"=VALUE")
	}
	for _, n := range m.open {
		m.result.Open = append(m.result.Open, n.at+": "+n.reason)
	}
	return m.result, m.check()
}

func newMigration(o Options, before map[string]*use) *migration {
	return &migration{options: o, before: before, result: Result{Files: map[string][]byte{}}, variables: scope{},
		renamed: map[string]string{}, taken: map[string]bool{}, unset: map[string]*use{}, plugs: map[string]*node{},
		resources: map[string]*node{}, names: map[string]string{}}
}

func (m *migration) generate() {
	m.readVariables(m.options.Variables)
	m.nameVariables()
	var docs []*node
	for _, f := range m.options.Manifests {
		doc, err := parse(f)
		if err != nil {
			m.refuse(err)
		} else if doc != nil && m.valid(doc) {
			docs = append(docs, doc)
		}
	}
	if m.refuseCycles(); len(m.problems) > 0 {
		return
	}
	m.nameResources(docs)
	for _, doc := range docs {
		name := strings.TrimSuffix(path.Base(doc.file), path.Ext(doc.file)) + ".hcl"
		if m.result.Files[name] != nil {
			m.refuse(diag.Errorf("Two files have one name", "%s and another one would both become %s: give one of them another name. "+
				"Nothing was written.", doc.file, name))
			return
		}
		m.result.Files[name] = format(m.manifest(doc))
	}
	if text := m.declarations(); text != "" {
		m.result.Files[m.variablesFile()] = format(text)
	}
}

// variablesFile returns the name of the file with the variables.
func (m *migration) variablesFile() string {
	name := "variables.hcl"
	for _, f := range m.options.Manifests {
		if strings.TrimSuffix(path.Base(f.Name), path.Ext(f.Name))+".hcl" == name {
			name = "variables-of-all.hcl"
		}
	}
	return name
}

func (m *migration) refuse(err error) { m.problems = append(m.problems, err) }

func (m *migration) note(file string, line int, format string, args ...any) {
	text, where := fmt.Sprintf(format, args...), fmt.Sprintf("%s:%d", file, line)
	for i := range m.notes {
		if m.notes[i].text == text {
			if !slices.Contains(m.notes[i].places, where) {
				m.notes[i].places = append(m.notes[i].places, where)
			}
			return
		}
	}
	m.notes = append(m.notes, note{text, []string{where}})
}

// missing returns the names of the variables that need a value.
func (m *migration) missing() (out []string) {
	for _, name := range expressions.Sorted(m.unset) {
		if u := m.unset[name]; u.plain && !u.guarded && name != originalVersion {
			out = append(out, m.variableName(name))
		}
	}
	return out
}

// place is where an expression stands, and what it can refer to there.
type place struct {
	*migration
	at      *node
	aliases map[string]string // of dependencies: the names of their resources; nil outside of configs
}

var dependency = map[string]expressions.Kind{"name": expressions.String, "type": expressions.String, "state": expressions.Unknown}

// Name implements expressions.Names.
func (p place) Name(name string, guarded bool) (expressions.Value, error) {
	if p.aliases[name] != "" {
		return expressions.Object("dep."+name, dependency), nil
	}
	known := p.variables
	if p.at.scope != nil {
		known = *p.at.scope
	}
	if v := known[name]; v != nil {
		if v.used = true; v.name != name {
			p.Note("the variable %s is called %s here", name, v.code())
		}
		return v.reference(kinds[v.value.kind]), nil
	}
	if v, ok, err := p.builtin(name); ok || err != nil {
		return v, err
	}
	for _, alias := range slices.Sorted(maps.Keys(p.aliases)) {
		if p.aliases[alias] == name {
			p.Note("%s is the name of the resource, and its alias is %s: the original knows the alias only", name, alias)
			return expressions.Object("dep."+alias, dependency), nil
		}
	}
	u := p.unset[name]
	if u == nil {
		u = &use{defaults: map[string]bool{}}
		p.unset[name] = u
	}
	if guarded {
		u.guarded = true
	} else {
		u.plain = true
	}
	to := p.variableName(name)
	if to != name {
		p.Note("the variable %s is called %s here", name, to)
	}
	return expressions.Variable(name, "var."+to), nil
}

// versionVariable has the version of the original, and is called originalVersion here.
const (
	versionVariable = "_version"
	originalVersion = "original_version"
)

// builtin returns the value of a variable that the original sets itself.
func (p place) builtin(name string) (expressions.Value, bool, error) {
	switch name {
	case "_verbose":
		return expressions.Code("deployster.verbose", expressions.Bool), true, nil
	case "_workspace":
		return expressions.Code("deployster.workspace", expressions.String), true, nil
	case "_conf":
		p.Note("_conf is ~/.deployster here; in the original CONF_DIR can set it")
		return expressions.Code(`pathexpand("~/.deployster")`, expressions.String), true, nil
	case "_work", "_confirm":
		return expressions.Value{}, false, fmt.Errorf("%s has no counterpart", name)
	case versionVariable:
		p.Note("_version is the version of the original, which is part of names of images: set the variable %s, as in -var %[1]s=18.0.0",
			p.variableName(originalVersion))
		p.unset[originalVersion] = &use{plain: true, defaults: map[string]bool{}}
		return expressions.Code("var."+p.variableName(originalVersion), expressions.String), true, nil
	}
	return expressions.Value{}, false, nil
}

// Default implements expressions.Names.
func (p place) Default(name, code string) (expressions.Value, bool) {
	if u := p.unset[name]; u != nil {
		u.defaults[code] = true
	}
	u := p.before[name]
	if u == nil || u.plain || len(u.defaults) != 1 || !constant(code) {
		return expressions.Value{}, false
	}
	return expressions.Code("var."+p.variableName(name), expressions.Unknown), true
}

// Include implements expressions.Names.
func (p place) Include(name string) (string, error) {
	if p.options.Include == nil {
		return "", fmt.Errorf("there are no files")
	}
	text, err := p.options.Include(name)
	if err == nil {
		p.Note("the text of %s is part of the manifest now", name)
	}
	return text, err
}

// Note implements expressions.Names.
func (p place) Note(format string, args ...any) { p.note(p.at.file, p.at.line, format, args...) }
