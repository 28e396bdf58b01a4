package planfile

import (
	"errors"

	"deployster/plan"
)

// certainty is a plan.Certainty: at most one member is true.
type certainty struct {
	MayChange    bool `json:"may_change,omitempty"`    // a dependency will change: the answer is an expectation
	Early        bool `json:"early,omitempty"`         // create, update: its image was queried before what it waits for was done
	QueriedAgain bool `json:"queried_again,omitempty"` // no change of what it waits for: queried after that
}

func certaintyOf(s *plan.Step) certainty {
	c := s.Certainty
	return certainty{MayChange: c == plan.MayChange, Early: c == plan.Early, QueriedAgain: c == plan.QueriedAgain}
}

func (c certainty) load() (plan.Certainty, error) {
	switch c {
	case certainty{}:
		return plan.Certain, nil
	case certainty{MayChange: true}:
		return plan.MayChange, nil
	case certainty{Early: true}:
		return plan.Early, nil
	case certainty{QueriedAgain: true}:
		return plan.QueriedAgain, nil
	}
	return "", errors.New("it has more than one of may_change, early and queried_again")
}
