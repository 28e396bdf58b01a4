package config

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"golang.org/x/sync/errgroup"

	"deployster/config/limits"
	"deployster/config/syntax"
	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
)

// Manifest is what the files declare, checked. Its methods are safe for
// concurrent use.
type Manifest struct {
	src      Sources
	builtins Builtins
	files    map[string]*hcl.File
	reads    *reader
	known    *sync.Map // hcl.Expression -> *facts
	aside    *parallel.Pool
	types    *stateTypes

	// What was declared.
	root       *moduleBlock
	bodies     map[string][]hcl.Body // of modules, by directory
	broken     map[string]bool       // files with mistakes in their syntax
	modules    int                   // module blocks that were read
	size       int                   // bytes in all manifests
	sourceText map[string][]byte     // of files that did not parse, and of variable files
	statePath  string
	encryption *Encryption

	unset   bool // variables without a value are unknown
	lacking bool // and there is one

	// What it came to.
	top         *module
	vars        map[string]known  // of the root
	origins     map[string]string // where their values come from; none: their defaults
	count       int               // instances
	instances   []*instance       // sorted by address
	resources   []*Resource       // theirs
	pending     []Pending
	expandDiags hcl.Diagnostics
	plugs       []Plug
	secrets     func() []string
	chance      *chance // nil until it is applied
}

// Load parses, checks and connects the manifests, and evaluates all that does
// not depend on resources. The manifest is never nil; it is to be used only
// when the diagnostics have no errors.
func Load(src Sources, vars []VarInput, b Builtins) (*Manifest, diag.Diagnostics) {
	return loadInto(newManifest(src, b), vars)
}

// Check is Load for who only looks at manifests: a variable that has no value
// is unknown, rather than an error.
func Check(src Sources, vars []VarInput, b Builtins) (*Manifest, diag.Diagnostics) {
	m := newManifest(src, b)
	m.unset = true
	return loadInto(m, vars)
}

func loadInto(m *Manifest, vars []VarInput) (*Manifest, diag.Diagnostics) {
	var list hcl.Diagnostics
	failed := guard(func() { list = m.load(vars) })
	if failed != nil {
		return newManifest(m.src, m.builtins), diag.Diagnostics{failed}
	}
	return m, m.convert(list)
}

func newManifest(src Sources, b Builtins) *Manifest {
	if b.Workspace == "" {
		b.Workspace = src.Workspace
	}
	if b.Home == "" {
		b.Home, _ = os.UserHomeDir() // checked where ~ is used
	}
	m := &Manifest{src: src, builtins: b, files: map[string]*hcl.File{}, sourceText: map[string][]byte{},
		bodies: map[string][]hcl.Body{}, broken: map[string]bool{}, known: &sync.Map{}, aside: &parallel.Pool{}, types: &stateTypes{read: map[string]stateType{}}, vars: map[string]known{}, origins: map[string]string{}, reads: newReader(src)}
	m.src.Modules = maps.Clone(src.Modules)
	if m.src.Modules == nil {
		m.src.Modules = map[string][]File{}
	}
	m.root = m.newModuleBlock(nil, nil, src.Dir)
	m.restart()
	return m
}

// restart begins with no instances.
func (m *Manifest) restart() {
	m.top = newModule(m.root, nil, occurrence{}, "")
	m.top.vars = m.vars
	m.count, m.instances, m.resources, m.pending, m.expandDiags, m.plugs = 0, nil, nil, nil, nil, nil
	m.secrets = sync.OnceValue(m.findSecrets)
}

// load does the work of Load, in steps that each need the ones before.
func (m *Manifest) load(vars []VarInput) hcl.Diagnostics {
	bodies, diags := m.parse(m.src.Manifests)
	l, d := m.decode(m.root, bodies)
	diags = append(diags, d...)
	if d := m.checkVersion(l); len(d) > 0 {
		return d // what else is wrong may be because of it
	}
	diags = append(diags, m.loadModules(m.root)...)
	diags = append(diags, m.setVariables(vars)...)
	diags = append(diags, m.connect()...)
	return append(diags, m.instantiate(diags.HasErrors())...)
}

// parse parses files, those that are fit to be parsed.
func (m *Manifest) parse(files []File) ([]hcl.Body, hcl.Diagnostics) {
	var bodies []hcl.Body
	var diags hcl.Diagnostics
	fit := 0
	for _, f := range files {
		m.sourceText[f.Path] = f.Bytes
		r := hcl.Range{Filename: f.Path, Start: hcl.InitialPos, End: hcl.InitialPos}
		if m.size += len(f.Bytes); len(f.Bytes) > maxFileSize || m.size > maxTotalSize || len(m.sourceText) > maxFiles {
			diags = append(diags, limits.Exceeded(r, fmt.Sprintf("bytes (in all files %d) or files (%d)", maxTotalSize, maxFiles), maxFileSize))
			break
		}
		fit++
	}
	parsed := make([]*hcl.File, fit)
	found := make([]hcl.Diagnostics, fit)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parsed {
		group.Go(func() error {
			if p := m.guard(func() { parsed[i], found[i] = parseFile(files[i]) }); p != nil {
				found[i] = hcl.Diagnostics{failure(fileStart(files[i].Path), p.Summary, "%s", p.Detail)}
			}
			return nil
		})
	}
	_ = group.Wait() // mistakes are in found
	for i, file := range parsed {
		m.broken[files[i].Path] = found[i].HasErrors()
		diags = append(diags, firstOfEach(found[i])...)
		if file != nil && file.Body != nil {
			bodies = append(bodies, file.Body)
			m.files[files[i].Path] = outlined(file)
		}
	}
	return bodies, diags
}

