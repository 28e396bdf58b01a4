package drift

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/protocol"
)

// Status is what drift says of one resource.
type Status string

// The statuses. Drifted and Gone are drift; the others are not.
const (
	None       Status = "valid"      // as it was recorded
	Drifted    Status = "drifted"    // it exists, and is not as it was recorded
	Gone       Status = "gone"       // it was recorded, and does not exist
	Changed    Status = "changed"    // the manifest says otherwise since: that is not drift
	Undeclared Status = "undeclared" // recorded, and no manifest declares it
	Unrecorded Status = "unrecorded" // declared, and never applied, or never seen to be right
	Failed     Status = "failed"     // it could not be asked
)

// NotAsked is said of a publish: there is nothing that could have drifted.
const NotAsked = "not checked: a put is an event"

// Resource is what was found of one resource.
type Resource struct {
	Status Status `json:"status"`
	Type   string `json:"type"`             // the image, as the manifest or the state file names it
	Reason string `json:"reason,omitempty"` // in words
	Known  bool   `json:"known,omitempty"`  // the baseline has this very drift

	// Was and Found are the states as recorded and as they are now, where these
	// differ; Hidden are JSON pointers into both of what must not be shown.
	Was     json.RawMessage   `json:"was,omitempty"`
	Found   json.RawMessage   `json:"found,omitempty"`
	Hidden  []string          `json:"sensitive,omitempty"`
	Reasons []protocol.Reason `json:"reasons,omitempty"` // of the image
}

// Drifts reports whether it is drift.
func (d *Resource) Drifts() bool { return d.Status == Drifted || d.Status == Gone }

// Format is the version of a Report's JSON form, and of a Baseline's.
const Format = 1

// Report is what drift found.
type Report struct {
	Format    int                  `json:"format"`
	Status    Status               `json:"status"`    // drifted, failed, or valid: there is no drift that is not known
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
	Known      int `json:"known"` // of those that drifted or are gone
}

// Conclude counts, and says what all come to.
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

// Masked gives a copy that may be shown: sensitive values are replaced.
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

// Baseline is drift that is known, and is not reported until it changes.
type Baseline struct {
	Format    int              `json:"format"`
	Resources map[string]Known `json:"resources"`
}

// Known is how one resource was found. Sensitive values in it are masked,
// so they do not count.
type Known struct {
	Status Status          `json:"status"`
	Found  json.RawMessage `json:"found,omitempty"`
}

// known is a drift as a baseline has it.
func (d *Resource) known() Known {
	return Known{Status: d.Status, Found: secret.Mask(d.Found, d.Hidden)}
}

// Baseline gives the drift that there is.
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
		err = diag.Errorf("A baseline of another version", "It has format %d; this version of deployster reads format %d.", b.Format, Format)
	}
	return b, err
}

// Know marks the drift that a baseline has, and gives the addresses of which it
// has a drift that is not there any more, sorted.
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
