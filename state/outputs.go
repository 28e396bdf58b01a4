package state

import (
	"errors"
	"fmt"
	"os"

	"deployster/internal/base/encryption"
	"deployster/state/content"
	"deployster/state/exports"
)

// Exports declare how outputs are published for other projects.
type Exports = content.Exports

// Read is the latest version of the outputs of another state that an apply has used.
type Read = content.Read

// Publishes sets how the next run publishes outputs, nil = as before, and what it reads of other states. Both are recorded with
// its first fact.
func (s *Store) Publishes(e *Exports, reads map[string]Read) { s.exports, s.reads = e, reads }

// LoadOutputs reads what a state has published for other projects. It takes no lock, and needs no key of the state.
func LoadOutputs(place Place, keys *encryption.Keyring) (exports.Document, error) {
	at, err := storageOf(place, keys)
	if err != nil {
		return exports.Document{}, err
	}
	data, err := at.ReadOutputs()
	if errors.Is(err, os.ErrNotExist) {
		return exports.Document{}, err
	}
	if err != nil {
		return exports.Document{}, refuse(err, "Cannot read the outputs of another state", "%s: %s. Nothing was changed.", at.State, err)
	}
	return exports.Decode("the outputs of "+at.State, data, at.keys)
}

// publish writes what other projects may read of a state that was committed. If it dies before, the next command that opens the
// state for writing does it.
func (s storage) publish(next Snapshot) error {
	d, publishes := exports.Of(next)
	if !publishes {
		return nil
	}
	keys := s.keys
	if to := next.Exports.Recipients; len(to) > 0 {
		keys = encryption.New(encryption.Encrypt, func() (encryption.Keys, error) { return encryption.Keys{Recipients: to}, nil })
	}
	data, err := d.Encode(keys)
	if err == nil {
		err = s.WriteOutputs(next.Serial, data)
	}
	if err != nil {
		return refuse(fmt.Errorf("%w: %w", ErrNoCopy, err), "Cannot publish the outputs", "%s: %s. The state itself is written and "+
			"complete, and the next command that changes it publishes them.", s.State, err)
	}
	return nil
}

// republish writes what other projects may read of a state, unless that was done.
func (s storage) republish(now Snapshot) error {
	if _, publishes := exports.Of(now); !publishes {
		return nil
	}
	if data, err := s.ReadOutputs(); err == nil && exports.Is(data, now.Lineage, now.Serial) {
		return nil
	}
	return s.publish(now)
}
