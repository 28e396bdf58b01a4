package drift

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/plan/inputs"
	"deployster/protocol"
)

// Status is what a report reports about one resource.
type Status string

// The statuses. Drifted and Gone are drift; the others are not.
const (
	None       Status = "valid"      // it matches its recorded config
	Drifted    Status = "drifted"    // it exists, and differs from its recorded config
	Gone       Status = "gone"       // it was recorded, and no longer exists
	Changed    Status = "changed"    // the manifest, or what its type is given, has changed since the last apply: that is not drift
	Undeclared Status = "undeclared" // it is recorded, and no manifest declares it
	Unrecorded Status = "unrecorded" // it is declared, and was never applied, or never seen to be VALID
	Failed     Status = "failed"     // the query of its state failed
)

// NotAsked is the reason for a publish: nothing of it can drift.
const NotAsked = "not checked: a put is an event"

// Resource is what was found of one resource.
type Resource struct {
	Status Status `json:"status"`
	Type   string `json:"type"`             // its image, as the manifest or the state file names it
	Reason string `json:"reason,omitempty"` // in words
	Known  bool   `json:"known,omitempty"`  // the baseline has the same drift
	// Inputs are what its type is given that has changed since it was last VALID. One that is
	// valid only has what it is to be notified of.
	Inputs []inputs.Change `json:"inputs_changed,omitempty"`

	// Was and Found are the recorded and the present state, where they differ. Hidden
	// are JSON pointers into both, to values that must not be shown.
	Was     json.RawMessage   `json:"was,omitempty"`
	Found   json.RawMessage   `json:"found,omitempty"`
	Hidden  []string          `json:"sensitive,omitempty"`
	Reasons []protocol.Reason `json:"reasons,omitempty"` // of the image
}

// Drifts reports whether the status is drift.
func (d *Resource) Drifts() bool { return d.Status == Drifted || d.Status == Gone }

// Compare notes how what was found differs from what was recorded: the state of a valid
// resource, that of a stale one, or neither. hidden are pointers to values in all of them that
// must not be shown.
func (d *Resource) Compare(valid, stale, recorded json.RawMessage, hidden []string) {
	why := strings.Join(inputs.Words(d.Inputs), "; ")
	d.Reason, d.Found, d.Hidden = "", valid, slices.Compact(slices.Sorted(slices.Values(hidden)))
	switch {
	case valid != nil:
		d.Status, d.Reason = None, why
		if jsondoc.Same(valid, recorded) {
			d.Found, d.Hidden = nil, nil
			return
		}
		d.Reason = cmp.Or(why, "it matches the configuration, though its state is not what was recorded")
	case stale != nil:
		d.Status, d.Found, d.Reason = Drifted, stale, cmp.Or(why, "changed outside of deployster since the last apply")
	default:
		d.Status, d.Reason = Gone, cmp.Or(why, "deleted outside of deployster since the last apply")
	}
	d.Was = recorded
	if d.Drifts() && !inputs.Drift(d.Inputs) {
		d.Status = Changed
	}
}

// Format is the version of a Report's JSON form, and of a Baseline's.
const Format = 1

// Report is what drift found.
type Report struct {
	Format    int                  `json:"format"`
	Status    Status               `json:"status"`    // drifted, failed, or valid: no drift, or only known drift
	Resources map[string]*Resource `json:"resources"` // by address
	Summary   Summary              `json:"summary"`
}

// Summary counts the resources by status.
type Summary struct {
	Valid      int `json:"valid"`
	Drifted    int `json:"drifted"`
	Gone       int `json:"gone"`
	Changed    int `json:"changed"`
	Undeclared int `json:"undeclared"`
	Unrecorded int `json:"unrecorded"`
	Failed     int `json:"failed"`
	Known      int `json:"known"` // how many of the drifted and gone ones the baseline has
}

