package content

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
	"deployster/state/actions"
	"deployster/state/moves"
)

// Format is the version of the state file, and of its journal, that this tool writes.
const Format = 2

// Snapshot is the content of a state file at one moment. A Snapshot without a
// Lineage means that there is no state file yet.
type Snapshot struct {
	Format    int               `json:"format"`
	Lineage   string            `json:"lineage"`   // created once, when the state begins; ties plans to the state
	Serial    uint64            `json:"serial"`    // increases by one with every recorded run
	Resources map[string]Entry  `json:"resources"` // by address; deposed entries by a key of their own, see DeposedKey
	Outputs   map[string]Output `json:"outputs"`
	Applied   []Applied         `json:"applied,omitempty"` // the last runs, oldest first, at most MaxApplied

	// Unsettled are the resources on which actions were started since they were last
	// VALID, by address.
	Unsettled map[string]actions.Unsettled `json:"unsettled,omitempty"`

	// Artifacts are the versions in use, by name. Pins have what is needed to fetch the
	// files again that entries mount, by the key of their recipe.
	Artifacts map[string]Artifact `json:"artifacts,omitempty"`
	Pins      map[string]Pin      `json:"pins,omitempty"`

	// Operations are those that a watch runs by a schedule, by name.
	Operations Operations `json:"operations,omitempty"`

	// Former is what is kept of the plan that made the state, for a rollback; packed. none = nothing is kept.
	Former []byte `json:"former,omitempty"`
	// Renamed are the changes of addresses since the state began, in their order.
	Renamed []moves.Move `json:"renamed,omitempty"`

	// Exports declare what is published next to the state; nil = nothing ever was.
	Exports *Exports `json:"exports,omitempty"`
	// Read is what applies have read of other states, by their names.
	Read map[string]Read `json:"read,omitempty"`

	// Transferred are the entries that have gone to other states, and those that have come from there.
	Transferred []Transferred `json:"transferred,omitempty"`

	// ArrivesFrom is the place from which this state is being moved here: as long as it is
	// named, nobody uses the state but who moves it.
	ArrivesFrom string `json:"arrives_from,omitempty"`
}

// Entry is the record of a resource: how it was when it was last VALID, and what is
// needed to destroy it. An entry that an apply only began to create has no state.
type Entry struct {
	Type         string          `json:"type,omitempty"`   // the image, as the manifest named it; "" = only deposed entries
	Digest       string          `json:"digest,omitempty"` // of the image that reported VALID, or that began to create the resource
	Config       json.RawMessage `json:"config,omitempty"`
	State        json.RawMessage `json:"state,omitempty"`        // left out if the resource was never VALID
	Dependencies []string        `json:"dependencies,omitempty"` // addresses, to know the order of destruction
	// Aliases are the names under which its image knows dependencies: alias -> address. A
	// type that declares them also gets them for a removal.
	Aliases        map[string]string          `json:"aliases,omitempty"`
	ValidAt        time.Time                  `json:"valid_at,omitzero"`
	Settings       runner.Settings            `json:"settings,omitzero"`
	Mounts         []runner.Mount             `json:"mounts,omitempty"`
	StateTimeout   Duration                   `json:"state_timeout,omitempty"`
	ActionTimeout  Duration                   `json:"action_timeout,omitempty"`
	ReadOnly       bool                       `json:"read_only,omitempty"` // it belongs to somebody else: never acted upon
	PreventDestroy bool                       `json:"prevent_destroy,omitempty"`
	OnRemove       string                     `json:"on_remove,omitempty"` // "destroy", "forget", or "" for the default
	Sensitive      Sensitive                  `json:"sensitive,omitzero"`
	Identity       []string                   `json:"identity,omitempty"` // pointers into Config that identify the object
	Kind           string                     `json:"kind,omitempty"`     // the kind of object, as its image reported
	Defaults       map[string]json.RawMessage `json:"defaults,omitempty"` // by pointers of Identity, if Config omits them
	// Acted is the serial of the run that last began an action on the resource. Seen has, for
	// each resource that it subscribes to, the value of Acted when this one was last VALID.
	Acted uint64            `json:"acted,omitempty"`
	Seen  map[string]uint64 `json:"seen,omitempty"`
	// Given is what its type was given when it was last VALID: digests of its dependencies,
	// by alias, and the facts of its host, by "host.FACT". None = it is not known.
	Given map[string]string `json:"given,omitempty"`
	// Passed are the versions of artifacts with which it was VALID, if an artifact names it in passed; oldest first.
	Passed []Passed `json:"passed,omitempty"`
	// Secrets are the fingerprints of the secrets that its actions had, by name, once these had ended well. None =
	// it is not known which value the object has.
	Secrets protocol.Fingerprints `json:"secrets,omitempty"`
	// Adopted reports that it existed before it was recorded: deployster did not create it.
	// Without Adopted deployster created it, or that is not known.
	Adopted bool `json:"adopted,omitempty"`
	// Dirty reports that an action was started on the resource since it was last VALID, and
	// that its present state was not seen: the entry may no longer be true.
	Dirty bool `json:"touched,omitempty"`
	// Memory is what its image must not forget, such as an id; opaque, and never shown.
	Memory json.RawMessage `json:"memory,omitempty"`
	// LastSeen is the last state that was seen, if it was not VALID; nil = it was VALID.
	LastSeen *LastSeen `json:"found,omitempty"`
	// Transfer is set while the entry is being transferred to or from another state.
	Transfer *Transfer `json:"transfer,omitempty"`
	// Deposed are entries of this address whose objects another one has replaced, and
	// which are still to be destroyed. Only state files have them here.
	Deposed []Deposed `json:"deposed,omitempty"`
}

