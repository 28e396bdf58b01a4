package plan

import (
	"deployster/plan/change"
	"deployster/plan/observe"
	"deployster/state"
)

// Change is what a plan declares about one resource.
type Change = observe.Change

// The changes.
const (
	Valid      = observe.Valid
	Create     = observe.Create
	Update     = observe.Update
	Replace    = observe.Replace
	Destroy    = observe.Destroy
	Forget     = observe.Forget
	Publish    = observe.Publish
	Deferred   = observe.Deferred
	ReadFailed = observe.ReadFailed
	Record     = observe.Record
	Left       = observe.Left
)

// Changes lists all changes that a plan file may hold.
func Changes() []Change {
	return []Change{Valid, Create, Update, Replace, Destroy, Forget, Publish, Deferred, Record, Left}
}

// Certainty is how far the answer of an image holds at the turn of its resource.
type Certainty = change.Certainty

// The certainties.
const (
	Certain      = change.Certain
	MayChange    = change.MayChange
	Early        = change.Early
	QueriedAgain = change.QueriedAgain
)

// Step is what the plan declares about one resource, and what is needed to do it.
type Step = change.Step

// RecordedStep returns a step with what an entry holds of how to remove its object.
func RecordedStep(entry state.Entry) *Step { return change.RecordedStep(entry) }

// Was is the recorded or last found state of a resource, or its recorded config.
type Was = change.Was

// Summary counts the resources by change.
type Summary struct {
	Valid      int `json:"valid"`
	Create     int `json:"create"`
	Update     int `json:"update"`
	Replace    int `json:"replace"`
	Destroy    int `json:"destroy"`
	Forget     int `json:"forget"`
	Publish    int `json:"publish"`
	Deferred   int `json:"deferred"`
	Record     int `json:"record"`
	Left       int `json:"left"`
	ReadFailed int `json:"read_failed"`
	Move       int `json:"move"` // how many of the above have another address in the state file

	// Adopt and MayChange count valid resources that are not recorded yet, and that may
	// turn out to need an update. Expected counts deferred ones by their expected change.
	Adopt     int      `json:"adopt"`
	Made      int      `json:"made,omitempty"` // of Adopt: an apply that was interrupted created them
	MayChange int      `json:"may_change"`
	Expected  Expected `json:"expected"`

	DestroyAdopted int `json:"destroy_adopted,omitempty"` // how many of the above destroy what deployster did not create
}

// Expected counts deferred resources by their expected change.
type Expected struct {
	Create  int `json:"create"`
	Update  int `json:"update"`
	Replace int `json:"replace"`
}

// All returns how many deferred resources have an expected change.
func (e Expected) All() int { return e.Create + e.Update + e.Replace }

// summarize counts the changes. What waits for a later round is deferred.
func summarize(p *Plan) Summary {
	s := Summary{Deferred: len(p.LaterDeclared())}
	count := map[Change]*int{Valid: &s.Valid, Create: &s.Create, Update: &s.Update, Replace: &s.Replace, Destroy: &s.Destroy,
		Forget: &s.Forget, Publish: &s.Publish, Deferred: &s.Deferred, Record: &s.Record, Left: &s.Left, ReadFailed: &s.ReadFailed}
	for _, step := range p.Resources {
		if step.MovedFrom != "" {
			s.Move++
		}
		*count[step.Shown()]++
		if step.DestroysAdopted() {
			s.DestroyAdopted++
		}
		if step.Change() == Valid && step.Certainty == MayChange {
			s.MayChange++
		} else if step.Adopts() {
			s.Adopt++
			if step.Made() {
				s.Made++
			}
		}
		switch step.Expected() {
		case Create:
			s.Expected.Create++
		case Update:
			s.Expected.Update++
		case Replace:
			s.Expected.Replace++
		}
	}
	return s
}
