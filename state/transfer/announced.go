package transfer

import "deployster/state/content"

// Awaited returns a state with what was announced to it and has not arrived, marked as arriving: nobody acts on it, or makes or adopts
// its object.
func Awaited(s content.Snapshot, list []content.Announced) content.Snapshot {
	if len(list) == 0 {
		return s
	}
	next, changed := s.Clone(), false
	for _, a := range list {
		_, recorded := next.Resources[a.Address]
		_, unsettled := next.Unsettled[a.Address]
		if recorded || unsettled || knows(s, a.Entry.Transfer.ID) {
			continue
		}
		next.Resources[a.Address], changed = a.Entry, true
	}
	if !changed {
		return s
	}
	return next
}

// Arrived withdraws what was announced to a state that has it by now. Only this state needs to be locked.
func Arrived(at End) error {
	return withdraw(at, func(a content.Announced) bool { return knows(at.Snapshot(), a.Entry.Transfer.ID) })
}

// tidy withdraws what was announced and is not being transferred any more: it has arrived, was taken back, or never began. Only who has the
// first state locked knows that.
func tidy(from, to End) error {
	return withdraw(to, func(a content.Announced) bool { return void(from, a) })
}

func withdraw(at End, which func(content.Announced) bool) error {
	list, err := at.Announced()
	for _, a := range list {
		if err == nil && which(a) {
			err = at.Withdraw(a.Entry.Transfer.ID)
		}
	}
	return err
}

// void reports whether the first state has announced something that does not leave it.
func void(from End, a content.Announced) bool {
	if !from.Is(*a.Entry.Transfer.From) {
		return false
	}
	for _, e := range from.Snapshot().Resources {
		if t := e.Transfer; t != nil && t.To != nil && t.ID == a.Entry.Transfer.ID {
			return false
		}
	}
	return true
}
