package state

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/state/content"
	"deployster/state/place"
)

// Outside is a state of another project that is used without its lock. It is read when Beside is called, and what
// comes to it can be announced.
type Outside struct {
	place    Place
	at       storage
	snapshot Snapshot
}

// Beside reads a state without locking it.
func Beside(place Place, keys *encryption.Keyring) (*Outside, error) {
	at, err := storageOf(place, keys)
	if err != nil {
		return nil, err
	}
	s, _, err := Load(place, keys)
	return &Outside{place, at, s}, err
}

// Snapshot returns the state as it was read.
func (o *Outside) Snapshot() Snapshot { return o.snapshot }

// Replace refuses: the state is not locked.
func (o *Outside) Replace(Snapshot) error { return errors.ErrUnsupported }

// Announce reports what comes to the state to whoever reads it from now on. It fails if the state was moved away meanwhile.
func (o *Outside) Announce(a Announced) error {
	err := noticesOf(o.at).announce(a)
	if err == nil {
		_, _, err = Load(o.place, o.at.keys)
	}
	return err
}

// Announced returns what comes to the state.
func (o *Outside) Announced() ([]Announced, error) { return noticesOf(o.at).all() }

// Withdraw forgets what was announced under an id.
func (o *Outside) Withdraw(id string) error { return noticesOf(o.at).withdraw(id) }

// Announce reports what comes to the state to whoever reads it from now on.
func (s *Store) Announce(a Announced) error { return noticesOf(s.at).announce(a) }

// Announced returns what comes to the state, in the order of its addresses.
func (s *Store) Announced() ([]Announced, error) { return noticesOf(s.at).all() }

// Withdraw forgets what was announced under an id.
func (s *Store) Withdraw(id string) error { return noticesOf(s.at).withdraw(id) }

// AnnouncedAt returns what comes to a state. It takes no lock.
func AnnouncedAt(place Place, keys *encryption.Keyring) ([]Announced, error) {
	at, err := storageOf(place, keys)
	if err != nil {
		return nil, err
	}
	return noticesOf(at).all()
}

// BringAnnounced brings what was announced to the place that the state has moved from, which is marked as moved.
func (s *Store) BringAnnounced(from Place) error {
	old, err := storageOf(from)
	if err != nil {
		return err
	}
	list, err := old.Announced()
	if err != nil {
		return refuse(err, "Cannot read what is announced", "%s: %s. Repeat the command.", old.State, err)
	}
	for id, data := range list {
		if err := s.at.Announce(id, data); err != nil {
			return refuse(err, "Cannot announce a transfer", "%s: %s. Repeat the command.", s.at.State, err)
		}
	}
	return nil
}

// notices are what is announced to a state.
type notices struct {
	place.Found
	keys *encryption.Keyring
}

func noticesOf(s storage) notices { return notices{s.Found, s.keys} }

func (s notices) announce(a Announced) error {
	a.Format = Format
	body, err := jsondoc.Encode(a)
	if err == nil {
		body, err = s.keys.Encrypt(encryption.Announcement, body)
	}
	if err == nil {
		err = s.Found.Announce(a.Entry.Transfer.ID, body)
	}
	if err != nil {
		return refuse(err, "Cannot announce a transfer", "%s: %s. Nothing was changed.", s.State, err)
	}
	return nil
}

func (s notices) all() (list []Announced, err error) {
	stored, err := s.Found.Announced()
	if err != nil {
		return nil, refuse(err, "Cannot read what is announced", "%s: %s. Nothing was changed.", s.State, err)
	}
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		a, err := s.open(id, stored[id])
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(a, b Announced) int { return cmp.Compare(a.Address, b.Address) })
	return list, nil
}

func (s notices) open(id string, data []byte) (a Announced, err error) {
	name := "the announcement " + id + " to " + s.State
	if data, err = s.keys.Open(encryption.Announcement, name, data); err != nil {
		return a, err
	}
	err = jsondoc.DecodeStrict(data, &a)
	if t := a.Entry.Transfer; err == nil && (a.Format != Format || a.Address == "" || t == nil || t.ID != id || t.From == nil) {
		err = errors.New("it is not complete, or of a newer deployster")
	}
	if err != nil {
		return a, diag.Because(fmt.Errorf("%w: %w", content.ErrDamaged, err), "An announced transfer cannot be read",
			"%s: %s. Another project gives a resource to this one. Finish that with `deployster state transfer` there, "+
				"or remove the object if it is damaged.", diag.Visible(name), err)
	}
	return a, nil
}

func (s notices) withdraw(id string) error {
	if err := s.Found.Withdraw(id); err != nil {
		return refuse(err, "Cannot withdraw an announced transfer", "%s: %s. The next apply of one of the two projects does it.", s.State,
			err)
	}
	return nil
}
