package change

// Certainty is how far the answer of an image, which a plan shows, holds when the turn of its resource comes.
type Certainty string

// The certainties. All but the first have a reason.
const (
	Certain      Certainty = ""              // apply requires the same answer
	MayChange    Certainty = "may_change"    // a dependency will change: the answer is an expectation
	Early        Certainty = "early"         // create, update: the image was queried before what the resource waits for was done
	QueriedAgain Certainty = "queried_again" // what the resource waits for cannot change it: the image is queried again after that
)

// Open reports whether the answer may be another one once the actions of others have run.
func (c Certainty) Open() bool { return c == MayChange || c == QueriedAgain }