// Conclude sets the summary and the status of the report.
func (r *Report) Conclude() {
	r.Summary, r.Status = Summary{}, None
	count := map[Status]*int{None: &r.Summary.Valid, Drifted: &r.Summary.Drifted, Gone: &r.Summary.Gone,
		Changed:    &r.Summary.Changed,
		Undeclared: &r.Summary.Undeclared, Unrecorded: &r.Summary.Unrecorded, Failed: &r.Summary.Failed}
	for _, d := range r.Resources {
		*count[d.Status]++
		if d.Known {
			r.Summary.Known++
		}
	}
	switch {
	case r.Summary.Failed > 0:
		r.Status = Failed
	case r.Summary.Drifted+r.Summary.Gone > r.Summary.Known:
		r.Status = Drifted
	}
}

// Order lists the addresses, sorted.
func (r *Report) Order() []string { return slices.Sorted(maps.Keys(r.Resources)) }

// Masked returns a copy that may be shown: sensitive values are replaced.
func (r *Report) Masked() *Report {
	out := *r
	out.Resources = make(map[string]*Resource, len(r.Resources))
	for addr, d := range r.Resources {
		shown := *d
		secrets := slices.Concat(secret.Values(d.Was, d.Hidden), secret.Values(d.Found, d.Hidden))
		shown.Was, shown.Found = secret.Mask(d.Was, d.Hidden), secret.Mask(d.Found, d.Hidden)
		shown.Reasons = make([]protocol.Reason, len(d.Reasons))
		for i, reason := range d.Reasons {
			reason.Have, reason.Want = secret.Mask(reason.Have, secret.Find(reason.Have, secrets)), secret.Mask(reason.Want,
				secret.Find(reason.Want, secrets))
			shown.Reasons[i] = reason
		}
		out.Resources[addr] = &shown
	}
	return &out
}

// Baseline is drift that is known: it is not reported until it changes.
type Baseline struct {
	Format    int              `json:"format"`
	Resources map[string]Known `json:"resources"`
}

// Known is the known drift of one resource. Sensitive values in it are masked,
// so they are not compared.
type Known struct {
	Status Status          `json:"status"`
	Found  json.RawMessage `json:"found,omitempty"`
}

// known returns a drift as a baseline has it.
func (d *Resource) known() Known {
	return Known{Status: d.Status, Found: secret.Mask(d.Found, d.Hidden)}
}

// Baseline returns a baseline with all drift of the report.
func (r *Report) Baseline() Baseline {
	b := Baseline{Format: Format, Resources: map[string]Known{}}
	for addr, d := range r.Resources {
		if d.Drifts() {
			b.Resources[addr] = d.known()
		}
	}
	return b
}

// ReadBaseline reads the JSON form, strictly.
func ReadBaseline(data []byte) (Baseline, error) {
	var b Baseline
	err := jsondoc.Read(data, &b)
	if err == nil && b.Format != Format {
		err = diag.Errorf("A baseline of another version", "It has format %d; this version of deployster reads format %d.", b.Format,
			Format)
	}
	return b, err
}

// Know marks the drift that a baseline has, and returns the addresses that have drift in
// the baseline and none in the report, sorted.
func (r *Report) Know(b Baseline) (over []string) {
	for addr, known := range b.Resources {
		d := r.Resources[addr]
		if d == nil || !d.Drifts() {
			over = append(over, addr)
			continue
		}
		now := d.known()
		d.Known = now.Status == known.Status && (len(now.Found) == 0 && len(known.Found) == 0 || jsondoc.Same(now.Found, known.Found))
	}
	slices.Sort(over)
	r.Conclude()
	return over
}

// SafeReasons returns the image's reasons without values that must not be shown: those of a
// config at the sensitive places, and those of a state at the hidden ones.
func SafeReasons(reasons []protocol.Reason, config json.RawMessage, sensitive, hidden []string) []protocol.Reason {
	secrets, places := secret.Values(config, sensitive), slices.Concat(sensitive, hidden)
	list := slices.Clone(reasons)
	for i, r := range list {
		list[i].Have = secret.MaskPart(r.Have, r.Path, places, secrets)
		list[i].Want = secret.MaskPart(r.Want, r.Path, places, secrets)
	}
	return list
}
