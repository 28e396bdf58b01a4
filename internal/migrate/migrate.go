package migrate

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"deployster/internal/migrate/entries"
	"deployster/internal/migrate/packs"
	"deployster/internal/migrate/tffiles"
	"deployster/state"
)

// Options are the inputs of a migration.
type Options struct {
	Dir   string // the directory of the root module
	Out   string // where the manifests are to be written; "" = Dir
	State string // the state file, of version 4; "" = that of Dir, if it exists

	Version string    // of this tool
	Environ []string  // the environment, as for terraform: it can set variables
	Now     time.Time // the time at which the state is recorded
}

// Result is the result of a migration. Run does not write any of it.
type Result struct {
	Files    map[string][]byte // by their paths below the new directory
	Snapshot state.Snapshot
	Packs    []string // the commands that build the images, sorted
	Notes    []string // what a person has to check, in the order of the files
}

// migration is one run.
type migration struct {
	*findings
	dir       string
	workspace string // the one selected in terraform
	result    Result
	modules   map[string]*module // by their directories
	images    map[string]*packs.Provider
	locked    map[string]string         // versions of providers, by address
	things    map[string]entries.Object // in the state, by their new addresses
	types     map[string]string         // the type blocks of providers that the root module configures, by name or name.alias
	plain     map[string]bool           // type blocks of providers without a config
	origins   map[string]placed         // of the new manifests that are made of one file, by their paths
	vendored  map[string]hcl.Range      // modules from elsewhere, by their new paths: where they are called
	made      map[string]bool           // all new manifests
	// configured are the names of providers that have a config in some module; other
	// providers need none.
	configured map[string]bool
}

// Run reads a configuration and its state. The error lists everything that cannot be migrated.
func Run(o Options) (Result, error) {
	m := &migration{findings: &findings{}, dir: o.Dir, modules: map[string]*module{}, images: map[string]*packs.Provider{},
		configured: map[string]bool{},
		things:     map[string]entries.Object{}, plain: map[string]bool{}, origins: map[string]placed{}, made: map[string]bool{},
		vendored: map[string]hcl.Range{}}
	m.result.Files = map[string][]byte{}
	m.workspace = tffiles.Workspace(o.Dir)
	if text, err := os.ReadFile(filepath.Join(o.Dir, tffiles.LockFile)); err == nil { // a missing file locks nothing
		if body := m.parse(text, tffiles.LockFile); body != nil {
			m.locked = tffiles.Locked(body)
		}
	}
	root := m.load(o.Dir, ".")
	if root == nil || m.problems.HasErrors() {
		return Result{}, m.problems.Err()
	}
	m.findCallers()
	m.nameTypes(root)
	for _, dir := range slices.Sorted(maps.Keys(m.modules)) {
		m.modules[dir].findProviders()
	}
	m.findWaits()
	for _, dir := range slices.Sorted(maps.Keys(m.modules)) {
		m.modules[dir].findNeeds()
	}
	for _, dir := range slices.Sorted(maps.Keys(m.modules)) {
		m.modules[dir].write()
	}
	for _, dir := range slices.Sorted(maps.Keys(m.modules)) {
		m.modules[dir].copyFiles(o)
	}
	m.writeTypes()
	m.copyVariables(root)
	m.readState(root, o)
	if m.problems.HasErrors() {
		return Result{}, m.problems.Err()
	}
	for _, n := range m.notes {
		m.result.Notes = append(m.result.Notes, n.String())
	}
	manifest := m.check(o)
	if m.problems.HasErrors() {
		return Result{}, m.problems.Err()
	}
	if m.result.Snapshot.Resources != nil {
		entries.Complete(m.result.Snapshot, m.things, manifest, o.Now)
	}
	return m.result, nil
}

// providerOf returns the provider with a name and a source, and adds it if it is new.
func (m *migration) providerOf(at hcl.Range, name, source string) *packs.Provider {
	source = strings.ToLower(cmp.Or(source, "hashicorp/"+name)) // as the lock file has it
	if strings.Count(source, "/") == 1 {
		source = "registry.terraform.io/" + source
	}
	if source == "terraform.io/builtin/terraform" || name == "terraform" {
		m.refuse(at, "A resource of terraform itself", "terraform_data has no image.")
		return nil
	}
	if p := m.images[name]; p != nil {
		if p.Address != source {
			m.refuse(at, "Two providers have one name", "%s is %s here, and %s elsewhere: give one of them another name.", name, source,
				p.Address)
		}
		return p
	}
	p := packs.NewProvider(name, source, m.locked[source])
	if p.Version == "" {
		m.refuse(at, "The version of a provider is not known", "There is no %s in .terraform.lock.hcl: run `terraform init` first.", source)
	}
	m.images[name] = p
	return p
}

// add adds a new manifest.
func (m *migration) add(name, text string) {
	m.made[name] = true
	m.result.Files[name] = format(text)
}
