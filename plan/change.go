package plan

// Change is what a plan says of one resource.
type Change string

// The changes.
const (
	Valid    Change = "valid"    // as it should be
	Create   Change = "create"   // does not exist
	Update   Change = "update"   // exists, but differs
	Replace  Change = "replace"  // asked for with -replace: destroyed as Step.Old says, then made again
	Destroy  Change = "destroy"  // no longer wanted: its type will remove it
	Forget   Change = "forget"   // no longer wanted, or gone: dropped from the state file, the thing itself is left alone
	Publish  Change = "publish"  // of a publish block: what it says is put
	Deferred Change = "deferred" // cannot be asked before what it depends on is there

	// ReadFailed says that nothing could be decided: asking failed. A plan with
	// such a resource can be looked at, and not be applied.
	ReadFailed Change = "read_failed"

	// Record and Left are changes of a plan that only records (-refresh-only):
	// what was found goes into the state file, or what is there stays as it is.
	Record Change = "record"
	Left   Change = "left"
)

// Changes are all that a plan file may hold.
func Changes() []Change {
	return []Change{Valid, Create, Update, Replace, Destroy, Forget, Publish, Deferred, Record, Left}
}

// Quiet reports whether there is nothing to tell of a step: its resource stays as and
// where it is.
func (s *Step) Quiet() bool {
	return s.Change == Valid && !s.MayChange && !s.Adopted && s.MovedFrom == "" && len(s.Edited)+len(s.Notes) == 0
}

// Adopts reports whether all that is done about a resource is that it is recorded: it
// exists as it should, and the state file does not know it.
func (s *Step) Adopts() bool { return s.Change == Valid && s.Adopted && !s.MayChange }

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
	Move       int `json:"move"` // of the above, those that have another address in the state file

	// Of valid, those that exist and are recorded nowhere yet, and those that may turn
	// out to need an update; of deferred, those of which it is known what is expected.
	Adopt     int      `json:"adopt"`
	MayChange int      `json:"may_change"`
	Expected  Expected `json:"expected"`
}

// Expected counts deferred resources by what they are expected to come to.
type Expected struct {
	Create  int `json:"create"`
	Update  int `json:"update"`
	Replace int `json:"replace"`
}

// All is how many there are.
func (e Expected) All() int { return e.Create + e.Update + e.Replace }

// summarize counts the changes.
func summarize(steps map[string]*Step) Summary {
	var s Summary
	count := map[Change]*int{Valid: &s.Valid, Create: &s.Create, Update: &s.Update, Replace: &s.Replace, Destroy: &s.Destroy,
		Forget: &s.Forget, Publish: &s.Publish, Deferred: &s.Deferred, Record: &s.Record, Left: &s.Left, ReadFailed: &s.ReadFailed}
	for _, step := range steps {
		if step.MovedFrom != "" {
			s.Move++
		}
		*count[step.Shown()]++
		if step.Change == Valid && step.MayChange {
			s.MayChange++
		} else if step.Adopts() {
			s.Adopt++
		}
		switch step.Expected {
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
