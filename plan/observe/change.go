package observe

// Change is what a plan declares about one resource.
type Change string

// The changes that follow from an answer.
const (
	Valid   Change = "valid"   // it matches its config
	Create  Change = "create"  // it does not exist
	Publish Change = "publish" // of a publish block: its artifact is published
	Update  Change = "update"  // it exists, but differs from its config
	Destroy Change = "destroy" // no longer declared: its type will remove it
	Forget  Change = "forget"  // no longer declared, or gone: dropped from the state file, its object is not destroyed
)

// The changes that only a plan decides.
const (
	Replace    Change = "replace"     // destroyed, then created again
	Deferred   Change = "deferred"    // what is to be done is known only during apply
	ReadFailed Change = "read_failed" // nothing was decided, because of an error: such a plan can be shown, but not applied
	Record     Change = "record"      // a plan with -refresh-only writes what was found to the state file
	Left       Change = "left"        // nothing changes: in such a plan, or because the next plan must decide
)