// LastSeen is the state of an object that was seen to differ from its entry.
type LastSeen struct {
	State     json.RawMessage `json:"state"`
	Sensitive []string        `json:"sensitive,omitempty"` // JSON pointers into State
	At        time.Time       `json:"at"`
}

// Sensitive lists the parts of an entry that are never shown, as JSON pointers; "" is the
// whole document.
type Sensitive struct {
	Config []string `json:"config,omitempty"`
	State  []string `json:"state,omitempty"`
	Env    []string `json:"env,omitempty"` // names of environment variables in Settings
}

// Output is the value of an output block.
type Output struct {
	Value     json.RawMessage `json:"value"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Export    bool            `json:"export,omitempty"` // other projects may read it
}

// Duration is a duration that is written as text like "5m0s".
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Repaired reports whether the last action on a resource was of a repair by a watch.
func (s Snapshot) Repaired(addr string) bool {
	acted := s.Resources[addr].Acted
	return slices.ContainsFunc(s.Applied, func(a Applied) bool { return a.Watch && a.Serial != 0 && a.Serial == acted })
}

// Incomplete reports whether an apply has begun to create the resource and it was never seen
// VALID: the object may exist completely, partly, or not at all. Such an entry has what is
// needed to destroy it, but neither a state nor a time of being VALID.
func (e Entry) Incomplete() bool { return len(e.State) == 0 && e.ValidAt.IsZero() }

// Begun returns the entry of a resource that is about to be created.
func (e Entry) Begun() (Entry, error) {
	e.State, e.Sensitive.State, e.ValidAt, e.Dirty = nil, nil, time.Time{}, true
	return e.Canonical()
}

// Completed returns the entry of a resource that was VALID once; false = it has no entry,
// or an incomplete one.
func (s Snapshot) Completed(addr string) (Entry, bool) {
	e, known := s.Resources[addr]
	if !known || e.Incomplete() {
		return Entry{}, false
	}
	return e, true
}

// Masked returns a copy with its sensitive values replaced, which may be shown.
func (s Snapshot) Masked() Snapshot {
	s = s.Clone()
	for addr, e := range s.Resources {
		s.Resources[addr] = e.Masked()
	}
	for name, o := range s.Outputs {
		if o.Sensitive {
			o.Value = secret.Mask(o.Value, []string{""})
			s.Outputs[name] = o
		}
	}
	for i, t := range s.Transferred {
		if t.Entry != nil {
			e := t.Entry.Masked()
			s.Transferred[i].Entry = &e
		}
	}
	s.maskArtifacts()
	s.Operations = s.Operations.masked()
	return s
}

// Masked returns a copy with its sensitive values replaced, which may be shown.
func (e Entry) Masked() Entry {
	e.Memory, e.Given = nil, nil
	e.Config = secret.Mask(e.Config, e.Sensitive.Config)
	e.State = secret.Mask(e.State, e.Sensitive.State)
	if e.LastSeen != nil {
		found := *e.LastSeen
		found.State = secret.Mask(found.State, found.Sensitive)
		e.LastSeen = &found
	}
	if len(e.Sensitive.Env) > 0 {
		e.Settings.Env = maps.Clone(e.Settings.Env)
		for _, name := range e.Sensitive.Env {
			if _, ok := e.Settings.Env[name]; ok {
				e.Settings.Env[name] = secret.Masked
			}
		}
	}
	return e
}

// Clone copies the maps, so that the copy can be changed; entries are values that are
// never changed in place.
func (s Snapshot) Clone() Snapshot {
	s.Resources = maps.Clone(s.Resources)
	s.Outputs = maps.Clone(s.Outputs)
	if s.Resources == nil {
		s.Resources = map[string]Entry{}
	}
	if s.Outputs == nil {
		s.Outputs = map[string]Output{}
	}
	if s.Unsettled = maps.Clone(s.Unsettled); s.Unsettled == nil {
		s.Unsettled = map[string]actions.Unsettled{}
	}
	s.Applied = append([]Applied(nil), s.Applied...)
	s.Artifacts, s.Pins, s.Transferred = maps.Clone(s.Artifacts), maps.Clone(s.Pins), slices.Clone(s.Transferred)
	s.Operations = maps.Clone(s.Operations)
	s.Read = maps.Clone(s.Read)
	return s
}

// Canonical returns the entry with its documents in canonical form.
func (e Entry) Canonical() (Entry, error) {
	e.Deposed = slices.Clone(e.Deposed)
	for i, deposed := range e.Deposed {
		var err error
		if e.Deposed[i].Entry, err = deposed.Canonical(); err != nil {
			return e, err
		}
	}
	if e.Type == "" && len(e.Deposed) > 0 {
		return e, nil
	}
	doc, err := canonicalOrNull(e.Config)
	if err != nil {
		return e, err
	}
	e.Config = doc
	if !e.Incomplete() {
		if doc, err = canonicalOrNull(e.State); err != nil {
			return e, err
		}
		e.State = doc
	}
	if len(e.Memory) > 0 {
		if e.Memory, err = jsondoc.Canonical(e.Memory); err != nil {
			return e, err
		}
	}
	if e.LastSeen != nil {
		if doc, err = canonicalOrNull(e.LastSeen.State); err != nil {
			return e, err
		}
		found := *e.LastSeen
		found.State, e.LastSeen = doc, &found
	}
	return e, nil
}

// canonicalOrNull returns the canonical form of a document, or null if the document is empty.
func canonicalOrNull(doc json.RawMessage) (json.RawMessage, error) {
	if len(doc) == 0 {
		return json.RawMessage("null"), nil
	}
	return jsondoc.Canonical(doc)
}

// Canonical returns the output with its value in canonical form.
func (o Output) Canonical() (Output, error) {
	if len(o.Value) == 0 {
		o.Value = json.RawMessage("null")
		return o, nil
	}
	c, err := jsondoc.Canonical(o.Value)
	if err == nil {
		o.Value = c
	}
	return o, err
}

// NewID returns a random id, for a lineage, a plan or a run.
func NewID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails: the program would crash instead
	return hex.EncodeToString(b)
}
