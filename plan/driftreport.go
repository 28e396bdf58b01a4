package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/protocol"
)

// DriftFormat is the version of a DriftReport's JSON form, and of a Baseline's.
const DriftFormat = 1

// DriftReport is what drift found.
type DriftReport struct {
	Format    int                       `json:"format"`
	Status    DriftStatus               `json:"status"`    // drifted, failed, or valid: there is no drift that is not known
	Resources map[string]*ResourceDrift `json:"resources"` // by address
	Summary   DriftSummary              `json:"summary"`
}

// DriftSummary counts the resources by status.
type DriftSummary struct {
	Valid      int `json:"valid"`
	Drifted    int `json:"drifted"`
	Gone       int `json:"gone"`
	Changed    int `json:"changed"`
	Undeclared int `json:"undeclared"`
	Unrecorded int `json:"unrecorded"`
	Failed     int `json:"failed"`
	Known      int `json:"known"` // of those that drifted or are gone
}

// conclude counts, and says what all come to.
func (r *DriftReport) conclude() {
	r.Summary, r.Status = DriftSummary{}, DriftNone
	count := map[DriftStatus]*int{DriftNone: &r.Summary.Valid, Drifted: &r.Summary.Drifted, Gone: &r.Summary.Gone,
		DriftChanged:    &r.Summary.Changed,
		DriftUndeclared: &r.Summary.Undeclared, DriftUnrecorded: &r.Summary.Unrecorded, DriftFailed: &r.Summary.Failed}
	for _, d := range r.Resources {
		*count[d.Status]++
		if d.Known {
			r.Summary.Known++
		}
	}
	switch {
	case r.Summary.Failed > 0:
		r.Status = DriftFailed
	case r.Summary.Drifted+r.Summary.Gone > r.Summary.Known:
		r.Status = Drifted
	}
}

// Order lists the addresses, sorted.
func (r *DriftReport) Order() []string { return slices.Sorted(maps.Keys(r.Resources)) }

// Masked gives a copy that may be shown: sensitive values are replaced.
func (r *DriftReport) Masked() *DriftReport {
	out := *r
	out.Resources = make(map[string]*ResourceDrift, len(r.Resources))
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
	Format    int                   `json:"format"`
	Resources map[string]KnownDrift `json:"resources"`
}

// KnownDrift is how one resource was found. Sensitive values in it are masked,
// so they do not count.
type KnownDrift struct {
	Status DriftStatus     `json:"status"`
	Found  json.RawMessage `json:"found,omitempty"`
}

// known is a drift as a baseline has it.
func (d *ResourceDrift) known() KnownDrift {
	return KnownDrift{Status: d.Status, Found: secret.Mask(d.Found, d.Hidden)}
}

// Baseline gives the drift that there is.
func (r *DriftReport) Baseline() Baseline {
	b := Baseline{Format: DriftFormat, Resources: map[string]KnownDrift{}}
	for addr, d := range r.Resources {
		if d.drifts() {
			b.Resources[addr] = d.known()
		}
	}
	return b
}

// ReadBaseline reads the JSON form, strictly.
func ReadBaseline(data []byte) (Baseline, error) {
	var b Baseline
	err := jsondoc.Check(data)
	if err == nil {
		err = jsondoc.DecodeStrict(data, &b)
	}
	if err == nil && b.Format != DriftFormat {
		err = diag.Errorf("A baseline of another version", "It has format %d; this version of deployster reads format %d.", b.Format, DriftFormat)
	}
	return b, err
}

// Know marks the drift that a baseline has, and gives the addresses of which it
// has a drift that is not there any more, sorted.
func (r *DriftReport) Know(b Baseline) (over []string) {
	for addr, known := range b.Resources {
		d := r.Resources[addr]
		if d == nil || !d.drifts() {
			over = append(over, addr)
			continue
		}
		now := d.known()
		d.Known = now.Status == known.Status && (len(now.Found) == 0 && len(known.Found) == 0 || sameJSON(now.Found, known.Found))
	}
	slices.Sort(over)
	r.conclude()
	return over
}