// firstOfEach leaves out what a parser says again, at the same place or in other
// words on the next line, of the mistake that it has just reported.
func firstOfEach(diags hcl.Diagnostics) hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, d := range diags {
		again := slices.ContainsFunc(out, func(o *hcl.Diagnostic) bool {
			if o.Subject == nil || d.Subject == nil {
				return false
			}
			return o.Subject.Start == d.Subject.Start || o.Summary == d.Summary && d.Subject.Start.Line-o.Subject.Start.Line <= 1
		})
		if !again {
			out = append(out, d)
		}
		if len(out) > maxDiagnostics {
			break
		}
	}
	return out
}

// parseFile parses one file in the syntax that its name says, if it is fit.
func parseFile(f File) (*hcl.File, hcl.Diagnostics) {
	if strings.HasSuffix(f.Path, ".json") {
		if d := limits.JSON(f.Bytes, f.Path); d != nil {
			return nil, hcl.Diagnostics{d}
		}
		return hcljson.Parse(f.Bytes, f.Path)
	}
	if d := limits.Native(f.Bytes, f.Path, false, hcl.InitialPos); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	body, diags := syntax.Parse(f.Bytes, f.Path)
	return &hcl.File{Body: body, Bytes: f.Bytes}, diags
}

// tryAll evaluates everything with nothing known of any resource, so that a
// mistake that does not depend on the world is found before anything runs. Of
// the instances of a block, those before the first mistake.
func (m *Manifest) tryAll(e *evaluator) hcl.Diagnostics {
	diags := m.tryInstances()
	m.eachModule(func(mod *module) {
		for _, name := range sortedKeys(mod.block.checks) {
			for _, c := range mod.block.checks[name].asserts {
				diags = append(diags, e.mistakes(c, mod.site())...)
			}
		}
		for _, name := range sortedKeys(mod.block.outputs) {
			_, _, d := e.output(mod.block.outputs[name], mod)
			diags = append(diags, d...)
			for _, c := range mod.block.outputs[name].before {
				diags = append(diags, e.mistakes(c, mod.site())...)
			}
		}
		if mod.caller != nil {
			for _, name := range sortedKeys(mod.block.variables) {
				_, d := e.variable(name, mod)
				diags = append(diags, d...)
			}
		}
	})
	return diags
}

// tryInstances does so with the resources, on all processors.
func (m *Manifest) tryInstances() hcl.Diagnostics {
	parts := min(runtime.GOMAXPROCS(0), 1+len(m.instances)/500)
	found := make([]hcl.Diagnostics, parts)
	var group errgroup.Group
	for part := range parts {
		group.Go(func() error {
			list := m.instances[len(m.instances)*part/parts : len(m.instances)*(part+1)/parts]
			if p := guard(func() { found[part] = m.tryList(list) }); p != nil {
				found[part] = hcl.Diagnostics{{Severity: hcl.DiagError, Summary: p.Summary, Detail: p.Detail}}
			}
			return nil
		})
	}
	_ = group.Wait() // mistakes are in found
	return slices.Concat(found...)
}

func (m *Manifest) tryList(list []*instance) hcl.Diagnostics {
	var diags hcl.Diagnostics
	e := m.evaluator(nil)
	e.dry = true
	failed := map[*resource]bool{}
	for _, i := range list {
		if failed[i.block] || i.harmless() {
			continue
		}
		value, _, d := e.config(i)
		if !d.HasErrors() {
			d = append(d, i.block.ignored.check(value)...)
		}
		for _, c := range i.block.conditions() {
			d = append(d, e.mistakes(c, i.site())...)
		}
		diags = append(diags, d...)
		failed[i.block] = d.HasErrors()
	}
	return diags
}

// Sources returns what the manifest was loaded from, with the modules that it
// calls in Modules and all that file() and friends have read so far in Reads.
func (m *Manifest) Sources() Sources {
	s := m.src
	s.Reads, s.Lists = m.reads.all()
	s.Home = m.home()
	return s
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](in map[string]V) []string {
	if len(in) == 0 {
		return nil
	}
	out := slices.AppendSeq(make([]string, 0, len(in)), maps.Keys(in))
	slices.Sort(out)
	return out
}
